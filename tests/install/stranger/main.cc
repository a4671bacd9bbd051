// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "lowtide/allocate/allocate.h"
#include "lowtide/graph/builder.h"
#include "lowtide/import/import.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/report/page.h"
#include "lowtide/verify/check_packing.h"

// Packs two buffers, plans a graph that it builds itself, then the model that it is given, and prints the sizes.
int main(int count, char** words) {
  using namespace lowtide;  // NOLINT(google-build-using-namespace): a short program
  PackingProblem pair;
  pair.buffers.push_back({.lifespan = {0, 2}, .size = Bytes(64)});
  pair.buffers.push_back({.lifespan = {1, 3}, .size = Bytes(64)});
  const Result<Packing> packed = allocate(pair);
  if (!packed || !check_packing(pair, packed->offsets).empty()) return 1;
  std::cout << "packed " << packed->height.count() << '\n';

  GraphBuilder builder("own");
  const TensorId x = builder.add_tensor({.name = "x", .dtype = DType::f32, .shape = Shape({256})}, Role::input);
  const TensorId y = builder.add_tensor({.name = "y", .dtype = DType::f32, .shape = Shape({256})});
  const TensorId z = builder.add_tensor({.name = "z", .dtype = DType::f32, .shape = Shape({256})});
  builder.add_node({.name = "first", .type = "Relu", .inputs = {x}, .outputs = {y}});
  builder.add_node({.name = "second", .type = "MatMul", .inputs = {y, x}, .outputs = {z}});
  builder.set_outputs({z});
  const Result<Graph> own = std::move(builder).build();
  if (!own) return 3;

  const Result<PlannedGraph> planned = plan_graph(*own, dense_target());
  if (!planned || !planned->violations.empty()) return 1;
  std::cout << "own " << arena_bytes(planned->plan).count() << '\n';

  if (count < 2) return 2;
  const Result<ImportedModel> model = import_model(words[1]);
  if (!model) {
    std::cerr << model.error().describe() << '\n';
    return 3;
  }
  const Result<PlannedGraph> of_model = plan_graph(model->graph, dense_target());
  if (!of_model || !of_model->violations.empty()) return 1;
  const Labels labels = labels_of(model->graph);
  const Result<PlanFile> read = read_plan_json(write_plan_json(of_model->plan, labels), "plan.json");
  if (!read || page({read->plan, read->labels}).empty()) return 1;
  std::cout << "model " << arena_bytes(read->plan).count() << '\n';
  return 0;
}
