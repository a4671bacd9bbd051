// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/presets/ancestor_table.h"

#include <algorithm>
#include <optional>
#include <string>

namespace lowtide::detail {

Result<AncestorTable> AncestorTable::make(const std::vector<std::vector<std::uint32_t>>& sources) {
  constexpr std::size_t kMostEntries = std::size_t{1} << 27;
  AncestorTable table;
  std::vector<std::uint32_t> length;  // of each chain
  std::vector<char> has_next(sources.size(), 0);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    std::optional<std::uint32_t> before;
    for (std::uint32_t source : sources[at]) {
      if (has_next[source] == 0) before = source;  // the last of them, which is the nearest
    }
    if (before) has_next[*before] = 1;
    const std::uint32_t chain = before ? table.chain_[*before] : static_cast<std::uint32_t>(length.size());
    if (!before) length.push_back(0);
    table.chain_.push_back(chain);
    table.place_.push_back(length[chain]++);
  }
  table.chains_ = length.size();
  if (table.chains_ != 0 && sources.size() > kMostEntries / table.chains_) {
    return Error{ErrorCode::over_limit,
                 "a table of ancestors of " + std::to_string(sources.size()) + " nodes in " +
                     std::to_string(table.chains_) +
                     " chains would exceed 512 MiB; use a preset for one node after the other",
                 ""};
  }
  table.before_.assign(sources.size() * table.chains_, 0);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    std::uint32_t* row = table.before_.data() + at * table.chains_;
    for (std::uint32_t source : sources[at]) {
      const std::uint32_t* other = table.before_.data() + source * table.chains_;
      for (std::size_t chain = 0; chain < table.chains_; ++chain) row[chain] = std::max(row[chain], other[chain]);
    }
    row[table.chain_[at]] = table.place_[at] + 1;
  }
  return table;
}

}  // namespace lowtide::detail
