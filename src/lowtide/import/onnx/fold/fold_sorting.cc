// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of operators that depend on the order of exact elements: TopK and Unique.
namespace lowtide::import_internal {
namespace {

bool are_sortable(const KnownContent& content) {
  return std::all_of(content.elements.begin(), content.elements.end(), [&](const KnownElement& element) {
    return element.knowledge == Knowledge::exact && !(is_float(content.dtype) && std::isnan(element.real));
  });
}

bool is_below(DType dtype, const KnownElement& a, const KnownElement& b) {
  return is_float(dtype) ? a.real < b.real : a.integer < b.integer;
}

// Among equal elements, the lower index comes first.
Result<Contents> top_k(const FoldNode& node) {
  const Content source = node.content(0);
  const auto* attribute = find_attribute<std::int64_t>(node.request().attributes, "k");
  const std::optional<std::int64_t> count = attribute != nullptr ? std::optional(*attribute) : node.exact_scalar(1);
  if (source == nullptr || !count || !are_sortable(*source) || node.integer("sorted", 1) == 0) return nothing();
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", -1), source->extents.size());
  if (!axis || *count < 0 || *count > source->extents[*axis]) return nothing();
  const bool takes_largest = node.integer("largest", 1) != 0;
  Extents extents = source->extents;
  extents[*axis] = *count;
  std::shared_ptr<KnownContent> values = blank(source->dtype, extents);
  std::shared_ptr<KnownContent> indices = blank(DType::i64, extents);
  if (values == nullptr || indices == nullptr) return nothing();
  if (values->elements.empty()) return Contents{values, indices};
  const AxisView from = axis_view(source->extents, *axis);
  const AxisView to = axis_view(extents, *axis);
  std::vector<std::int64_t> order(static_cast<std::size_t>(from.extent));
  for (std::int64_t block = 0; block < from.outer; ++block) {
    for (std::int64_t within = 0; within < from.inner; ++within) {
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        const KnownElement& x = source->elements[from.at(block, a, within)];
        const KnownElement& y = source->elements[from.at(block, b, within)];
        return takes_largest ? is_below(source->dtype, y, x) : is_below(source->dtype, x, y);
      });
      for (std::int64_t i = 0; i < *count; ++i) {
        const std::int64_t taken = order[static_cast<std::size_t>(i)];
        values->elements[to.at(block, i, within)] = source->elements[from.at(block, taken, within)];
        indices->elements[to.at(block, i, within)] = exact_integer(taken);
      }
    }
  }
  return Contents{values, indices};
}

// Only without `axis`. Returns the distinct elements of the flattened tensor, the first position of each, the index of
// the distinct element at each position, and the number of occurrences of each.
Result<Contents> unique(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr || !are_sortable(*source)) return nothing();
  if (find_attribute<std::int64_t>(node.request().attributes, "axis") != nullptr) return nothing();
  std::vector<std::size_t> order(source->elements.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_less = [&](std::size_t a, std::size_t b) {
    return is_below(source->dtype, source->elements[a], source->elements[b]);
  };
  std::stable_sort(order.begin(), order.end(), is_less);
  std::vector<std::size_t> firsts;  // first occurrence of each distinct element
  std::vector<std::size_t> group(order.size());
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || is_less(order[i - 1], order[i])) {
      firsts.push_back(order[i]);
      counts.push_back(0);
    }
    group[order[i]] = firsts.size() - 1;
    ++counts.back();
  }
  std::vector<std::size_t> rank(firsts.size());
  std::iota(rank.begin(), rank.end(), 0);
  if (node.integer("sorted", 1) == 0) {
    std::sort(rank.begin(), rank.end(), [&](std::size_t a, std::size_t b) { return firsts[a] < firsts[b]; });
  }
  const auto distinct = static_cast<std::int64_t>(firsts.size());
  std::shared_ptr<KnownContent> values = blank(source->dtype, {distinct});
  std::shared_ptr<KnownContent> indices = blank(DType::i64, {distinct});
  std::shared_ptr<KnownContent> inverse = blank(DType::i64, {static_cast<std::int64_t>(order.size())});
  std::shared_ptr<KnownContent> occurrences = blank(DType::i64, {distinct});
  if (values == nullptr || indices == nullptr || inverse == nullptr || occurrences == nullptr) return nothing();
  std::vector<std::int64_t> place(rank.size());
  for (std::size_t i = 0; i < rank.size(); ++i) {
    place[rank[i]] = static_cast<std::int64_t>(i);
    values->elements[i] = source->elements[firsts[rank[i]]];
    indices->elements[i] = exact_integer(static_cast<std::int64_t>(firsts[rank[i]]));
    occurrences->elements[i] = exact_integer(counts[rank[i]]);
  }
  for (std::size_t i = 0; i < group.size(); ++i) inverse->elements[i] = exact_integer(place[group[i]]);
  return Contents{values, indices, inverse, occurrences};
}

}  // namespace

std::span<const NamedRule> sorting_rules() {
  static constexpr NamedRule kRules[] = {{"TopK", top_k}, {"Unique", unique}};
  return kRules;
}

}  // namespace lowtide::import_internal
