// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/runtime/executable.h"

namespace lowtide::cli_internal {

// What one step of a run did, and how long it took.
struct StepFigures {
  std::string type;         // "Conv", "domain::Type", or "copy" for a copy that the plan adds
  std::string node;         // node_name(); "" for a copy
  std::string kernel;       // "" for a copy, and for a node that is a view
  double milliseconds = 0;  // in one run, as the mean of several runs
  Bytes bytes;              // that it reads and writes, each tensor once, constants included; 0 for a view
  Bytes constant_bytes;     // the part of them that are constants
  // multiply_accumulates(); 0 for a copy. nullopt: they are not known, or the node has bodies.
  std::optional<std::int64_t> macs;
};
// In the order of the plan. `milliseconds` is that of each step in one run. O(steps + operands).
[[nodiscard]] std::vector<StepFigures> step_figures(const Executable& executable,
                                                    const IdVector<StepId, double>& milliseconds);

// The keys `steps` and `operators` of `bench --json`. Operators are sorted by time, the longest first, and by type.
[[nodiscard]] Json json_of_steps(const std::vector<StepFigures>& steps);
[[nodiscard]] Json json_of_operators(const std::vector<StepFigures>& steps);

// A table of the operators, with their share of the time of all steps, and the bytes and the multiply-accumulates of a
// second.
[[nodiscard]] StyledText operators_text(const std::vector<StepFigures>& steps);

// "12.345 ms", below a millisecond "345.67 us", and from a second on "1.23 s".
[[nodiscard]] std::string time_text(double milliseconds);

}  // namespace lowtide::cli_internal
