// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/plan/transfers.h"

namespace lowtide::testing {

// What happens when a GraphDef runs on the first device of a cluster.
struct ReplayedGraphDef {
  std::int64_t peak_bytes = 0;   // with variables, constants and feeds
  std::int64_t nanoseconds = 0;  // to the end of the last node or copy
  std::size_t outs = 0;          // copies to the host
  std::size_t ins = 0;           // copies back
};

// The device runs one node at a time, and each direction of the link copies one output at a time: the first that was
// ready, and then the first in the list. An output is there from the begin of its node or
// copy to the end of the last node or copy that reads it. This shares no code with the planner: it knows only inputs
// and control inputs. Throws if a node waits for itself, or the device is not the only one.
[[nodiscard]] ReplayedGraphDef replay_graphdef(const std::vector<DefNode>& nodes, const Cluster& cluster,
                                               const RunEnds& ends, const TransferLink& link = {});

// What nodes compute, as numbers: two nodes, also of different graphs, have one number if they have one operator and
// what their inputs compute has the same numbers. A copy has the number of its input, and a sum that of the list of its
// operands, sorted. Nodes without inputs are known by their names.
class Meanings {
 public:
  using Output = std::pair<int, std::int64_t>;  // what a node computes, and the number of the output

  // Output 0 of the node with this name. Requires: no cycle.
  [[nodiscard]] Output of(const std::vector<DefNode>& nodes, const std::string& name);

 private:
  [[nodiscard]] Output output_of(const DefNode& node, std::vector<Output> operands);

  std::map<std::pair<std::string, std::vector<Output>>, int> numbers_;
  std::map<int, std::vector<Output>> operands_of_sums_;
};

}  // namespace lowtide::testing
