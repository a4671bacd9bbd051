// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/element_bytes.h"

#include <bit>

#include "lowtide/base/half.h"
#include "lowtide/base/rounded_to_odd.h"

namespace lowtide {
namespace {

bool is_integer(DType dtype) {
  return has_unsigned(dtype) || dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8;
}

std::string low_bytes(std::uint64_t bits, DType dtype) {
  std::string bytes;
  append_low_bytes(bits, static_cast<std::size_t>(*bits_of(dtype)) / 8, bytes);
  return bytes;
}

// A number as an element of a type of reals, rounded once.
template <typename Number>
std::string real_bytes(DType dtype, Number value) {
  switch (dtype) {
    case DType::f64: return low_bytes(std::bit_cast<std::uint64_t>(static_cast<double>(value)), dtype);
    case DType::f32: return low_bytes(std::bit_cast<std::uint32_t>(static_cast<float>(value)), dtype);
    case DType::f16: return low_bytes(to_half(rounded_to_odd(value)).bits, dtype);
    default: return low_bytes(to_brain_float(rounded_to_odd(value)).bits, dtype);
  }
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
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16: return real_bytes(dtype, value);
    case DType::boolean: return low_bytes(value != 0 ? 1 : 0, dtype);
    case DType::u64: return low_bytes(static_cast<std::uint64_t>(value), dtype);
    default: return low_bytes(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), dtype);
  }
}

std::string element_bytes_of_integer(DType dtype, std::int64_t value) {
  if (is_integer(dtype)) return low_bytes(static_cast<std::uint64_t>(value), dtype);
  if (has_reals(dtype)) return real_bytes(dtype, value);
  return low_bytes(value != 0 ? 1 : 0, dtype);
}

void append_low_bytes(std::uint64_t bits, std::size_t count, std::string& to) {
  for (std::size_t byte = 0; byte < count; ++byte) to += static_cast<char>((bits >> (8U * byte)) & 0xFFU);
}

}  // namespace lowtide
