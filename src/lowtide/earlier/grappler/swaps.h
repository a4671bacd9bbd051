// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/grappler/sums.h"

namespace lowtide::grappler_internal {

// Names of nodes and "node:input" that are not swapped again.
using SkipList = std::set<std::string, std::less<>>;

// Swaps the inputs that attributes _swap_to_host name, and, if `by_memory`, outputs that are live at the peak of a GPU
// that has not enough memory. Input i of node n becomes
//
//   swap_out_<n>_<i>  _CopyFromGpuToHost of the output
//   swap_in_<n>_<i>   _CopyFromHostToGpu of that, which waits for a node that ends early enough for the transfer
//
// and the first other reader of the output waits for swap_out. Times are those of earliest_ends; the transfer takes
// 1 ns for 16 bytes. An input stays as it is if its node is not on a GPU or takes a reference, if no other node reads
// the output, or if no node is early enough. By memory, outputs go that have more than 1 KiB, live for more than 1 ms
// and have later readers, those first whose readers are latest for their number. Returns the swapped inputs. Errors:
// invalid (a hint names an input that the node does not have); those of type_nodes and simulate. O(nodes + inputs, log)
// and for each node with swaps the nodes above it, at most 2,000,000,000 steps (over_limit).
[[nodiscard]] Result<std::vector<GrapplerSwap>> swap_inputs(std::vector<DefNode>& nodes, const Surroundings& around,
                                                            bool by_memory, SkipList& skipped, KnownPeaks& peaks);

}  // namespace lowtide::grappler_internal
