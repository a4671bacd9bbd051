// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lowtide/kernels/common/byte_rows.h"
#include "lowtide/kernels/common/family.h"
#include "lowtide/kernels/common/four_bits.h"
#include "lowtide/kernels/common/requantize.h"
#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {

// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: integers of 8 and 16 bits, and DequantizeLinear of 4
// bits; scales per tensor, per axis or per block; f32, f16 and bf16.
[[nodiscard]] Family quantize_family();
// MatMulInteger and QLinearMatMul of i8 and u8, and ConvInteger and QLinearConv. Sums are i32. Scratch of the QLinear
// operators has tiles of both operands in 16 bits (integer_rows.h). A convolution with few terms needs 4 bytes per
// element of a plane of the result instead.
[[nodiscard]] Family quantized_product_family();
[[nodiscard]] Family quantized_convolution_family();
// The QLinear operators of the domain lowtide (graph/lowered.h).
[[nodiscard]] Family biased_product_family();
[[nodiscard]] Family biased_convolution_family();

// An element of an integer type of at most 32 bits. Requires: the operand is present.
[[nodiscard]] inline std::int32_t small_integer(const BoundTensor& operand, std::int64_t at) {
  switch (operand.dtype) {
    case DType::i4: return integer_of_four_bits(*operand.bytes, at, true);
    case DType::u4: return integer_of_four_bits(*operand.bytes, at, false);
    case DType::i8: return elements<std::int8_t>(operand)[at];
    case DType::i16: return elements<std::int16_t>(operand)[at];
    case DType::u16: return elements<std::uint16_t>(operand)[at];
    case DType::i32: return elements<std::int32_t>(operand)[at];
    default: return elements<std::uint8_t>(operand)[at];
  }
}

// The zero point of an omitted operand is 0. A zero point of one element holds for all.
struct ZeroPoints {
  const BoundTensor* operand = nullptr;
  bool is_one = true;

  [[nodiscard]] std::int32_t at(std::int64_t place) const {
    return operand == nullptr ? 0 : small_integer(*operand, is_one ? 0 : place);
  }
};
[[nodiscard]] inline ZeroPoints zero_points(std::span<const BoundTensor> operands, std::size_t at) {
  if (!has_operand(operands, at)) return {};
  return {&operands[at], count_of(operands[at]) == 1};
}
// Whether an operand is omitted, or has one element or `count` ones.
[[nodiscard]] inline bool has_one_or(std::span<const BoundTensor> operands, std::size_t at, std::int64_t count) {
  if (!has_operand(operands, at)) return true;
  return count_of(operands[at]) == 1 || count_of(operands[at]) == count;
}

// Adds with wrapping around.
inline void add_wrapped(std::int32_t& sum, std::int32_t more) {
  sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(more));
}

inline constexpr std::array kByteTypes{DType::i8, DType::u8};
// Calls visit(a, b) with pointers to the types of the operands, which are i8 or u8.
template <typename Visit>
void dispatch_bytes(std::array<DType, 2> types, const std::byte* a, const std::byte* b, Visit visit) {
  const auto with_a = [&](const auto* of_a) {
    if (types[1] == DType::i8) {
      visit(of_a, reinterpret_cast<const std::int8_t*>(b));
    } else {
      visit(of_a, reinterpret_cast<const std::uint8_t*>(b));
    }
  };
  if (types[0] == DType::i8) {
    with_a(reinterpret_cast<const std::int8_t*>(a));
  } else {
    with_a(reinterpret_cast<const std::uint8_t*>(a));
  }
}

}  // namespace lowtide::kernels_internal
