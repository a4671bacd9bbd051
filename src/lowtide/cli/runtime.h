// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/target/target.h"

// What the program has for runs on this machine. Two files define these functions: commands/run/part.cc, and
// without_runtime.cc for a build that has no kernels and no runtime (lowtide_WITH_RUNTIME=OFF).
namespace lowtide::cli_internal {

class Arguments;
struct CModel;
struct CModelOptions;
struct CommandSpec;

// In the order of the help. Empty in a build without runtime. Then other commands have no options for kernels of this
// machine.
[[nodiscard]] std::vector<CommandSpec> runtime_commands();

// The machine that the program runs on, with its kernels. Threads and caches are those of a plan's key
// (Target::machine_key), except that `threads` replaces its number. Errors: those of cpu_target; (unsupported) in a
// build without runtime.
[[nodiscard]] Result<Target> this_machine(std::optional<int> threads = std::nullopt,
                                          const std::optional<std::vector<std::string>>& key = std::nullopt);

// The key of this machine for the threads and the caches of another key. Empty in a build without runtime.
[[nodiscard]] std::vector<std::string> key_of_this_machine(const std::vector<std::string>& other);

// An ONNX model as a program in C, with the sizes and the weights of the options. Stops with exit code 3 if the model
// cannot be one, and in a build without runtime.
[[nodiscard]] CModel c_model_of_onnx(const Arguments& arguments, const std::string& path, const CModelOptions& options);

// The names of the commands that this build does not have.
[[nodiscard]] std::vector<std::string_view> left_out_runtime_commands();

}  // namespace lowtide::cli_internal
