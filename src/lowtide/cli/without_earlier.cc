// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/earlier.h"
#include "lowtide/cli/options/command_spec.h"

namespace lowtide::cli_internal {

std::vector<CommandSpec> earlier_commands() { return {}; }

std::span<const ModelFormat> earlier_model_formats() { return {}; }

std::vector<std::string_view> left_out_earlier_commands() {
  return {"compare", "reorder", "share", "rewrite", "convert", "diff"};
}

}  // namespace lowtide::cli_internal
