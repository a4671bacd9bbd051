// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/stage_options.h"

#include <string>

#include "lowtide/cli/options/shared_options.h"

namespace lowtide::cli_internal {
namespace {

std::vector<PlanStage> stages_named(const std::vector<std::string>& names) {
  std::vector<PlanStage> stages;
  for (const std::string& name : names) stages.push_back(*from_string<PlanStage>(name));
  return stages;
}

}  // namespace

std::vector<OptionSpec> stage_options() {
  return {{.name = "--skip",
           .value = "STAGE",
           .summary = "leave out an optional stage of planning; without verify, the plan is not checked; repeatable",
           .kind = ArgumentKind::choice,
           .choices = optional_plan_stages(),
           .is_repeatable = true},
          {.name = "--dump-after",
           .value = "STAGE",
           .summary = "print on stderr what a stage of planning decided; repeatable",
           .kind = ArgumentKind::choice,
           .choices = plan_stages(),
           .is_repeatable = true},
          {.name = "--verify-each", .summary = "also verify the plan after each stage that changes it"},
          without_option()};
}

void read_stage_options(const Arguments& arguments, Console& console, PlanOptions& options) {
  options.skip = stages_named(arguments.values("--skip"));
  options.dump_after = stages_named(arguments.values("--dump-after"));
  options.verify_each = arguments.has("--verify-each");
  options.on_dump = [&console](const std::string& text) { console.remark(StyledText(text)); };
}

}  // namespace lowtide::cli_internal
