// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/element_bytes.h"

#include <bit>

namespace lowtide {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000U;  // the bits of an f32

// Values above the largest one become infinite.
std::uint16_t half_bits(std::uint32_t bits) {
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > kInfinity) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x33000000U) return sign;
  const bool is_small = magnitude < 0x38800000U;
  const std::uint32_t exponent = magnitude >> 23U;
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | (is_small ? 0x800000U : 0);
  const std::uint32_t shift = is_small ? 126U - exponent : 13U;
  const std::uint32_t whole = is_small ? mantissa : ((exponent - 112U) << 23U) | mantissa;
  const std::uint32_t rounded = (whole >> shift) + ((whole >> (shift - 1U)) & 1U);
  const bool is_tie = (whole & ((1U << shift) - 1U)) == (1U << (shift - 1U));
  return static_cast<std::uint16_t>(sign | (is_tie ? rounded & ~1U : rounded));
}

// The upper half of the bits of an f32. A carry of the rounding goes into the exponent, up to infinity.
std::uint16_t bfloat_bits(std::uint32_t bits) {
  constexpr std::uint32_t kQuiet = 0x400000U;  // keeps a NaN one
  if ((bits & 0x7FFFFFFFU) > kInfinity) return static_cast<std::uint16_t>((bits | kQuiet) >> 16U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

bool is_integer(DType dtype) {
  return has_unsigned(dtype) || dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8;
}

std::string low_bytes(std::uint64_t bits, DType dtype) {
  std::string bytes;
  append_low_bytes(bits, static_cast<std::size_t>(*bits_of(dtype)) / 8, bytes);
  return bytes;
}

}  // namespace

bool has_reals(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

bool has_unsigned(DType dtype) {
  return dtype == DType::u64 || dtype == DType::u32 || dtype == DType::u16 || dtype == DType::u8;
}

bool has_element_bytes(DType dtype) { return is_integer(dtype) || has_reals(dtype) || dtype == DType::boolean; }

std::string no_such_elements(DType dtype) {
  return "no kernel has elements of the type " + std::string(to_string(dtype));
}

std::string element_bytes(DType dtype, double value) {
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  switch (dtype) {
    case DType::f64: return low_bytes(std::bit_cast<std::uint64_t>(value), dtype);
    case DType::f32: return low_bytes(single, dtype);
    case DType::f16: return low_bytes(half_bits(single), dtype);
    case DType::bf16: return low_bytes(bfloat_bits(single), dtype);
    case DType::boolean: return low_bytes(value != 0 ? 1 : 0, dtype);
    case DType::u64: return low_bytes(static_cast<std::uint64_t>(value), dtype);
    default: return low_bytes(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), dtype);
  }
}

std::string element_bytes_of_integer(DType dtype, std::int64_t value) {
  if (is_integer(dtype)) return low_bytes(static_cast<std::uint64_t>(value), dtype);
  return element_bytes(dtype, static_cast<double>(value));
}

void append_low_bytes(std::uint64_t bits, std::size_t count, std::string& to) {
  for (std::size_t byte = 0; byte < count; ++byte) to += static_cast<char>((bits >> (8U * byte)) & 0xFFU);
}

}  // namespace lowtide
