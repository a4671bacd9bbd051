// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/plan/packing.h"
#include "lowtide/plan/run_values.h"
#include "lowtide/report/packing_page.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

inline const CopiesOfRuns kNoCopies;
inline const IdVector<NodeId, std::string> kNoPhases;

// A sequence of runs, with the names that its author gave. All must outlive it.
struct ShownRuns {
  const BudgetProblem& problem;
  const std::vector<NodeId>& runs;
  const IdVector<NodeId, std::string>& names;    // of all entries
  const IdVector<NodeId, std::string>& origins;  // module and source line of the entries that run; may be empty
  Overwriting overwriting = Overwriting::in_place;
  Bytes fixed = {};  // bytes that are live at all times, beside those of the problem
  const CopiesOfRuns& copies = kNoCopies;
  const IdVector<NodeId, std::string>& phases = kNoPhases;  // of the entries that run; may be empty
  std::optional<Bytes> measured = std::nullopt;             // the peak that a process had, with `fixed`
};

// Where the entry comes from: of a part, its run. Empty if nothing is known.
[[nodiscard]] const std::string& origin_of(const ShownRuns& shown, NodeId entry);

// What is live at the peak of the sequence: the largest values with the runs that make them and read them last, and
// where they come from. Values below the `most` largest are summed up.
[[nodiscard]] StyledText run_peak_text(const ShownRuns& shown, std::size_t most);

// What the map of a sequence does not show: the budget of the problem if it has one (above 0), the peak beside what was
// measured, what is always live, and how many runs are reruns, with their share of the cost of one run of each node.
[[nodiscard]] std::vector<PageFigure> figures_of_runs(const ShownRuns& shown);

// The phases of the sequence: each band has consecutive runs of one phase, which are all first runs or all reruns. Runs
// without a phase are in no band. Time counts runs from 0. O(runs).
[[nodiscard]] std::vector<PageBand> bands_of_runs(const ShownRuns& shown);

// The values of the sequence as buffers, so that they can be placed in one arena and drawn. Time counts runs from 0.
// A name has where the value comes from, "conv (features.0, model.py:40)", and "#2" if the entry runs again.
[[nodiscard]] PackingProblem packing_of_runs(const ShownRuns& shown);

}  // namespace lowtide
