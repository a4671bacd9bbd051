// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/runtime/arena.h"
#include "lowtide/runtime/session.h"

namespace lowtide::cli_internal {

// The memory of this process, as the system counts it. nullopt if the system does not say.
struct ProcessMemory {
  Bytes resident;    // now
  Bytes high_water;  // the most so far
};
[[nodiscard]] std::optional<ProcessMemory> process_memory();

// The time and the allocations of equal runs.
struct RunTimes {
  std::vector<double> milliseconds;         // of each run, sorted
  std::optional<std::int64_t> allocations;  // the most of one run; nullopt if they cannot be counted
  // Nearest rank: the least time that `percent` percent of the runs do not exceed. Requires: 0 < percent <= 100.
  [[nodiscard]] double percentile(int percent) const;
};
// Throws a Stop if a run fails.
[[nodiscard]] RunTimes time_runs(Session& session, std::int64_t runs);

// Where the time of one run goes, in milliseconds, as the mean of several runs.
struct StepTimes {
  IdVector<StepId, double> of_each;
  double run = 0;  // with two reads of the clock per step, which take about 50 ns
  // What is not within a step: dispatch, checks, threads that wait between steps, and the clock. At least 0.
  [[nodiscard]] double outside() const;
};
// Throws a Stop if a run fails.
[[nodiscard]] StepTimes time_steps(Session& session, std::int64_t runs);

// The end of the last byte of the arena that a run writes. It runs the model twice, in an arena with different content.
// Requires: no input is in the arena. Throws a Stop if a run fails.
[[nodiscard]] Bytes written_bytes(Session& session, const Arena& arena);

}  // namespace lowtide::cli_internal
