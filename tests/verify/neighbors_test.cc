// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

// a and b have 20 bytes each and are live together, in one buffer with alignment 16. A bound counts 32 + 32 bytes.
TEST(Neighbors, InOneBufferBeginAtTheAlignment) {
  const auto found = [](std::int64_t offset) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {20});
    const TensorId a = maker.result("a", {20}, "Gemm", {x});
    const TensorId b = maker.result("b", {20}, "Gemm", {a});
    const TensorId y = maker.result("y", {20}, "Gemm", {a, b});
    const Graph graph = maker.make({y});
    PlanMaker plan(graph);
    const BufferId both = plan.buffer(BufferKind::temporary, 64, 0, 0, 3);
    plan.put(a, both);
    plan.put(b, both, offset);
    plan.put(y, plan.buffer(BufferKind::output, 32, 64, 2, 3));
    plan.run_in_order();
    return messages(verify(graph, plan.finish()));
  };
  EXPECT_EQ(found(32), "");
  EXPECT_EQ(found(20),
            "misaligned: 'b' (tensor 2) is at offset 20 of buffer 1 (temporary), which then also holds values that "
            "share no bytes with it. The alignment of region 0 'arena' is 16\n");
}

}  // namespace
}  // namespace lowtide::testing
