// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace lowtide {

// What a prepared file of any version begins with (docs/prepared-format.md).
inline constexpr std::string_view kPreparedMark = "lowtide-prepared ";
// What follows the mark: the version, and the number of plans in a file with several.
inline constexpr std::string_view kPreparedOnePlan = "1";
inline constexpr std::string_view kPreparedSeveralPlans = "2";

// Whether a file begins as prepared files do. False if it cannot be read.
[[nodiscard]] bool is_prepared_file(const std::string& path);

// Whether it begins as prepared files with several plans do.
[[nodiscard]] bool is_prepared_range(const std::string& path);

}  // namespace lowtide
