// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/costs.h"

#include <optional>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {

KernelTimes read_times_file(const std::string& path) {
  return take(parse_kernel_times(take(read_text_file(path, limits::kMaxFileBytes)), name_of_file(path)));
}

std::shared_ptr<const KernelTimes> read_costs(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.value("--costs");
  return path ? std::make_shared<const KernelTimes>(read_times_file(*path)) : nullptr;
}

Target read_target_with_costs(const Arguments& arguments) {
  Target target = read_target(arguments);
  std::shared_ptr<const KernelTimes> times = read_costs(arguments);
  if (times == nullptr) return target;
  if (arguments.value("--target") != "cpu") stop_usage("--costs are of kernels of this machine; add --target cpu");
  return take(with_times(std::move(target), std::move(times)), name_of_file(*arguments.value("--costs")));
}

void note_missing_times(const Arguments& arguments, const PlanEstimate& estimate, Console& console) {
  const std::optional<std::string> path = arguments.value("--costs");
  if (!path || estimate.is_mostly_measured()) return;
  console.note(name_of_file(*path) + " has times for " + with_thousands(estimate.measured) + " of " +
               counted(estimate.kernels, "kernel") +
               " of this plan; 'lowtide bench MODEL --profile FILE' measures them, " +
               "with the sizes that the plan has");
}

Json json_of(const PlanEstimate& estimate) {
  return {{"picoseconds", estimate.picoseconds},
          {"kernels", estimate.kernels},
          {"measured", estimate.measured},
          {"of_target", estimate.of_target}};
}

}  // namespace lowtide::cli_internal
