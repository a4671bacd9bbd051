// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/import/order_json.h"
#include "lowtide/pipeline/keep_budget.h"

namespace lowtide::cli_internal {

// The command `order --curve`: what each budget costs, as a table or as JSON. `path` is the name that is shown.
ExitCode show_curve(const Arguments& arguments, const ImportedOrderGraph& file, const std::string& path,
                    Console& console);

}  // namespace lowtide::cli_internal
