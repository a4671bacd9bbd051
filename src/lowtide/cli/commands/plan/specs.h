// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/arguments.h"

namespace lowtide::cli_internal {

// The command `plan`, with its options and examples.
[[nodiscard]] CommandSpec plan_command();

}  // namespace lowtide::cli_internal
