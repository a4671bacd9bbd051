// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// Plans, and fails the test if that is refused or the verifier finds anything.
inline PlannedGraph must_plan(const Graph& graph, const PlanOptions& options = {},
                              const Target& target = dense_target()) {
  PlanOptions checked = options;
  checked.verify_each = true;
  Result<PlannedGraph> planned = plan_graph(graph, target, checked);
  EXPECT_TRUE(planned.ok()) << planned.error().describe();
  for (const Violation& violation : planned->violations) {
    ADD_FAILURE() << violation.message << "\n" << print_graph(graph);
  }
  return *std::move(planned);
}

}  // namespace lowtide::testing
