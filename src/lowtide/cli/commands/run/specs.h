// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/command_spec.h"

// The commands that run a model.
namespace lowtide::cli_internal {

[[nodiscard]] CommandSpec run_command();
[[nodiscard]] CommandSpec prepare_command();
[[nodiscard]] CommandSpec bench_command();

}  // namespace lowtide::cli_internal
