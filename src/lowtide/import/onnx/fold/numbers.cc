// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/fold/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lowtide::import_internal {
namespace {

struct IntegerFormat {
  int bits;
  bool is_signed;
};

std::optional<IntegerFormat> integer_format(DType dtype) {
  switch (dtype) {
    case DType::i64: return IntegerFormat{64, true};
    case DType::i32: return IntegerFormat{32, true};
    case DType::i16: return IntegerFormat{16, true};
    case DType::i8: return IntegerFormat{8, true};
    case DType::i4: return IntegerFormat{4, true};
    case DType::i2: return IntegerFormat{2, true};
    case DType::u64: return IntegerFormat{64, false};
    case DType::u32: return IntegerFormat{32, false};
    case DType::u16: return IntegerFormat{16, false};
    case DType::u8: return IntegerFormat{8, false};
    case DType::u4: return IntegerFormat{4, false};
    case DType::u2: return IntegerFormat{2, false};
    case DType::boolean: return IntegerFormat{1, false};
    default: return std::nullopt;
  }
}

// Rounds to `digits` significant bits, with a least exponent (of the last bit of the smallest numbers) and a
// greatest finite number. Scaling by powers of two is exact, and nearbyint rounds to even by default.
double round_to_format(double number, int digits, int least_exponent, double greatest) {
  if (number == 0 || !std::isfinite(number)) return number;
  const int exponent = std::max(std::ilogb(number) - (digits - 1), least_exponent);
  const double result = std::ldexp(std::nearbyint(std::ldexp(number, -exponent)), exponent);
  if (std::fabs(result) > greatest) return std::copysign(std::numeric_limits<double>::infinity(), number);
  return result;
}

}  // namespace

bool is_integer(DType dtype) { return integer_format(dtype).has_value(); }

bool is_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

Int128 lowest_of(DType dtype) {
  const IntegerFormat format = integer_format(dtype).value_or(IntegerFormat{1, false});
  return format.is_signed ? -(Int128{1} << (format.bits - 1)) : Int128{0};
}

Int128 highest_of(DType dtype) {
  const IntegerFormat format = integer_format(dtype).value_or(IntegerFormat{1, false});
  return (Int128{1} << (format.is_signed ? format.bits - 1 : format.bits)) - 1;
}

std::optional<std::int64_t> wrapped(DType dtype, Int128 number) {
  const Int128 low = lowest_of(dtype);
  const Int128 count = highest_of(dtype) - low + 1;
  Int128 above = (number - low) % count;
  if (above < 0) above += count;
  const Int128 result = low + above;
  if (result > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(result);
}

double rounded(DType dtype, double number) {
  switch (dtype) {
    case DType::f32: return static_cast<double>(static_cast<float>(number));
    case DType::f16: return round_to_format(number, 11, -24, 65504.0);
    case DType::bf16: return round_to_format(number, 8, -133, 0x1.FEp127);
    default: return number;
  }
}

KnownElement exact_integer(std::int64_t number) {
  KnownElement element;
  element.knowledge = Knowledge::exact;
  element.integer = number;
  return element;
}

KnownElement exact_real(double number) {
  KnownElement element;
  element.knowledge = Knowledge::exact;
  element.real = number;
  return element;
}

KnownElement exact_bool(bool truth) { return exact_integer(truth ? 1 : 0); }

std::optional<IntegerRange> integer_range(const KnownElement& element) {
  switch (element.knowledge) {
    case Knowledge::exact: return IntegerRange{element.integer, element.integer};
    case Knowledge::at_most: return IntegerRange{0, element.integer};
    case Knowledge::unknown: break;
  }
  if (element.symbol.empty()) return std::nullopt;
  return IntegerRange{0, std::numeric_limits<std::int64_t>::max()};
}

std::optional<RealRange> real_range(const KnownElement& element) {
  switch (element.knowledge) {
    case Knowledge::exact: return RealRange{element.real, element.real, true};
    case Knowledge::at_most: return RealRange{0, element.real, false};
    case Knowledge::unknown: break;
  }
  return std::nullopt;
}

KnownElement element_of(DType dtype, const IntegerRange& range) {
  KnownElement element;
  if (range.is_exact()) {
    if (const std::optional<std::int64_t> number = wrapped(dtype, range.low)) return exact_integer(*number);
    return element;
  }
  // An unknown extent has the bound 2^63 - 1, which says nothing.
  if (range.low < 0 || range.high > highest_of(dtype) || range.high >= std::numeric_limits<std::int64_t>::max()) {
    return element;
  }
  element.knowledge = Knowledge::at_most;
  element.integer = static_cast<std::int64_t>(range.high);
  return element;
}

KnownElement element_of(DType dtype, const RealRange& range) {
  if (range.is_exact) return exact_real(rounded(dtype, range.low));
  KnownElement element;
  const double high = rounded(dtype, range.high);
  if (!(range.low >= 0) || !std::isfinite(high)) return element;
  element.knowledge = Knowledge::at_most;
  element.real = high;
  return element;
}

KnownElement either(DType dtype, const KnownElement& a, const KnownElement& b) {
  if (a == b) return a;
  if (is_integer(dtype)) {
    const auto left = integer_range(a);
    const auto right = integer_range(b);
    if (!left || !right) return {};
    return element_of(dtype, IntegerRange{std::min(left->low, right->low), std::max(left->high, right->high)});
  }
  const auto left = real_range(a);
  const auto right = real_range(b);
  if (!left || !right || std::isnan(left->low) || std::isnan(right->low)) return {};
  return element_of(dtype, RealRange{std::min(left->low, right->low), std::max(left->high, right->high), false});
}

}  // namespace lowtide::import_internal
