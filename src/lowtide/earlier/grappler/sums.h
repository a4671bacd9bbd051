// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/grappler/simulate.h"

namespace lowtide::grappler_internal {

// What the passes run on. Feeds and fetches are names of nodes.
struct Surroundings {
  const Cluster& cluster;
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
};

// The peaks by device of the cluster. The original simulates the graph again only after a sum was replaced, so after
// swaps they are out of date.
using KnownPeaks = std::optional<std::vector<DevicePeak>>;

// Whether something is swapped already. The CPU build of TensorFlow knows no operator for these copies, so it cannot
// simulate such a graph, and neither replaces sums nor chooses swaps by memory.
[[nodiscard]] bool has_copies(const std::vector<DefNode>& nodes);

// Simulates the nodes if the peaks are not known. Errors: those of simulate.
[[nodiscard]] Result<void> find_peaks(const TypedGraph& graph, const Surroundings& around, KnownPeaks& peaks);

// Replaces AddN and AccumulateNV2 nodes with more than two operands by additions to a temporary variable, if an operand
// on the same device is live at the peak of a device that uses more than 80 % of its memory. The sum of node n becomes
//
//   n/tmp_var              TemporaryVariable, which runs after the operand that is ready first
//   n/tmp_var_zeros        ZerosLike of that operand
//   n/tmp_var_initializer  Assign(tmp_var, zeros)
//   n/tmp_var_accum_<i>    AssignAdd(initializer, operand i), for each operand
//   n                      DestroyTemporaryVariable(initializer), which runs after them
//
// Only sums of f16, f32, f64 and i64 whose shape is known without the feeds are replaced. The peaks are forgotten then.
// Returns the names of the sums that were replaced, in the order of the nodes. As in the original, no further sum is
// replaced if a name exists. `left_out` becomes the other sums with more than two operands, and why they stay.
// Errors: those of type_nodes and simulate; over_limit. O(nodes + inputs, log), and as much again for each sum that is
// replaced, at most 2,000,000,000 steps.
[[nodiscard]] Result<std::vector<std::string>> replace_sums(std::vector<DefNode>& nodes, const Surroundings& around,
                                                            KnownPeaks& peaks, std::vector<GrapplerRemark>& left_out);

}  // namespace lowtide::grappler_internal
