// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide {

// What a prepared file of any version begins with (docs/prepared-format.md).
inline constexpr std::string_view kPreparedMark = "lowtide-prepared ";

// Whether a file begins as prepared files do. False if it cannot be read.
[[nodiscard]] bool is_prepared_file(const std::string& path);

}  // namespace lowtide
