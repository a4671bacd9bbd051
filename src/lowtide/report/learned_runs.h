// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// What a runtime that learns sizes holds in one run.
struct LearnedFigures {
  Bytes block;
  Bytes outputs_block;
  Bytes outside;
  std::int64_t grown = 0;
  Bytes held;
};

struct LearnedRun {
  std::string sizes;            // "batch=8", or "the sizes of the file"
  LearnedFigures side_by_side;  // Static Runtime, the first version
  LearnedFigures groups;        // Static Runtime, later versions
  Bytes arena;                  // of Lowtide's plan for these sizes
};

// Runs of one model after another.
struct LearnedRuns {
  std::vector<LearnedRun> runs;  // not empty
  Bytes arena;                   // that has space for the plans of all runs: the largest of theirs
  std::int64_t managed = 0;      // tensors in the block of Static Runtime
  std::int64_t managed_outputs = 0;
  std::int64_t groups = 0;
};

// A table with three lines per run: both versions of Static Runtime, and Lowtide's plan. Sentences say what it shows.
[[nodiscard]] StyledText learned_runs_summary(const LearnedRuns& learned);

}  // namespace lowtide
