// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/proto/message.h"

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

// The link that swaps are planned for, in bytes a second and without latency.
inline constexpr std::int64_t kBytesPerSecondOfGrappler = 16'000'000'000;

struct GrapplerOptions {
  GrapplerLevel level = GrapplerLevel::manual;
  std::string target_scope = {};     // of the nodes that read recomputed results; empty: "gradients/"
  std::vector<std::string> feeds;    // nodes that a caller feeds, also as "node:0"; they are not recomputed
  std::vector<std::string> fetches;  // nodes that a caller reads
  Cluster cluster = {};              // without devices, memory and time are not looked at
};

// An input that is copied to the memory of the host and back.
struct GrapplerSwap {
  std::string node;
  std::int64_t input = 0;
};

// The most bytes that are live at once on a device, as Grappler's simulation counts them.
struct GrapplerPeak {
  std::string device;
  std::int64_t memory_bytes = 0;  // 0: unknown
  std::int64_t before = 0;
  std::int64_t after = 0;
};

// What a pass left out, or what the caller should know about a node that it changed.
struct GrapplerRemark {
  std::string node;
  std::string text;  // begins behind the name of the node: "is fed"
};

struct GrapplerResult {
  ProtoMessage graphdef;
  std::vector<std::string> recomputed;  // nodes that have a copy "Recomputed/<name>" now
  std::int64_t groups = 0;              // of nodes that are recomputed together
  std::vector<std::string> sums = {};   // that are accumulated in a temporary variable now
  std::vector<GrapplerSwap> swaps = {};
  std::vector<GrapplerPeak> peaks = {};  // by device of the cluster, if something is fetched
  std::int64_t nanoseconds_before = 0;   // of a run, by the same simulation
  std::int64_t nanoseconds_after = 0;
  std::vector<std::string> relaxed;  // assignments whose variables may be in memory that no device transfers from
  // Why hints were not followed, and why sums were not accumulated at a level that accumulates sums.
  std::vector<GrapplerRemark> left_out = {};
  // Nodes that run again and may give other results then.
  std::vector<GrapplerRemark> warnings = {};
  bool has_hints = false;  // some node has _recompute_hint or _swap_to_host
};

// Whether levels recomputation and heuristics run an operator again without a hint.
[[nodiscard]] bool is_cheap_for_grappler(std::string_view op);

// Rewrites a GraphDef as the MemoryOptimizer of TensorFlow 2.21 does: relaxes the allocation of variables, recomputes,
// and, with a cluster and fetches, accumulates sums and swaps.
//   - Recomputation (levels manual, recomputation and heuristics) sorts the nodes. A node of the target scope has a
//     name that begins with it, or has it behind a "/". Nodes with the attribute _recompute_hint are candidates and,
//     except for level manual, those of 24 cheap operators. Connected candidates are a group. What the targets read of
//     a group, and what of the group that needs, gets copies "Recomputed/<name>", which the targets read in place of
//     the originals. Each copy waits for a node "RecomputeTrigger/<name>", which runs after other inputs of the
//     targets. Placeholders are fed.
//   - Only the first output of a node is redirected, and control inputs are not, as in the original.
//   - The original takes groups in the order of a hash table of addresses, which mostly is last first. Here it is so
//     always.
//   - Sums (levels default, scheduling and heuristics): sums.h says which become additions to a temporary variable.
//     The pass leaves out control inputs of a node from nodes that it reads anyway.
//   - Swaps (levels default, swapping and heuristics; only those that _swap_to_host asks for at level manual): swaps.h
//     says which inputs are copied to the host and back.
//   - As in the original, nodes run again even if they may give other results then: random nodes without a seed, and
//     nodes that read a variable. GrapplerResult::warnings names them.
//   - The simulation of memory and time (simulate.h) knows the costs of operators by the rules of the original.
// Sums and swaps alternate while sums are found, at most 25 times. Without a cluster, devices count as large enough.
// Errors: invalid (a name twice, an input that does not exist, a cycle, a graph that was rewritten before, a feed or a
// fetch that does not exist, a hint about an input that does not exist); unsupported (a swap that _swap_to_host asks
// for on a GPU, at a level that swaps and with fetches, but without a cluster; with a cluster, loops and functions);
// over_limit (nodes; inputs of targets that many groups share, since the answer would be quadratic; walks for sums and
// swaps; bytes). O(size of the file, log), except for the walks for each sum and each swap.
[[nodiscard]] Result<GrapplerResult> run_grappler(const ProtoMessage& graphdef, const GrapplerOptions& options = {});

}  // namespace lowtide
