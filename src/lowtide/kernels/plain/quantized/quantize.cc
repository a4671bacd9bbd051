// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <span>
#include <string>
#include <type_traits>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/requantize.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/quantized/quantized.h"

namespace lowtide::kernels_internal {
namespace {

// The elements as [outer, axis, inner], and which scale an element has.
struct Scales {
  std::int64_t outer = 1;
  std::int64_t axis = 1;
  std::int64_t inner = 1;
  std::int64_t block = 1;  // elements along the axis that share a scale
  std::int64_t outer_step = 0;
  std::int64_t axis_step = 0;
  std::int64_t inner_step = 0;

  [[nodiscard]] bool has_one() const { return outer_step == 0 && axis_step == 0 && inner_step == 0; }
  [[nodiscard]] std::int64_t index(std::int64_t at_outer, std::int64_t at_axis, std::int64_t at_inner) const {
    return at_outer * outer_step + at_axis / block * axis_step + at_inner * inner_step;
  }
};

using QuantizeFunction = void (*)(const Scales& scales, const Operands& operands, Team& team);

struct QuantizeParameters {
  QuantizeFunction function = nullptr;
  std::int64_t axis = 1;
  std::int64_t block_size = 0;
};

// One scale for all, one per entry of the axis, or with blocks an operand of the same rank.
std::optional<Scales> scales_of(const QuantizeParameters& parameters, const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents given(extents_of(operands.reads[1]));
  if (has_operand(operands.reads, 2) && count_of(operands.reads[2]) != given.count()) return std::nullopt;
  if (given.count() == 1 && parameters.block_size == 0) return Scales{.inner = from.count()};
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return std::nullopt;
  Scales scales{.outer = from.product(0, *axis), .axis = from[*axis], .inner = from.product(*axis + 1, from.rank())};
  if (parameters.block_size == 0) {
    scales.axis_step = 1;
    return given.rank() == 1 && given[0] == from[*axis] ? std::optional(scales) : std::nullopt;
  }
  if (parameters.block_size < 0 || given.rank() != from.rank()) return std::nullopt;
  for (int at = 0; at < from.rank(); ++at) {
    const std::int64_t wanted = at == *axis ? (from[at] - 1) / parameters.block_size + 1 : from[at];
    if (given[at] != wanted) return std::nullopt;
  }
  scales.block = parameters.block_size;
  scales.inner_step = 1;
  scales.axis_step = scales.inner;
  scales.outer_step = given[*axis] * scales.inner;
  return scales;
}

// to[i] = compute(from[i], scale, zero point)
template <typename From, typename To, typename Compute>
void convert_all(const Scales& scales, const Operands& operands, Compute compute) {
  const From* from = elements<From>(operands.reads[0]);
  To* to = mutable_elements<To>(operands.writes[0]);
  const float* scale = elements<float>(operands.reads[1]);
  const bool has_zero = has_operand(operands.reads, 2);
  for (std::int64_t outer = 0; outer < scales.outer; ++outer) {
    for (std::int64_t axis = 0; axis < scales.axis; ++axis) {
      for (std::int64_t inner = 0; inner < scales.inner; ++inner) {
        const std::int64_t index = scales.index(outer, axis, inner);
        *to++ = compute(*from++, scale[index], has_zero ? small_integer(operands.reads[2], index) : 0);
      }
    }
  }
}

// Converts all elements with one scale and one zero point, on the threads of the team.
template <typename From, typename To, typename Convert>
void convert_rows(const Operands& operands, Team& team, Convert convert) {
  const From* from = elements<From>(operands.reads[0]);
  To* to = mutable_elements<To>(operands.writes[0]);
  const std::int64_t count = count_of(operands.reads[0]);
  const std::int32_t zero = has_operand(operands.reads, 2) ? small_integer(operands.reads[2], 0) : 0;
  const ScaleAndZero by{elements<float>(operands.reads[1])[0], zero};
  run_in_parts(team, count, count, [&](std::int64_t begin, std::int64_t end) {
    convert(std::span<const From>(from + begin, static_cast<std::size_t>(end - begin)), by, to + begin);
    return RunCode::ok;
  });
}

template <typename T>
inline constexpr bool kHasEightBits = std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>;

template <typename From, typename To>
void quantize(const Scales& scales, const Operands& operands, Team& team) {
  if constexpr (std::is_same_v<From, float> && kHasEightBits<To>) {
    const auto convert = [](std::span<const float> x, const ScaleAndZero& by, To* y) { quantize_row(x, by, y); };
    if (scales.has_one()) return convert_rows<From, To>(operands, team, convert);
  }
  convert_all<From, To>(scales, operands, [](From value, float scale, std::int32_t zero_point) {
    return quantized<To>(static_cast<float>(value) / scale, zero_point);
  });
}
template <typename From>
void dequantize(const Scales& scales, const Operands& operands, Team& team) {
  if constexpr (kHasEightBits<From>) {
    const auto convert = [](std::span<const From> x, const ScaleAndZero& by, float* y) { dequantize_row(x, by, y); };
    if (scales.has_one()) return convert_rows<From, float>(operands, team, convert);
  }
  convert_all<From, float>(scales, operands, [](From value, float scale, std::int32_t zero_point) {
    return static_cast<float>(static_cast<std::int64_t>(value) - zero_point) * scale;
  });
}

// Elements of 4 bits, whose type the operand tells.
void dequantize_four_bits(const Scales& scales, const Operands& operands, Team& /*team*/) {
  const float* scale = elements<float>(operands.reads[1]);
  const bool has_zero = has_operand(operands.reads, 2);
  float* to = mutable_elements<float>(operands.writes[0]);
  std::int64_t from = 0;
  for (std::int64_t outer = 0; outer < scales.outer; ++outer) {
    for (std::int64_t axis = 0; axis < scales.axis; ++axis) {
      for (std::int64_t inner = 0; inner < scales.inner; ++inner, ++from) {
        const std::int64_t index = scales.index(outer, axis, inner);
        const std::int32_t zero = has_zero ? small_integer(operands.reads[2], index) : 0;
        to[from] = static_cast<float>(small_integer(operands.reads[0], from) - zero) * scale[index];
      }
    }
  }
}

template <typename From>
QuantizeFunction quantize_to(DType result) {
  switch (result) {
    case DType::i8: return &quantize<From, std::int8_t>;
    case DType::u8: return &quantize<From, std::uint8_t>;
    case DType::i16: return &quantize<From, std::int16_t>;
    case DType::u16: return &quantize<From, std::uint16_t>;
    default: return nullptr;
  }
}
QuantizeFunction quantize_function(DType from, DType to) {
  return from == DType::i32 ? quantize_to<std::int32_t>(to) : quantize_to<float>(to);
}
QuantizeFunction dequantize_function(DType from, DType to) {
  if (computed_type(to) != DType::f32) return nullptr;
  switch (from) {
    case DType::i8: return &dequantize<std::int8_t>;
    case DType::u8: return &dequantize<std::uint8_t>;
    case DType::i16: return &dequantize<std::int16_t>;
    case DType::u16: return &dequantize<std::uint16_t>;
    case DType::i4:
    case DType::u4: return &dequantize_four_bits;
    default: return &dequantize<std::int32_t>;
  }
}

RunStatus run_quantize(const QuantizeParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<Scales> scales = scales_of(parameters, operands);
  if (!scales) return {RunCode::bad_extents, 1};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  parameters.function(*scales, operands, team);
  return {};
}

template <QuantizeFunction (*function)(DType, DType)>
QuantizeFunction function_in(const Graph& graph, const Node& node) {
  return function(*computed_type(graph, node, 0), graph.tensor(*node.outputs[0]).dtype);
}

template <QuantizeFunction (*function)(DType, DType)>
std::string missing_quantize(const Graph& graph, const Node& node) {
  if (computed_type(graph, node, 1) != DType::f32) return "the scales are not f32, f16 or bf16";
  return function_in<function>(graph, node) != nullptr ? "" : "no kernel has a result of this type";
}

template <QuantizeFunction (*function)(DType, DType)>
PreparedResult prepare_quantize(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_quantize,
                      QuantizeParameters{function_in<function>(input.graph, node), integer_attribute(node, "axis", 1),
                                         integer_attribute(node, "block_size", 0)});
}

struct DynamicParameters {};

// The scale covers the range of all elements and 0.
RunStatus run_dynamic(const DynamicParameters& /*parameters*/, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::array extents{from, Extents(), Extents()};
  for (std::size_t at = 0; at < 3; ++at) {
    const RunStatus status = set_extents(operands.writes[at], extents[at]);
    if (status.code != RunCode::ok) return status;
  }
  const float* x = elements<float>(operands.reads[0]);
  float least = 0;
  float most = 0;
  for (std::int64_t at = 0; at < from.count(); ++at) {
    least = std::min(least, x[at]);
    most = std::max(most, x[at]);
  }
  const float scale = (most == least ? 1.0F : most - least) / 255.0F;
  const auto zero_point = quantized<std::uint8_t>(-least / scale, 0);
  for (std::int64_t at = 0; at < from.count(); ++at) {
    mutable_elements<std::uint8_t>(operands.writes[0])[at] = quantized<std::uint8_t>(x[at] / scale, zero_point);
  }
  *mutable_elements<float>(operands.writes[1]) = scale;
  *mutable_elements<std::uint8_t>(operands.writes[2]) = zero_point;
  return {};
}

std::string missing_dynamic(const Graph& graph, const Node& node) {
  const bool has_results = node.outputs.size() == 3 && node.outputs[1] && node.outputs[2];
  if (!has_results) return "the kernel writes three results";
  return graph.tensor(*node.outputs[0]).dtype == DType::u8 ? "" : "the result is not u8";
}

constexpr std::array kQuantizedFrom{DType::f32, DType::f16, DType::bf16, DType::i32};
constexpr std::array kDequantizedFrom{DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::i4, DType::u4};
constexpr std::array kDynamicTypes{DType::f32};

// Sorted by type.
constexpr std::array kQuantizeTable{
    PlainOperator{.op = {"", "DequantizeLinear", kDequantizedFrom},
                  .operands = 2,
                  .prepare = &prepare_quantize<&dequantize_function>,
                  .missing = &missing_quantize<&dequantize_function>,
                  .widens_half = true},
    PlainOperator{.op = {"", "DynamicQuantizeLinear", kDynamicTypes},
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_dynamic, DynamicParameters{});
                  },
                  .missing = &missing_dynamic},
    PlainOperator{.op = {"", "QuantizeLinear", kQuantizedFrom},
                  .operands = 2,
                  .prepare = &prepare_quantize<&quantize_function>,
                  .missing = &missing_quantize<&quantize_function>,
                  .widens_half = true},
};
constexpr std::array kQuantizeOperators = operators_of(kQuantizeTable);

// Rows for chains. One scale and one zero point hold for all elements.
template <typename T>
ScaleAndZero scale_of(const Row& row) {
  const std::int32_t zero = row.reads[2] == nullptr ? 0 : *reinterpret_cast<const T*>(row.reads[2]);
  return {*reinterpret_cast<const float*>(row.reads[1]), zero};
}
template <typename T>
RunCode quantize_part(const Row& row, const Numbers& /*numbers*/) {
  const auto* x = reinterpret_cast<const float*>(row.reads[0]);
  quantize_row({x, static_cast<std::size_t>(row.count)}, scale_of<T>(row), reinterpret_cast<T*>(row.write));
  return RunCode::ok;
}
template <typename T>
RunCode dequantize_part(const Row& row, const Numbers& /*numbers*/) {
  const auto* x = reinterpret_cast<const T*>(row.reads[0]);
  dequantize_row(std::span(x, static_cast<std::size_t>(row.count)), scale_of<T>(row),
                 reinterpret_cast<float*>(row.write));
  return RunCode::ok;
}

RowFunction quantize_row_function(DType first, DType second, DType result) {
  if (first != DType::f32 || second != DType::f32) return nullptr;
  return result == DType::i8   ? &quantize_part<std::int8_t>
         : result == DType::u8 ? &quantize_part<std::uint8_t>
                               : nullptr;
}
RowFunction dequantize_row_function(DType first, DType second, DType result) {
  if (second != DType::f32 || result != DType::f32) return nullptr;
  return first == DType::i8   ? &dequantize_part<std::int8_t>
         : first == DType::u8 ? &dequantize_part<std::uint8_t>
                              : nullptr;
}

// Sorted by type.
constexpr std::array kQuantizeRows{
    ElementwiseOperator{{"", "DequantizeLinear", kByteTypes}, 2, &dequantize_row_function},
    ElementwiseOperator{{"", "QuantizeLinear", kFloatTypes}, 2, &quantize_row_function},
};

}  // namespace

std::span<const ElementwiseOperator> quantize_table() { return kQuantizeRows; }

Family quantize_family() {
  return {.name = "quantize",
          .operators = kQuantizeOperators,
          .offer = [](const OfferInput& input) { return offer_from(kQuantizeTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kQuantizeTable, input); }};
}

}  // namespace lowtide::kernels_internal
