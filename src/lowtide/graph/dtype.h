// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/base/enum_names.h"

namespace lowtide {

// Element types of all formats that Lowtide reads. A tensor of dtype `string` has no dense size.
// clang-format off
enum class DType : std::uint8_t {
  f64, f32, f16, bf16,
  f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1,
  i64, i32, i16, i8, i4, i2,
  u64, u32, u16, u8, u4, u2,
  boolean, c64, c128, string,
};
// clang-format on

// The names in text forms and reports.
// clang-format off
template <>
inline constexpr auto kEnumNames<DType> = enum_names<DType>({
    {DType::f64, "f64"},           {DType::f32, "f32"},               {DType::f16, "f16"},
    {DType::bf16, "bf16"},         {DType::f8e4m3fn, "f8e4m3fn"},     {DType::f8e4m3fnuz, "f8e4m3fnuz"},
    {DType::f8e5m2, "f8e5m2"},     {DType::f8e5m2fnuz, "f8e5m2fnuz"}, {DType::f8e8m0, "f8e8m0"},
    {DType::f4e2m1, "f4e2m1"},     {DType::i64, "i64"},               {DType::i32, "i32"},
    {DType::i16, "i16"},           {DType::i8, "i8"},                 {DType::i4, "i4"},
    {DType::i2, "i2"},             {DType::u64, "u64"},               {DType::u32, "u32"},
    {DType::u16, "u16"},           {DType::u8, "u8"},                 {DType::u4, "u4"},
    {DType::u2, "u2"},             {DType::boolean, "bool"},          {DType::c64, "c64"},
    {DType::c128, "c128"},         {DType::string, "string"},
});
// clang-format on

// Bits of one element in memory; nullopt for `string`. Types below 8 bits are packed without gaps inside a tensor, and
// a tensor ends on a whole byte.
[[nodiscard]] std::optional<int> bits_of(DType dtype);

// Integers of 8 bits.
[[nodiscard]] constexpr bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

// The numbers of the element types in ONNX (TensorProto.DataType), which attributes such as `to` of Cast have. nullopt
// for a number without a type.
[[nodiscard]] std::optional<DType> dtype_of_onnx_number(std::int64_t number);
[[nodiscard]] std::int64_t onnx_number_of(DType dtype);

}  // namespace lowtide
