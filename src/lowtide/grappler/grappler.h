// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/proto/message.h"

namespace lowtide {

// RewriterConfig.MemOptType of TensorFlow, which chooses the passes.
enum class GrapplerLevel : std::uint8_t {
  standard,       // DEFAULT_MEM_OPT
  none,           // NO_MEM_OPT: the graph does not change
  manual,         // MANUAL: what attributes ask for
  swapping,       // SWAPPING_HEURISTICS
  recomputation,  // RECOMPUTATION_HEURISTICS: what attributes ask for, and a list of cheap operators
  scheduling,     // SCHEDULING_HEURISTICS
  heuristics,     // HEURISTICS: all passes
};

template <>
inline constexpr auto kEnumNames<GrapplerLevel> =
    enum_names<GrapplerLevel>({{GrapplerLevel::standard, "default"},
                               {GrapplerLevel::none, "none"},
                               {GrapplerLevel::manual, "manual"},
                               {GrapplerLevel::swapping, "swapping"},
                               {GrapplerLevel::recomputation, "recomputation"},
                               {GrapplerLevel::scheduling, "scheduling"},
                               {GrapplerLevel::heuristics, "heuristics"}});

struct GrapplerOptions {
  GrapplerLevel level = GrapplerLevel::manual;
  std::string target_scope = {};     // of the nodes that read recomputed results; empty: "gradients/"
  std::vector<std::string> feeds;    // nodes that a caller feeds, also as "node:0"; they are not recomputed
  std::vector<std::string> fetches;  // nodes that a caller reads
};

struct GrapplerResult {
  ProtoMessage graphdef;
  std::vector<std::string> recomputed;  // nodes that have a copy "Recomputed/<name>" now
  std::int64_t groups = 0;              // of nodes that are recomputed together
  std::vector<std::string> relaxed;     // assignments whose variables may be in memory that no device transfers from
};

// Rewrites a GraphDef as the MemoryOptimizer of TensorFlow 2.21 does on devices whose memory suffices. There, it
// relaxes the allocation of variables and recomputes. Its passes for AddN and for swapping look at peaks of devices.
//   - Recomputation (levels manual, recomputation and heuristics) sorts the nodes. A node of the target scope has a
//     name that begins with it, or has it behind a "/". Nodes with the attribute _recompute_hint are candidates and,
//     except for level manual, those of 24 cheap operators. Connected candidates are a group. What the targets read of
//     a group, and what of the group that needs, gets copies "Recomputed/<name>", which the targets read in place of
//     the originals. Each copy waits for a node "RecomputeTrigger/<name>", which runs after other inputs of the
//     targets. Placeholders are fed.
//   - Only the first output of a node is redirected, and control inputs are not, as in the original.
//   - The original takes groups in the order of a hash table of addresses, which mostly is last first. Here it is so
//     always.
//   - The pass for AddN (levels default, scheduling and heuristics, with fetches) leaves out control inputs of a node
//     from nodes that it reads anyway.
// Errors: invalid (a name twice, an input that does not exist, a cycle, a graph that was rewritten before, a feed or a
// fetch that does not exist); unsupported (a swap that _swap_to_host asks for on a GPU, at a level that swaps and with
// fetches); over_limit (nodes; inputs of targets that many groups share, since the answer would be quadratic).
// O(size of the file, log).
[[nodiscard]] Result<GrapplerResult> run_grappler(const ProtoMessage& graphdef, const GrapplerOptions& options = {});

}  // namespace lowtide
