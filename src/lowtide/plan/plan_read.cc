// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/plan/plan_check.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/plan/plan_reader.h"

namespace lowtide {
namespace {

// Bodies come after their parents, so the last one is complete first.
PlanFile assembled(plan_internal::ReadFile file) {
  std::vector<plan_internal::ReadLabels>& labels = file.labels;
  for (std::size_t at = labels.size() - 1; at > 0; --at) {
    std::vector<Labels::BodyLabels>& bodies = labels[labels[at].parent ? *labels[at].parent + 1 : 0].labels.bodies;
    std::reverse(labels[at].labels.bodies.begin(), labels[at].labels.bodies.end());
    bodies.push_back({labels[at].node, std::move(labels[at].body), std::move(labels[at].labels)});
  }
  std::reverse(labels[0].labels.bodies.begin(), labels[0].labels.bodies.end());
  std::vector<plan_internal::ReadPlan>& plans = file.plans;
  const auto reverse_bodies = [](Plan& plan) {
    for (StepSpace& space : plan.layout.steps) std::reverse(space.bodies.begin(), space.bodies.end());
  };
  for (std::size_t at = plans.size() - 1; at > 0; --at) {
    Plan& around = plans[plans[at].parent ? *plans[at].parent + 1 : 0].plan;
    reverse_bodies(plans[at].plan);
    around.layout.steps[plans[at].step].bodies.push_back(
        {std::move(plans[at].body), plans[at].offset, std::make_shared<const Plan>(std::move(plans[at].plan))});
  }
  reverse_bodies(plans[0].plan);
  return {std::move(plans[0].plan), std::move(labels[0].labels)};
}

// The error of a text that could not be read. That it is not JSON, or has another version, comes before `found`. A text
// that can be read is JSON and has this version, so only this case takes a second pass.
Error first_error(std::string_view text, const std::string& source_name, Error found) {
  plan_internal::PlanReader scan(text, source_name);
  if (scan.check_version()) return found;
  Error error = *scan.error();
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') error.message = "not a plan file: " + error.message;
  return error;
}

}  // namespace

Result<PlanFile> read_plan_json(std::string_view text, std::string source_name) {
  if (static_cast<std::int64_t>(text.size()) > limits::kMaxPlanFileBytes) {
    return Error{ErrorCode::over_limit,
                 "a plan file of " + std::to_string(text.size()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxPlanFileBytes) + " (kMaxPlanFileBytes)",
                 std::move(source_name)};
  }
  plan_internal::ReadFile file;
  plan_internal::PlanReader reader(text, source_name);
  if (!reader.read(file)) return first_error(text, source_name, *reader.error());
  LOWTIDE_RETURN_IF_ERROR(plan_internal::check_plan_file(file, source_name));
  return assembled(std::move(file));
}

}  // namespace lowtide
