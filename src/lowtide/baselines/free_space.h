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

// Returns what FreeSpace::smallest_gap returns for these ranges, by a scan in O(ranges). Requires: they are sorted by
// `begin`.
[[nodiscard]] Offset smallest_gap(std::span<const AddressRange> ranges, Bytes size);

// The gaps between address ranges in an arena. Each operation takes O(log gaps), amortized.
class FreeSpace {
 public:
  // Returns the start of the smallest gap that holds `size` bytes, the lowest among equals. If there is none,
  // returns the end of the highest range. A gap is between two ranges or below the lowest one, has at least 1
  // byte, and ends at an empty range.
  [[nodiscard]] Offset smallest_gap(Bytes size) const;

  // Adds a range. Requires: begin <= end. Ranges may overlap.
  void take(Offset begin, Offset end);

 private:
  using Gaps = std::map<Offset, Offset>;  // start to end
  void add_gap(Offset begin, Offset end);
  Gaps::iterator erase_gap(Gaps::iterator gap);

  Gaps gaps_;
  std::set<std::pair<Bytes, Offset>> by_length_;
  Offset end_;  // of the highest range
};

}  // namespace lowtide::baselines_internal
