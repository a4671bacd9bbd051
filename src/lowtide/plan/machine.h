// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"

namespace lowtide {

using RegionId = Id<struct RegionTag>;
using LinkId = Id<struct LinkTag>;
using WorkerId = Id<struct WorkerTag>;

// A memory, or a file or device that holds bytes. Offsets count from its start.
struct Region {
  std::string name;
  std::optional<Bytes> capacity;  // nullopt: no limit
  Bytes alignment = Bytes(64);    // of every buffer in it; a power of two, <= limits::kMaxAlignment
  bool is_read_only = false;      // no run writes into it, as into flash; of all buffers, it can hold only constants
  friend bool operator==(const Region&, const Region&) = default;
};

// A one-way connection between two regions. Its copy engine moves bytes while the workers run. A transfer takes the
// latency plus its bytes divided by the bandwidth.
//
// With a budget, plans on one stream move tensors over a link from the arena and one back, if no worker can address the
// region between them (docs/algorithms/offload.md). Other links do not affect plans.
struct Link {
  RegionId from;
  RegionId to;                           // != from
  std::int64_t bytes_per_second = 1;     // > 0
  std::int64_t latency_picoseconds = 0;  // >= 0
  friend bool operator==(const Link&, const Link&) = default;
};

// A processor that runs kernels and copies.
struct Worker {
  std::string name;
  int count = 1;  // number of identical processors, >= 1; the planners use one, see docs/target-format.md
  // The regions that its instructions can address, ascending. Empty means all of them. An accelerator cannot address
  // host memory or disks, for example, so a link must copy their bytes.
  std::vector<RegionId> addressable = {};
  friend bool operator==(const Worker&, const Worker&) = default;
};

// What a plan runs on. Regions are in order of preference.
struct Machine {
  std::vector<Region> regions;         // indexed by RegionId
  IdVector<LinkId, Link> links;        // each is driven by at most one stream of a program
  IdVector<WorkerId, Worker> workers;  // at least one
  // The region that holds the constants of the graph and of all bodies. nullopt: memory without a limit that every
  // worker can address, and in the plan of a body.
  std::optional<RegionId> constants = std::nullopt;
  friend bool operator==(const Machine&, const Machine&) = default;
};

// Whether the worker can read and write bytes of the region directly.
[[nodiscard]] bool can_address(const Worker& worker, RegionId region);

// The regions that can hold what a worker writes, ascending: it can address them, and they are not read-only.
// Requires: the worker exists.
[[nodiscard]] std::vector<RegionId> writable_regions(const Machine& machine, WorkerId worker);

// Whether there are workers, but none of them can address the region, so that only links reach it. Its bytes are
// outside of the arena: they count neither for the load nor for the arena of a plan.
[[nodiscard]] bool is_outside(const Machine& machine, RegionId region);

// Where a buffer starts.
struct Placement {
  RegionId region;
  Offset offset;  // >= 0, a multiple of the region's alignment
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace lowtide
