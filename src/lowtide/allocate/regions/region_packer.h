// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/result.h"

namespace lowtide::allocate_internal {

// Offsets for what lies in one region.
struct PackedRegion {
  PackingOutcome outcome = PackingOutcome::found;
  std::vector<PackingId> ids;
  std::vector<Offset> offsets;  // of each of these
  Bytes height;
  std::string strategy;
};

// Asks `allocate` for offsets of some of the buffers in one region.
class RegionPacker {
 public:
  // References must outlive it.
  RegionPacker(const RegionProblem& problem, const RegionModel& model, Effort& effort, int threads)
      : problem_(problem),
        model_(model),
        effort_(effort),
        threads_(threads),
        new_ids_(problem.packing.buffers.size()) {}

  // With this effort at most, below the capacity if there is one. What is proven stays known for small sets.
  const PackedRegion& pack(std::size_t region, std::span<const std::size_t> items, std::int64_t limit);
  // As low as this effort finds, whatever the capacity.
  PackedRegion pack_low(std::size_t region, std::span<const std::size_t> items, std::int64_t limit);

  // One after the other, those of `promotable` that find a gap below the capacity are put there; returns them. None
  // with groups.
  [[nodiscard]] std::vector<std::size_t> fill(std::size_t region, PackedRegion& packed,
                                              std::span<const std::size_t> items,
                                              std::span<const std::size_t> promotable, std::int64_t limit);

  // What `allocate` refused: sizes so large that they pass the limit with the region's alignment. Everything found
  // since then is of no use.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  [[nodiscard]] PackingProblem problem_of(std::size_t region, std::span<const std::size_t> items,
                                          std::vector<PackingId>& ids);
  [[nodiscard]] std::vector<PackingPair> kept(const std::vector<PackingPair>& pairs) const;
  PackedRegion solve(std::size_t region, std::span<const std::size_t> items, std::int64_t limit, bool is_capped);

  const RegionProblem& problem_;
  const RegionModel& model_;
  Effort& effort_;
  int threads_;
  IdVector<PackingId, std::optional<PackingId>> new_ids_;   // in the problem under way
  std::map<std::vector<std::size_t>, PackedRegion> known_;  // by region and items
  PackedRegion last_;
  std::optional<Error> error_;
};

}  // namespace lowtide::allocate_internal
