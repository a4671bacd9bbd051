// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/specs.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/kernels/cpu_target.h"

namespace lowtide::cli_internal {

std::vector<CommandSpec> runtime_commands() { return {run_command(), prepare_command(), bench_command()}; }

Result<Target> this_machine(std::optional<int> threads, const std::optional<std::vector<std::string>>& key) {
  CpuOptions options = key ? options_of_key(*key) : CpuOptions{};
  options.threads = threads.value_or(options.threads);
  return cpu_target(options);
}

std::vector<std::string> key_of_this_machine(const std::vector<std::string>& other) {
  return texts_of(machine_key(options_of_key(other)));
}

std::vector<std::string_view> left_out_runtime_commands() { return {}; }

}  // namespace lowtide::cli_internal
