// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Shows what a run of a model computes, and what memory it uses.
//
//   prove_model values MODEL [OPTION...]   every value of the graph of the model, and its outputs at the end
//   prove_model memory MODEL               one JSON object: the memory that a run uses, beside that of the plan
//
// For each value it prints a line with a JSON object, then as many bytes as its key `bytes` says: a file in the format
// .npy. With --as-written, the graph is not lowered, so it has all tensors of the model. With --two-threads, the plan
// is for two threads. The inputs are the files input_0.npy and so on beside the model. Inputs and weights without a
// file are synthetic.

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/engine/npy.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/session.h"
#include "tests/tools/model_case.h"

namespace lowtide::testing {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

OpenedModel open(const std::string& path, const std::set<std::string>& words) {
  OpenOptions options;
  options.synthetic_seed = 1;
  if (words.contains("--as-written")) options.lower = LowerOptions{};
  if (words.contains("--two-threads")) options.cpu.threads = 2;
  return take(open_model(path, options));
}

void print_values(const Executable& executable, const CaseInputs& inputs) {
  take(see_values(executable, inputs.tensors, [](const SeenValue& value) {
    if (!value.path.empty()) return;
    const Result<std::string> file = write_npy(value.dtype, value.extents, value.bytes);
    if (!file) return;  // NumPy has no such type
    const Json line{{"name", value.name}, {"bytes", file->size()}};
    std::cout << line.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n' << *file;
  }));
  std::cout.flush();
}

void print_memory(const OpenedModel& model, const CaseInputs& inputs) {
  const Executable& executable = *model.executable;
  const Arena arena = take(Arena::allocate(executable.required_bytes()));
  const Session session = take(Session::open(model.executable, arena, {.touch = false}));
  const RunInspection found = take(run_poisoned(executable, inputs.tensors));
  const Plan& plan = executable.plan();
  const Json answer{{"nodes", model.model_nodes},
                    {"steps", plan.program.steps.size()},
                    {"lowering", plan.provenance.lowering},
                    {"planned_peak", plan.claims.load.count()},
                    {"seen_peak", found.seen_peak.count()},
                    {"planned_arena", plan.layout.arena[0].count()},
                    {"seen_arena", found.seen_arena.count()},
                    {"dynamic_tensors", session.dynamic_sizes().size()},
                    {"fault", found.fault ? Json(*found.fault) : Json(nullptr)}};
  std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw std::runtime_error("prove_model: values or memory, and a model");
  const OpenedModel model = open(words[1], {words.begin() + 2, words.end()});
  const CaseInputs inputs = case_inputs(words[1], *model.executable);
  if (words[0] == "values") {
    print_values(*model.executable, inputs);
  } else {
    print_memory(model, inputs);
  }
  return 0;
}

}  // namespace
}  // namespace lowtide::testing

int main(int count, char** words) {
  try {
    return lowtide::testing::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
