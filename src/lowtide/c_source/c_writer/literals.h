// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/c_source/c_program/c_program.h"

// Numbers as C source. The text of a float is the shortest that is read as the same number.
namespace lowtide::c_writer_internal {

[[nodiscard]] std::string literal(std::int32_t number);
[[nodiscard]] std::string literal(std::int64_t number);
// Infinities and NaN are macros of <math.h>.
[[nodiscard]] std::string literal(float number);

// The elements of little endian bytes, such as "1, 2, 3". Lines have at most kMostColumns columns; each begins with two
// spaces and ends with a newline.
[[nodiscard]] std::string element_lines(CType type, std::string_view bytes);
inline constexpr std::size_t kMostColumns = 100;

// Whether a float among these bytes is an infinity or NaN.
[[nodiscard]] bool needs_math(CType type, std::string_view bytes);

// "{1, 2, 3}"
[[nodiscard]] std::string braced(const std::vector<std::int32_t>& numbers);

}  // namespace lowtide::c_writer_internal
