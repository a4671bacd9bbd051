// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>

#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/math/functions.h"
#include "lowtide/kernels/plain/elementwise/elementwise.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"
#include "lowtide/kernels/plain/elementwise/typed_rows.h"

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
  return for_integers(dtype, []<typename T>() -> RowFunction { return &divided_row<compute, T>; });
}

RowFunction div_function(DType first, DType second, DType result) {
  if (first != second || first != result) return nullptr;
  const RowFunction found = for_reals(first, []<typename T>() -> RowFunction { return &binary_row<kQuotient, T>; });
  return found != nullptr ? found : divided_integers<kQuotient>(first);
}

constexpr auto kRealModulo = []<typename T>(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
};

// The attribute fmod (number 0) says that the remainder has the sign of the dividend, as in C.
template <typename T>
RunCode mod_row(const Row& row, const Numbers& numbers) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr auto kFmod = [](T a, T b) { return std::fmod(a, b); };
    return numbers[0] != 0 ? binary_row<kFmod, T>(row, numbers) : binary_row<kRealModulo, T>(row, numbers);
  } else {
    return numbers[0] != 0 ? divided_row<kRemainder, T>(row, numbers) : divided_row<kModulo, T>(row, numbers);
  }
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
  return for_numbers(first, []<typename T>() -> RowFunction { return &mod_row<T>; });
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
  return for_integers(first, []<typename T>() -> RowFunction { return &shift_row<T>; });
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
  return for_numbers(exponent, []<typename E>() -> RowFunction { return &power_row<T, E>; });
}
RowFunction pow_function(DType first, DType second, DType result) {
  if (first != result) return nullptr;
  switch (first) {
    case DType::f64: return power_of<double>(second);
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
  return for_numbers(first, []<typename T>() -> RowFunction { return &binary_row<compute, T, std::uint8_t>; });
}
constexpr auto kEqual = [](auto a, auto b) { return a == b; };
RowFunction equal_function(DType first, DType second, DType result) {
  if (first != second || result != DType::boolean) return nullptr;
  constexpr auto kFunctions = []<typename T>() -> RowFunction { return &binary_row<kEqual, T, std::uint8_t>; };
  const RowFunction found = for_reals(first, kFunctions);
  return found != nullptr ? found : for_integer_bits(first == DType::boolean ? DType::u8 : first, kFunctions);
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
constexpr auto kWrapped = &binary_wrapping<[](auto a, auto b) { return wrapped(a, b, operation); }>;

constexpr std::array kPowerTypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32};

// Sorted by type.
constexpr std::array kBinaryTable{
    ElementwiseOperator{on_numbers("Add"), 2, kWrapped<[](auto a, auto b) { return a + b; }>},
    ElementwiseOperator{on_booleans("And"), 2, &logical<[](auto a, auto b) { return a != 0 && b != 0; }>},
    ElementwiseOperator{.op = on_integers("BitShift"),
                        .operands = 2,
                        .function = &shift_function,
                        .numbers = {{{"direction", 0, "LEFT"}}}},
    ElementwiseOperator{on_integers("BitwiseAnd"), 2, &binary_bits<[](auto a, auto b) { return a & b; }>},
    ElementwiseOperator{on_integers("BitwiseOr"), 2, &binary_bits<[](auto a, auto b) { return a | b; }>},
    ElementwiseOperator{on_integers("BitwiseXor"), 2, &binary_bits<[](auto a, auto b) { return a ^ b; }>},
    ElementwiseOperator{on_numbers("Div"), 2, &div_function},
    ElementwiseOperator{{"", "Equal", kAllTypes}, 2, &equal_function},
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
