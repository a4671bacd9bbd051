// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {

// Identifies the state of a component of a search. With 128 bits, the probability that any two of 10^9 different states
// have the same key is below 10^-20.
struct StateKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  StateKey& operator+=(const StateKey& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  StateKey& operator-=(const StateKey& other) {
    low -= other.low;
    high -= other.high;
    return *this;
  }
  friend bool operator==(const StateKey&, const StateKey&) = default;
};

// The nogoods of a search: states from which it is known to fail. A full table forgets some of them. That costs time,
// but never changes an answer.
class NogoodTable {
 public:
  [[nodiscard]] bool contains(StateKey key) const {
    if (slots_.empty()) return false;
    const std::size_t first = slot_of(key);
    return slots_[first] == key || slots_[first ^ 1U] == key;
  }

  void insert(StateKey key) {
    if (2 * (count_ + 1) > slots_.size() && slots_.size() < tuning::kNogoodSlots) grow();
    put(key);
  }

  void clear() {
    slots_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;

  [[nodiscard]] std::size_t slot_of(StateKey key) const { return key.low & (slots_.size() - 1); }

  // A key has two neighbouring slots. It takes the first one if that is free, otherwise it overwrites the second one.
  void put(StateKey key) {
    const std::size_t first = slot_of(key);
    const std::size_t slot = slots_[first] == StateKey{} ? first : first ^ 1U;
    if (slots_[slot] == StateKey{}) ++count_;
    slots_[slot] = key;
  }

  void grow() {
    std::vector<StateKey> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (StateKey key : old) {
      if (key != StateKey{}) put(key);
    }
  }

  std::vector<StateKey> slots_;  // a free slot has the key {}
  std::size_t count_ = 0;
};

}  // namespace lowtide::allocate_internal
