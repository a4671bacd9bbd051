// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lowtide/graph/dtype.h"

// Elements in the byte order of ONNX's raw data, the lowest byte first.
namespace lowtide {

// Whether the functions below write such elements: reals of 16 bits or more, integers of whole bytes, and booleans.
[[nodiscard]] bool has_element_bytes(DType dtype);
[[nodiscard]] bool has_reals(DType dtype);     // of 16 bits or more
[[nodiscard]] bool has_unsigned(DType dtype);  // integers of whole bytes
// Why nothing with elements of another type is converted.
[[nodiscard]] std::string no_such_elements(DType dtype);

// Reals are rounded to the nearest value, with ties to even, and a boolean is whether the number is not 0. Requires:
// has_element_bytes(dtype), and an integer type has the number.
[[nodiscard]] std::string element_bytes(DType dtype, double value);
[[nodiscard]] std::string element_bytes_of_integer(DType dtype, std::int64_t value);

// The low bytes of a bit pattern.
void append_low_bytes(std::uint64_t bits, std::size_t count, std::string& to);

}  // namespace lowtide
