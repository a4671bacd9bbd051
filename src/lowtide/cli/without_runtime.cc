// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/quote.h"
#include "lowtide/cli/model/c_model.h"
#include "lowtide/cli/options/command_spec.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/runtime.h"

namespace lowtide::cli_internal {

std::vector<CommandSpec> runtime_commands() { return {}; }

Result<Target> this_machine(std::optional<int> /*threads*/, const std::optional<std::vector<std::string>>& /*key*/) {
  return Error{ErrorCode::unsupported,
               "this build has no kernels, so it knows no target cpu; build Lowtide with lowtide_WITH_RUNTIME=ON", ""};
}

std::vector<std::string> key_of_this_machine(const std::vector<std::string>& /*other*/) { return {}; }

CModel c_model_of_onnx(const Arguments& /*arguments*/, const std::string& path, const CModelOptions& /*options*/) {
  throw Stop(ExitCode::bad_input,
             shown_path(path) +
                 ": this build makes C source of TFLite models only, because what depends on constants "
                 "alone needs kernels; build Lowtide with lowtide_WITH_RUNTIME=ON");
}

std::vector<std::string_view> left_out_runtime_commands() { return {"run", "prepare", "bench"}; }

}  // namespace lowtide::cli_internal
