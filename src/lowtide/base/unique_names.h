// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide {

// Makes any name valid in a format. Its result is not empty, and stays valid if "_2" or another number is appended.
using MakeValid = std::function<std::string(std::string_view)>;

// Returns a valid name for each wanted one, all of them different and at most limits::kMaxNameBytes long. Names that
// are valid already come first, so that they stay as they are unless one is wanted twice. A name that is taken gets
// "_2" or the next number that is free. O(n log n).
[[nodiscard]] std::vector<std::string> unique_names(std::span<const std::string> wanted, const MakeValid& make_valid);

}  // namespace lowtide
