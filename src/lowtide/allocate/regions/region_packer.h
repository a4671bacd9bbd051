// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/regions/region_model.h"
#include "lowtide/base/result.h"

namespace lowtide::allocate_internal {

// The offsets of the buffers in one region.
struct PackedRegion {
  PackingOutcome outcome = PackingOutcome::found;
  std::vector<PackingId> ids;
  std::vector<Offset> offsets;  // in the order of `ids`
  Bytes height;
  std::string strategy;
};

// Asks `allocate` for the offsets of some of the buffers in one region.
class RegionPacker {
 public:
  // All references must outlive the packer.
  RegionPacker(const RegionProblem& problem, const RegionModel& model, Effort& effort, int threads)
      : problem_(problem),
        model_(model),
        effort_(effort),
        threads_(threads),
        new_ids_(problem.packing.buffers.size()) {}

  // Packs the groups with at most this effort, below the capacity if there is one. Proven answers for small sets are
  // stored. The reference is valid until the next call.
  const PackedRegion& pack(RegionId region, std::span<const GroupId> groups, std::int64_t limit);
  // Packs the groups as low as this effort permits, and ignores the capacity.
  PackedRegion pack_low(RegionId region, std::span<const GroupId> groups, std::int64_t limit);

  // Assigns offsets below the capacity to one promotable group after another, and returns those that found one.
  // `groups` are in the region already. Returns none if the problem has colocations.
  [[nodiscard]] std::vector<GroupId> fill(RegionId region, PackedRegion& packed, std::span<const GroupId> groups,
                                          std::span<const GroupId> promotable, std::int64_t limit);

  // The first error of `allocate`: sizes that exceed the limit with the alignment of the region. Answers after it are
  // not valid.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  [[nodiscard]] PackingProblem problem_of(RegionId region, std::span<const GroupId> groups,
                                          std::vector<PackingId>& ids);
  [[nodiscard]] std::vector<PackingPair> with_new_ids(const std::vector<PackingPair>& pairs) const;
  PackedRegion solve(RegionId region, std::span<const GroupId> groups, std::int64_t limit,
                     std::optional<Bytes> capacity);

  const RegionProblem& problem_;
  const RegionModel& model_;
  Effort& effort_;
  int threads_;
  IdVector<PackingId, std::optional<PackingId>> new_ids_;  // scratch of problem_of
  std::map<std::pair<RegionId, std::vector<GroupId>>, PackedRegion> stored_;
  PackedRegion last_;
  std::optional<Error> error_;
};

}  // namespace lowtide::allocate_internal
