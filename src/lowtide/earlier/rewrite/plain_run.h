// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/hints.h"

namespace lowtide::rewrite_internal {

struct PlainRunNode {
  std::optional<std::uint32_t> node;  // of the GraphDef; nullopt: only for control inputs
  // Whether a run needs or makes bytes of the device, so that its place in the sequence matters.
  bool has_place = false;
};

// The nodes that run as a plain graph, for the memory of one device. A control input reads an empty tensor, which a
// node of its own makes of the outputs of its source, so that it does not keep these outputs.
//
// A tensor counts if its node runs on the device, or a node of the device reads it. A copy that another device sends is
// taken to be there from the begin of its node on, and what another device reads, until that node has run.
struct PlainRun {
  Graph graph;
  IdVector<NodeId, std::int64_t> costs;
  IdVector<NodeId, PlainRunNode> origins;
  std::vector<NodeHint> hints;  // keep: what may not run again
  Bytes resident;               // variables, constants and feeds that the device has or reads
};

// `holds_fetched`: fetched outputs are resident too, so that none of them can move. Then less memory is left than there
// is. Errors: none but those of GraphBuilder, such as a cycle. O(nodes + inputs, log).
[[nodiscard]] Result<PlainRun> make_plain_run(const std::vector<CostedNodeOfRun>& costed, std::uint32_t device,
                                              bool holds_fetched = false);

}  // namespace lowtide::rewrite_internal
