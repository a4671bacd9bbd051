// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/plan/write_clock.h"

namespace lowtide::verify_internal {

// Bytes in a storage: the arena of a region, or a buffer that is not placed and thus a storage of its own.
struct Place {
  std::uint64_t storage = 0;  // a region, or the number of regions + a buffer
  Interval<std::int64_t> bytes;
  WriteClock::Cells cells = {};  // of the map that the place is from; they follow from the bytes

  [[nodiscard]] bool overlaps(const Place& other) const {
    return storage == other.storage && bytes.overlaps(other.bytes);
  }
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Where every value, every scratch and every copied range of a plan is. The bytes are cut into cells at each place's
// begin and end, so that a place is a run of whole cells:
//
//   x   |-----------|                 cells  0: [0, 32)  1: [32, 64)  2: [64, 96)
//   y         |-----------|           x is cells [0, 2), y is cells [1, 3)
//       0    32    64    96
//
// Requires: ids and offsets are in range (check_form, check_geometry).
class ByteMap {
 public:
  ByteMap(const Plan& plan, const Graph& graph);

  [[nodiscard]] std::size_t cells() const { return cuts_.size(); }
  [[nodiscard]] const Place& place(ValueId value) const { return values_[value]; }
  // Some bytes of a value: those that a copy of the plan names. O(log cells).
  [[nodiscard]] Place part_of(ValueId value, const Interval<std::int64_t>& bytes) const;
  // Empty for a step without scratch.
  [[nodiscard]] const Place& scratch_place(StepId step) const { return scratch_[step]; }

  [[nodiscard]] std::optional<RegionId> region_of(const Place& place) const;
  // Requires: region_of(place) is nullopt.
  [[nodiscard]] BufferId buffer_of(const Place& place) const;

 private:
  struct Cut {
    std::uint64_t storage;
    std::int64_t at;
    friend auto operator<=>(const Cut&, const Cut&) = default;
  };

  [[nodiscard]] Place range_of(ValueId value, const Interval<std::int64_t>& bytes) const;
  [[nodiscard]] WriteClock::Cells cells_in(const Place& place) const;

  std::uint64_t regions_;
  IdVector<ValueId, Place> values_;
  IdVector<StepId, Place> scratch_;
  std::vector<Cut> cuts_;  // sorted; cell i begins at cut i
};

}  // namespace lowtide::verify_internal
