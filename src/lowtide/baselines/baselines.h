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
#include "lowtide/baselines/workspace.h"
#include "lowtide/graph/graph.h"
#include "lowtide/verify/check_sharing.h"

namespace lowtide {

struct BaselineOptions {
  std::string baseline;  // a name of baseline_names()

  // Sizes are rounded up to it. Nothing: as the original did, which is 64 for AITemplate and Static Runtime, else 1.
  std::optional<Bytes> alignment;

  // Tensors that the source wrote under one name: in place, or again. Each list is one blob. Empty: a tensor each.
  std::vector<std::vector<TensorId>> together;
  std::vector<TensorId> keep;                 // not shared, besides inputs, constants, state and outputs
  IdVector<TensorId, std::uint32_t> devices;  // empty: there is only one

  // caffe2_gradients: who shares, by role and not by name; and forward tensors into whose memory gradients may move
  // after their last use. Without gradients nobody shares.
  std::vector<TensorId> gradients;
  std::vector<TensorId> hosts;

  std::uint32_t nodes_at_once = UINT32_MAX;  // aitemplate_multistream: a longer wave is split; at least 1
  std::uint32_t streams = 5;                 // aitemplate_multistream: of which each has its shared workspace; >= 1
  Workspaces workspaces;                     // aitemplate_*

  std::int64_t effort = 5'000'000;  // work units for `best`, and for caffe2_interference_exact
};

struct BaselineBlock {
  std::string name;  // as the original numbered them: "__m0_shared"; "group 0"; "arena"
  Bytes size;
  std::int64_t blobs = 0;
};

struct BaselineOutcome {
  std::string baseline;
  std::vector<BaselineBlock> blocks;
  SharingClaim sharing;  // who lies where; what the verifier was asked

  std::int64_t blobs = 0;                  // all that the graph names: inputs and constants too
  std::optional<std::int64_t> blobs_left;  // when each block counts as one; nothing where there is one arena
  std::int64_t shared_buffers = 0;         // as the original counts: renamed ones; groups; 1 arena

  Bytes bytes;                // blocks, and what nodes write outside of them
  Bytes naive;                // the same tensors, nobody shares
  Bytes constants;            // aitemplate_*: the second region, one after the other; else 0
  WorkspaceLayout workspace;  // aitemplate_*; comes on top of bytes

  // The least that our own search finds where the same tensors may share under the same rule, and a proven bound of
  // that. Nothing where a relation would be too large to list, and for caffe2_gradients.
  std::optional<Bytes> best;
  Bytes bound;
  bool proven_optimal = false;  // nobody needs less than `bytes` by this rule

  std::vector<std::string> violations;  // of check_sharing; empty: the result is right
};

struct BaselineSpec {
  std::string_view name;
  std::string_view system;   // "Caffe2"
  std::string_view summary;  // one line, no full stop
};

// In a fixed order:
//   caffe2_simple, caffe2_dag, caffe2_dag_sized, caffe2_interference_greedy, caffe2_interference_exact,
//   caffe2_gradients, static_runtime_groups, aitemplate_naive, aitemplate_greedy_by_size, aitemplate_multistream
// docs/baselines.md tells what each one is, and where it differs from the original because that was wrong.
[[nodiscard]] const std::vector<BaselineSpec>& baselines();

// What an earlier planner would have done with this graph in this order: which tensors share a block. The result is
// checked by code that shares nothing with the baselines; whoever reports it must look at `violations`.
//
// With n nodes and edges: caffe2_simple, static_runtime_groups and aitemplate_naive take O(n), caffe2_interference_*
// O(n log n), and aitemplate_greedy_by_size and aitemplate_multistream what largest_first_offsets says (sharing_rules.h).
// caffe2_dag* and caffe2_gradients take O(n x chains that cover the graph) and look at free buffers that a node may not
// take. `best` adds what AllocateOptions and SlotOptions say. All nine that `lowtide compare` asks for take 1.5 s of CPU
// together for a chain of 100,000 nodes, and 20 s for 1,000,000 (bench/compare_growth.py).
// Errors: invalid, for an unknown baseline, an order that is none, tensors that cannot be together (they are alive at
// once), numbers below 1; over_limit, for graphs of too many chains (HappensBefore), and where a baseline would look at
// too many pairs or free buffers (sharing_rules.h).
[[nodiscard]] Result<BaselineOutcome> apply_baseline(const Graph& graph, const std::vector<NodeId>& order,
                                                     const BaselineOptions& options);

}  // namespace lowtide
