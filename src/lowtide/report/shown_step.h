// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide {

// A node or a copy as reports show it. The texts are raw: they are quoted where they are printed.
struct ShownStep {
  std::string name;     // of the node, may be empty; of a copy: of the tensor
  std::string op;       // "Conv"; of a copy: "copy"; empty: there is no step, such as the producer of an input
  std::string to = {};  // of a copy to another region: that region
};

[[nodiscard]] ShownStep shown_node(const Labels& labels, NodeId node);

// Without a step, the result has no operator. Requires: the plan is well-formed.
[[nodiscard]] ShownStep shown_step(const Plan& plan, const Labels& labels, std::optional<StepId> step);

// The region of a value's bytes, whether placed or not; nullopt: memory that every worker can address.
[[nodiscard]] std::optional<RegionId> region_of(const Plan& plan, ValueId value);

}  // namespace lowtide
