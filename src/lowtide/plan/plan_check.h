// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/plan/labels.h"
#include "lowtide/plan/plan.h"

namespace lowtide::plan_internal {

// An entry of "bodies" or "body_plans" as it was read. Its ids may be out of range.
struct ReadLabels {
  std::optional<std::uint32_t> parent;  // nullopt: the graph itself
  NodeId node;
  std::string body;
  Labels labels;
};
struct ReadPlan {
  std::optional<std::uint32_t> parent;  // nullopt: the plan itself
  StepId step;
  std::string body;
  Offset offset;
  Plan plan;
};

// A plan file as it was read. It is well-formed, and each number is in the range of its kind. Entry 0 of each list is
// the root.
struct ReadFile {
  std::vector<std::string_view> features;  // of plan_form::kFeatures
  std::vector<ReadLabels> labels;
  std::vector<ReadPlan> plans;
};

// Refuses a file for which the statements of read_plan_json do not hold. The error has the path of the first fault.
[[nodiscard]] Result<void> check_plan_file(const ReadFile& file, const std::string& source_name);

}  // namespace lowtide::plan_internal
