// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide {

// The names as a sentence lists them: "a, b, c", or with the conjunction "or": "a, b or c". Returns "" for no names.
template <typename Names>
[[nodiscard]] std::string listed(const Names& names, std::string_view conjunction = "") {
  std::string text;
  std::size_t position = 0;
  for (const auto& name : names) {
    const bool is_last = ++position == names.size();
    if (position > 1) text += is_last && !conjunction.empty() ? " " + std::string(conjunction) + " " : ", ";
    text += name;
  }
  return text;
}

// The first names: "a, b and 3 more".
template <typename Names>
[[nodiscard]] std::string listed_first(const Names& names, std::size_t most) {
  std::vector<std::string> first;
  for (const auto& name : names) {
    if (first.size() == most) break;
    first.emplace_back(name);
  }
  const std::size_t rest = names.size() - first.size();
  return listed(first) + (rest > 0 ? " and " + std::to_string(rest) + " more" : "");
}

}  // namespace lowtide
