// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lowtide::schedule_internal {

// The downsets that a search has found, each once, numbered from 0. Two sets count as the same if their 64-bit hashes
// are equal. Among ten million sets, some pair has equal hashes by chance with a probability of 1 in 10^5.
class DownsetTable {
 public:
  using Index = std::uint32_t;

  // Sets of `words` words each.
  explicit DownsetTable(std::size_t words) : words_(words), sets_per_block_(std::max<std::size_t>(kBlock / words, 1)) {}

  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] const std::uint64_t* words(Index set) const {
    return blocks_[set / sets_per_block_].get() + set % sets_per_block_ * words_;
  }

  // Returns false, and adds nothing, if the set is known.
  bool add(std::uint64_t hash, const std::vector<std::uint64_t>& words) {
    if (!insert(hash)) return false;
    if (size_ % sets_per_block_ == 0) blocks_.push_back(std::make_unique<std::uint64_t[]>(sets_per_block_ * words_));
    std::copy(words.begin(), words.end(), blocks_.back().get() + size_ % sets_per_block_ * words_);
    ++size_;
    return true;
  }

 private:
  static constexpr std::size_t kBlock = 1 << 15;  // words

  // Open addressing. At least half of the slots are free; a free slot holds 0.
  bool insert(std::uint64_t hash) {
    if (2 * (size_ + std::size_t{1}) > hashes_.size()) grow();
    const std::uint64_t wanted = hash == 0 ? 1 : hash;
    std::size_t at = place_of(wanted);
    for (; hashes_[at] != 0; at = (at + 1) & (hashes_.size() - 1)) {
      if (hashes_[at] == wanted) return false;
    }
    hashes_[at] = wanted;
    return true;
  }

  void grow() {
    std::vector<std::uint64_t> old(std::max<std::size_t>(2 * hashes_.size(), 64), 0);
    old.swap(hashes_);
    for (std::uint64_t hash : old) {
      if (hash == 0) continue;
      std::size_t at = place_of(hash);
      while (hashes_[at] != 0) at = (at + 1) & (hashes_.size() - 1);
      hashes_[at] = hash;
    }
  }

  [[nodiscard]] std::size_t place_of(std::uint64_t hash) const { return hash & (hashes_.size() - 1); }

  std::size_t words_;
  std::size_t sets_per_block_;
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_;
  std::vector<std::uint64_t> hashes_;
  Index size_ = 0;
};

}  // namespace lowtide::schedule_internal
