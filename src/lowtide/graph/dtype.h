// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>

namespace lowtide {

// Element types of all formats that Lowtide reads. `string` has no dense size.
// clang-format off
enum class DType {
  f64, f32, f16, bf16,
  f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1,
  i64, i32, i16, i8, i4, i2,
  u64, u32, u16, u8, u4, u2,
  boolean, c64, c128, string,
};
// clang-format on

// Bits of one element in memory; nothing for `string`. Types below 8 bits are packed without
// gaps inside a tensor, and a tensor ends on a whole byte.
[[nodiscard]] std::optional<int> bits_of(DType dtype);

// The spelling in text forms and reports: "f32", "i64", "bool".
[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_string(std::string_view text);

}  // namespace lowtide
