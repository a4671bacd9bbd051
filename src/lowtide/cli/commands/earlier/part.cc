// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/specs.h"
#include "lowtide/cli/earlier.h"
#include "lowtide/earlier/formats/earlier_formats.h"

namespace lowtide::cli_internal {

std::vector<CommandSpec> earlier_commands() {
  return {compare_command(), replay_command(),  reorder_command(), share_command(),
          rewrite_command(), convert_command(), diff_command()};
}

std::span<const ModelFormat> earlier_model_formats() { return earlier_formats(); }

std::vector<std::string_view> left_out_earlier_commands() { return {}; }

}  // namespace lowtide::cli_internal
