// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "lowtide/pipeline/plan_graph.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

// x -> a(256) -> b(256, in place) -> c(64) -> out; floats are 4 bytes, alignment 64.
constexpr const char* kChain = R"(graph "g" {
  input x : f32[16]
  a = Conv(x) : f32[64]
  b = Relu(a) : f32[64]
  c = Conv(b) : f32[16]
  output c
})";

// then: p(640) and q(64) live together; else: r(64). The If needs 704 bytes of scratch, and y beside it.
constexpr const char* kIf = R"(graph "g" {
  input c : bool[]
  input x : f32[16]
  y = If(c) "choose" {
    then_branch = graph "then" captures (x) {
      captured input x : f32[16]
      p = Conv(x) : f32[160]
      q = Conv(p) : f32[16]
      output q
    },
    else_branch = graph "else" captures (x) {
      captured input x : f32[16]
      r = Conv(x) : f32[16]
      output r
    }
  } : f32[16]
  z = Conv(y) : f32[16]
  output z
})";

// f0, f1 and f2 have 256 bytes, b2, b1 and b0 have 64. While b2 runs, all f are live: 3 * 256 + 64 = 832. If f0 runs
// again before b0, only f1 and f2 are live there: 2 * 256 + 64 = 576. The caller holds x, 64 bytes.
constexpr const char* kTrainingStep = R"(graph "g" {
  input x : f32[16]
  f0 = Conv(x) : f32[64]
  f1 = Conv(f0) : f32[64]
  f2 = Conv(f1) : f32[64]
  b2 = Conv(f2) : f32[16]
  b1 = Conv(f1, b2) : f32[16]
  b0 = Conv(f0, b1) : f32[16]
  output b0
})";

// Two branches of two nodes each; e joins them. Each result has 64 bytes.
constexpr const char* kBranches = R"(graph "g" {
  input x : f32[16]
  a = Conv(x) : f32[16]
  c = Conv(a) : f32[16]
  b = Conv(x) : f32[16]
  d = Conv(b) : f32[16]
  e = Conv(c, d) : f32[16]
  output e
})";

// The dense target with two regions of these alignments. `capacity` is that of the first.
inline Target two_regions(Bytes first, Bytes second, std::optional<Bytes> capacity) {
  Target target = dense_target();
  target.machine.regions = {{.name = "a", .capacity = capacity, .alignment = first},
                            {.name = "b", .alignment = second}};
  return target;
}

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
