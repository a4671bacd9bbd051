// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/plain/products/products.h"

namespace lowtide::kernels_internal {
namespace {

// Labels are letters. The axes of an ellipsis have numbers instead, counted from the last one.
constexpr char kEllipsis = '.';
constexpr std::size_t kMostTerms = 6;

struct EinsumParameters {
  std::vector<std::string> terms;  // per operand; an ellipsis is one character
  std::string result;
};

std::optional<std::string> read_term(std::string text) {
  if (const std::size_t dots = text.find("..."); dots != std::string::npos) text.replace(dots, 3, 1, kEllipsis);
  const auto is_label = [](unsigned char c) { return std::isalpha(c) != 0 || c == kEllipsis; };
  const bool is_valid = std::ranges::all_of(text, is_label) && std::ranges::count(text, kEllipsis) <= 1;
  return is_valid ? std::optional(std::move(text)) : std::nullopt;
}

// Without an arrow the result has all labels that occur once, sorted, after the axes of the ellipsis.
std::string implied_result(const std::vector<std::string>& terms) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (const char label : term) ++counts[label];
  }
  std::string result = counts.contains(kEllipsis) ? std::string(1, kEllipsis) : "";
  for (const auto& [label, count] : counts) {
    if (count == 1 && label != kEllipsis) result += label;
  }
  return result;
}

// Returns nullopt if the equation is not one, or does not have `operands` terms.
std::optional<EinsumParameters> read_equation(std::string equation, std::size_t operands) {
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  EinsumParameters parameters;
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    std::optional<std::string> term = read_term(left.substr(begin, end - begin));
    if (!term) return std::nullopt;
    parameters.terms.push_back(*std::move(term));
    begin = end + 1;
  }
  const std::optional<std::string> result =
      arrow == std::string::npos ? implied_result(parameters.terms) : read_term(equation.substr(arrow + 2));
  if (!result || parameters.terms.size() != operands || operands > kMostTerms) return std::nullopt;
  parameters.result = *result;
  return parameters;
}

// An axis of an operand or of the result: a letter, or the number of an axis of the ellipsis.
using Labels = std::array<char, kMostAxes>;

// The labels of `rank` axes. Returns nullopt if the term has another number of axes.
std::optional<Labels> labels_of(const std::string& term, int rank) {
  Labels labels{};
  const int covered = rank - static_cast<int>(term.size()) + 1;  // axes of the ellipsis
  int axis = 0;
  for (const char label : term) {
    const int axes = label == kEllipsis ? covered : 1;
    if (axes < 0 || axis + axes > rank) return std::nullopt;
    for (int at = 0; at < axes; ++at, ++axis) {
      labels[static_cast<std::size_t>(axis)] = label == kEllipsis ? static_cast<char>(axes - at) : label;
    }
  }
  return axis == rank ? std::optional(labels) : std::nullopt;
}

// The axes of the result, then those that are summed, with the strides of each operand.
struct EinsumLoop {
  std::array<char, 2 * static_cast<std::size_t>(kMostAxes)> labels{};
  int axes = 0;
  int kept = 0;
  std::array<std::int64_t, 2 * static_cast<std::size_t>(kMostAxes)> extents{};
  std::array<std::array<std::int64_t, 2 * static_cast<std::size_t>(kMostAxes)>, kMostTerms> strides{};

  // The number of the axis with this label, which is added if it is new. Returns nullopt if there is no space.
  std::optional<std::size_t> axis(char label) {
    const std::span known = std::span(labels).first(static_cast<std::size_t>(axes));
    const auto found = std::ranges::find(known, label);
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    if (axes == static_cast<int>(labels.size()) || axes - kept == kMostAxes) return std::nullopt;
    const auto at = static_cast<std::size_t>(axes++);
    labels[at] = label;
    extents[at] = 1;
    return at;
  }
};

// Adds the axes of an operand. An axis of extent 1 is repeated.
bool add_operand(EinsumLoop& loop, const std::string& term, const BoundTensor& operand, std::size_t number) {
  const Extents own(extents_of(operand));
  const std::optional<Labels> labels = labels_of(term, own.rank());
  if (!labels) return false;
  const Extents strides = dense_strides(own);
  for (int at = 0; at < own.rank(); ++at) {
    const std::optional<std::size_t> axis = loop.axis((*labels)[static_cast<std::size_t>(at)]);
    if (!axis) return false;
    std::int64_t& extent = loop.extents[*axis];
    if (own[at] != 1 && extent != 1 && extent != own[at]) return false;
    if (own[at] == 1) continue;
    extent = own[at];
    loop.strides[number][*axis] += strides[at];
  }
  return true;
}

std::optional<EinsumLoop> loop_of(const EinsumParameters& parameters, const Operands& operands) {
  EinsumLoop loop;
  int covered = 0;  // axes of the longest ellipsis
  for (std::size_t at = 0; at < parameters.terms.size(); ++at) {
    if (parameters.terms[at].find(kEllipsis) == std::string::npos) continue;
    covered = std::max(covered, operands.reads[at].rank - static_cast<int>(parameters.terms[at].size()) + 1);
  }
  const bool has_ellipsis = parameters.result.find(kEllipsis) != std::string::npos;
  const int rank = static_cast<int>(parameters.result.size()) + (has_ellipsis ? covered - 1 : 0);
  if (rank > kMostAxes) return std::nullopt;
  const std::optional<Labels> labels = labels_of(parameters.result, rank);
  if (!labels) return std::nullopt;
  for (int at = 0; at < rank; ++at) {
    if (!loop.axis((*labels)[static_cast<std::size_t>(at)])) return std::nullopt;
  }
  if (loop.axes != rank) return std::nullopt;  // a label occurs twice
  loop.kept = rank;
  for (std::size_t at = 0; at < parameters.terms.size(); ++at) {
    if (!add_operand(loop, parameters.terms[at], operands.reads[at], at)) return std::nullopt;
  }
  return loop;
}

// The axes [begin, end) for one operand.
StridedIndex index_of(const EinsumLoop& loop, std::size_t operand, int begin, int end) {
  StridedIndex index;
  for (int axis = begin; axis < end; ++axis) {
    index.add(loop.extents[static_cast<std::size_t>(axis)], loop.strides[operand][static_cast<std::size_t>(axis)]);
  }
  return index;
}

// Products are added up in f64, or as integers that wrap around.
template <typename T>
void sum_products(const EinsumLoop& loop, const Operands& operands) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  const std::size_t terms = operands.reads.size();
  const int last = std::max(loop.axes - 1, loop.kept);  // the innermost axis that is summed, if there is one
  const bool has_inner = loop.axes > loop.kept;
  const std::int64_t inner = has_inner ? loop.extents[static_cast<std::size_t>(last)] : 1;
  std::array<StridedIndex, kMostTerms> kept;
  std::array<StridedIndex, kMostTerms> summed;
  for (std::size_t term = 0; term < terms; ++term) {
    kept[term] = index_of(loop, term, 0, loop.kept);
    summed[term] = index_of(loop, term, loop.kept, last);
  }
  T* y = mutable_elements<T>(operands.writes[0]);
  for (std::int64_t at = 0; at < kept[0].count(); ++at) {
    Sum sum{0};
    for (std::int64_t row = 0; row < summed[0].count(); ++row) {
      std::array<const T*, kMostTerms> from{};
      for (std::size_t term = 0; term < terms; ++term) {
        from[term] = elements<T>(operands.reads[term]) + kept[term].offset(at) + summed[term].offset(row);
      }
      for (std::int64_t element = 0; element < inner; ++element) {
        Sum product{1};
        for (std::size_t term = 0; term < terms; ++term) {
          const std::int64_t stride = has_inner ? loop.strides[term][static_cast<std::size_t>(last)] : 0;
          product *= static_cast<Sum>(from[term][element * stride]);
        }
        sum += product;
      }
    }
    y[at] = static_cast<T>(sum);
  }
}

RunStatus run_einsum(const EinsumParameters& parameters, const Operands& operands, Team& /*team*/) {
  const std::optional<EinsumLoop> loop = loop_of(parameters, operands);
  if (!loop) return {RunCode::bad_extents, 0};
  const Extents to(std::span(loop->extents).first(static_cast<std::size_t>(loop->kept)));
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  switch (operands.reads[0].dtype) {
    case DType::f64: sum_products<double>(*loop, operands); break;
    case DType::f32: sum_products<float>(*loop, operands); break;
    case DType::i64:
    case DType::u64: sum_products<std::int64_t>(*loop, operands); break;
    default: sum_products<std::int32_t>(*loop, operands); break;
  }
  return {};
}

std::string missing_einsum(const Graph& graph, const Node& node) {
  const DType dtype = graph.tensor(*node.outputs[0]).dtype;
  const auto has_type = [&](const std::optional<TensorId>& id) { return id && graph.tensor(*id).dtype == dtype; };
  if (!std::ranges::all_of(node.inputs, has_type)) return "the operands have different types";
  const bool is_known = read_equation(text_attribute(node, "equation", ""), node.inputs.size()).has_value();
  return is_known ? "" : "the equation does not have a term for each of at most 6 operands";
}

PreparedResult prepare_einsum(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_einsum, *read_equation(text_attribute(node, "equation", ""), node.inputs.size()));
}

constexpr std::array kEinsumTypes{DType::f64, DType::f32, DType::f16, DType::bf16,
                                  DType::i64, DType::i32, DType::u64, DType::u32};
constexpr std::array kEinsumTable{
    PlainOperator{.op = {"", "Einsum", kEinsumTypes},
                  .prepare = &prepare_einsum,
                  .missing = &missing_einsum,
                  .widens_half = true},
};
constexpr std::array kEinsumOperators = operators_of(kEinsumTable);

}  // namespace

Family einsum_family() {
  return {.name = "einsum",
          .operators = kEinsumOperators,
          .offer = [](const OfferInput& input) { return offer_from(kEinsumTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kEinsumTable, input); }};
}

}  // namespace lowtide::kernels_internal
