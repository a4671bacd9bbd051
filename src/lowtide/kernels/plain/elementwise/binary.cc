// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>

#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/math/functions.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"

namespace lowtide::kernels_internal {
namespace {

// Division and remainder of integers. The lowest integer divided by -1 wraps around; the processor would trap.
constexpr auto kQuotient = []<typename T>(T a, T b) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (b == T{-1}) return wrapped(T{0}, a, [](auto x, auto y) { return x - y; });
  }
  return static_cast<T>(a / b);
};
constexpr auto kRemainder = []<typename T>(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return T{0};
  }
  return static_cast<T>(a % b);
};
// The remainder with the sign of the divisor.
constexpr auto kModulo = []<typename T>(T a, T b) {
  const T rest = kRemainder(a, b);
  return rest != 0 && (rest < T{0}) != (b < T{0}) ? static_cast<T>(rest + b) : rest;
};

template <auto compute, typename T>
RunCode divided_row(const Row& row, const Numbers& numbers) {
  const auto* divisors = reinterpret_cast<const T*>(row.reads[1]);
  const std::int64_t count = row.steps[1] == 0 ? 1 : row.count;
  if (std::find(divisors, divisors + count, T{0}) != divisors + count) return RunCode::division_by_zero;
  return binary_row<compute, T>(row, numbers);
}

template <auto compute>
RowFunction divided_integers(DType dtype) {
  switch (dtype) {
    case DType::i64: return &divided_row<compute, std::int64_t>;
    case DType::i32: return &divided_row<compute, std::int32_t>;
    case DType::i8: return &divided_row<compute, std::int8_t>;
    case DType::u8: return &divided_row<compute, std::uint8_t>;
    default: return nullptr;
  }
}

RowFunction div_function(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  return first == DType::f32 ? &binary_row<kQuotient, float> : divided_integers<kQuotient>(first);
}

constexpr auto kFloatModulo = [](float a, float b) {
  const float rest = std::fmod(a, b);
  if (rest == 0.0F) return std::copysign(rest, b);
  return (rest < 0.0F) != (b < 0.0F) ? rest + b : rest;
};

// The attribute fmod (number 0) says that the remainder has the sign of the dividend, as in C.
RunCode float_mod_row(const Row& row, const Numbers& numbers) {
  constexpr auto kFmod = [](float a, float b) { return std::fmod(a, b); };
  return numbers[0] != 0 ? binary_row<kFmod, float>(row, numbers) : binary_row<kFloatModulo, float>(row, numbers);
}
template <typename T>
RunCode mod_row(const Row& row, const Numbers& numbers) {
  return numbers[0] != 0 ? divided_row<kRemainder, T>(row, numbers) : divided_row<kModulo, T>(row, numbers);
}
// The attribute alpha is number 0.
RunCode swiglu_row(const Row& row, const Numbers& numbers) {
  const auto* gate = reinterpret_cast<const float*>(row.reads[0]);
  const auto* x = reinterpret_cast<const float*>(row.reads[1]);
  auto* y = reinterpret_cast<float*>(row.write);
  const auto alpha = static_cast<float>(numbers[0]);
  for (std::int64_t at = 0; at < row.count; ++at) {
    const float open = gate[at * row.steps[0]];
    y[at] = open * sigmoid_f32(alpha * open) * x[at * row.steps[1]];
  }
  return RunCode::ok;
}
RowFunction swiglu_function(DType first, DType second, DType result) {
  return first == DType::f32 && second == first && result == first ? &swiglu_row : nullptr;
}

RowFunction mod_function(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  switch (first) {
    case DType::f32: return &float_mod_row;
    case DType::i64: return &mod_row<std::int64_t>;
    case DType::i32: return &mod_row<std::int32_t>;
    case DType::i8: return &mod_row<std::int8_t>;
    case DType::u8: return &mod_row<std::uint8_t>;
    default: return nullptr;
  }
}

// Bits that leave the type are lost. A shift by the width or more leaves 0, or the sign of a number shifted right. A
// negative distance counts as such a shift.
constexpr auto kShiftLeft = []<typename T>(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  constexpr auto kWidth = static_cast<Bits>(std::numeric_limits<Bits>::digits);
  return static_cast<Bits>(b) < kWidth ? static_cast<T>(static_cast<std::uint64_t>(a) << static_cast<Bits>(b)) : T{0};
};
constexpr auto kShiftRight = []<typename T>(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  constexpr auto kWidth = static_cast<Bits>(std::numeric_limits<Bits>::digits);
  return static_cast<Bits>(b) < kWidth ? static_cast<T>(a >> static_cast<Bits>(b)) : static_cast<T>(a < T{0} ? -1 : 0);
};
template <typename T>
RunCode shift_row(const Row& row, const Numbers& numbers) {
  return numbers[0] != 0 ? binary_row<kShiftLeft, T>(row, numbers) : binary_row<kShiftRight, T>(row, numbers);
}
RowFunction shift_function(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  switch (first) {
    case DType::i64: return &shift_row<std::int64_t>;
    case DType::i32: return &shift_row<std::int32_t>;
    case DType::i8: return &shift_row<std::int8_t>;
    case DType::u8: return &shift_row<std::uint8_t>;
    default: return nullptr;
  }
}

// A power of integers wraps around. A negative exponent gives the integer part of the quotient.
template <typename T>
T integer_power(T base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return base;
    return base == T{-1} ? (exponent % 2 == 0 ? T{1} : base) : T{0};
  }
  std::uint64_t power = 1;
  for (auto square = static_cast<std::uint64_t>(base); exponent != 0; exponent /= 2, square *= square) {
    if (exponent % 2 != 0) power *= square;
  }
  return static_cast<T>(power);
}

// The result has the type of the base.
template <typename T, typename E>
T power(T base, E exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<E>) {
    return integer_power(base, exponent);
  } else {
    const double wide = std::pow(static_cast<double>(base), static_cast<double>(exponent));
    return converted<T>(wide);
  }
}

template <typename T, typename E>
RunCode power_row(const Row& row, const Numbers& /*numbers*/) {
  const auto* bases = reinterpret_cast<const T*>(row.reads[0]);
  const auto* exponents = reinterpret_cast<const E*>(row.reads[1]);
  auto* results = reinterpret_cast<T*>(row.write);
  if (row.steps[1] == 0 && exponents[0] == E{2} && row.steps[0] == 1) {  // frequent, and gives the same bits
    for (std::int64_t at = 0; at < row.count; ++at) {
      results[at] = wrapped(bases[at], bases[at], [](auto a, auto b) { return a * b; });
    }
    return RunCode::ok;
  }
  const E repeated = exponents[0];
  for (std::int64_t at = 0; at < row.count; ++at) {
    results[at] = power(bases[at * row.steps[0]], row.steps[1] == 0 ? repeated : exponents[at]);
  }
  return RunCode::ok;
}
template <typename T>
RowFunction power_of(DType exponent) {
  switch (exponent) {
    case DType::f32: return &power_row<T, float>;
    case DType::i64: return &power_row<T, std::int64_t>;
    case DType::i32: return &power_row<T, std::int32_t>;
    default: return nullptr;
  }
}
RowFunction pow_function(DType first, DType second, DType result) {
  if (first != result) return nullptr;
  switch (first) {
    case DType::f32: return power_of<float>(second);
    case DType::i64: return power_of<std::int64_t>(second);
    case DType::i32: return power_of<std::int32_t>(second);
    default: return nullptr;
  }
}

// Comparisons. Booleans are compared as bytes.
template <auto compute>
RowFunction compared(DType first, DType second, DType result) {
  if (first != second || result != DType::boolean) return nullptr;
  switch (first) {
    case DType::f32: return &binary_row<compute, float, std::uint8_t>;
    case DType::i64: return &binary_row<compute, std::int64_t, std::uint8_t>;
    case DType::i32: return &binary_row<compute, std::int32_t, std::uint8_t>;
    case DType::i8: return &binary_row<compute, std::int8_t, std::uint8_t>;
    case DType::u8:
    case DType::boolean: return &binary_row<compute, std::uint8_t, std::uint8_t>;
    default: return nullptr;
  }
}
template <auto compute>
RowFunction logical(DType first, DType second, DType result) {
  const bool is_known = first == DType::boolean && second == first && result == first;
  return is_known ? &binary_row<compute, std::uint8_t> : nullptr;
}

constexpr auto kPRelu = []<typename T>(T x, T slope) {
  return x < T{0} ? wrapped(x, slope, [](auto a, auto b) { return a * b; }) : x;
};
template <auto operation>
constexpr auto kWrapped = &binary_numbers<[](auto a, auto b) { return wrapped(a, b, operation); }>;

constexpr std::array kPowerTypes{DType::f32, DType::f16, DType::i64, DType::i32};

// Sorted by type.
constexpr std::array kBinaryTable{
    ElementwiseOperator{on_numbers("Add"), 2, kWrapped<[](auto a, auto b) { return a + b; }>},
    ElementwiseOperator{on_booleans("And"), 2, &logical<[](auto a, auto b) { return a != 0 && b != 0; }>},
    ElementwiseOperator{.op = on_integers("BitShift"),
                        .operands = 2,
                        .function = &shift_function,
                        .numbers = {{{"direction", 0, "LEFT"}}}},
    ElementwiseOperator{on_integers("BitwiseAnd"), 2, &binary_integers<[](auto a, auto b) { return a & b; }>},
    ElementwiseOperator{on_integers("BitwiseOr"), 2, &binary_integers<[](auto a, auto b) { return a | b; }>},
    ElementwiseOperator{on_integers("BitwiseXor"), 2, &binary_integers<[](auto a, auto b) { return a ^ b; }>},
    ElementwiseOperator{on_numbers("Div"), 2, &div_function},
    ElementwiseOperator{{"", "Equal", kAllTypes}, 2, &compared<[](auto a, auto b) { return a == b; }>},
    ElementwiseOperator{on_numbers("Greater"), 2, &compared<[](auto a, auto b) { return b < a; }>},
    ElementwiseOperator{on_numbers("GreaterOrEqual"), 2, &compared<[](auto a, auto b) { return b <= a; }>},
    ElementwiseOperator{on_numbers("Less"), 2, &compared<[](auto a, auto b) { return a < b; }>},
    ElementwiseOperator{on_numbers("LessOrEqual"), 2, &compared<[](auto a, auto b) { return a <= b; }>},
    ElementwiseOperator{.op = on_numbers("Mod"), .operands = 2, .function = &mod_function, .numbers = {{{"fmod", 0}}}},
    ElementwiseOperator{on_numbers("Mul"), 2, kWrapped<[](auto a, auto b) { return a * b; }>},
    ElementwiseOperator{on_booleans("Or"), 2, &logical<[](auto a, auto b) { return a != 0 || b != 0; }>},
    ElementwiseOperator{on_numbers("PRelu"), 2, &binary_numbers<kPRelu>},
    ElementwiseOperator{{"", "Pow", kPowerTypes}, 2, &pow_function},
    ElementwiseOperator{on_numbers("Sub"), 2, kWrapped<[](auto a, auto b) { return a - b; }>},
    ElementwiseOperator{
        .op = on_floats("SwiGLU"), .operands = 2, .function = &swiglu_function, .numbers = {{{"alpha", 1.0}}}},
    ElementwiseOperator{on_booleans("Xor"), 2, &logical<[](auto a, auto b) { return (a != 0) != (b != 0); }>},
};
constexpr std::array kBinaryOperators = operators_of(kBinaryTable);

}  // namespace

std::span<const ElementwiseOperator> binary_table() { return kBinaryTable; }

Family binary_family() {
  return {.name = "binary",
          .operators = kBinaryOperators,
          .offer = [](const OfferInput& input) { return offer_elementwise(kBinaryTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_elementwise(kBinaryTable, input); }};
}

}  // namespace lowtide::kernels_internal
