// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide::baselines_internal {

// Slots with a size and the time from which each is free. It finds the slot with the nearest size among those that
// are free at a given time, without visiting all of them.
//
// This is a treap (Seidel and Aragon, "Randomized search trees", Algorithmica 1996), sorted by size and then by
// number. Each node knows the earliest time at which a slot below it is free. Every operation takes O(log slots),
// expected. The priorities come from a fixed seed, so the same calls take the same time everywhere. No recursion.
class SlotsBySize {
 public:
  // Adds a slot. Its number is the count of slots added before.
  std::uint32_t add(std::int64_t size, std::int64_t free_from);

  // Requires: `slot` was added.
  void change(std::uint32_t slot, std::int64_t size, std::int64_t free_from);
  [[nodiscard]] std::int64_t size(std::uint32_t slot) const { return nodes_[slot].size; }

  // Returns the slot with the least |size of the slot - size| among those that are free at `time`, the lowest
  // number among equals. Returns nullopt if none is free. Sizes are from 0 to 2^62.
  [[nodiscard]] std::optional<std::uint32_t> nearest(std::int64_t size, std::int64_t time);

  // The number of nodes visited so far, which is the cost of all calls.
  [[nodiscard]] std::int64_t visited() const { return visited_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Node {
    std::int64_t size = 0;
    std::int64_t free_from = 0;
    std::int64_t earliest = 0;  // the earliest free_from of this node and those below it
    std::uint64_t priority = 0;
    std::uint32_t left = kNone;
    std::uint32_t right = kNone;
  };
  struct Key {
    std::int64_t size;
    std::uint32_t slot;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  [[nodiscard]] Key key_of(std::uint32_t slot) const { return {nodes_[slot].size, slot}; }
  [[nodiscard]] bool has_free(std::uint32_t node, std::int64_t time) const {
    return node != kNone && nodes_[node].earliest <= time;
  }
  void insert(std::uint32_t slot);
  void erase(std::uint32_t slot);
  void split(std::uint32_t node, const Key& key, std::uint32_t& before, std::uint32_t& after);
  std::uint32_t merge(std::uint32_t before, std::uint32_t after);
  void update_path();
  std::optional<std::uint32_t> first_from(const Key& key, std::int64_t time);
  std::optional<std::uint32_t> last_before(const Key& key, std::int64_t time);

  std::vector<Node> nodes_;  // by slot number
  std::uint32_t root_ = kNone;
  std::vector<std::uint32_t> path_;  // of the current operation, from the root down
  std::int64_t visited_ = 0;
  Random random_{1};
};

}  // namespace lowtide::baselines_internal
