// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/limits.h"
#include "lowtide/cli/command_runs.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/page.h"

namespace lowtide::cli_internal {
namespace {

PlanFile read_plan(const std::string& path) {
  return take(read_plan_json(take(read_text_file(path, limits::kMaxPlanFileBytes)), path));
}

}  // namespace

ExitCode run_view(const Arguments& arguments, Console& console) {
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'lowtide view' needs '-o FILE' for the page; use '-o -' for stdout");
  const std::string& path = arguments.positional("PLAN");
  const std::optional<std::string> other_path = arguments.value("--against");
  if (other_path && path == "-" && *other_path == "-") stop_usage("only one of the two plans can come from stdin");
  std::vector<std::string> inputs = {path};
  if (other_path) inputs.push_back(*other_path);
  const OutputFiles files({*destination}, inputs, false);

  const PlanFile shown = read_plan(path);
  const NamedPlan named{shown.plan, shown.labels};
  if (!other_path) {
    files.write(*destination, page(named), console);
    return ExitCode::done;
  }
  const PlanFile other = read_plan(*other_path);
  const NamedPlan against{other.plan, other.labels};
  files.write(*destination, page(named, {.against = &against}), console);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
