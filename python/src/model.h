// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/import/imported.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/report/summary.h"
#include "lowtide/target/target.h"

namespace lowtide::python {

// What Python asks for: a model, its sizes, and the options of planning. Each function reads the fields that it needs.
struct Request {
  std::string model;  // path
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::vector<std::int64_t>> given;  // ImportOptions::given, by the names of inputs
  std::map<std::string, std::string> given_types;          // ImportOptions::given_types, by the names of inputs
  std::map<std::string, std::int64_t> at_most;             // ImportOptions::at_most
  std::vector<std::string> overrides;                      // ImportOptions::overrides
  std::vector<std::string> written_dims;                   // Provenance::dims
  std::string tool;                                        // Provenance::tool

  bool load_time = true;
  bool inputs_in_arena = false;
  bool outputs_at_caller = false;

  std::string target = "dense";            // "dense", "cpu", or the name of a target file
  std::optional<std::string> target_text;  // the content of that file
  std::optional<int> system_threads;       // OpenOptions::system_threads
  std::optional<int> threads;              // of a run; nullopt: those of the given plan, otherwise 1, or 2 with streams

  std::string order = "auto";
  std::optional<std::int64_t> budget;  // bytes
  bool views = true;
  bool parts = true;
  bool in_place = true;
  std::optional<std::int64_t> effort;
  std::optional<std::int64_t> order_effort;
  std::int64_t streams = 1;
  std::string run = "streams";
  bool check_bound = false;

  std::optional<std::uint64_t> synthetic;  // the seed of weights whose file is absent
};

// A model and the graph that runs.
struct LoadedModel {
  ImportedModel model;
  Lowered lowered;
};

[[nodiscard]] ImportOptions import_options(const Request& request);
// With the passes for the kernels if the target is "cpu".
[[nodiscard]] LowerOptions lower_options_of(const Request& request);
// Throws Failure, as do the functions below.
[[nodiscard]] LoadedModel load_model(const Request& request);
[[nodiscard]] Target target_of(const Request& request);
[[nodiscard]] PlanOptions plan_options(const Request& request);
[[nodiscard]] ModelFacts facts_of(const LoadedModel& loaded, const Request& request);

}  // namespace lowtide::python
