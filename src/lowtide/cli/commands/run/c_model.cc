// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/c_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/c_source/graph_program/graph_program.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/cli/runtime.h"

namespace lowtide::cli_internal {

CModel c_model_of_onnx(const Arguments& arguments, const std::string& path, const CModelOptions& options) {
  GraphProgramOptions making{.import = read_bindings(arguments)};
  making.import.formats = {};
  making.plan.order_effort = options.order_effort;
  making.plan.allocate_effort = options.allocate_effort;
  making.plan.stop = options.stop;
  making.plan.tool = tool_name();
  if (arguments.value("--synthetic")) {
    making.synthetic_seed = static_cast<std::uint64_t>(read_count(arguments, "--synthetic", 0).value_or(0));
  }
  GraphProgram made = take(graph_program(path, making));
  made.program.name = options.name;
  const Bytes bound = bound_of(made.planned.plan).bytes;
  return CModel{.format = "onnx", .program = std::move(made.program), .bound = bound, .notes = std::move(made.notes)};
}

}  // namespace lowtide::cli_internal
