// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/compact_vector.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide {

// A node with one output. `cost` is the time of one run, in any unit.
struct BudgetNode {
  CompactVector<NodeId> reads;  // ascending, each once: the nodes whose outputs it reads
  Bytes size;                   // of its output; >= 0
  std::int64_t cost = 0;        // >= 0; the sum over all nodes is at most kMaxTotalCost
  bool is_output = false;       // its output is live until the end
  // What a run takes in addition to its output, such as scratch. Negative, at least -size, if a run writes (a part of)
  // its output over an input. size + extra is at most the limit of all sizes together.
  Bytes extra;
  bool runs_once = false;  // a second run is not allowed, because it would give another output or has effects
  friend bool operator==(const BudgetNode&, const BudgetNode&) = default;
};

// With it, a thousand runs of each node have a cost below 2^62.
inline constexpr std::int64_t kMaxTotalCost = (std::int64_t{1} << 50) - 1;

// The task: find a sequence of runs in which the live bytes never exceed the budget, at the least cost. Every node runs
// at least once, and may run again. A run reads the outputs of the latest runs of the nodes that it reads.
//
// While a node runs, its own output and its `extra` bytes are live, and so is every output of an earlier run that this
// or a later run reads. The last output of each node with `is_output` is live until the end. An output that no run
// reads is live only during its own run. After the last run, the outputs of all nodes with `is_output` are live, and
// none of them is written over.
//
//   a -> b, a -> c, b -> c     runs  a b c      live  a | a b | a b c
//                                    a b a c    live  a | a b | b a | b a c     costs a again, and saves nothing here
struct BudgetProblem {
  IdVector<NodeId, BudgetNode> nodes;  // without cycles
  Bytes budget;                        // >= 0
};

// Why no sequence that keeps the budget costs less than the bound.
enum class CostBoundKind : std::uint8_t {
  run_once,    // each node runs at least once
  milestones,  // `CostProof` adds it up
  search,      // a search of all sequences found no cheaper one
};
template <>
inline constexpr auto kEnumNames<CostBoundKind> = enum_names<CostBoundKind>({{CostBoundKind::run_once, "run_once"},
                                                                             {CostBoundKind::milestones, "milestones"},
                                                                             {CostBoundKind::search, "search"}});

enum class BudgetOutcome : std::uint8_t {
  found,       // the sequence keeps the budget
  infeasible,  // no sequence keeps the budget; `InfeasibleProof` says why
  not_found,   // no sequence was found that keeps the budget, but there may be one
};
template <>
inline constexpr auto kEnumNames<BudgetOutcome> = enum_names<BudgetOutcome>({{BudgetOutcome::found, "found"},
                                                                             {BudgetOutcome::infeasible, "infeasible"},
                                                                             {BudgetOutcome::not_found, "not_found"}});

struct BudgetAnswer {
  BudgetOutcome outcome = BudgetOutcome::not_found;
  std::vector<NodeId> runs;     // the best sequence; if none keeps the budget, the one with the lowest peak
  std::int64_t cost = 0;        // of `runs`
  std::int64_t base_cost = 0;   // of one run of each node
  std::int64_t cost_bound = 0;  // no sequence that keeps the budget costs less; base_cost <= cost_bound
  Bytes peak;                   // of `runs`
  CostBoundKind bound_kind = CostBoundKind::run_once;
  std::optional<CostProof> proof;              // present if bound_kind is `milestones`
  std::optional<InfeasibleProof> obstruction;  // present if the outcome is infeasible

  [[nodiscard]] bool is_optimal() const { return outcome == BudgetOutcome::found && cost == cost_bound; }
};

}  // namespace lowtide
