// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/cli/options/command_spec.h"

// Options of the commands that plan, and those that several commands have.
namespace lowtide::cli_internal {

[[nodiscard]] PositionalSpec model_positional();
[[nodiscard]] OptionSpec dim_option();
[[nodiscard]] OptionSpec shape_option();
[[nodiscard]] OptionSpec at_most_option();
[[nodiscard]] OptionSpec override_option();
[[nodiscard]] OptionSpec input_option();
[[nodiscard]] OptionSpec init_net_option();  // of a NetDef, like the next two
[[nodiscard]] OptionSpec shapes_option();
[[nodiscard]] OptionSpec unit_sizes_option();
[[nodiscard]] OptionSpec target_option();
// Option --threads. `condition` ends its help, such as "; default 1".
[[nodiscard]] OptionSpec threads_option(const std::string& condition);
[[nodiscard]] OptionSpec threads_option();
[[nodiscard]] OptionSpec verified_threads_option();
[[nodiscard]] OptionSpec verified_target_option();
[[nodiscard]] OptionSpec top_option();
[[nodiscard]] OptionSpec wide_option();
[[nodiscard]] OptionSpec json_option();
[[nodiscard]] OptionSpec output_option(std::string_view summary);
[[nodiscard]] OptionSpec html_option();
[[nodiscard]] OptionSpec hints_option();
[[nodiscard]] OptionSpec costs_option();
[[nodiscard]] OptionSpec link_option();
[[nodiscard]] OptionSpec link_latency_option();
[[nodiscard]] OptionSpec swap_dir_option();
[[nodiscard]] OptionSpec order_option();
[[nodiscard]] OptionSpec order_effort_option();
[[nodiscard]] OptionSpec no_in_place_option();
[[nodiscard]] OptionSpec no_views_option();
[[nodiscard]] OptionSpec no_parts_option();
[[nodiscard]] OptionSpec no_load_time_option();
[[nodiscard]] OptionSpec without_option();
[[nodiscard]] OptionSpec inputs_option();
[[nodiscard]] OptionSpec outputs_option();
[[nodiscard]] OptionSpec streams_option();
[[nodiscard]] OptionSpec run_option();
[[nodiscard]] OptionSpec stream_memory_option();

// Takes away the options of the formats beside ONNX if the program reads none (cli/earlier.h).
void drop_unused_format_options(CommandSpec& command);

// Takes away the options and the examples for kernels of this machine if the program has none (cli/runtime.h).
void drop_unused_kernel_options(CommandSpec& command);

}  // namespace lowtide::cli_internal
