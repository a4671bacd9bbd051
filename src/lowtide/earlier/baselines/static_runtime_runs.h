// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

struct StaticRuntimeOptions {
  bool manage_outputs = false;                // outputs have a second block, as with manage_output_tensors
  Bytes alignment = Bytes(64);                // learned sizes are rounded up to a multiple of this power of two
  std::vector<TensorId> keep;                 // not managed, in addition to inputs, constants, states and outputs
  IdVector<TensorId, std::uint32_t> devices;  // as in BaselineOptions; tensors of two devices are in different groups
};

// What Static Runtime holds in one run. Nothing is given back before the run ends, so `held` is the peak. After the
// run, only the outputs remain.
struct StaticRuntimeRun {
  Bytes block;             // one buffer for all managed tensors, with the sizes learned before; 0 in the first run
  Bytes outputs_block;     // the same for managed outputs
  Bytes outside;           // dense bytes of tensors that are allocated one by one, including those that outgrew a block
  std::int64_t grown = 0;  // tensors that were larger than their part of a block
  Bytes held;              // block + outputs_block + outside
};

struct StaticRuntimeRuns {
  std::vector<StaticRuntimeRun> side_by_side;  // the first version; one entry per run
  std::vector<StaticRuntimeRun> groups;        // the later versions, with storage groups
  std::int64_t managed = 0;                    // tensors in the block; views count with their base
  std::int64_t managed_outputs = 0;            // tensors in the second block
  std::int64_t group_count = 0;
};

// Replays runs of Static Runtime on one model, one after another. `runs` has the graph of each run. They have the same
// nodes and tensors, and may have different sizes.
//
// The first run has no planner, so each tensor is allocated by itself. After each run, a part of a block has learned
// the largest size, rounded up, that a tensor in it ever had. The next run begins with one block of the sum of these
// parts, and drops it at its end. In the first version each managed tensor is one part, later each storage group is one
// (static_runtime_groups in baselines.h). A tensor that does not fit into its part is allocated by itself in that run,
// and the part stays unused. Parts never shrink.
//
//   sizes of a tensor     60, 100,  60      rounded up to 64: 64, 128, 64
//   its part of the block  -,  64, 128
//   outside of the block  60, 100,   -
//
// Outputs, and tensors that outputs view, are not managed. With `manage_outputs`, outputs have parts of a second block,
// as if the model returned them in a tuple, except those that are views or have views. What is a view is decided by
// the first graph, since Static Runtime makes its planner after the first run. Bodies of nodes are not part of the
// figures.
//
// Errors: invalid (no runs, an invalid order, an alignment that is not a power of two, ids outside the graph, devices
// for another number of tensors); mismatch, with the number of the run as place, if its graph has other nodes or
// tensors than the first; over_limit, if the tensors of all runs together
// have more than kMaxArenaBytes. O(runs x (nodes + edges)).
[[nodiscard]] Result<StaticRuntimeRuns> static_runtime_runs(const std::vector<const Graph*>& runs,
                                                            const std::vector<NodeId>& order,
                                                            const StaticRuntimeOptions& options = {});

}  // namespace lowtide
