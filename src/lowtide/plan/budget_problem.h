// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/compact_vector.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide {

// One entry of a budget problem. Most entries are *runs*: something that executes, reads the outputs of other entries,
// and has one output. An entry can also be
//   - a *part*: a further output of a run. Each run of `part_of` makes it, and nothing else does;
//   - a *view*: another name for the bytes of `view_of`, which may be of any kind. It costs nothing;
//   - a *state*: bytes that exist before the first run and stay to the end, such as a weight or a cache.
// Only runs are in a sequence. What reads a view reads the bytes that it names. The *maker* of an output or a part is
// the run that makes it.
struct BudgetNode {
  CompactVector<NodeId> reads;  // ascending, each once: the entries whose bytes it reads; none for parts, views, states
  Bytes size;                   // of its output; >= 0. 0 for a view, and for what overwrites a state
  std::int64_t cost = 0;        // of one run, in any unit; >= 0. All costs together are at most kMaxTotalCost
  bool is_output = false;       // its bytes are live until the end
  // What a run takes in addition to its output and parts, such as scratch. Negative, at least minus the size of its
  // output and parts, if a run writes (some of) them over inputs. size + extra is at most the limit of all sizes
  // together.
  Bytes extra;
  bool runs_once = false;  // a second run is not allowed, because it would give another output or has effects
  std::optional<NodeId> part_of = std::nullopt;  // of a part: the run that makes it
  std::optional<NodeId> view_of = std::nullopt;  // of a view: the bytes that it names
  bool is_state = false;
  // The bytes that a run reads and over which it writes this output or part. They are a state, an earlier output that
  // overwrote the state, or an output that may be written over (then `extra` is negative). The run happens once if the
  // bytes are those of a state. Every run of another entry that reads the old bytes must come before its first run.
  // Between two runs of it, all outputs that it overwrites are made again.
  std::optional<NodeId> overwrites = std::nullopt;
  // What a second run needs to give the same output, such as the state of a random generator. If the entry runs more
  // than once, these bytes are live from its first run to its last one. >= 0.
  Bytes seed = {};
  // The link (an index into BudgetProblem::links) over which a run without reads fetches a copy of its output, which
  // exists outside, such as weights in a file. A copy is dropped for nothing, and may be fetched any number of times.
  // `cost` is its time where no clock of links counts.
  std::optional<std::uint32_t> fetched_over = std::nullopt;
  friend bool operator==(const BudgetNode&, const BudgetNode&) = default;

  [[nodiscard]] bool is_run() const { return !part_of && !view_of && !is_state; }
};

// With it, a thousand runs of each node have a cost below 2^62.
inline constexpr std::int64_t kMaxTotalCost = (std::int64_t{1} << 50) - 1;

// A link over which values are fetched that begin outside. It copies one after another. A fetch takes the latency and
// the bytes divided by the rate, rounded up to nanoseconds.
struct FetchLink {
  std::string name;
  std::int64_t bytes_per_second = 1;     // > 0
  std::int64_t latency_nanoseconds = 0;  // >= 0
  friend bool operator==(const FetchLink&, const FetchLink&) = default;
};

// Every run of `reader` comes before the first run of `writer`.
struct BeforeEdge {
  NodeId reader;
  NodeId writer;
  friend auto operator<=>(const BeforeEdge&, const BeforeEdge&) = default;
};

// The task: find a sequence of runs in which the live bytes never exceed the budget, at the least cost. Every run entry
// runs at least once, and may run again. A run reads the outputs of the latest runs of the entries that it reads.
//
// While an entry runs, its own output, its parts and its `extra` bytes are live, and so is every output and part of an
// earlier run that this or a later run reads before the entry runs again. The last output of each entry with
// `is_output` is live until the end. An output or part that no run reads is live only during its own run. The bytes of
// states are always live. After the last run, the bytes of all entries with `is_output` are live, and none of them is
// written over.
//
//   a -> b, a -> c, b -> c     runs  a b c      live  a | a b | a b c
//                                    a b a c    live  a | a b | b a | b a c     costs a again, and saves nothing here
//
//   a with part m, a -> b, m -> c      runs  a b c      live  a m | a m b | m c          m does not keep a alive
//
//   state w, w -> f, f -> u, u overwrites w      f cannot run again after u, because it would read the new bytes
//
// Requires: check_budget_problem() accepts it.
struct BudgetProblem {
  IdVector<NodeId, BudgetNode> nodes;   // reads, parts, views, overwritten bytes and `before` have no cycle
  Bytes budget;                         // >= 0
  std::vector<BeforeEdge> before = {};  // ascending, each once; in addition to what `overwrites` implies
  // Agreed sequences, such as the collectives of several ranks. The runs of the entries of a group, without all others,
  // must be exactly this list. An entry is in at most one group. If it is there several times, it runs several times.
  std::vector<std::vector<NodeId>> groups = {};
  std::vector<FetchLink> links = {};
};

// Refuses a problem that is not as the comments above say, with the entry and the rule that it breaks. The names are
// those of the entries, or their numbers if there are none. Errors: invalid, over_limit.
// O((nodes + reads + before) x log nodes).
[[nodiscard]] Result<void> check_budget_problem(const BudgetProblem& problem,
                                                const IdVector<NodeId, std::string>& names = {});

// The entry whose bytes are meant: of a view, what it names in the end; otherwise the entry itself.
[[nodiscard]] NodeId bytes_of_entry(const BudgetProblem& problem, NodeId entry);

// What follows from views and `overwrites`, for all entries at once. O(nodes), however long their chains are. A chain
// that comes back to itself, which check_budget_problem() refuses, ends somewhere.
struct EntryBytes {
  explicit EntryBytes(const BudgetProblem& problem);

  IdVector<NodeId, NodeId> bytes;                  // by entry: the same as bytes_of_entry
  IdVector<NodeId, std::optional<NodeId>> writer;  // by entry with bytes: the run that writes over them
  // By entry: the state in whose bytes the output is, if there is one. It is the entry itself, or it is what a view
  // names in the end, or what an output overwrites.
  IdVector<NodeId, std::optional<NodeId>> state;
  Flags<NodeId> happens_once;  // by run: a second run is not allowed, by `runs_once` or because it overwrites a state
};

// The edges that follow from `overwrites`: readers of the old bytes and the run that overwrites them. Ascending, each
// once. O((nodes + reads) log nodes).
[[nodiscard]] std::vector<BeforeEdge> implied_before(const BudgetProblem& problem);

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
