// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/command_spec.h"

namespace lowtide::cli_internal {

[[nodiscard]] CommandSpec export_command();

}  // namespace lowtide::cli_internal
