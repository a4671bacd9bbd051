// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/base/result.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/console.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/import/import.h"
#include "lowtide/lower/lower.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {

// Wall clock time since construction. It is only reported; no decision depends on it.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct LoadedModel {
  ImportedModel model;
  Lowered lowered;  // made from the graph of the model
  ModelFacts facts;
  double seconds = 0;
};

// The model to plan, and the options that determine its graph.
struct ModelRequest {
  std::string path;
  ImportOptions bindings;
  LowerOptions lowering;
  FormatChoice formats;  // the budget, and what else decides which graph runs; not for the graph of a given plan
};

// Reads MODEL, the sizes given for it, and the options of lowering for a target.
[[nodiscard]] ModelRequest read_model_request(const Arguments& arguments, const Target& target);

// The paths of the files that hold the constants of a model, such as its external data.
[[nodiscard]] std::vector<std::string> weight_files(const std::string& model_path, const ConstantTable& table);

// Imports and lowers a model, and prints the importer's notes as remarks.
[[nodiscard]] Result<LoadedModel> try_load_model(const ModelRequest& request, Console& console);
// The same, but stops if that fails.
[[nodiscard]] LoadedModel load_model(const ModelRequest& request, Console& console);

// Makes `other` the graph that runs for a loaded model. Requires: it was lowered from the graph of the model.
void use_graph(const ModelRequest& request, Lowered other, LoadedModel& loaded);

}  // namespace lowtide::cli_internal
