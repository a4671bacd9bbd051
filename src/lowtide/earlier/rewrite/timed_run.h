// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/plan/transfers.h"

namespace lowtide {

struct TimedRunOptions {
  Cluster cluster;
  RunEnds ends;
  TransferLink link;         // for _CopyFromGpuToHost and _CopyFromHostToGpu
  std::uint32_t device = 0;  // whose bytes count
  std::int64_t unit = 1;     // bytes to whose multiples each tensor is rounded up
};

// A run of a GraphDef on a clock of nanoseconds.
struct TimedRun {
  // Times at which the live bytes change, ascending, and the bytes from then on. The first time is 0.
  std::vector<std::pair<std::int64_t, std::int64_t>> live;
  std::int64_t peak_bytes = 0;
  std::int64_t nanoseconds = 0;       // to the end of the last node or copy
  std::int64_t idle_nanoseconds = 0;  // in which the device waits, up to the end of its last node
  std::int64_t outs = 0;              // copies to the host
  std::int64_t ins = 0;               // copies back
};

// A device runs one node at a time, with the costs of Grappler's simulation, and each direction of the link makes one
// copy at a time. If several nodes or copies are ready, the one that was ready first begins, and among equals the one
// that is first in the list. An output is there from the begin of its node to the end of its last reader. Variables,
// constants, feeds and fetched outputs are there for the whole rest. An output of another device counts if the device
// reads it. Requirements and errors: those of cost_nodes; invalid (a cycle). O(nodes + inputs, log, times devices).
[[nodiscard]] Result<TimedRun> time_run(const std::vector<DefNode>& nodes, const TimedRunOptions& options);

}  // namespace lowtide
