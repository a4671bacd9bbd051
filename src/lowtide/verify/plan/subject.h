// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/verify/findings.h"
#include "lowtide/verify/verify.h"

namespace lowtide::verify_internal {

// A plan and the graph that it is for. All that the checks of one level need.
struct Subject {
  const Graph& graph;
  const Plan& plan;
  bool is_body;  // inputs are placed, captured tensors are the caller's
  Findings& findings;

  [[nodiscard]] std::size_t steps() const { return plan.program.steps.size(); }
  [[nodiscard]] const Step& step(StepId id) const { return plan.program.steps[id]; }
  [[nodiscard]] const Tensor& tensor_of(ValueId value) const { return graph.tensor(plan.program.values[value].tensor); }
  [[nodiscard]] const Buffer& buffer_of(ValueId value) const {
    return plan.layout.buffers[plan.layout.values[value].buffer];
  }
};

// The regions that the workers of the plan's streams can write. Requires: the streams are valid. O(regions x streams).
[[nodiscard]] std::vector<RegionId> written_regions(const Plan& plan);

// The names of things in messages: "step 4 (node 3 'relu', 'Relu')", "step 5 (copy of 'x')", "'x' (tensor 7)", "buffer
// 2 (temporary)". Requires: the id is in range, and so are the ids in the step.
[[nodiscard]] std::string name_of(const Subject& subject, StepId step);
[[nodiscard]] std::string name_of(const Subject& subject, NodeId node);
[[nodiscard]] std::string name_of(const Subject& subject, TensorId tensor);
[[nodiscard]] std::string name_of(const Subject& subject, BufferId buffer);
[[nodiscard]] std::string name_of(const Subject& subject, RegionId region);
// "bytes [0, 64)"
[[nodiscard]] std::string name_of(const Interval<std::int64_t>& bytes);

}  // namespace lowtide::verify_internal
