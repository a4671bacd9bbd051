// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/pipeline/plan_estimate.h"
#include "lowtide/target/kernel_times.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// The times in a file that `bench --profile` wrote. Stops with exit code 3 if it is not right.
[[nodiscard]] KernelTimes read_times_file(const std::string& path);

// The times of --costs FILE; nullptr without the option.
[[nodiscard]] std::shared_ptr<const KernelTimes> read_costs(const Arguments& arguments);

// read_target(), with --costs, which needs the target `cpu`.
[[nodiscard]] Target read_target_with_costs(const Arguments& arguments);

// Says if --costs has no times for more than one in ten kernels of a plan.
void note_missing_times(const Arguments& arguments, const PlanEstimate& estimate, Console& console);

// The key `estimate` of --json.
[[nodiscard]] Json json_of(const PlanEstimate& estimate);

}  // namespace lowtide::cli_internal
