// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model/c_model.h"

#include <optional>
#include <string>
#include <utility>

#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/import/import.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/tflite_program/program_of_tflite.h"

namespace lowtide::cli_internal {

std::optional<CModel> c_model_of_tflite(const std::string& path, const CModelOptions& options) {
  const Result<std::string> begin = read_beginning(path, 8);
  if (begin && !is_tflite(*begin)) return std::nullopt;
  const MicroFile file = read_micro_file(path);
  ProgramOfTflite made = take(program_of_tflite(file.model, file.bytes,
                                                {.name = options.name,
                                                 .order_effort = options.order_effort,
                                                 .allocate_effort = options.allocate_effort,
                                                 .stop = options.stop}),
                              path);
  return CModel{.format = "tflite", .program = std::move(made.program), .bound = made.bound};
}

}  // namespace lowtide::cli_internal
