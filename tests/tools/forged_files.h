// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>

#include "lowtide/engine/engine.h"

namespace lowtide::testing {

// What became of forged prepared files.
struct ForgedOutcomes {
  int refused = 0;   // when they were opened
  int stopped = 0;   // a run ended with an error
  int harmless = 0;  // a run ended without one
  // "input", "attribute" and the other roles of forgeries: how many there were, and how many of them were refused.
  std::map<std::string, std::pair<int, int>> by_role;
  // What was not refused: "result y: f32[2] as f32[3] (Relu): ran".
  std::string listed;
};

struct ForgedOptions {
  int part = 1;           // with 3, only every third case is tried
  bool is_range = false;  // the files have two plans, and the second one is forged
};

// Plans each forgery (forgeries.h) of the graph of a model with the kernels of the model, and writes, opens and runs
// the file. Inputs are synthetic. `folder` gets the files, and the text of the case that is being tried, so that one
// that ends the program can be named. `number` counts the cases of all calls.
[[nodiscard]] ForgedOutcomes try_forged_files(const OpenedModel& model, const std::string& folder,
                                              const ForgedOptions& options, int& number);

}  // namespace lowtide::testing
