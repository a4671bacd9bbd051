// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

#include "lowtide/graph/dtype.h"

namespace lowtide::kernels_internal {

// All types of numbers of whole bytes.
inline constexpr std::array kNumberTypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32,
                                         DType::i16, DType::i8,  DType::u64, DType::u32,  DType::u16, DType::u8};

// Calls function(T{}), where T is the type of the elements, and returns what it returns. bool counts as u8. Requires:
// the dtype is one of kNumberTypes or bool, and not f16 or bf16, which kernels widen.
template <typename Function>
auto with_number_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::f64: return function(double{});
    case DType::f32: return function(float{});
    case DType::i64: return function(std::int64_t{});
    case DType::i32: return function(std::int32_t{});
    case DType::i16: return function(std::int16_t{});
    case DType::i8: return function(std::int8_t{});
    case DType::u64: return function(std::uint64_t{});
    case DType::u32: return function(std::uint32_t{});
    case DType::u16: return function(std::uint16_t{});
    default: return function(std::uint8_t{});
  }
}

}  // namespace lowtide::kernels_internal
