// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/argument_number.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/netdef/format.h"

namespace lowtide::netdef_internal {
namespace {

constexpr double kTwoTo63 = 0x1p63;

float real_of_bits(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// Whether an f64 or, for the other types, an f32 is the integer.
bool has_real(DType dtype, std::int64_t value) {
  const double rounded = dtype == DType::f64 ? static_cast<double>(value) : static_cast<float>(value);
  return rounded < kTwoTo63 && static_cast<std::int64_t>(rounded) == value;
}

bool has_integer(DType dtype, std::int64_t value) {
  if (dtype == DType::boolean) return true;
  const int bits = *bits_of(dtype);
  if (has_unsigned(dtype)) return value >= 0 && (bits == 64 || value >> bits == 0);
  return value >> (bits - 1) == (value < 0 ? -1 : 0);
}

}  // namespace

std::optional<ArgumentNumber> number_of_argument(const ProtoMessage& argument) {
  if (const auto bits = find_number(argument, argument_field::kReal)) return real_of_bits(*bits);
  const auto integer = find_number(argument, argument_field::kInteger);
  return integer ? std::optional<ArgumentNumber>(static_cast<std::int64_t>(*integer)) : std::nullopt;
}

std::vector<ArgumentNumber> numbers_of_argument(const ProtoMessage& argument) {
  std::vector<ArgumentNumber> numbers;
  for (std::uint64_t one : numbers_of(argument, argument_field::kIntegers)) {
    numbers.emplace_back(static_cast<std::int64_t>(one));
  }
  for (std::uint64_t bits : numbers_of(argument, argument_field::kReals)) numbers.emplace_back(real_of_bits(bits));
  return numbers;
}

std::string shown_number(const ArgumentNumber& number) {
  const auto* integer = std::get_if<std::int64_t>(&number);
  if (integer != nullptr) return std::to_string(*integer);
  std::array<char, 32> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), std::get<float>(number));
  return {digits.data(), end};
}

std::optional<std::string> bytes_of_number(const ArgumentNumber& number, DType dtype) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) {
    if (has_reals(dtype) ? !has_real(dtype, *integer) : !has_integer(dtype, *integer)) return std::nullopt;
    return element_bytes_of_integer(dtype, *integer);
  }
  const double real = std::get<float>(number);
  if (has_reals(dtype) || dtype == DType::boolean) return element_bytes(dtype, real);
  const bool is_whole = std::trunc(real) == real && real >= -kTwoTo63 && real < kTwoTo63;
  if (!is_whole || !has_integer(dtype, static_cast<std::int64_t>(real))) return std::nullopt;
  return element_bytes_of_integer(dtype, static_cast<std::int64_t>(real));
}

}  // namespace lowtide::netdef_internal
