// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/rewrite/plain_run.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::rewrite_internal {

// A sequence of runs and transfers of the nodes of a PlainRun.
struct RunSequence {
  std::vector<NodeId> runs;
  std::vector<Transfer> transfers;
};

struct WrittenRuns {
  std::vector<DefNode> nodes;
  std::vector<std::string> run_names;  // by position in the sequence; empty: no node of the GraphDef
  std::vector<std::pair<std::string, std::int64_t>> recomputed;  // nodes, and how many further times they run
};

// The sequence as nodes that wait for each other. Each run that has a place waits for the one before it, except for
// runs that TensorFlow may join with others, and shapes (chain_of_runs.h). The second run of node n is
// "Recomputed/<n>", the third one "Recomputed_2/<n>", or with the next number that is free. An output that leaves is
// read by "swap_out/<run>", and comes back as "swap_in/<run>", "swap_in_2/<run>"; output k > 0 of a run has copies
// named ".../<k>". A copy waits for the run that is its `issue`, and for the copy before it in its direction; the run
// that is its `complete` waits for it. Nodes that do not run stay as they were. Requires: fetched outputs have no
// transfers. O(runs + inputs + transfers, log).
[[nodiscard]] WrittenRuns write_runs(const std::vector<DefNode>& nodes,
                                     const std::vector<std::vector<OutputType>>& types, const PlainRun& plain,
                                     const RunSequence& sequence);

}  // namespace lowtide::rewrite_internal
