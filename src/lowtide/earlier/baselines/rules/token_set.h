// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lowtide::baselines_internal {

// A set of numbers that copies share until one of them grows. Along a chain of nodes, all of them share one set. Each
// function adds the words that it reads to `work`.
class TokenSet {
 public:
  void add(std::uint32_t token, std::int64_t& work) {
    std::vector<std::uint64_t> words = words_ ? *words_ : std::vector<std::uint64_t>();
    words.resize(std::max<std::size_t>(words.size(), token / 64 + 1), 0);
    words[token / 64] |= std::uint64_t{1} << (token % 64);
    work += static_cast<std::int64_t>(words.size());
    words_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(words));
  }

  void add(const TokenSet& other, std::int64_t& work) {
    if (contains(other, work)) return;
    if (other.contains(*this, work)) {
      words_ = other.words_;
      return;
    }
    std::vector<std::uint64_t> words = *words_;
    words.resize(std::max(words.size(), other.words_->size()), 0);
    for (std::size_t at = 0; at < other.words_->size(); ++at) words[at] |= (*other.words_)[at];
    work += static_cast<std::int64_t>(words.size());
    words_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(words));
  }

  [[nodiscard]] bool contains(const TokenSet& other, std::int64_t& work) const {
    if (!other.words_ || words_ == other.words_) return true;
    if (!words_) return false;
    for (std::size_t at = 0; at < other.words_->size(); ++at) {
      ++work;
      const std::uint64_t own = at < words_->size() ? (*words_)[at] : 0;
      if (((*other.words_)[at] & ~own) != 0) return false;
    }
    return true;
  }

 private:
  std::shared_ptr<const std::vector<std::uint64_t>> words_;  // nullptr if it is empty
};

}  // namespace lowtide::baselines_internal
