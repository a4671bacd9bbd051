// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/elementwise/typed_rows.h"

namespace lowtide::kernels_internal {
namespace {

// The larger or smaller number. A NaN wins.
constexpr auto kMaximum = [](auto a, auto b) { return b < a || is_nan(a) ? a : b; };
constexpr auto kMinimum = [](auto a, auto b) { return a < b || is_nan(a) ? a : b; };

template <typename T>
void clip_loop(const T* x, T* y, std::int64_t count, T low, T high) {
  for (std::int64_t at = 0; at < count; ++at) {
    const T above = x[at] < low ? low : x[at];
    y[at] = above > high ? high : above;
  }
}
LOWTIDE_VECTOR_CLONES void clip_float_loop(const float* x, float* y, std::int64_t count, float low, float high) {
  clip_loop(x, y, count, low, high);
}

// The bounds are operands, or until opset 10 attributes (the numbers). A lower bound above the upper one has no effect.
template <typename T>
RunCode clip_row(const Row& row, const Numbers& numbers) {
  const auto bound = [&](std::size_t at) {
    if (row.reads[at] != nullptr) return *reinterpret_cast<const T*>(row.reads[at]);
    constexpr T kHighest = std::numeric_limits<T>::max();
    const double given = numbers[at - 1];
    if (given >= static_cast<double>(kHighest)) {
      return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : kHighest;
    }
    if (given <= static_cast<double>(std::numeric_limits<T>::lowest())) {
      return std::numeric_limits<T>::has_infinity ? static_cast<T>(-std::numeric_limits<T>::infinity())
                                                  : std::numeric_limits<T>::lowest();
    }
    return static_cast<T>(given);
  };
  const T low = bound(1);
  const T high = bound(2);
  const auto* x = reinterpret_cast<const T*>(row.reads[0]);
  auto* y = reinterpret_cast<T*>(row.write);
  if constexpr (std::is_same_v<T, float>) {
    clip_float_loop(x, y, row.count, low, high);
  } else {
    clip_loop(x, y, row.count, low, high);
  }
  return RunCode::ok;
}
RowFunction clip_function(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  return for_numbers(first, []<typename T>() -> RowFunction { return &clip_row<T>; });
}

// T only has the size of an element.
template <typename T>
RunCode where_row(const Row& row, const Numbers& /*numbers*/) {
  const auto* condition = reinterpret_cast<const std::uint8_t*>(row.reads[0]);
  const auto* x = reinterpret_cast<const T*>(row.reads[1]);
  const auto* y = reinterpret_cast<const T*>(row.reads[2]);
  auto* z = reinterpret_cast<T*>(row.write);
  const auto [from_condition, from_x, from_y] = row.steps;
  for (std::int64_t at = 0; at < row.count; ++at) {
    const T when_true = x[at * from_x];
    const T when_false = y[at * from_y];
    z[at] = condition[at * from_condition] != 0 ? when_true : when_false;
  }
  return RunCode::ok;
}
RowFunction where_function(DType first, DType second, DType result) {
  if (first != DType::boolean || second != result) return nullptr;
  switch (bits_of(result).value_or(0)) {
    case 8: return &where_row<std::uint8_t>;
    case 16: return &where_row<std::uint16_t>;
    case 32: return &where_row<std::uint32_t>;
    case 64: return &where_row<std::uint64_t>;
    default: return nullptr;
  }
}

template <auto compute>
RowFunction combined(DType first, DType /*second*/, DType result) {
  return binary_numbers<compute>(first, first, result);
}
constexpr auto kSum = []<typename T>(T a, T b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); };
RowFunction sum_of_reals(DType first, DType /*second*/, DType result) {
  if (first != result) return nullptr;
  return for_reals(first, []<typename T>() -> RowFunction { return &binary_row<kSum, T>; });
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sorted by type. Number 0 of a variadic operator says whether it divides by the number of operands.
constexpr std::array kSelectTable{
    ElementwiseOperator{
        .op = on_numbers("Clip"), .function = &clip_function, .numbers = {{{"min", -kInfinity}, {"max", kInfinity}}}},
    ElementwiseOperator{.op = on_numbers("Max"), .function = &combined<kMaximum>, .is_variadic = true},
    ElementwiseOperator{.op = on_reals("Mean"), .function = &sum_of_reals, .numbers = {{{"", 1}}}, .is_variadic = true},
    ElementwiseOperator{.op = on_numbers("Min"), .function = &combined<kMinimum>, .is_variadic = true},
    ElementwiseOperator{.op = on_reals("Sum"), .function = &sum_of_reals, .is_variadic = true},
    ElementwiseOperator{.op = on_booleans("Where"), .operands = 3, .function = &where_function, .moves_elements = true},
};
constexpr std::array kSelectOperators = operators_of(kSelectTable);

}  // namespace

std::span<const ElementwiseOperator> select_table() { return kSelectTable; }

Family select_family() {
  return {.name = "select",
          .operators = kSelectOperators,
          .offer = [](const OfferInput& input) { return offer_elementwise(kSelectTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_elementwise(kSelectTable, input); }};
}

}  // namespace lowtide::kernels_internal
