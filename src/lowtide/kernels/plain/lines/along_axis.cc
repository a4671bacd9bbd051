// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/lines/along_axis.h"

#include <algorithm>
#include <array>
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

struct CumulateParameters {
  bool multiplies = false;
  bool is_exclusive = false;  // a result does not have the element at its own place
  bool runs_backward = false;
};

// Integers wrap around; floats are added up in f64.
template <typename T, typename Sum>
void cumulate_lines(const CumulateParameters& parameters, int axis, const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t stride = from.product(axis + 1, from.rank());
  const std::int64_t count = from[axis];
  for (std::int64_t line = 0; line < from.product(0, axis) * stride; ++line) {
    const std::int64_t begin = line / stride * stride * count + line % stride;
    const T* x = elements<T>(operands.reads[0]) + begin;
    T* y = mutable_elements<T>(operands.writes[0]) + begin;
    auto all = static_cast<Sum>(parameters.multiplies ? 1 : 0);
    for (std::int64_t number = 0; number < count; ++number) {
      const std::int64_t at = (parameters.runs_backward ? count - 1 - number : number) * stride;
      const auto value = static_cast<Sum>(x[at]);
      if (parameters.is_exclusive) y[at] = static_cast<T>(all);
      all = parameters.multiplies ? all * value : all + value;
      if (!parameters.is_exclusive) y[at] = static_cast<T>(all);
    }
  }
}

RunStatus run_cumulate(const CumulateParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Extents> given = integers_of(operands.reads[1]);
  const std::optional<int> axis = given && given->rank() == 1 ? axis_in((*given)[0], from.rank()) : std::nullopt;
  if (!axis) return {RunCode::bad_extents, 1};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  switch (operands.reads[0].dtype) {
    case DType::f64: cumulate_lines<double, double>(parameters, *axis, operands); break;
    case DType::f32: cumulate_lines<float, double>(parameters, *axis, operands); break;
    case DType::i64:
    case DType::u64: cumulate_lines<std::int64_t, std::uint64_t>(parameters, *axis, operands); break;
    default: cumulate_lines<std::int32_t, std::uint32_t>(parameters, *axis, operands); break;
  }
  return {};
}

template <bool multiplies>
PreparedResult prepare_cumulate(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_cumulate,
                      CumulateParameters{multiplies, integer_attribute(node, "exclusive", 0) != 0,
                                         integer_attribute(node, "reverse", 0) != 0});
}

struct OneHotParameters {
  std::int64_t axis = -1;
};

// An element as an integer. Floats lose their fraction.
std::int64_t integer_at(const BoundTensor& operand, std::int64_t at) {
  switch (operand.dtype) {
    case DType::f64: return converted<std::int64_t>(elements<double>(operand)[at]);
    case DType::f32: return converted<std::int64_t>(elements<float>(operand)[at]);
    case DType::i64:
    case DType::u64: return elements<std::int64_t>(operand)[at];
    case DType::i32: return elements<std::int32_t>(operand)[at];
    case DType::u32: return elements<std::uint32_t>(operand)[at];
    case DType::i16: return elements<std::int16_t>(operand)[at];
    case DType::u16: return elements<std::uint16_t>(operand)[at];
    case DType::i8: return elements<std::int8_t>(operand)[at];
    default: return elements<std::uint8_t>(operand)[at];
  }
}

// An index outside of [-depth, depth) has no place that is on.
RunStatus run_one_hot(const OneHotParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const BoundTensor& values = operands.reads[2];
  if (count_of(operands.reads[1]) != 1 || count_of(values) != 2) return {RunCode::bad_extents, 1};
  const std::int64_t depth = integer_at(operands.reads[1], 0);
  const std::optional<int> axis = axis_in(parameters.axis, from.rank() + 1);
  if (!axis || from.is_full() || depth < 0) return {RunCode::bad_extents, 1};
  Extents to(from.values().first(static_cast<std::size_t>(*axis)));
  to.push_back(depth);
  for (int later = *axis; later < from.rank(); ++later) to.push_back(from[later]);
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  const std::int64_t inner = from.product(*axis, from.rank());
  const int bytes = element_bytes(values.dtype);
  std::byte* write = *operands.writes[0].bytes;
  for (std::int64_t outer = 0; outer < from.product(0, *axis); ++outer) {
    for (std::int64_t place = 0; place < depth; ++place) {
      for (std::int64_t at = 0; at < inner; ++at, write += bytes) {
        const std::int64_t index = integer_at(operands.reads[0], outer * inner + at);
        const bool is_on = index == place || index == place - depth;
        copy_bytes(*values.bytes + (is_on ? bytes : 0), write, bytes);
      }
    }
  }
  return {};
}

std::string missing_one_hot(const Graph& graph, const Node& node) {
  const bool has_depth = std::ranges::find(kNumberTypes, *computed_type(graph, node, 1)) != kNumberTypes.end();
  return has_depth ? "" : "no kernel has a depth of this type";
}

PreparedResult prepare_one_hot(const PrepareInput& input) {
  return plain_kernel(input, &run_one_hot, OneHotParameters{integer_attribute(node_of(input), "axis", -1)});
}

struct ReverseParameters {
  std::int64_t batch_axis = 1;
  std::int64_t time_axis = 0;
};

// One of the two axes is the first, and the other the second.
RunStatus run_reverse(const ReverseParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const bool is_time_first = parameters.time_axis == 0 && parameters.batch_axis == 1;
  const bool is_batch_first = parameters.time_axis == 1 && parameters.batch_axis == 0;
  const bool agrees = from.rank() >= 2 && (is_time_first || is_batch_first) &&
                      count_of(operands.reads[1]) == from[is_time_first ? 1 : 0];
  if (!agrees) return {RunCode::bad_extents, 1};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const std::int64_t row = from.product(2, from.rank()) * element_bytes(read.dtype);
  for (std::int64_t first = 0; first < from[0]; ++first) {
    for (std::int64_t second = 0; second < from[1]; ++second) {
      const std::int64_t step = is_time_first ? first : second;
      const std::int64_t length = elements<std::int64_t>(operands.reads[1])[is_time_first ? second : first];
      if (length < 0 || length > from[is_time_first ? 0 : 1]) return {RunCode::index_out_of_range, 1};
      const std::int64_t source = step < length ? length - 1 - step : step;
      const std::int64_t place = is_time_first ? source * from[1] + second : first * from[1] + source;
      copy_bytes(*read.bytes + place * row, *operands.writes[0].bytes + (first * from[1] + second) * row, row);
    }
  }
  return {};
}

std::string missing_lengths(const Graph& graph, const Node& node) {
  return graph.tensor(*node.inputs[1]).dtype == DType::i64 ? "" : "the lengths are not i64";
}

PreparedResult prepare_reverse(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_reverse,
      ReverseParameters{integer_attribute(node, "batch_axis", 1), integer_attribute(node, "time_axis", 0)});
}

struct CacheParameters {
  std::int64_t axis = -2;
  bool is_circular = false;
};

// Writes the update of each batch into the cache, from the index of this batch on. A circular cache continues at its
// begin.
RunStatus run_cache(const CacheParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& cache = operands.reads[0];
  const BoundTensor& update = operands.reads[1];
  const Extents from(extents_of(cache));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis || *axis == 0 || update.rank != from.rank()) return {RunCode::bad_extents, 1};
  for (int at = 0; at < from.rank(); ++at) {
    if (at == *axis ? update.extents[at] > from[at] : update.extents[at] != from[at]) return {RunCode::bad_extents, 1};
  }
  const bool has_indices = has_operand(operands.reads, 2);
  if (has_indices && count_of(operands.reads[2]) != from[0]) return {RunCode::bad_extents, 2};
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, from); status.code != RunCode::ok) return status;
  const int bytes = element_bytes(cache.dtype);
  copy_bytes(*cache.bytes, *result.bytes, from.count() * bytes);
  const std::int64_t row = from.product(*axis + 1, from.rank()) * bytes;
  const std::int64_t steps = update.extents[*axis];
  const std::int64_t per_batch = from.product(1, *axis);
  for (std::int64_t outer = 0; outer < from[0] * per_batch; ++outer) {
    const std::int64_t first = has_indices ? elements<std::int64_t>(operands.reads[2])[outer / per_batch] : 0;
    const bool is_inside = first >= 0 && (parameters.is_circular ? first < std::max<std::int64_t>(from[*axis], 1)
                                                                 : first <= from[*axis] - steps);
    if (!is_inside) return {RunCode::index_out_of_range, 2};
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t place = (first + step) % from[*axis];
      copy_bytes(*update.bytes + (outer * steps + step) * row, *result.bytes + (outer * from[*axis] + place) * row,
                 row);
    }
  }
  return {};
}

std::string missing_cache(const Graph& graph, const Node& node) {
  const bool has_indices = node.inputs.size() > 2 && node.inputs[2];
  if (has_indices && graph.tensor(*node.inputs[2]).dtype != DType::i64) return "the indices are not i64";
  const bool is_equal = graph.tensor(*node.inputs[0]).dtype == graph.tensor(*node.inputs[1]).dtype;
  return is_equal ? "" : "the cache and the update have different types";
}

PreparedResult prepare_cache(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_cache,
      CacheParameters{integer_attribute(node, "axis", -2), text_attribute(node, "mode", "linear") == "circular"});
}

constexpr std::array kCumulatedTypes{DType::f64, DType::f32, DType::f16, DType::bf16,
                                     DType::i64, DType::i32, DType::u64, DType::u32};

// Sorted by type.
constexpr std::array kSequenceTable{
    PlainOperator{
        .op = {"", "CumProd", kCumulatedTypes}, .operands = 2, .prepare = &prepare_cumulate<true>, .widens_half = true},
    PlainOperator{
        .op = {"", "CumSum", kCumulatedTypes}, .operands = 2, .prepare = &prepare_cumulate<false>, .widens_half = true},
    PlainOperator{.op = {"", "OneHot", kNumberTypes},
                  .operands = 3,
                  .prepare = &prepare_one_hot,
                  .missing = &missing_one_hot,
                  .widens_half = true,
                  .copies_others = true},
    PlainOperator{
        .op = on_moved("ReverseSequence"), .operands = 2, .prepare = &prepare_reverse, .missing = &missing_lengths},
    PlainOperator{.op = on_moved("TensorScatter"), .operands = 2, .prepare = &prepare_cache, .missing = &missing_cache},
};
constexpr std::array kSequenceOperators = operators_of(kSequenceTable);

}  // namespace

Family along_axis_family() {
  return {.name = "sequence",
          .operators = kSequenceOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSequenceTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSequenceTable, input); }};
}

}  // namespace lowtide::kernels_internal
