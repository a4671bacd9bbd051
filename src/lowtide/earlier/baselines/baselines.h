// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/workspace.h"
#include "lowtide/graph/graph.h"
#include "lowtide/verify/check_sharing.h"

namespace lowtide {

struct BaselineOptions {
  std::string baseline;  // a name from baselines()

  // Sizes are rounded up to a multiple of this. nullopt: as in the original, 16 for TFLite Micro and ExecuTorch, 64 for
  // AITemplate and Static Runtime, and 1 for Caffe2.
  std::optional<Bytes> alignment;

  // Tensors that the source format writes under one name, in place or repeatedly. Each list is one blob. If there
  // are none, each tensor is a blob.
  std::vector<std::vector<TensorId>> colocated;
  std::vector<TensorId> keep;                 // never shared, in addition to inputs, constants, state and outputs
  IdVector<TensorId, std::uint32_t> devices;  // by tensor; empty if there is only one

  // For caffe2_gradients*: the gradients that share, and the forward tensors into whose memory gradients may move after
  // the last use. The caller lists both; they are not recognized by name. Without gradients, nothing is shared.
  std::vector<TensorId> gradients;
  std::vector<TensorId> hosts;

  // For caffe2_dag* and caffe2_gradients*, as the caller of Caffe2 gives them:
  std::optional<std::vector<TensorId>> heads;      // where the walk starts. nullopt: inputs; for gradients, outputs
  std::optional<std::vector<NodeId>> taking_part;  // nullopt: all nodes; for gradients, those that use a gradient
  std::optional<std::vector<TensorId>> shareable;  // only caffe2_dag*. nullopt: all tensors that are not kept
  std::vector<TensorId> dont_release;              // may move into another buffer, but nothing moves into theirs
  std::string namescope;                           // in front of the names of shared buffers

  // For caffe2_interference_*: slots that hold blobs before the rule begins. Each list is a slot, and has one tensor of
  // each blob, in any order. These blobs stay together, and two of these slots are never joined. Other blobs may join
  // them: in the greedy rule behind the last blob of the slot, in the exact one whenever the slot is free.
  // find_assigned_fault (assigned_slots.h) says what is refused.
  std::vector<std::vector<TensorId>> assigned;

  std::uint32_t nodes_at_once = UINT32_MAX;  // aitemplate_multistream: larger waves are split; at least 1
  std::uint32_t streams = 5;                 // aitemplate_multistream: each has its own shared workspace; at least 1
  Workspaces workspaces;                     // aitemplate_*; the shared ones also for tflite_micro_greedy

  std::int64_t effort = 5'000'000;  // work units for `best` and for caffe2_interference_exact
};

struct BaselineBlock {
  std::string name;  // as in the original: "__m0_shared", the name of a forward tensor, "group 0", "arena"
  Bytes size;
  std::int64_t blobs = 0;
};

struct BaselineOutcome {
  std::string baseline;
  // caffe2_dag* and caffe2_gradients*: why the original has no valid result for this graph, because it stops or shares
  // what it must not. A rule without this fault decided instead. nullopt if this is the result of the original.
  std::optional<std::string> original_failure;
  std::vector<BaselineBlock> blocks;
  SharingClaim sharing;  // the place of each tensor, as the verifier checked it

  std::int64_t blobs = 0;                  // all names of the graph, including inputs and constants
  std::optional<std::int64_t> blobs_left;  // if each block counts as one; nullopt if there is one arena
  std::int64_t shared_buffers = 0;         // as the original counts: renamed buffers, groups, objects, or 1 arena
  std::int64_t reused = 0;                 // blobs in memory that another one had before, as Static Runtime counts them

  Bytes bytes;                // blocks, and what nodes write outside of them
  Bytes naive;                // the same tensors without sharing
  Bytes constants;            // aitemplate_*: the second region, laid out back to back; otherwise 0
  WorkspaceLayout workspace;  // aitemplate_*: in addition to `bytes`
  IdVector<TensorId, std::optional<Offset>> constant_at;  // aitemplate_*: in the second region; otherwise empty

  // The smallest total that Lowtide's own search finds for the same tensors under the same rule, and a proven
  // lower bound for it. nullopt if there are too many conflicts to list, and for caffe2_gradients*.
  std::optional<Bytes> best;
  Bytes bound;
  bool proven_optimal = false;  // no result by this rule has fewer bytes

  std::vector<Violation> violations;  // of check_sharing; empty if the result is correct
};

struct BaselineSpec {
  std::string_view name;
  std::string_view system;       // "Caffe2"
  std::string_view summary;      // one line without a full stop
  bool is_discontinued = false;  // the system is no longer developed
  bool places_scratch = false;   // `bytes` includes the shared workspaces
  bool needs_gradients = false;  // only tensors that the caller lists as gradients share
};

// All baselines, those of systems that are still developed first:
//   tflite_micro_greedy, executorch_greedy, executorch_naive, static_runtime_groups, static_runtime_side_by_side,
//   caffe2_simple, caffe2_dag, caffe2_dag_sized, caffe2_interference_greedy, caffe2_interference_exact,
//   caffe2_gradients, caffe2_gradients_sized, aitemplate_naive, aitemplate_greedy_by_size, aitemplate_multistream
// docs/baselines.md describes each of them, and its differences from originals that have defects.
[[nodiscard]] const std::vector<BaselineSpec>& baselines();

// Applies the rule of an earlier planner to this graph in this order, and returns which tensors share a block.
// Independent code checks the result. A caller that reports the result must check `violations`.
//
// Complexity, with n for nodes and edges: caffe2_simple, static_runtime_groups and aitemplate_naive take O(n).
// caffe2_interference_* and executorch_naive take O(n log n). tflite_micro_greedy and executorch_greedy take what
// first_fit.h says. aitemplate_greedy_by_size and aitemplate_multistream take what
// largest_first_offsets says (sharing_rules.h). caffe2_dag* and caffe2_gradients* take O(n x tokens / 64), and O(n x
// chains that cover the graph) if the original fails, plus the free buffers that are examined. `best` adds a search
// with `effort` work units. bench/compare_growth.py measures the baselines of `lowtide compare` on chains of up to
// 1,000,000 nodes.
// Errors:
//   - invalid: an unknown baseline; an invalid order; ids outside the graph; lists of the wrong length; colocated
//     tensors that are live at the same time or on different devices; several devices for aitemplate_*; an alignment
//     that is not a power of two; numbers below 1; assigned slots with a fault, or for another baseline than
//     caffe2_interference_*.
//   - over_limit: too many chains (HappensBefore), workspaces that are too large (workspace.h), or too many pairs or
//     free buffers to examine (sharing_rules.h).
[[nodiscard]] Result<BaselineOutcome> apply_baseline(const Graph& graph, const std::vector<NodeId>& order,
                                                     const BaselineOptions& options);

}  // namespace lowtide
