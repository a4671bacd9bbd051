// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/plan/packing.h"
#include "lowtide/report/packing_summary.h"

// `pack` answers a file with offsets (pack_offsets.cc) or slots (pack_slots.cc).
namespace lowtide::cli_internal {

struct PackRequest {
  std::string path;
  std::optional<std::int64_t> effort;
  int threads = 1;
  std::optional<std::string> csv_file;
  std::optional<std::string> page_file;  // only for offsets
  bool prints_json = false;
  bool wide = false;  // SummaryOptions::wide
  double import_seconds = 0;
};

// The checked answer of `pack`, in a form that offsets and slots share.
struct PackAnswer {
  PackingFigures figures;
  bool is_bound_searched = false;
  bool is_bound_verified = false;
  bool is_interrupted = false;
  double pack_seconds = 0;
  double verify_seconds = 0;
  Json json = Json::object();  // keys that only one of them has
  std::string csv;             // the output file
  std::string page;            // empty for slots
};

[[nodiscard]] PackAnswer pack_offsets(const PackRequest& request, const PackingProblem& problem,
                                      const Console& console);
[[nodiscard]] PackAnswer pack_slots(const PackRequest& request, const PackingProblem& problem, const Console& console);

// Stops with an internal error if `wrong` lists anything. Then nothing is shown or written.
void stop_if_wrong(const std::vector<Violation>& wrong, const std::string& what);

}  // namespace lowtide::cli_internal
