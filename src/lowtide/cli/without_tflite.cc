// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/c_model.h"
#include "lowtide/cli/options/command_spec.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/tflite.h"

namespace lowtide::cli_internal {

std::span<const ModelFormat> tflite_model_formats() { return {}; }

std::vector<OptionSpec> micro_plan_options() { return {}; }

ExitCode plan_micro(const Arguments& /*arguments*/, Console& /*console*/) {
  stop_usage("this build leaves out TFLite; build Lowtide with lowtide_WITH_TFLITE=ON");
}

ExitCode verify_offline_plan(const Arguments& /*arguments*/, Console& /*console*/) {
  stop_usage("'lowtide verify' needs PLAN: a plan file; - is stdin");
}

std::optional<CModel> c_model_of_tflite(const std::string& /*path*/, const CModelOptions& /*options*/) {
  return std::nullopt;
}

std::optional<CModelPorts> c_ports_of_tflite(const std::string& /*path*/) { return std::nullopt; }

std::optional<MicroFigures> micro_figures(const std::string& /*path*/) { return std::nullopt; }

}  // namespace lowtide::cli_internal
