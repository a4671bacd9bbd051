// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"

namespace lowtide::kernels_internal {
namespace {

// NaN and every number but 0 are true. A true boolean is any byte but 0, and becomes 1.
constexpr auto kToBoolean = [](auto x) { return static_cast<std::uint8_t>(x != 0 ? 1 : 0); };

template <typename To>
RowFunction cast_to(DType from) {
  constexpr auto kConvert = [](auto x) { return converted<To>(x); };
  constexpr auto kFromBoolean = [](std::uint8_t x) { return static_cast<To>(x != 0 ? 1 : 0); };
  switch (from) {
    case DType::f32: return &unary_row<kConvert, float, To>;
    case DType::i64: return &unary_row<kConvert, std::int64_t, To>;
    case DType::i32: return &unary_row<kConvert, std::int32_t, To>;
    case DType::i8: return &unary_row<kConvert, std::int8_t, To>;
    case DType::u8: return &unary_row<kConvert, std::uint8_t, To>;
    case DType::boolean: return &unary_row<kFromBoolean, std::uint8_t, To>;
    default: return nullptr;
  }
}
RowFunction cast_to_boolean(DType from) {
  switch (from) {
    case DType::f32: return &unary_row<kToBoolean, float, std::uint8_t>;
    case DType::i64: return &unary_row<kToBoolean, std::int64_t, std::uint8_t>;
    case DType::i32: return &unary_row<kToBoolean, std::int32_t, std::uint8_t>;
    case DType::i8:
    case DType::u8:
    case DType::boolean: return &unary_row<kToBoolean, std::uint8_t>;
    default: return nullptr;
  }
}

// The second operand of CastLike only has the type, which the result has, too.
RowFunction cast_function(DType first, DType /*second*/, DType result) {
  switch (result) {
    case DType::f32: return cast_to<float>(first);
    case DType::i64: return cast_to<std::int64_t>(first);
    case DType::i32: return cast_to<std::int32_t>(first);
    case DType::i8: return cast_to<std::int8_t>(first);
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
    ElementwiseOperator{{"", "Cast", kAllTypes}, 1, &cast_function},
    ElementwiseOperator{.op = {"", "CastLike", kAllTypes}, .function = &cast_function, .ignores_others = true},
};
constexpr std::array kCastOperators = operators_of(kCastTable);

}  // namespace

Family cast_family() {
  return {.name = "cast",
          .operators = kCastOperators,
          .offer = [](const OfferInput& input) { return offer_elementwise(kCastTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_elementwise(kCastTable, input); }};
}

}  // namespace lowtide::kernels_internal
