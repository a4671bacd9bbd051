// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <vector>

namespace lowtide {

// One flag for each id below a count. Only the matching id can index it. The range of an id is not checked. A flag
// takes a byte, which is faster to read and write than a bit of std::vector<bool>. `IdType` is an Id, or an unsigned
// integer where there is no id.
template <typename IdType>
class Flags {
 public:
  Flags() = default;
  explicit Flags(std::size_t count, bool are_set = false) : flags_(count, are_set ? 1 : 0) {}

  [[nodiscard]] std::size_t size() const { return flags_.size(); }
  [[nodiscard]] bool test(IdType id) const { return flags_[index_of(id)] != 0; }
  void set(IdType id) { flags_[index_of(id)] = 1; }
  void reset(IdType id) { flags_[index_of(id)] = 0; }

  // Sets the flag and returns true if it was not set before.
  bool insert(IdType id) {
    const bool is_new = !test(id);
    set(id);
    return is_new;
  }

  // Sets all flags of [begin, end).
  void set_range(IdType begin, IdType end) {
    std::fill(flags_.begin() + static_cast<std::ptrdiff_t>(index_of(begin)),
              flags_.begin() + static_cast<std::ptrdiff_t>(index_of(end)), char{1});
  }

 private:
  static std::size_t index_of(IdType id) {
    if constexpr (std::unsigned_integral<IdType>) {
      return id;
    } else {
      return id.index();
    }
  }

  std::vector<char> flags_;  // 0 or 1
};

}  // namespace lowtide
