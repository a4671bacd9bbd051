// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace lowtide {

std::optional<int> bits_of(DType dtype) {
  static constexpr std::array<int, kEnumNames<DType>.size()> kBits = {64, 32, 16, 16, 8,  8,  8, 8, 8, 4, 64, 32,  16,
                                                                      8,  4,  2,  64, 32, 16, 8, 4, 2, 8, 64, 128, 0};
  const int bits = kBits[static_cast<std::size_t>(dtype)];
  return bits == 0 ? std::nullopt : std::optional<int>(bits);
}

namespace {

constexpr std::array kOnnxDTypes = {
    DType::f32,    DType::u8,      DType::i8,       DType::u16,        DType::i16,    DType::i32,        DType::i64,
    DType::string, DType::boolean, DType::f16,      DType::f64,        DType::u32,    DType::u64,        DType::c64,
    DType::c128,   DType::bf16,    DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::u4,
    DType::i4,     DType::f4e2m1,  DType::f8e8m0,   DType::u2,         DType::i2,
};  // the first entry is number 1

}  // namespace

std::optional<DType> dtype_of_onnx_number(std::int64_t number) {
  if (number < 1 || number > static_cast<std::int64_t>(kOnnxDTypes.size())) return std::nullopt;
  return kOnnxDTypes[static_cast<std::size_t>(number - 1)];
}

std::int64_t onnx_number_of(DType dtype) {
  return std::find(kOnnxDTypes.begin(), kOnnxDTypes.end(), dtype) - kOnnxDTypes.begin() + 1;
}

}  // namespace lowtide
