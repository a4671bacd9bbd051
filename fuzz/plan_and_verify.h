// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <cstdlib>

#include "lowtide/graph/graph.h"
#include "lowtide/pipeline/plan_graph.h"

namespace lowtide {

// Plans a graph and verifies the plan. If the plan is wrong, prints the violations and aborts.
inline void plan_and_verify(const Graph& graph) {
  const auto planned = plan_graph(graph, dense_target());
  if (!planned || planned->violations.empty()) return;
  for (const Violation& violation : planned->violations) std::fprintf(stderr, "%s\n", violation.message.c_str());
  std::abort();
}

}  // namespace lowtide
