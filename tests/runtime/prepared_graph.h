// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/kernels/cpu_target.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/session.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

inline std::shared_ptr<const ModelWeights> weights_for(ConstantTable table = {}) {
  Result<ModelWeights> weights = ModelWeights::open("", std::move(table));
  if (!weights) throw std::runtime_error(weights.error().describe());
  return std::make_shared<const ModelWeights>(*std::move(weights));
}

// A plan of the graph for this machine. Fails the test if the verifier finds anything.
inline Plan plan_for(const Graph& graph, const PlanOptions& options = {}, int threads = 1) {
  Result<PlannedGraph> planned = plan_graph(graph, *cpu_target({.threads = threads}), options);
  if (!planned) throw std::runtime_error(planned.error().describe());
  for (const Violation& violation : planned->violations) ADD_FAILURE() << violation.message;
  return std::move(planned->plan);
}

inline Result<std::shared_ptr<const Executable>> try_prepare(std::string_view text, ConstantTable table = {},
                                                             const PlanOptions& options = {}) {
  Graph graph = graph_of(text);
  Plan plan = plan_for(graph, options);
  return Executable::prepare(std::move(graph), std::move(plan), weights_for(std::move(table)));
}

inline std::shared_ptr<const Executable> must_prepare(std::string_view text, ConstantTable table = {},
                                                      const PlanOptions& options = {}) {
  Result<std::shared_ptr<const Executable>> executable = try_prepare(text, std::move(table), options);
  if (!executable) throw std::runtime_error(executable.error().describe());
  return *std::move(executable);
}

inline Session must_open(std::shared_ptr<const Executable> executable, const Arena& arena) {
  Result<Session> session = Session::open(std::move(executable), arena);
  if (!session) throw std::runtime_error(session.error().describe());
  return *std::move(session);
}

inline Session must_open(const std::shared_ptr<const Executable>& executable) {
  return must_open(executable, *Arena::allocate(executable->required_bytes()));
}

inline TensorRef ref(const std::vector<float>& values, std::span<const std::int64_t> extents) {
  return {DType::f32, extents, std::as_bytes(std::span(values))};
}

template <typename T = float>
std::vector<T> values_of(const OutputRef& output) {
  std::vector<T> values(output.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), output.bytes.data(), output.bytes.size());
  return values;
}

}  // namespace lowtide::testing
