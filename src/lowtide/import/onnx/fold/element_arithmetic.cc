// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/fold/element_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace lowtide::import_internal {
namespace {

constexpr std::int64_t kLargestInDouble = std::int64_t{1} << 53;

bool is_exactly(const KnownElement& element, std::int64_t number) {
  return element.knowledge == Knowledge::exact && element.integer == number;
}

// Includes an upper bound of 0, because a bounded number is never negative.
bool is_certainly_zero(const KnownElement& element) {
  return element.knowledge != Knowledge::unknown && element.integer == 0;
}

struct IntegerPair {
  IntegerRange a;
  IntegerRange b;
};
std::optional<IntegerPair> integer_pair(const KnownElement& a, const KnownElement& b) {
  const auto left = integer_range(a);
  const auto right = integer_range(b);
  if (!left || !right) return std::nullopt;
  return IntegerPair{*left, *right};
}

struct RealPair {
  RealRange a;
  RealRange b;
  [[nodiscard]] bool is_exact() const { return a.is_exact && b.is_exact; }
  [[nodiscard]] RealRange exactly(double result) const { return {result, result, is_exact()}; }
};

// Returns nullopt if nothing is known of an operand. Also returns nullopt if an end is infinite, unless both operands
// are exact, because infinity times the 0 of a range would be NaN.
std::optional<RealPair> real_pair(const KnownElement& a, const KnownElement& b) {
  const auto left = real_range(a);
  const auto right = real_range(b);
  if (!left || !right) return std::nullopt;
  const RealPair pair{*left, *right};
  if (!pair.is_exact() && !(std::isfinite(pair.a.high) && std::isfinite(pair.b.high))) return std::nullopt;
  return pair;
}

// Whether no operand is negative. Then a sum or product is lowest at both low ends and highest at both high ends.
bool are_non_negative(const RealPair& pair) { return pair.a.low >= 0 && pair.b.low >= 0; }

Error division_by_zero() {
  return {ErrorCode::invalid, "an integer is divided by 0, which is known before the run", ""};
}

// The range of a divisor without 0, because a run fails if it divides by 0. Returns nullopt if the divisor may be
// negative or is always 0.
std::optional<IntegerRange> positive_divisor(const IntegerRange& divisor) {
  if (divisor.low < 0 || divisor.high < 1) return std::nullopt;
  return IntegerRange{std::max<Int128>(divisor.low, 1), divisor.high};
}

}  // namespace

Result<KnownElement> add_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    if (is_exactly(a, 0)) return b;
    if (is_exactly(b, 0)) return a;
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    return element_of(dtype, IntegerRange{pair->a.low + pair->b.low, pair->a.high + pair->b.high});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (pair->is_exact()) return element_of(dtype, pair->exactly(pair->a.low + pair->b.low));
  if (!are_non_negative(*pair)) return KnownElement{};
  return element_of(dtype, RealRange{pair->a.low + pair->b.low, pair->a.high + pair->b.high, false});
}

Result<KnownElement> subtract_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    if (is_exactly(b, 0)) return a;
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    return element_of(dtype, IntegerRange{pair->a.low - pair->b.high, pair->a.high - pair->b.low});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (pair->is_exact()) return element_of(dtype, pair->exactly(pair->a.low - pair->b.low));
  return element_of(dtype, RealRange{pair->a.low - pair->b.high, pair->a.high - pair->b.low, false});
}

Result<KnownElement> multiply_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    if (is_exactly(a, 0) || is_exactly(b, 0)) return exact_integer(0);
    if (is_exactly(a, 1)) return b;
    if (is_exactly(b, 1)) return a;
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    if (pair->a.is_exact() && pair->b.is_exact()) {
      return element_of(dtype, IntegerRange{pair->a.low * pair->b.low, pair->a.low * pair->b.low});
    }
    if (pair->a.low < 0 || pair->b.low < 0) return KnownElement{};
    return element_of(dtype, IntegerRange{pair->a.low * pair->b.low, pair->a.high * pair->b.high});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (pair->is_exact()) return element_of(dtype, pair->exactly(pair->a.low * pair->b.low));
  if (!are_non_negative(*pair)) return KnownElement{};
  return element_of(dtype, RealRange{pair->a.low * pair->b.low, pair->a.high * pair->b.high, false});
}

Result<KnownElement> divide_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    if (is_certainly_zero(b)) return division_by_zero();
    if (is_exactly(b, 1)) return a;
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    if (pair->a.is_exact() && pair->b.is_exact()) {
      const Int128 quotient = pair->a.low / pair->b.low;
      if (quotient > highest_of(dtype)) {
        return Error{
            ErrorCode::invalid,
            "the integer " + std::to_string(a.integer) + " is divided by -1, and its type cannot represent the result",
            ""};
      }
      return element_of(dtype, IntegerRange{quotient, quotient});
    }
    const auto divisor = positive_divisor(pair->b);
    if (!divisor || pair->a.low < 0) return KnownElement{};
    return element_of(dtype, IntegerRange{pair->a.low / divisor->high, pair->a.high / divisor->low});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (pair->is_exact()) return element_of(dtype, pair->exactly(pair->a.low / pair->b.low));
  if (!pair->b.is_exact || !(pair->b.low > 0) || !(pair->a.low >= 0)) return KnownElement{};
  return element_of(dtype, RealRange{pair->a.low / pair->b.low, pair->a.high / pair->b.low, false});
}

Result<KnownElement> modulo_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (!is_integer(dtype)) return KnownElement{};
  if (is_certainly_zero(b)) return division_by_zero();
  const auto divisor = integer_range(b);
  if (!divisor) return KnownElement{};
  if (a.knowledge == Knowledge::exact && divisor->is_exact()) {
    Int128 rest = Int128{a.integer} % divisor->low;
    if (rest != 0 && (rest < 0) != (divisor->low < 0)) rest += divisor->low;
    return element_of(dtype, IntegerRange{rest, rest});
  }
  const auto positive = positive_divisor(*divisor);
  if (!positive) return KnownElement{};
  const auto dividend = integer_range(a);
  const bool is_small = dividend && dividend->low >= 0;
  const Int128 most = is_small ? std::min(dividend->high, positive->high - 1) : positive->high - 1;
  return element_of(dtype, IntegerRange{0, most});
}

Result<KnownElement> remainder_elements(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (is_integer(dtype)) {
    if (is_certainly_zero(b)) return division_by_zero();
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    if (pair->a.is_exact() && pair->b.is_exact()) {
      const Int128 rest = pair->a.low % pair->b.low;
      return element_of(dtype, IntegerRange{rest, rest});
    }
    const auto positive = positive_divisor(pair->b);
    if (!positive || pair->a.low < 0) return KnownElement{};
    return element_of(dtype, IntegerRange{0, std::min(pair->a.high, positive->high - 1)});
  }
  const auto pair = real_pair(a, b);
  if (!pair || !pair->is_exact()) return KnownElement{};
  return element_of(dtype, pair->exactly(std::fmod(pair->a.low, pair->b.low)));
}

Result<KnownElement> least_element(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (a == b) return a;
  if (is_integer(dtype)) {
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    return element_of(dtype, IntegerRange{std::min(pair->a.low, pair->b.low), std::min(pair->a.high, pair->b.high)});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (std::isnan(pair->a.low)) return a;
  if (std::isnan(pair->b.low)) return b;
  return element_of(
      dtype, RealRange{std::min(pair->a.low, pair->b.low), std::min(pair->a.high, pair->b.high), pair->is_exact()});
}

Result<KnownElement> greatest_element(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (a == b) return a;
  if (is_integer(dtype)) {
    const auto pair = integer_pair(a, b);
    if (!pair) return KnownElement{};
    return element_of(dtype, IntegerRange{std::max(pair->a.low, pair->b.low), std::max(pair->a.high, pair->b.high)});
  }
  const auto pair = real_pair(a, b);
  if (!pair) return KnownElement{};
  if (std::isnan(pair->a.low)) return a;
  if (std::isnan(pair->b.low)) return b;
  return element_of(
      dtype, RealRange{std::max(pair->a.low, pair->b.low), std::max(pair->a.high, pair->b.high), pair->is_exact()});
}

KnownElement integer_power(DType dtype, const KnownElement& base, const KnownElement& exponent) {
  if (is_exactly(exponent, 0)) return exact_integer(1);
  if (is_exactly(exponent, 1)) return base;
  const auto range = integer_range(base);
  if (!range || exponent.knowledge != Knowledge::exact || exponent.integer < 0) return {};
  const Int128 factor = range->high;
  Int128 power = 1;
  // Powers of 0, 1 and -1 stay small and repeat after two factors.
  const bool is_small = factor >= -1 && factor <= 1;
  const std::int64_t count = is_small ? 2 + exponent.integer % 2 : exponent.integer;
  for (std::int64_t i = 0; i < count; ++i) {
    power *= factor;
    if (power > kLargestInDouble || power < -kLargestInDouble) return {};
  }
  return element_of(dtype, range->is_exact() ? IntegerRange{power, power} : IntegerRange{0, power});
}

}  // namespace lowtide::import_internal
