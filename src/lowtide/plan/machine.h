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

// A memory, or a file or device that holds bytes. Every offset in it is counted from its start.
struct Region {
  std::string name;
  std::optional<Bytes> capacity;  // nullopt: as much as the plan needs
  Bytes alignment = Bytes(64);    // of every buffer in it; a power of two, <= limits::kMaxAlignment
  friend bool operator==(const Region&, const Region&) = default;
};

// A one-way connection between two regions, over which a copy engine moves bytes. It works beside the workers. A transfer
// takes the latency plus its bytes divided by the bandwidth.
struct Link {
  RegionId from;
  RegionId to;                           // != from
  std::int64_t bytes_per_second = 1;     // > 0
  std::int64_t latency_picoseconds = 0;  // >= 0
  friend bool operator==(const Link&, const Link&) = default;
};

// A processor that runs kernels and plain copies.
struct Worker {
  std::string name;
  int count = 1;  // number of identical processors, >= 1
  // The regions that its instructions can address, ascending; empty: all of them. Host memory and disks are not
  // addressable by an accelerator, for example: a link must bring their bytes in.
  std::vector<RegionId> addressable = {};
  friend bool operator==(const Worker&, const Worker&) = default;
};

// What a plan runs on: the regions in order of preference, the links between them, the workers.
struct Machine {
  std::vector<Region> regions;         // indexed by RegionId
  IdVector<LinkId, Link> links;        // at most one stream of a program drives each
  IdVector<WorkerId, Worker> workers;  // at least one
  friend bool operator==(const Machine&, const Machine&) = default;
};

// Whether the worker can read and write bytes of the region directly.
[[nodiscard]] bool can_address(const Worker& worker, RegionId region);

// The regions that a worker can address, ascending. Requires: the worker exists.
[[nodiscard]] std::vector<RegionId> addressable_regions(const Machine& machine, WorkerId worker);

// Where a buffer starts.
struct Placement {
  RegionId region;
  Offset offset;  // >= 0, a multiple of the region's alignment
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace lowtide
