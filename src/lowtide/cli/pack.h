// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/cli/console.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output_files.h"
#include "lowtide/plan/packing.h"

// `pack` has two answers to the same file: offsets (pack_offsets.cc), or slots (pack_slots.cc).
namespace lowtide::cli_internal {

struct PackRequest {
  std::string path;
  std::optional<std::int64_t> effort;
  int threads = 1;
  std::optional<std::string> csv_file;
  std::optional<std::string> page_file;  // of offsets
  bool prints_json = false;
  double import_seconds = 0;
};

[[nodiscard]] ExitCode pack_offsets(const PackRequest& request, const PackingProblem& problem, const OutputFiles& files,
                                    Console& console);
[[nodiscard]] ExitCode pack_slots(const PackRequest& request, const PackingProblem& problem, const OutputFiles& files,
                                  Console& console);

// Stops with an internal error if there is something wrong with what was found: nothing of it is shown or written.
void stop_if_wrong(const std::vector<std::string>& wrong, const std::string& what);

}  // namespace lowtide::cli_internal
