// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <utility>

#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

// The extents of a product of matrices, and those of its parts.
struct KnownProduct {
  KnownExtents result;
  KnownExtent rows;
  KnownExtent columns;
};

// nullopt: the operands do not agree. A vector is a row, or as the second operand a column.
std::optional<KnownProduct> known_product(KnownExtents a, KnownExtents b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool has_rows = a.size() > 1;
  const bool has_columns = b.size() > 1;
  if (!has_rows) a.insert(a.begin(), 1);
  if (!has_columns) b.emplace_back(1);
  KnownProduct product{.result = {}, .rows = a[a.size() - 2], .columns = b.back()};
  if (!may_equal(a.back(), b[b.size() - 2])) return std::nullopt;
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  std::optional<KnownExtents> batch = broadcast_known(std::move(a), std::move(b));
  if (!batch) return std::nullopt;
  product.result = *std::move(batch);
  if (has_rows) product.result.push_back(product.rows);
  if (has_columns) product.result.push_back(product.columns);
  return product;
}

Expected expect_product_of(const NodeFacts& facts, std::size_t second) {
  std::optional<KnownProduct> product = known_product(facts.extents(0), facts.extents(second));
  if (!product) return misfit(facts, second, "extents of a matrix for " + to_text(facts.extents(0)));
  return expect(std::move(product->result));
}

// Whether an operand has one element or this number of them. An omitted one has.
bool has_one_or_count(const NodeFacts& facts, std::size_t input, const KnownExtent& count) {
  return !facts.has(input) || may_equal(facts.count(input), 1) || may_equal(facts.count(input), count);
}

bool is_transposed(const NodeFacts& facts, std::string_view attribute) {
  return integer_attribute(facts.node(), attribute, 0) != 0;
}

KnownExtents matrix_of_operand(const NodeFacts& facts, std::size_t input, bool is_swapped) {
  KnownExtents matrix = facts.extents(input);
  if (is_swapped && matrix.size() == 2) std::swap(matrix[0], matrix[1]);
  return matrix;
}

constexpr char kDots = '.';  // stands for the axes of an ellipsis

// The terms of an equation of Einsum, with the arrow. nullopt: it is not one.
struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};

Equation equation_of(std::string text) {
  std::erase(text, ' ');
  for (std::size_t at = text.find("..."); at != std::string::npos; at = text.find("...", at + 1)) text.erase(at, 2);
  const std::size_t arrow = text.find("->");
  Equation equation;
  if (arrow != std::string::npos) equation.result = text.substr(arrow + 2);
  const std::string left = text.substr(0, arrow);
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    equation.terms.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  return equation;
}

// Without an arrow, the labels that occur once, sorted, after the axes of the ellipsis.
std::string result_term(const Equation& equation) {
  if (equation.result) return *equation.result;
  std::map<char, int> counts;
  for (const std::string& term : equation.terms) {
    for (const char label : term) ++counts[label];
  }
  std::string result = counts.contains(kDots) ? std::string(1, kDots) : "";
  for (const auto& [label, count] : counts) {
    if (count == 1 && label != kDots) result += label;
  }
  return result;
}

// The extents of the labels, and of the ellipsis.
struct LabeledExtents {
  std::map<char, KnownExtent> of_label;
  KnownExtents of_dots;
};

// Takes the extents of an operand. False: they do not fit its term, or other operands.
bool add_labels(const std::string& term, const KnownExtents& extents, LabeledExtents& all) {
  const auto dots = static_cast<std::size_t>(std::ranges::count(term, kDots));
  const std::size_t named = term.size() - dots;
  if (dots > 1 || named > extents.size() || (dots == 0 && named != extents.size())) return false;
  std::size_t axis = 0;
  for (const char label : term) {
    const std::size_t count = label == kDots ? extents.size() - named : 1;
    KnownExtents part(extents.begin() + static_cast<std::ptrdiff_t>(axis),
                      extents.begin() + static_cast<std::ptrdiff_t>(axis + count));
    axis += count;
    const auto before = all.of_label.find(label);
    const KnownExtents earlier = label == kDots                 ? all.of_dots
                                 : before == all.of_label.end() ? KnownExtents()
                                                                : KnownExtents{before->second};
    std::optional<KnownExtents> both = broadcast_known(earlier, std::move(part));
    if (!both) return false;
    if (label == kDots) {
      all.of_dots = *std::move(both);
    } else {
      all.of_label[label] = both->front();
    }
  }
  return true;
}

}  // namespace

Expected expect_matmul(const NodeFacts& facts) { return expect_product_of(facts, 1); }

Expected expect_gemm(const NodeFacts& facts) {
  for (std::size_t input : {0, 1}) {
    if (facts.rank(input) != 2) return misfit(facts, input, "two axes");
  }
  const KnownExtents a = matrix_of_operand(facts, 0, is_transposed(facts, "transA"));
  const KnownExtents b = matrix_of_operand(facts, 1, is_transposed(facts, "transB"));
  if (!may_equal(a[1], b[0])) return misfit(facts, 1, "the inner extent of " + to_text(a));
  KnownExtents result{a[0], b[1]};
  if (facts.has(2) && !may_broadcast_to(facts.extents(2), result))
    return misfit(facts, 2, "extents that are broadcast to " + to_text(result));
  return expect(std::move(result));
}

Expected expect_einsum(const NodeFacts& facts) {
  const Equation equation = equation_of(text_attribute(facts.node(), "equation", ""));
  if (equation.terms.size() != facts.node().inputs.size()) return contradiction("the equation has no term per operand");
  LabeledExtents all;
  for (std::size_t input = 0; input < equation.terms.size(); ++input) {
    if (!facts.has(input)) return contradiction("an operand is omitted");
    if (!add_labels(equation.terms[input], facts.extents(input), all))
      return misfit(facts, input, "the axes '" + equation.terms[input] + "' with the extents of other operands");
  }
  KnownExtents to;
  for (const char label : result_term(equation)) {
    if (label == kDots) {
      to.insert(to.end(), all.of_dots.begin(), all.of_dots.end());
    } else if (const auto found = all.of_label.find(label); found != all.of_label.end()) {
      to.push_back(found->second);
    } else {
      to.emplace_back(1);  // a label of the result alone
    }
  }
  return expect(std::move(to));
}

Expected expect_integer_product(const NodeFacts& facts) {
  std::optional<KnownProduct> product = known_product(facts.extents(0), facts.extents(1));
  if (!product) return misfit(facts, 1, "extents of a matrix for " + to_text(facts.extents(0)));
  if (!has_one_or_count(facts, 2, product->rows)) return misfit(facts, 2, "one element, or one per row");
  if (!has_one_or_count(facts, 3, product->columns)) return misfit(facts, 3, "one element, or one per column");
  return expect(std::move(product->result));
}

Expected expect_quantized_product(const NodeFacts& facts) {
  for (std::size_t one : {1, 6, 7}) {
    if (!may_equal(facts.count(one), 1)) return misfit(facts, one, "one element");
  }
  const bool is_swapped = is_transposed(facts, kTransposeAttribute);
  if (is_swapped && facts.rank(3) != 2) return misfit(facts, 3, "two axes");
  std::optional<KnownProduct> product = known_product(facts.extents(0), matrix_of_operand(facts, 3, is_swapped));
  if (!product) return misfit(facts, 3, "extents of a matrix for " + to_text(facts.extents(0)));
  if (!has_one_or_count(facts, 2, product->rows)) return misfit(facts, 2, "one element, or one per row");
  for (std::size_t of_column : {4, 5, 8}) {
    if (!has_one_or_count(facts, of_column, product->columns))
      return misfit(facts, of_column, "one element, or one per column");
  }
  return expect(std::move(product->result));
}

Expected expect_packed_product(const NodeFacts& facts) {
  const auto* weights = integers_attribute(facts.node(), kWeightsAttribute);
  if (weights == nullptr || weights->size() != 2) return contradiction("attribute 'weights' is not that of a matrix");
  KnownExtents matrix = known(*weights);
  if (is_transposed(facts, kTransposeAttribute)) std::swap(matrix[0], matrix[1]);
  KnownExtents to = facts.extents(0);
  if (to.empty() || !may_equal(to.back(), matrix[0])) return misfit(facts, 0, "rows for " + to_text(matrix));
  to.back() = matrix[1];
  if (facts.has(2) && !may_equal(facts.count(2), matrix[1])) return misfit(facts, 2, "one element per column");
  return expect(std::move(to));
}

}  // namespace lowtide::kernels_internal
