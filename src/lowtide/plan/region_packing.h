// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/machine.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// A memory of a packing problem.
struct PackingRegion {
  std::optional<Bytes> capacity;  // nullopt: no limit
  Bytes alignment = Bytes(1);     // of every buffer in it, in addition to the alignment of the buffer; a power of two
};

// Determines which buffers leave a region that is full.
struct RegionUse {
  std::int64_t weight = 1;          // >= 0; the cost of each byte, such as its number of accesses
  std::vector<RegionId> forbidden;  // regions where the buffer must not be
};

// A packing problem over several regions. Each buffer is placed in one of them as a whole.
//
//     step      0   1   2          sram, 96 bytes     |    [ b 32 ]  |
//   a 64, 2x    |=======|                             | [ a 64 ]     |
//   b 32, 3x        |=======|      dram, no limit     |    [ c 64 ]  |
//   c 64, 2x        |=======|
//
// Regions are in order of preference. The cost is a list of numbers that is compared lexicographically: the weighted
// bytes (weight x size) outside the first region, those outside the first two, and so on, up to those in the last
// region. The example costs {128}. It also costs 128 if a leaves the first region. It would cost 96 if b left it, but a
// and c need 128 bytes of sram.
//
// A buffer with a fixed offset is in the first region that is not forbidden for it. A group of colocations is in one
// region as a whole. Conflicts count only within a region.
struct RegionProblem {
  PackingProblem packing;                     // `capacity` must be absent, because regions have capacities
  IdVector<RegionId, PackingRegion> regions;  // 1 to limits::kMaxRegions
  IdVector<PackingId, RegionUse> uses;        // empty if all buffers have the defaults; otherwise one per buffer
};

// One number per region except the last. Compared lexicographically.
using RegionCost = std::vector<std::int64_t>;

// Why there is no packing, in a form that a person can check. Any two of `buffers` are in conflict, and each of them
// fits only in `regions`, because of its size, offset, alignment or forbidden regions. Together they need more bytes
// than these regions have. Sizes and capacities are rounded up to `unit`, a power of two that divides every possible
// offset.
struct RegionWitness {
  std::vector<PackingId> buffers;
  std::vector<RegionId> regions;  // empty if a single buffer fits nowhere
  Bytes needed;
  Bytes capacity;  // of the regions, < needed
  Bytes unit = Bytes(1);
  std::optional<std::int64_t> time;  // when all of them are live; nullopt if `conflicts` replaces time
};

struct RegionPacking {
  struct Fill {
    Bytes height;          // highest end address of a buffer
    std::string strategy;  // the one that found the offsets; empty if the region is empty
  };

  // If the outcome is not_found or infeasible, some region of `placements` exceeds its capacity.
  PackingOutcome outcome = PackingOutcome::found;
  IdVector<PackingId, Placement> placements;
  IdVector<RegionId, Fill> fills;
  RegionCost cost;                       // of the placements
  RegionCost bound;                      // every packing that fits costs at least this
  bool proven_optimal = false;           // found, and cost == bound
  std::string strategy;                  // of the choice of regions; the names are in allocate/regions.h
  std::optional<RegionWitness> witness;  // if infeasible; nullopt if a search of all choices is the proof
  bool is_bound_searched = false;        // a search of all choices proved the bound, or that it is infeasible
  std::int64_t decisions = 0;            // of that search
};

}  // namespace lowtide
