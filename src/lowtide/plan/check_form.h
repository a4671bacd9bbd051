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

// Why a plan cannot be interpreted: an id out of range, a list of the wrong length, or a meaningless number.
struct FormFault {
  std::string path;            // place in a plan file: "steps[12].writes[0]"
  std::optional<StepId> step;  // present if the fault is about a step
  std::string message;         // "value 9 does not exist; the number of values is 4"
};

// The size of the graph that a plan is for.
struct GraphCounts {
  std::size_t nodes = 0;
  std::size_t tensors = 0;
  bool is_body = false;  // a plan of a body has one region: bytes of the scratch buffer of its step
};

// Checks that all ids, counts and numbers of a plan are in range, so that other code can use them without checks of its
// own. It does not check that the plan is correct for its graph, and it does not check the plans of bodies.
//
// `total_bytes` accumulates the sizes of buffers and arenas over all plans of a file; limits::kMaxTotalBytes bounds it.
// Returns at most `most` faults, in the order machine, claims, arenas, streams, buffers, values, steps, outputs.
// O(plan).
[[nodiscard]] std::vector<FormFault> check_form(const Plan& plan, const GraphCounts& graph, std::int64_t& total_bytes,
                                                std::size_t most);

}  // namespace lowtide
