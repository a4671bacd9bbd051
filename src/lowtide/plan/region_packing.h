// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/machine.h"

namespace lowtide {

// One memory that takes part in a packing.
struct PackingRegion {
  std::optional<Bytes> capacity;  // nullopt: as much as is needed
  Bytes alignment = Bytes(1);     // of every buffer in it, besides the buffer's own; a power of two
};

// What distinguishes buffers when room is short.
struct RegionUse {
  std::int64_t weight = 1;          // >= 0: how much each of its bytes counts, such as its number of accesses
  std::vector<RegionId> forbidden;  // where it must not lie
};

// A packing problem over several regions: each buffer goes to one of them, whole.
//
//     step      0   1   2          sram, 96 bytes     |    [ b 32 ]  |
//   a 64, 2x    |=======|                             | [ a 64 ]     |
//   b 32, 3x        |=======|      dram, no limit     |    [ c 64 ]  |
//   c 64, 2x        |=======|
//
// Regions are in order of preference. The cost is a row of numbers, compared from the left: the weighted bytes (weight x
// size) outside the first region, those outside the first two, ..., those in the last. The example costs {128}. Leaving
// a outside costs the same. Leaving b outside would cost 96, but a and c need 128 bytes of sram.
//
// A buffer with a fixed offset has it in the first region that is not forbidden to it, and goes there. A group
// (PackingProblem::together) goes to one region as a whole. Conflicts count within a region only.
struct RegionProblem {
  PackingProblem packing;                     // `capacity` plays no part and must be absent: regions have capacities
  IdVector<RegionId, PackingRegion> regions;  // 1 to limits::kMaxRegions
  IdVector<PackingId, RegionUse> uses;        // empty: all as RegionUse says; or one a buffer
};

// Compared lexicographically: one number for each region except the last.
using RegionCost = std::vector<std::int64_t>;

// Why there is no packing, for a person to check: `buffers` conflict with each other, each fits nowhere but in
// `regions` (size, offset, alignment, what is forbidden), and together they need more than these have. Sizes and
// capacities count as rounded up to `unit`: a power of two that divides every offset they may have.
struct RegionWitness {
  std::vector<PackingId> buffers;
  std::vector<RegionId> regions;  // none: a single buffer that fits nowhere
  Bytes needed;
  Bytes room;  // < needed
  Bytes unit = Bytes(1);
  std::optional<std::int64_t> time;  // when they live together; nothing where a relation replaces time
};

struct RegionPacking {
  struct Fill {
    Bytes height;          // highest end of a buffer
    std::string strategy;  // of `allocate`, that found the offsets; empty where nothing lies
  };

  // not_found and infeasible: `placements` are an attempt, in which some region ends above its capacity.
  PackingOutcome outcome = PackingOutcome::found;
  IdVector<PackingId, Placement> placements;
  IdVector<RegionId, Fill> fills;
  RegionCost cost;              // of the placements
  RegionCost bound;             // no packing that fits costs less
  bool proven_optimal = false;  // found, and cost == bound
  std::string strategy;         // that chose the regions: "all_preferred", "greedy_by_...", "moves" or "search"
  std::optional<RegionWitness> witness;  // of infeasible; nothing where the search tried everything
  bool is_bound_searched = false;        // all choices were tried: so it is infeasible, or has this bound
  std::int64_t decisions = 0;            // of that search
};

}  // namespace lowtide
