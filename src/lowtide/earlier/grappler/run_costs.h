// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"

namespace lowtide {

// What a caller gives and takes in a run of a GraphDef. Names of nodes, also as "node:0".
struct RunEnds {
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
};

// The same with the Placeholders as feeds. Errors: invalid (a feed or a fetch that does not exist, or that is a control
// input).
[[nodiscard]] Result<RunEnds> with_placeholders(const std::vector<DefNode>& nodes, const RunEnds& ends);

// The nodes with these shapes in the attributes of Placeholders and variables, by name of the node. Errors: invalid (a
// node that does not exist or is another operator, a shape that contradicts its own).
[[nodiscard]] Result<std::vector<DefNode>> with_shapes(std::vector<DefNode> nodes,
                                                       const std::map<std::string, std::vector<std::int64_t>>& shapes);

// A node that the fetches need, as Grappler's simulation sees it.
struct CostedNodeOfRun {
  std::uint32_t node = 0;            // its index in the list of nodes
  std::vector<std::uint32_t> reads;  // indices of nodes whose outputs it reads, ascending, each once
  std::vector<std::uint32_t> waits;  // the same for control inputs
  std::uint32_t device = 0;          // of the cluster, where it runs
  std::int64_t bytes = 0;            // of all outputs; 0 for a node that returns a variable or its content
  // The bytes of a constant or variable with control inputs. It holds its memory for the whole run, although it has a
  // place in the order, and its `bytes` are 0.
  std::int64_t held_bytes = 0;
  bool is_sized = true;  // otherwise, what is not known of its outputs counts as 1
  std::int64_t nanoseconds = 0;
  // A variable, a constant or a feed, without inputs: in memory for the whole run. Also an Identity of a variable: it
  // has the memory of that variable.
  bool is_resident = false;
  // Its result would be the same, and it has no effects. But if it has `contents`, only as long as no other node has
  // written one of them.
  bool may_run_again = false;
  // Variables, by the index of their node, that some node writes. It reads their memory, directly or through views; a
  // node that reads one directly may not run again.
  std::vector<std::uint32_t> contents;  // ascending, each once
  std::vector<std::uint32_t> writes;    // that it writes
  bool is_fetched = false;
};

// The nodes that the fetches need, in the order of the nodes. Requires: the feeds and fetches exist, and the cluster
// has a device. Errors: those of link_nodes and infer_output_types; over_limit (more than 2^60 bytes). O(nodes +
// inputs, log).
[[nodiscard]] Result<std::vector<CostedNodeOfRun>> cost_nodes(const std::vector<DefNode>& nodes, const Cluster& cluster,
                                                              const RunEnds& ends);

struct SimulatedRun {
  std::vector<std::int64_t> peak_bytes;  // by device of the cluster
  std::int64_t nanoseconds = 0;
};

// The first of the nodes whose device the cluster does not have, and which Grappler places on a device by a rule of its
// own. nullopt: there is none, or only nodes without a device. O(nodes).
[[nodiscard]] std::optional<std::uint32_t> node_on_unknown_device(const std::vector<DefNode>& nodes,
                                                                  const std::vector<CostedNodeOfRun>& costed,
                                                                  const Cluster& cluster);

// Grappler's own simulation (docs/graphdef.md). Requirements and errors: as above.
[[nodiscard]] Result<SimulatedRun> simulate_run(const std::vector<DefNode>& nodes, const Cluster& cluster,
                                                const RunEnds& ends);

}  // namespace lowtide
