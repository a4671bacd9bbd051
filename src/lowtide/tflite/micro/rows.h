// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <string_view>

// Tables with a row per type of operator, which the rows have in the member `type`.
namespace lowtide::micro_internal {

template <typename Rows>
consteval bool is_sorted_by_type(const Rows& rows) {
  return std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.type < b.type; });
}

// nullptr: there is none. Requires: the rows are sorted by type.
template <typename Rows>
[[nodiscard]] auto row_in(const Rows& rows, std::string_view type) -> decltype(&*rows.begin()) {
  const auto row = std::lower_bound(rows.begin(), rows.end(), type,
                                    [](const auto& one, std::string_view wanted) { return one.type < wanted; });
  return row != rows.end() && row->type == type ? &*row : nullptr;
}

}  // namespace lowtide::micro_internal
