// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans an ONNX model and writes the plan to a file:  example_plan_model MODEL PLAN [BUDGET_BYTES]

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "lowtide/base/article.h"
#include "lowtide/import/import.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan_json.h"

using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: example_plan_model MODEL PLAN [BUDGET_BYTES]\n";
    return 2;
  }
  const Result<ImportedModel> model = import_model(argv[1]);
  if (!model.ok()) {
    std::cerr << model.error().describe() << '\n';  // names the place in the file, and what to do
    return 3;
  }
  const Result<Lowered> lowered = lower(model->graph);  // work on constants does not belong to a run
  if (!lowered.ok()) {
    std::cerr << lowered.error().describe() << '\n';
    return 3;
  }
  PlanOptions options;
  options.model_sha256 = model->sha256;  // so that 'lowtide verify' refuses the plan for another model
  options.lowering = lowered->passes;    // so that it makes the same graph again
  if (argc > 3) options.budget = Bytes(std::strtoll(argv[3], nullptr, 10));
  const Result<PlannedGraph> planned = plan_graph(lowered->graph, dense_target(), options);
  if (!planned.ok()) {
    std::cerr << planned.error().describe() << '\n';
    return 3;
  }
  if (!planned->violations.empty()) {  // the verifier found an error in the plan: a bug of the planner
    std::cerr << planned->violations.front().message << '\n';
    return 4;
  }
  const Bound* bound = best_bound(planned->plan.claims, scope_of(planned->plan));
  std::cout << "arena " << arena_bytes(planned->plan).count() << " bytes";
  if (bound != nullptr) std::cout << ", lower bound " << bound->bytes.count() << " bytes";
  std::cout << '\n';
  if (!planned->fits()) {  // an answer, not an error
    std::cout << "does not fit: " << with_count(planned->shortfall.count(), "byte") << " too many"
              << (planned->proven_infeasible ? ", and no plan without recomputation or extra copies fits" : "") << '\n';
    return 1;
  }
  std::ofstream(argv[2], std::ios::binary) << write_plan_json(planned->plan, labels_of(lowered->graph));
  return 0;
}
