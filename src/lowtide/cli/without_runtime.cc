// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/command_spec.h"
#include "lowtide/cli/runtime.h"

namespace lowtide::cli_internal {

std::vector<CommandSpec> runtime_commands() { return {}; }

Result<Target> this_machine(std::optional<int> /*threads*/, const std::optional<std::vector<std::string>>& /*key*/) {
  return Error{ErrorCode::unsupported,
               "this build has no kernels, so it knows no target cpu; build Lowtide with lowtide_WITH_RUNTIME=ON", ""};
}

std::vector<std::string> key_of_this_machine(const std::vector<std::string>& /*other*/) { return {}; }

std::vector<std::string_view> left_out_runtime_commands() { return {"run", "prepare", "bench"}; }

}  // namespace lowtide::cli_internal
