// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/id.h"
#include "lowtide/base/interval.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/transfers.h"

namespace lowtide {

enum class RunValueKind : std::uint8_t {
  output,   // what a run or a part made
  scratch,  // what a run takes in addition
  seed,     // what a later run needs to give the same outputs
};
template <>
inline constexpr auto kEnumNames<RunValueKind> = enum_names<RunValueKind>({{RunValueKind::output, "output"},
                                                                           {RunValueKind::scratch, "scratch"},
                                                                           {RunValueKind::seed, "seed"}});

// Bytes of one sequence of runs and the runs while which they are live.
struct RunValue {
  NodeId entry;  // a run or a part
  RunValueKind kind = RunValueKind::output;
  Interval<std::size_t> live;  // positions of runs; the end of the sequence, after its last run, is one more position
  Bytes size;                  // above 0
  std::size_t made = 0;        // how often the entry ran before
};

// How an output counts that overwrites another one, which is not a state.
enum class Overwriting : std::uint8_t {
  in_place,  // the overwritten bytes end where the output begins
  beside,    // both are live while the run runs
};

// What moves beside a sequence: the same as in SwapAnswer.
struct CopiesOfRuns {
  std::vector<Transfer> transfers = {};
  std::vector<Fetch> fetches = {};
};

// The values of a sequence, in the order in which they begin; states are not among them. If `overwriting` is
// `in_place`, the sizes of the values that are live at a run add up to the live bytes of BudgetProblem without its
// states. A run that writes over inputs without saying over which (`extra` below 0 without `overwrites`) counts beside
// them. An output that leaves is live until its copy is complete, and a copy that comes in is another value of the same
// entry. Requires: check_budget_runs() or, with copies, check_transfers() accepts the sequence.
// O((runs + reads + parts of runs + copies) log values).
[[nodiscard]] std::vector<RunValue> values_of_runs(const BudgetProblem& problem, const std::vector<NodeId>& runs,
                                                   Overwriting overwriting = Overwriting::in_place,
                                                   const CopiesOfRuns& copies = {});

// The position at which the most bytes are live, and what is live there.
struct RunPeak {
  std::size_t position = 0;  // the first of equals; the number of runs means the end
  Bytes bytes;
  std::vector<RunValue> values;  // the largest first, and then in the order of their first run
};

// `runs`: how many. O(values log values + runs).
[[nodiscard]] RunPeak peak_of_values(const std::vector<RunValue>& values, std::size_t runs);

}  // namespace lowtide
