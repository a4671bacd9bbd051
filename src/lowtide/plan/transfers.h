// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/int128.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/cost_proof.h"

// Sequences of runs within a budget (plan/budget_problem.h) in which outputs also leave over a link and come back.
namespace lowtide {

// A link to memory without a limit. Each direction copies one output after another, and both may copy at once. A
// transfer takes the latency and the bytes divided by the bandwidth, rounded up to nanoseconds.
struct TransferLink {
  std::int64_t bytes_per_second = 1;      // in each direction; > 0
  std::int64_t latency_nanoseconds = 0;   // of each transfer; >= 0 and at most kMaxTime
  std::int64_t nanoseconds_per_cost = 1;  // the time of one unit of BudgetNode::cost; > 0
  friend bool operator==(const TransferLink&, const TransferLink&) = default;
};

// Nanoseconds, about 13 days: the limit for one transfer, and for one run of each node together.
inline constexpr std::int64_t kMaxTime = (std::int64_t{1} << 50) - 1;

inline constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

// The time that a link takes for bytes, without its latency, rounded up. Requires: bytes >= 0, bytes_per_second > 0.
[[nodiscard]] inline Int128 nanoseconds_to_move(std::int64_t bytes, std::int64_t bytes_per_second) {
  return (Int128{bytes} * 1'000'000'000 + bytes_per_second - 1) / bytes_per_second;
}

enum class TransferDirection : std::uint8_t { out, in };
template <>
inline constexpr auto kEnumNames<TransferDirection> = enum_names<TransferDirection>({{TransferDirection::out, "out"},
                                                                                     {TransferDirection::in, "in"}});

// A copy of the output of one run, or of one of its parts. What it may do is set by two positions among the runs, not
// by times. So the live bytes of each run are the same on a machine with a faster or slower link.
//
//   runs     0      1      2      3      4          the output of run 0 is read by runs 1 and 4
//   live     x      x      x             x
//   out      issue 0, complete 3                    begins after run 0 or later, ends before run 3 begins
//   in                            issue 3, complete 4
//
// An output that leaves is live up to the run before `complete`. It is live again from the run after `issue` of the
// copy in, which begins after all copies out that are complete before that run. A copy out is valid for all later
// copies in of the same output. The number of runs as `complete` is the end.
struct Transfer {
  std::uint32_t run = 0;  // position of the run that made the output
  TransferDirection direction = TransferDirection::out;
  std::uint32_t issue = 0;     // the copy begins after this run, at the earliest
  std::uint32_t complete = 0;  // > issue; the copy ends before this run begins
  std::int64_t begin = 0;      // nanoseconds, by the clock of SwapAnswer::time
  std::int64_t end = 0;
  std::optional<NodeId> part = std::nullopt;  // the part of the run that is copied; absent: its own output
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// A copy of a value that begins outside (BudgetNode::fetched_over) over the link that it names. The value may be copied
// any number of times, and a copy is dropped for nothing. Copies over one link follow each other in the order of the
// list; each link and each direction of a TransferLink copies on its own.
//
//   runs     0      1      2      3        the value is read by runs 1 and 3
//   fetch    issue 0, complete 1           begins at once, ends before run 1 begins
//   live     x      x
//   fetch                  issue 3, complete 3      begins when run 2 has ended, and run 3 waits for it
//   live                          x
//
// A copy is live from run `issue` on, to the last run that reads it before the next copy of the value. It begins after
// all copies out that are complete before that run. Bytes that a run has overwritten are fetched again before
// its next run.
struct Fetch {
  NodeId entry;
  std::uint32_t issue = 0;     // the copy begins when the run before this position has ended; 0: at the start
  std::uint32_t complete = 0;  // >= issue; the copy ends before this run begins; the number of runs: before the end
  std::int64_t begin = 0;      // nanoseconds, as above
  std::int64_t end = 0;
  friend bool operator==(const Fetch&, const Fetch&) = default;
};

// Why no sequence with transfers is faster than the bound. At each milestone of the proof, at most `away` bytes are
// outside, or more than that. In the first case, the sequence would keep a budget that is larger by `away`, if it kept
// in memory what it moves, so the proof bounds its cost. In the second case, the time that the link needs to move these
// bytes out before the milestone and in after it bounds the time.
struct TimeProof {
  Bytes away;       // >= 0
  CostProof proof;  // of the problem whose budget is larger by `away`
};

// Runs follow each other, and each begins when the copies that are complete before it have ended. So do the copies of
// one direction, in the order of the list.
struct SwapAnswer {
  BudgetOutcome outcome = BudgetOutcome::not_found;
  std::vector<NodeId> runs;         // without fetched values; if nothing was found, where the search began
  std::vector<Transfer> transfers;  // by issue; those of one direction are copied in this order
  std::vector<Fetch> fetches;       // by issue; each value that begins outside is fetched at least once
  Bytes peak;                       // of `runs` with `transfers` and `fetches`
  std::int64_t time = 0;            // nanoseconds to the end of the last run and of all copies
  std::int64_t base_time = 0;       // of one run of each node in `runs`
  std::int64_t time_bound = 0;      // no sequence with transfers that keeps the budget takes less; >= base_time
  // Present if the bound is above both base_time and what the links need for one copy of each value that begins
  // outside.
  std::optional<TimeProof> proof;
  // If the outcome is infeasible: the node whose inputs and output exceed the budget; absent: the outputs of the
  // problem do, which must all be in memory at the end.
  std::optional<NodeId> obstruction;

  // The time in which no node runs, because the next run waits for transfers.
  std::int64_t stall_time = 0;

  [[nodiscard]] bool is_optimal() const { return outcome == BudgetOutcome::found && time == time_bound; }
};

}  // namespace lowtide
