// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/selection/sorting.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/number_types.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"

namespace lowtide::kernels_internal {
namespace {

// A total order, in which NaN is the largest number.
template <typename T>
bool is_less(T a, T b) {
  if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
  return a < b;
}

struct TopKParameters {
  std::int64_t axis = -1;
  std::int64_t k = 0;  // an attribute of old opsets
  bool wants_most = true;
};

// One line of elements x[i * stride], and its results.
template <typename T>
struct ChosenLine {
  const T* x;
  T* values;
  std::int64_t* places;
  std::int64_t stride;
};

template <typename T>
void choose_line(const ChosenLine<T>& line, bool wants_most, std::span<std::int64_t> order, std::int64_t k) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto is_before = [&](std::int64_t a, std::int64_t b) {
    const T of_a = line.x[a * line.stride];
    const T of_b = line.x[b * line.stride];
    if (is_less(of_a, of_b)) return !wants_most;
    if (is_less(of_b, of_a)) return wants_most;
    return a < b;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), is_before);
  for (std::int64_t at = 0; at < k; ++at) {
    const std::int64_t place = order[static_cast<std::size_t>(at)];
    line.values[at * line.stride] = line.x[place * line.stride];
    line.places[at * line.stride] = place;
  }
}

template <typename T>
void choose_lines(const TopKParameters& parameters, int axis, std::int64_t k, const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t stride = from.product(axis + 1, from.rank());
  const std::span order(reinterpret_cast<std::int64_t*>(operands.scratch), static_cast<std::size_t>(from[axis]));
  for (std::int64_t outer = 0; outer < from.product(0, axis); ++outer) {
    for (std::int64_t inner = 0; inner < stride; ++inner) {
      const std::int64_t to = outer * k * stride + inner;
      choose_line<T>({elements<T>(operands.reads[0]) + outer * from[axis] * stride + inner,
                      mutable_elements<T>(operands.writes[0]) + to,
                      mutable_elements<std::int64_t>(operands.writes[1]) + to, stride},
                     parameters.wants_most, order, k);
    }
  }
}

RunStatus run_top_k(const TopKParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  const bool has_k = has_operand(operands.reads, 1);
  if (!axis || (has_k && count_of(operands.reads[1]) != 1)) return {RunCode::bad_extents, 1};
  const std::int64_t k = has_k ? elements<std::int64_t>(operands.reads[1])[0] : parameters.k;
  if (k < 0 || k > from[*axis]) return {RunCode::index_out_of_range, 1};
  Extents to = from;
  to[*axis] = k;
  for (const BoundTensor& result : operands.writes) {
    if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  }
  with_number_type(operands.reads[0].dtype, [&]<typename T>(T) { choose_lines<T>(parameters, *axis, k, operands); });
  return {};
}

std::string missing_top_k(const Graph& graph, const Node& node) {
  const bool has_results = node.outputs.size() == 2 && node.outputs[1];
  if (!has_results) return "the kernel writes values and indices";
  if (computed_type(graph, node, 1).value_or(DType::i64) != DType::i64) return "k is not i64";
  return graph.tensor(*node.outputs[1]).dtype == DType::i64 ? "" : "the indices are not i64";
}

std::optional<int> axis_of(const Graph& graph, const Node& node, std::int64_t otherwise) {
  return axis_in(integer_attribute(node, "axis", otherwise), graph.tensor(*node.inputs[0]).shape.rank());
}

Bytes top_k_scratch(const Graph& graph, const Node& node, int /*threads*/) {
  const std::optional<int> axis = axis_of(graph, node, -1);
  const std::vector<std::int64_t>& extents = graph.tensor(*node.inputs[0]).shape.extents();
  return axis ? Bytes(extents[static_cast<std::size_t>(*axis)]) * 8 : Bytes(0);
}

PreparedResult prepare_top_k(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_top_k,
                      TopKParameters{integer_attribute(node, "axis", -1), integer_attribute(node, "k", 0),
                                     integer_attribute(node, "largest", 1) != 0});
}

struct UniqueParameters {
  std::optional<std::int64_t> axis;  // nullopt: the operand is flattened
  bool is_sorted = true;
};

// The slices of the operand, and their groups of equal ones. All arrays are in scratch.
struct Slices {
  Extents from;                     // [outer, slices, inner]
  std::int64_t* order = nullptr;    // the slices, sorted; equal ones by their number
  std::int64_t* group = nullptr;    // per slice
  std::int64_t* first = nullptr;    // per group, its first slice
  std::int64_t* renamed = nullptr;  // per group, its number in the result
  std::int64_t groups = 0;

  [[nodiscard]] std::int64_t count() const { return from[1]; }
};

// Less, equal or greater than 0 as slice a is less, equal or greater than slice b.
template <typename T>
int compare_slices(const T* x, const Extents& from, std::int64_t a, std::int64_t b) {
  for (std::int64_t outer = 0; outer < from[0]; ++outer) {
    const T* row_a = x + (outer * from[1] + a) * from[2];
    const T* row_b = x + (outer * from[1] + b) * from[2];
    for (std::int64_t at = 0; at < from[2]; ++at) {
      if (is_less(row_a[at], row_b[at])) return -1;
      if (is_less(row_b[at], row_a[at])) return 1;
    }
  }
  return 0;
}

template <typename T>
void group_slices(const T* x, bool is_sorted, Slices& slices) {
  std::iota(slices.order, slices.order + slices.count(), std::int64_t{0});
  std::sort(slices.order, slices.order + slices.count(), [&](std::int64_t a, std::int64_t b) {
    const int compared = compare_slices(x, slices.from, a, b);
    return compared == 0 ? a < b : compared < 0;
  });
  for (std::int64_t at = 0; at < slices.count(); ++at) {
    const std::int64_t slice = slices.order[at];
    const bool is_new = at == 0 || compare_slices(x, slices.from, slices.order[at - 1], slice) != 0;
    if (is_new) slices.first[slices.groups++] = slice;
    slices.group[slice] = slices.groups - 1;
  }
  std::iota(slices.renamed, slices.renamed + slices.groups, std::int64_t{0});
  if (is_sorted) return;
  // Unsorted groups are in the order of their first slices. `order` is free now.
  std::iota(slices.order, slices.order + slices.groups, std::int64_t{0});
  std::sort(slices.order, slices.order + slices.groups,
            [&](std::int64_t a, std::int64_t b) { return slices.first[a] < slices.first[b]; });
  for (std::int64_t at = 0; at < slices.groups; ++at) slices.renamed[slices.order[at]] = at;
}

void write_groups(const Slices& slices, const Operands& operands) {
  const int bytes = element_bytes(operands.reads[0].dtype);
  const std::int64_t row = slices.from[2] * bytes;
  const auto indices_at = [&](std::size_t at) {
    return has_operand(operands.writes, at) ? mutable_elements<std::int64_t>(operands.writes[at]) : nullptr;
  };
  std::int64_t* const firsts = indices_at(1);
  std::int64_t* const inverse = indices_at(2);
  std::int64_t* const counts = indices_at(3);
  for (std::int64_t group = 0; group < slices.groups; ++group) {
    const std::int64_t to = slices.renamed[group];
    for (std::int64_t outer = 0; outer < slices.from[0]; ++outer) {
      copy_bytes(*operands.reads[0].bytes + (outer * slices.count() + slices.first[group]) * row,
                 *operands.writes[0].bytes + (outer * slices.groups + to) * row, row);
    }
    if (firsts != nullptr) firsts[to] = slices.first[group];
    if (counts != nullptr) counts[to] = 0;
  }
  for (std::int64_t slice = 0; slice < slices.count(); ++slice) {
    const std::int64_t group = slices.renamed[slices.group[slice]];
    if (inverse != nullptr) inverse[slice] = group;
    if (counts != nullptr) ++counts[group];
  }
}

void group_by_type(const BoundTensor& read, bool is_sorted, Slices& slices) {
  with_number_type(read.dtype, [&]<typename T>(T) { group_slices(elements<T>(read), is_sorted, slices); });
}

RunStatus run_unique(const UniqueParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis.value_or(0), parameters.axis ? from.rank() : 1);
  if (!axis) return {RunCode::bad_extents, 0};
  Slices slices;
  slices.from = parameters.axis ? Extents{from.product(0, *axis), from[*axis], from.product(*axis + 1, from.rank())}
                                : Extents{1, from.count(), 1};
  slices.order = reinterpret_cast<std::int64_t*>(operands.scratch);
  slices.group = slices.order + slices.count();
  slices.first = slices.group + slices.count();
  slices.renamed = slices.first + slices.count();
  group_by_type(operands.reads[0], parameters.is_sorted, slices);
  Extents to = parameters.axis ? from : Extents{0};
  to[*axis] = slices.groups;
  const std::array extents{to, Extents{slices.groups}, Extents{slices.count()}, Extents{slices.groups}};
  for (std::size_t at = 0; at < operands.writes.size(); ++at) {
    if (!is_present(operands.writes[at])) continue;
    const RunStatus status = set_extents(operands.writes[at], extents[at]);
    if (status.code != RunCode::ok) return status;
  }
  write_groups(slices, operands);
  return {};
}

std::string missing_unique(const Graph& graph, const Node& node) {
  for (std::size_t at = 1; at < node.outputs.size(); ++at) {
    if (node.outputs[at] && graph.tensor(*node.outputs[at]).dtype != DType::i64) return "the indices are not i64";
  }
  return node.outputs.size() <= 4 ? "" : "the node has more than 4 results";
}

Bytes unique_scratch(const Graph& graph, const Node& node, int /*threads*/) {
  const bool has_axis = find_attribute<std::int64_t>(node.attributes, "axis") != nullptr;
  const std::vector<std::int64_t>& extents = graph.tensor(*node.inputs[0]).shape.extents();
  const std::optional<int> axis = axis_of(graph, node, 0);
  Bytes slices(1);
  for (std::size_t at = 0; at < extents.size(); ++at) {
    if (!has_axis || (axis && at == static_cast<std::size_t>(*axis))) slices = slices * extents[at];
  }
  return slices * 32;
}

PreparedResult prepare_unique(const PrepareInput& input) {
  const Node& node = node_of(input);
  const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
  return plain_kernel(input, &run_unique,
                      UniqueParameters{axis == nullptr ? std::nullopt : std::optional(*axis),
                                       integer_attribute(node, "sorted", 1) != 0});
}

// Sorted by type.
constexpr std::array kOrderTable{
    PlainOperator{.op = {"", "TopK", kNumberTypes},
                  .prepare = &prepare_top_k,
                  .missing = &missing_top_k,
                  .scratch = &top_k_scratch,
                  .widens_half = true},
    PlainOperator{.op = {"", "Unique", kNumberTypes},
                  .prepare = &prepare_unique,
                  .missing = &missing_unique,
                  .scratch = &unique_scratch,
                  .widens_half = true},
};
constexpr std::array kOrderOperators = operators_of(kOrderTable);

}  // namespace

Family sorting_family() {
  return {.name = "order",
          .operators = kOrderOperators,
          .offer = [](const OfferInput& input) { return offer_from(kOrderTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kOrderTable, input); }};
}

}  // namespace lowtide::kernels_internal
