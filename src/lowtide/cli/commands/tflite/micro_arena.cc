// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/tflite/micro_arena.h"

#include "lowtide/base/quote.h"

namespace lowtide::cli_internal {

std::vector<std::string> quoted_names(const std::vector<std::string>& operators) {
  std::vector<std::string> names;
  for (const std::string& type : operators) names.push_back(quoted(type, 60));
  return names;
}

std::string where_it_runs(MicroBuild build) {
  const std::string pointers = " (pointers of " + std::to_string(pointer_bytes(build)) + " bytes)";
  return (build == MicroBuild::python ? "in the Python package" : "on a Cortex-M") + pointers;
}

}  // namespace lowtide::cli_internal
