// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lowtide/base/half.h"
#include "lowtide/base/rounded_to_odd.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/movement/movement.h"

namespace lowtide::kernels_internal {
namespace {

// An element of any type.
struct AnyElement {
  std::array<std::byte, 8> bytes{};
};

template <typename T>
AnyElement element_with(T value) {
  AnyElement element;
  std::memcpy(element.bytes.data(), &value, sizeof value);
  return element;
}

// A number as an element of the type. An integer is exact. Returns nullopt for types that have no kernel.
template <typename Number>
std::optional<AnyElement> element_of(DType dtype, Number number) {
  switch (dtype) {
    case DType::f64: return element_with(static_cast<double>(number));
    case DType::f32: return element_with(static_cast<float>(number));
    case DType::f16: return element_with(to_half(rounded_to_odd(number)));
    case DType::bf16: return element_with(to_brain_float(rounded_to_odd(number)));
    case DType::i16: return element_with(converted<std::int16_t>(number));
    case DType::u64: return element_with(converted<std::uint64_t>(number));
    case DType::u32: return element_with(converted<std::uint32_t>(number));
    case DType::u16: return element_with(converted<std::uint16_t>(number));
    case DType::i64: return element_with(converted<std::int64_t>(number));
    case DType::i32: return element_with(converted<std::int32_t>(number));
    case DType::i8: return element_with(converted<std::int8_t>(number));
    case DType::u8: return element_with(converted<std::uint8_t>(number));
    case DType::boolean: return element_with(static_cast<std::uint8_t>(number != 0 ? 1 : 0));
    default: return std::nullopt;
  }
}

void fill(std::byte* to, std::int64_t count, const AnyElement& element, int bytes) {
  StridedCopy copy;
  copy.add(count, 0, 1);
  copy.run(element.bytes.data(), to, bytes);
}

DType result_type(const Graph& graph, const Node& node) { return graph.tensor(*node.outputs[0]).dtype; }

const Attribute* attribute_named(const Node& node, std::string_view name) {
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  return found == node.attributes.end() ? nullptr : &*found;
}

// The attribute `value`, 0 if it is absent, or nullopt if its number is not known.
std::optional<AnyElement> fill_value(const Graph& graph, const Node& node) {
  const Attribute* value = attribute_named(node, "value");
  const DType dtype = result_type(graph, node);
  if (value == nullptr) return element_of(dtype, std::int64_t{0});
  if (const auto* integer = std::get_if<std::int64_t>(&value->value)) return element_of(dtype, *integer);
  if (const auto* number = std::get_if<double>(&value->value)) return element_of(dtype, *number);
  return std::nullopt;
}

std::string missing_fill(const Graph& graph, const Node& node) {
  return fill_value(graph, node) ? "" : "the number of attribute 'value' is not known";
}

struct FillParameters {
  AnyElement value;
};

RunStatus run_constant_of_shape(const FillParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& result = operands.writes[0];
  const std::optional<Extents> extents = integers_of(operands.reads[0]);
  if (!extents) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(result, *extents);
  if (status.code == RunCode::ok) {
    fill(*result.bytes, extents->count(), parameters.value, element_bytes(result.dtype));
  }
  return status;
}

struct EyeParameters {
  std::int64_t diagonal = 0;
  AnyElement zero;
  AnyElement one;
};

RunStatus run_eye_like(const EyeParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& result = operands.writes[0];
  const Extents extents(extents_of(operands.reads[0]));
  if (extents.rank() != 2) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(result, extents);
  if (status.code != RunCode::ok) return status;
  const int bytes = element_bytes(result.dtype);
  fill(*result.bytes, extents.count(), parameters.zero, bytes);
  for (std::int64_t row = 0; row < extents[0]; ++row) {
    const std::int64_t column = row + std::clamp(parameters.diagonal, -extents[0], extents[1]);
    if (column < 0 || column >= extents[1]) continue;
    std::memcpy(*result.bytes + (row * extents[1] + column) * bytes, parameters.one.bytes.data(),
                static_cast<std::size_t>(bytes));
  }
  return {};
}

struct NoAttributes {};

// The number of steps from start to limit, or nullopt if the step is 0.
std::optional<std::int64_t> steps_between(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) return std::nullopt;
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  const std::uint64_t distance = delta > 0 ? static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(start)
                                           : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(limit);
  const std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  const std::uint64_t steps = (distance - 1) / step + 1;
  return static_cast<std::int64_t>(std::min(steps, std::uint64_t{1} << 62U));
}
std::optional<std::int64_t> steps_between(double start, double limit, double delta) {
  const double steps = std::ceil((limit - start) / delta);
  if (delta == 0 || std::isnan(steps)) return std::nullopt;
  return steps <= 0 ? 0 : converted<std::int64_t>(std::min(steps, 1e18));
}

std::int64_t advanced(std::int64_t start, std::int64_t steps, std::int64_t delta) {
  // The sum is in range, but the product may not be.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                   static_cast<std::uint64_t>(steps) * static_cast<std::uint64_t>(delta));
}
double advanced(double start, std::int64_t steps, double delta) { return start + static_cast<double>(steps) * delta; }

// `read` and `write` convert an element to and from the type in which the numbers are computed.
template <typename T, auto read, auto write>
RunStatus range_of(const Operands& operands) {
  const auto start = read(*elements<T>(operands.reads[0]));
  const auto delta = read(*elements<T>(operands.reads[2]));
  const auto steps = steps_between(start, read(*elements<T>(operands.reads[1])), delta);
  if (!steps) return {RunCode::bad_extents, 2};
  const RunStatus status = set_extents(operands.writes[0], Extents{*steps});
  if (status.code != RunCode::ok) return status;
  T* to = mutable_elements<T>(operands.writes[0]);
  for (std::int64_t at = 0; at < *steps; ++at) to[at] = write(advanced(start, at, delta));
  return {};
}

RunStatus run_range(const NoAttributes& /*parameters*/, const Operands& operands, Team& /*team*/) {
  for (const BoundTensor& read : operands.reads) {
    if (count_of(read) != 1) return {RunCode::bad_extents, 0};
  }
  constexpr auto kWide = [](auto value) { return static_cast<double>(value); };
  constexpr auto kWhole = [](auto value) { return static_cast<std::int64_t>(value); };
  constexpr auto kNarrow = [](auto value) { return static_cast<double>(to_float(value)); };
  switch (operands.writes[0].dtype) {
    case DType::f64: return range_of<double, kWide, [](double x) { return x; }>(operands);
    case DType::f32: return range_of<float, kWide, [](double x) { return static_cast<float>(x); }>(operands);
    case DType::f16: return range_of<Half, kNarrow, [](double x) { return to_half(rounded_to_odd(x)); }>(operands);
    case DType::bf16:
      return range_of<BrainFloat, kNarrow, [](double x) { return to_brain_float(rounded_to_odd(x)); }>(operands);
    case DType::i16:
      return range_of<std::int16_t, kWhole, [](std::int64_t x) { return static_cast<std::int16_t>(x); }>(operands);
    case DType::i64: return range_of<std::int64_t, kWhole, [](std::int64_t x) { return x; }>(operands);
    default:
      return range_of<std::int32_t, kWhole, [](std::int64_t x) { return static_cast<std::int32_t>(x); }>(operands);
  }
}

std::string missing_range(const Graph& graph, const Node& node) {
  const DType dtype = result_type(graph, node);
  const bool is_equal =
      std::ranges::all_of(node.inputs, [&](const auto& id) { return id && graph.tensor(*id).dtype == dtype; });
  return is_equal ? "" : "the operands have different types";
}

struct ShapeParameters {
  std::int64_t start = 0;
  std::int64_t end = kMostAxes;
};

RunStatus run_shape(const ShapeParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const auto in_range = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + from.rank() : axis, 0, from.rank());
  };
  const std::int64_t start = in_range(parameters.start);
  const std::int64_t count = std::max<std::int64_t>(in_range(parameters.end) - start, 0);
  const RunStatus status = set_extents(operands.writes[0], Extents{count});
  if (status.code != RunCode::ok) return status;
  std::copy_n(from.values().data() + start, count, mutable_elements<std::int64_t>(operands.writes[0]));
  return {};
}

RunStatus run_size(const NoAttributes& /*parameters*/, const Operands& operands, Team& /*team*/) {
  const RunStatus status = set_extents(operands.writes[0], Extents{});
  if (status.code == RunCode::ok) *mutable_elements<std::int64_t>(operands.writes[0]) = count_of(operands.reads[0]);
  return status;
}

std::string missing_eye(const Graph& graph, const Node& node) {
  return element_of(result_type(graph, node), 1.0) ? "" : "no kernel has this type of result";
}
PreparedResult prepare_eye_like(const PrepareInput& input) {
  const DType dtype = result_type(input.graph, node_of(input));
  return plain_kernel(
      input, &run_eye_like,
      EyeParameters{integer_attribute(node_of(input), "k", 0), *element_of(dtype, 0.0), *element_of(dtype, 1.0)});
}
PreparedResult prepare_shape(const PrepareInput& input) {
  return plain_kernel(input, &run_shape,
                      ShapeParameters{integer_attribute(node_of(input), "start", 0),
                                      integer_attribute(node_of(input), "end", kMostAxes)});
}

constexpr std::array kShapeTypes{DType::i64};
constexpr std::array kRangeTypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16};

// Sorted by type.
constexpr std::array kGenerateTable{
    PlainOperator{.op = {"", "ConstantOfShape", kShapeTypes},
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_constant_of_shape,
                                        FillParameters{*fill_value(input.graph, node_of(input))});
                  },
                  .missing = &missing_fill},
    PlainOperator{
        .op = on_moved("EyeLike"), .prepare = &prepare_eye_like, .missing = &missing_eye, .mixes_reals = true},
    PlainOperator{.op = {"", "Range", kRangeTypes},
                  .operands = 3,
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_range, NoAttributes{});
                  },
                  .missing = &missing_range},
    PlainOperator{.op = on_moved("Shape"), .prepare = &prepare_shape},
    PlainOperator{.op = on_moved("Size"),
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_size, NoAttributes{});
                  }},
};
constexpr std::array kGenerateOperators = operators_of(kGenerateTable);

}  // namespace

Family generate_family() {
  return {.name = "generate",
          .operators = kGenerateOperators,
          .offer = [](const OfferInput& input) { return offer_from(kGenerateTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kGenerateTable, input); }};
}

}  // namespace lowtide::kernels_internal
