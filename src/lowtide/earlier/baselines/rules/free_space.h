// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>

#include "lowtide/base/bytes.h"

namespace lowtide::baselines_internal {

// Bytes [begin, end) of an arena.
struct AddressRange {
  Offset begin;
  Offset end;
};

// Returns what FreeSpace::smallest_free_range returns for these taken ranges, by a scan in O(ranges). Requires: they
// are sorted by `begin`.
[[nodiscard]] Offset smallest_free_range(std::span<const AddressRange> ranges, Bytes size);

// The free ranges between the taken ranges of an arena. Each operation takes O(log ranges), amortized.
class FreeSpace {
 public:
  // Returns the start of the smallest free range that holds `size` bytes, the lowest among equals. If there is none,
  // returns the end of the highest taken range. A free range is between two taken ranges or below the lowest one, and
  // has at least 1 byte. An empty taken range divides it.
  [[nodiscard]] Offset smallest_free_range(Bytes size) const;

  // Takes a range. Requires: begin <= end. Ranges may overlap.
  void take(Offset begin, Offset end);

 private:
  using Ranges = std::map<Offset, Offset>;  // start to end
  void add_free(Offset begin, Offset end);
  Ranges::iterator erase_free(Ranges::iterator range);

  Ranges free_;
  std::set<std::pair<Bytes, Offset>> by_length_;
  Offset end_;  // of the highest taken range
};

}  // namespace lowtide::baselines_internal
