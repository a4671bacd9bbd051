// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/cli/options/command_spec.h"

// The commands for earlier systems: their plans of any model, nets of Caffe2, and graphs of TensorFlow.
namespace lowtide::cli_internal {

[[nodiscard]] CommandSpec compare_command();
[[nodiscard]] CommandSpec replay_command();
[[nodiscard]] CommandSpec reorder_command();
[[nodiscard]] CommandSpec share_command();
[[nodiscard]] CommandSpec convert_command();
[[nodiscard]] CommandSpec rewrite_command();
[[nodiscard]] CommandSpec diff_command();

}  // namespace lowtide::cli_internal
