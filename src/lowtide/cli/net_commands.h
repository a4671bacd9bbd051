// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/commands.h"

// The commands for nets of Caffe2 and graphs of TensorFlow.
namespace lowtide::cli_internal {

[[nodiscard]] CommandSpec share_command();
[[nodiscard]] CommandSpec convert_command();
[[nodiscard]] CommandSpec rewrite_command();
[[nodiscard]] CommandSpec diff_command();

}  // namespace lowtide::cli_internal
