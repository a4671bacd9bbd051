// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan/plan.h"

namespace lowtide {

// Something that makes a plan unreadable: an id out of range, a list of the wrong length, a number without a meaning.
struct FormFault {
  std::string path;            // where, in the terms of a plan file: "steps[12].writes[0]"
  std::optional<StepId> step;  // if it is about a step
  std::string message;         // "value 9 does not exist: there are 4"
};

// What the ids of a plan count in, besides its own tables.
struct GraphCounts {
  std::size_t nodes = 0;
  std::size_t tensors = 0;
  bool is_body = false;  // the plan is for a body: it has one region, the scratch bytes of its step
};

// Checks that every id, count and number of a plan is in range, so that other code may use them without a second look.
// It does not ask whether the plan is right for its graph, and does not look into bodies. `total_bytes` accumulates the
// sizes of buffers and arenas over all plans of a file, which limits::kMaxTotalBytes bounds.
// Returns up to `most` faults, in the order machine, buffers, values, steps. O(plan).
[[nodiscard]] std::vector<FormFault> check_form(const Plan& plan, const GraphCounts& graph, std::int64_t& total_bytes,
                                                std::size_t most);

}  // namespace lowtide
