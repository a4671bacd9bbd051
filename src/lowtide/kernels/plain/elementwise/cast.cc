// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "lowtide/base/rounded_to_odd.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/four_bits.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/elementwise/typed_rows.h"

namespace lowtide::kernels_internal {
namespace {

// NaN and every number but 0 are true. A true boolean is any byte but 0, and becomes 1.
constexpr auto kToBoolean = [](auto x) { return static_cast<std::uint8_t>(x != 0 ? 1 : 0); };

constexpr auto kRoundedToOdd = [](auto x) { return rounded_to_odd(x); };

template <typename To>
constexpr auto kConvertTo = [](auto x) { return converted<To>(x); };

template <typename To>
RowFunction cast_to(DType from) {
  constexpr auto kFromBoolean = [](std::uint8_t x) { return static_cast<To>(x != 0 ? 1 : 0); };
  if (from == DType::boolean) return &unary_row<kFromBoolean, std::uint8_t, To>;
  return for_numbers(from, []<typename From>() -> RowFunction { return &unary_row<kConvertTo<To>, From, To>; });
}
// To an f32 that the caller rounds to f16 or bf16.
RowFunction cast_to_narrow(DType from) {
  if (from == DType::boolean || from == DType::f32) return cast_to<float>(from);
  return for_numbers(from, []<typename From>() -> RowFunction { return &unary_row<kRoundedToOdd, From, float>; });
}
RowFunction cast_to_boolean(DType from) {
  if (from == DType::boolean) from = DType::u8;
  return for_numbers(from, []<typename From>() -> RowFunction { return &unary_row<kToBoolean, From, std::uint8_t>; });
}

// The second operand of CastLike only has the type, which the result has, too.
RowFunction cast_function(DType first, DType /*second*/, DType result) {
  switch (result) {
    case DType::f64: return cast_to<double>(first);
    case DType::f32: return cast_to<float>(first);
    case DType::i64: return cast_to<std::int64_t>(first);
    case DType::i32: return cast_to<std::int32_t>(first);
    case DType::i16: return cast_to<std::int16_t>(first);
    case DType::i8: return cast_to<std::int8_t>(first);
    case DType::u64: return cast_to<std::uint64_t>(first);
    case DType::u32: return cast_to<std::uint32_t>(first);
    case DType::u16: return cast_to<std::uint16_t>(first);
    case DType::u8: return cast_to<std::uint8_t>(first);
    case DType::boolean: return cast_to_boolean(first);
    default: return nullptr;
  }
}

template <std::size_t size>
RunCode bits_row(const Row& row, const Numbers& /*numbers*/) {
  std::memmove(row.write, row.reads[0], static_cast<std::size_t>(row.count) * size);
  return RunCode::ok;
}
RowFunction bit_cast_function(DType first, DType /*second*/, DType result) {
  if (bits_of(first) != bits_of(result)) return nullptr;
  switch (bits_of(first).value_or(0)) {
    case 8: return &bits_row<1>;
    case 16: return &bits_row<2>;
    case 32: return &bits_row<4>;
    case 64: return &bits_row<8>;
    default: return nullptr;
  }
}

// Sorted by type.
constexpr std::array kCastTable{
    ElementwiseOperator{.op = {"", "BitCast", kAllTypes}, .function = &bit_cast_function, .moves_elements = true},
    ElementwiseOperator{.op = {"", "Cast", kAllTypes}, .function = &cast_function, .narrow_function = &cast_to_narrow},
    ElementwiseOperator{.op = {"", "CastLike", kAllTypes},
                        .function = &cast_function,
                        .ignores_others = true,
                        .narrow_function = &cast_to_narrow},
};
constexpr std::array kCastOperators = operators_of(kCastTable);

// A cast of integers of 4 bits, two of which share a byte: they become i8 or u8 in blocks, and then the other type.
struct FourBitCast {
  RowFunction function = nullptr;  // from i8 or u8
  bool is_signed = false;
  DType result = DType::f32;
};

void unpack_four_bits(const std::byte* from, std::int64_t begin, bool is_signed, std::span<std::uint8_t> to) {
  for (std::size_t at = 0; at < to.size(); ++at) {
    to[at] = static_cast<std::uint8_t>(integer_of_four_bits(from, begin + static_cast<std::int64_t>(at), is_signed));
  }
}

RunStatus run_four_bit_cast(const FourBitCast& cast, const Operands& operands, Team& /*team*/) {
  constexpr std::int64_t kBlock = 256;
  const BoundTensor& x = operands.reads[0];
  const BoundTensor& y = operands.writes[0];
  if (const RunStatus status = set_extents(y, Extents(extents_of(x))); status.code != RunCode::ok) return status;
  std::array<std::uint8_t, kBlock> block;  // NOLINT(*-member-init)
  const ElementwiseStep step{.function = cast.function,
                             .operands = {cast.is_signed ? DType::i8 : DType::u8, DType::f32, DType::f32},
                             .result = cast.result,
                             .converts_narrow = is_narrow_float(cast.result)};
  for (std::int64_t begin = 0; begin < count_of(x); begin += kBlock) {
    const std::int64_t count = std::min(kBlock, count_of(x) - begin);
    unpack_four_bits(*x.bytes, begin, cast.is_signed, std::span(block).first(static_cast<std::size_t>(count)));
    const Row row{.reads = {reinterpret_cast<const std::byte*>(block.data())},
                  .steps = {1},
                  .write = *y.bytes + begin * element_bytes(y.dtype),
                  .count = count};
    run_step(step, row);
  }
  return {};
}

FourBitCast four_bit_cast_of(const Graph& graph, const Node& node) {
  const bool is_signed = graph.tensor(*node.inputs[0]).dtype == DType::i4;
  const DType result = graph.tensor(*node.outputs[0]).dtype;
  const DType computed = computed_type(result);
  return {cast_function(is_signed ? DType::i8 : DType::u8, computed, computed), is_signed, result};
}

std::string missing_four_bit_cast(const Graph& graph, const Node& node) {
  return four_bit_cast_of(graph, node).function != nullptr ? "" : "no kernel casts integers of 4 bits to this type";
}

constexpr std::array kFourBitTypes{DType::i4, DType::u4};
constexpr std::array kFourBitTable{
    PlainOperator{.op = {"", "Cast", kFourBitTypes},
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_four_bit_cast, four_bit_cast_of(input.graph, node_of(input)));
                  },
                  .missing = &missing_four_bit_cast},
};
constexpr std::array kFourBitOperators = operators_of(kFourBitTable);

}  // namespace

Family cast_family() {
  return {.name = "cast",
          .operators = kCastOperators,
          .offer = [](const OfferInput& input) { return offer_elementwise(kCastTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_elementwise(kCastTable, input); }};
}

Family four_bit_cast_family() {
  return {.name = "four_bit_cast",
          .operators = kFourBitOperators,
          .offer = [](const OfferInput& input) { return offer_from(kFourBitTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kFourBitTable, input); }};
}

}  // namespace lowtide::kernels_internal
