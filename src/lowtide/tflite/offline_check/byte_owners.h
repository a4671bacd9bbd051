// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace lowtide::offline_check_internal {

// Which content each byte of the arena has. Contents have numbers; 0 is anything.
class ByteOwners {
 public:
  // Requires: begin < end.
  void write(std::int64_t begin, std::int64_t end, std::uint32_t content) {
    cut(begin);
    cut(end);
    begins_.erase(begins_.lower_bound(begin), begins_.lower_bound(end));
    begins_[begin] = content;
  }

  // The first content in the range that is not the expected one; the expected one if there is none.
  [[nodiscard]] std::uint32_t other_than(std::int64_t begin, std::int64_t end, std::uint32_t expected) const {
    for (auto at = std::prev(begins_.upper_bound(begin)); at != begins_.end() && at->first < end; ++at) {
      if (at->second != expected) return at->second;
    }
    return expected;
  }

  // Keeps what both have, for two ways in which a run may go.
  void merge(const ByteOwners& other) {
    std::map<std::int64_t, std::uint32_t> merged;
    auto own = begins_.begin();
    auto others = other.begins_.begin();
    std::uint32_t mine = 0;
    std::uint32_t theirs = 0;
    while (own != begins_.end() || others != other.begins_.end()) {
      const bool takes_own = own != begins_.end() && (others == other.begins_.end() || own->first <= others->first);
      const std::int64_t at = takes_own ? own->first : others->first;
      if (own != begins_.end() && own->first == at) mine = (own++)->second;
      if (others != other.begins_.end() && others->first == at) theirs = (others++)->second;
      const std::uint32_t both = mine == theirs ? mine : 0;
      if (merged.empty() || merged.rbegin()->second != both) merged.emplace_hint(merged.end(), at, both);
    }
    begins_ = std::move(merged);
  }

  [[nodiscard]] std::size_t pieces() const { return begins_.size(); }

 private:
  // Lets a piece begin here.
  void cut(std::int64_t at) {
    const auto piece = std::prev(begins_.upper_bound(at));
    if (piece->first != at) begins_.emplace_hint(std::next(piece), at, piece->second);
  }

  // A piece goes to the begin of the next one. There is always one that begins at 0.
  std::map<std::int64_t, std::uint32_t> begins_ = {{0, 0}};
};

}  // namespace lowtide::offline_check_internal
