// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/bytes.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>

#include "lowtide/base/check.h"
#include "lowtide/base/thousands.h"

namespace lowtide {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<Unit, 5> kUnits = {{{"TiB", std::int64_t{1} << 40},
                                         {"GiB", std::int64_t{1} << 30},
                                         {"MiB", std::int64_t{1} << 20},
                                         {"KiB", std::int64_t{1} << 10},
                                         {"B", 1}}};

// The digits before and after the decimal point. split_decimal returns nullopt if the text is not a decimal number.
struct Decimal {
  std::string whole;
  std::string fraction;
};
std::optional<Decimal> split_decimal(std::string_view text) {
  Decimal out;
  bool after_point = false;
  for (char c : text) {
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      (after_point ? out.fraction : out.whole).push_back(c);
    } else {
      return std::nullopt;
    }
  }
  if (out.whole.empty() || (after_point && out.fraction.empty())) return std::nullopt;
  return out;
}

std::optional<std::int64_t> scaled(const Decimal& number, std::int64_t unit) {
  std::optional<std::int64_t> whole = 0;
  for (char c : number.whole) {
    whole = checked_multiply(*whole, 10);
    if (whole) whole = checked_add(*whole, c - '0');
    if (!whole) return std::nullopt;
  }
  whole = checked_multiply(*whole, unit);
  if (!whole || number.fraction.size() > 6) return std::nullopt;
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  for (char c : number.fraction) {
    numerator = numerator * 10 + (c - '0');
    denominator *= 10;
  }
  // numerator < 10^6 and unit <= 2^40 < 1.1e12, so the product stays below 1.1e18 < 2^63.
  if (numerator * unit % denominator != 0) return std::nullopt;
  return checked_add(*whole, numerator * unit / denominator);
}

}  // namespace

Bytes round_up(Bytes size, Bytes alignment) {
  LOWTIDE_CHECK(is_power_of_two(alignment.count()), "an alignment is a power of two");
  const std::int64_t mask = alignment.count() - 1;
  return Bytes(must_add(size.count(), mask) & ~mask);
}

Offset round_up(Offset at, Bytes alignment) { return Offset(round_up(Bytes(at.position()), alignment).count()); }

std::string format_bytes_short(Bytes size) {
  for (const Unit& unit : kUnits) {
    const double scaled_size = static_cast<double>(size.count()) / static_cast<double>(unit.bytes);
    if (unit.bytes == 1) break;
    if (scaled_size >= 1.0 || scaled_size <= -1.0) {
      std::array<char, 48> text{};
      std::snprintf(text.data(), text.size(), "%.2f ", scaled_size);
      return text.data() + std::string(unit.name);
    }
  }
  return std::to_string(size.count()) + " B";
}

std::string format_bytes(Bytes size) {
  std::string exact = with_thousands(size.count()) + " B";
  if (size.count() < 1024 && size.count() > -1024) return exact;
  return exact + " (" + format_bytes_short(size) + ")";
}

std::optional<Bytes> parse_bytes(const std::string& text) {
  std::string_view number = text;
  std::int64_t unit = 1;
  for (const Unit& candidate : kUnits) {
    if (number.ends_with(candidate.name)) {
      unit = candidate.bytes;
      number.remove_suffix(candidate.name.size());
      if (number.ends_with(' ')) number.remove_suffix(1);
      break;
    }
  }
  const std::optional<Decimal> decimal = split_decimal(number);
  if (!decimal) return std::nullopt;
  const std::optional<std::int64_t> count = scaled(*decimal, unit);
  if (!count) return std::nullopt;
  return Bytes(*count);
}

}  // namespace lowtide
