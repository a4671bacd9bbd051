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

namespace lowtide::detail {

// An entry of "bodies" or of "body_plans" as it was read: nothing in it is in range yet.
struct ReadLabels {
  std::optional<std::uint32_t> parent;  // nothing: the graph itself
  NodeId node;
  std::string body;
  Labels labels;
};
struct ReadPlan {
  std::optional<std::uint32_t> parent;  // nothing: the plan itself
  StepId step;
  std::string body;
  Offset offset;
  Plan plan;
};

// A plan file as it was read: well-formed, each number in the range of its kind. Entry 0 of each list is the root.
struct ReadFile {
  std::vector<std::string_view> features;  // of plan_form::kFeatures
  std::vector<ReadLabels> labels;
  std::vector<ReadPlan> plans;
};

// Refuses everything that read_plan_json promises not to return, with the path of the first offence.
[[nodiscard]] Result<void> check_plan_file(const ReadFile& file, const std::string& source_name);

}  // namespace lowtide::detail
