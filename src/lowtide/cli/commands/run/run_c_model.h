// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"

namespace lowtide::cli_internal {

// What `run` does with a TFLite model: plans it for the kernels of its C source, and runs it once with them.
// nullopt: the file is no TFLite model, or this build leaves them out. Stops with exit code 2 for options that have no
// effect on such a model.
[[nodiscard]] std::optional<ExitCode> run_c_model(const Arguments& arguments, Console& console);

}  // namespace lowtide::cli_internal
