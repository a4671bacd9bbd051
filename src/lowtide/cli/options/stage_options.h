// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/options/command_spec.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/pipeline/plan_options.h"

namespace lowtide::cli_internal {

// --skip, --dump-after and --verify-each.
[[nodiscard]] std::vector<OptionSpec> stage_options();

// Dumps go to stderr. `console` must outlive the options.
void read_stage_options(const Arguments& arguments, Console& console, PlanOptions& options);

}  // namespace lowtide::cli_internal
