// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/packing_of.h"

#include <gtest/gtest.h>

#include "lowtide/analysis/as_given.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

// x and k are not placed. a is live in steps 0 and 1, and the output "b, c" from step 1 to the end.
TEST(PackingOf, HasThePlacedBuffersAndNamesThatCsvCanHold) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    constant k : f32[16]
    a = Conv(x, k) : f32[32]
    "b, c" = Conv(a) : f32[16]
    d = Conv(a, "b, c") : f32[16]
    output "b, c"
    output d
  })");
  const Plan plan = plan_as_given(graph);
  const PackingProblem problem = packing_of(plan, labels_of(graph));
  ASSERT_EQ(problem.buffers.size(), 3U);
  const auto expect = [&](std::string_view name, TimeSpan lifespan, std::int64_t size) {
    for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
      if (!problem.names[id].ends_with(name)) continue;
      EXPECT_EQ(problem.buffers[id].lifespan, lifespan) << name;
      EXPECT_EQ(problem.buffers[id].size, Bytes(size)) << name;
      EXPECT_FALSE(problem.buffers[id].fixed_offset) << name;
      return;
    }
    ADD_FAILURE() << "no buffer " << name;
  };
  expect(":a", {0, 3}, 128);
  expect(":b__c", {1, 3}, 64);
  expect(":d", {2, 3}, 64);
}

// The branch of an If may have no step at all.
TEST(PackingOf, AProgramWithoutStepsHasOneMoment) {
  Plan plan = plan_as_given(graph_of("graph \"g\" {\n  input x : f32[16]\n  output x\n}"));
  EXPECT_TRUE(
      packing_of(plan, labels_of(graph_of("graph \"g\" {\n  input x : f32[16]\n  output x\n}"))).buffers.empty());
}

}  // namespace
}  // namespace lowtide::testing
