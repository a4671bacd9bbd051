// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/dtype.h"

#include <array>

namespace lowtide {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bits;  // 0: no dense size
};
// clang-format off
constexpr std::array<Row, 26> kRows = {{
    {DType::f64, "f64", 64},          {DType::f32, "f32", 32},
    {DType::f16, "f16", 16},          {DType::bf16, "bf16", 16},
    {DType::f8e4m3fn, "f8e4m3fn", 8}, {DType::f8e4m3fnuz, "f8e4m3fnuz", 8},
    {DType::f8e5m2, "f8e5m2", 8},     {DType::f8e5m2fnuz, "f8e5m2fnuz", 8},
    {DType::f8e8m0, "f8e8m0", 8},     {DType::f4e2m1, "f4e2m1", 4},
    {DType::i64, "i64", 64},          {DType::i32, "i32", 32},
    {DType::i16, "i16", 16},          {DType::i8, "i8", 8},
    {DType::i4, "i4", 4},             {DType::i2, "i2", 2},
    {DType::u64, "u64", 64},          {DType::u32, "u32", 32},
    {DType::u16, "u16", 16},          {DType::u8, "u8", 8},
    {DType::u4, "u4", 4},             {DType::u2, "u2", 2},
    {DType::boolean, "bool", 8},      {DType::c64, "c64", 64},
    {DType::c128, "c128", 128},       {DType::string, "string", 0},
}};
// clang-format on

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::optional<int> bits_of(DType dtype) {
  const int bits = row_of(dtype).bits;
  return bits == 0 ? std::nullopt : std::optional<int>(bits);
}

std::string_view to_string(DType dtype) { return row_of(dtype).name; }

std::optional<DType> dtype_from_string(std::string_view text) {
  for (const Row& row : kRows) {
    if (row.name == text) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace lowtide
