// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/plan/packing.h"

namespace lowtide::detail {

// What a picture has in place of time where a relation (PackingProblem::conflicts) says who may not share bytes: columns
// of buffers any two of which are in conflict, so that nothing overlaps in a column, and what lives in one is a load.
// Every pair in conflict has a column with both; who is in conflict with nobody has one alone.
//
//   a - b - c       columns {a b} {b c} {d}: b is drawn across both
//   d
struct ConflictColumns {
  std::vector<std::vector<PackingId>> columns;  // by the highest id in them, as moments would follow each other
  bool are_cliques = true;                      // no: these would be too many, and each buffer has a column of its own
  std::optional<std::size_t> witness;           // the column with all of `Packing::witness_buffers`
};

// Greedy: for each pair that no column has yet, a largest set around it, the nearest ids first. Up to a fixed amount of
// work. Require: `problem.conflicts`.
[[nodiscard]] ConflictColumns conflict_columns(const PackingProblem& problem, const std::vector<PackingId>& witness);

// The problem with those columns as its time: a lifespan from the first column to the last, gaps between them.
[[nodiscard]] PackingProblem with_columns_as_time(const PackingProblem& problem, const ConflictColumns& columns);

}  // namespace lowtide::detail
