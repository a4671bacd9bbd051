// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Planner bugs of other projects that silently gave wrong results, each as a graph and the wrong plan. Every plan must
// be refused, with the step that overwrote and what it overwrote. The plan without the bug must pass.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// apache/tvm 20190: the storage of a value was reused before the last read of a second name for it (match_cast), so the
// sum became right + right.
TEST(PublishedBug, Tvm20190StorageReusedAcrossIdentity) {
  GraphMaker maker("match_cast");
  const TensorId x = maker.input("x", {16});
  const TensorId left = maker.result("left", {16}, "Gemm", {x});
  const TensorId same = maker.result("same", {16}, "Identity", {left});
  const TensorId right = maker.result("right", {16}, "Gemm", {x});
  const TensorId sum = maker.result("sum", {16}, "Add", {same, right});
  const Graph graph = maker.make({sum});
  const auto plan_with_right_at = [&](std::int64_t offset) {
    PlanMaker planner(graph);
    const BufferId pool = planner.buffer(BufferKind::temporary, 32, 0, 0, 4);
    planner.put(left, pool);
    planner.put(same, pool);
    planner.put(right, pool, offset);
    planner.put(sum, planner.buffer(BufferKind::output, 16, 32, 3, 4));
    planner.run_in_order({NodeId(1)});
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with_right_at(16))), "");
  const auto found = verify(graph, plan_with_right_at(0));
  EXPECT_EQ(kinds(found), "clobbered");
  EXPECT_EQ(found[0].step, StepId(3));
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{same, right}));
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{0, 16}));
  EXPECT_THAT(found[0].message, HasSubstr("reads 'same' (tensor 2)"));
  EXPECT_THAT(found[0].message,
              HasSubstr("step 2 (node 2 '', 'Gemm') overwrote bytes [0, 16) with 'right' (tensor 3)"));
}

// apache/tvm 19577: two names for one buffer were not unified, so a multiplication went in place over an operand whose
// other name a later concat reads.
TEST(PublishedBug, Tvm19577InPlaceOverAnOperandThatAConcatReads) {
  GraphMaker maker("in_place_then_concat");
  const TensorId x = maker.input("x", {16});
  const TensorId scale = maker.constant("scale", {16});
  const TensorId a = maker.result("a", {16}, "Gemm", {x});
  const TensorId view = maker.result("view", {16}, "Identity", {a});
  const TensorId product = maker.result("product", {16}, "Mul", {view, scale});
  const TensorId both = maker.result("both", {32}, "Concat", {a, product}, {integer("axis", 0)});
  const Graph graph = maker.make({both});
  const auto plan_with_product_at = [&](std::int64_t offset) {
    PlanMaker planner(graph);
    const BufferId pool = planner.buffer(BufferKind::temporary, 32, 0, 0, 4);
    planner.put(a, pool);
    planner.put(view, pool);
    planner.put(product, pool, offset);
    planner.put(both, planner.buffer(BufferKind::output, 32, 32, 3, 4));
    planner.run_in_order({NodeId(1)});
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with_product_at(16))), "");
  const auto found = verify(graph, plan_with_product_at(0));
  EXPECT_EQ(kinds(found), "clobbered");
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{a, product}));
  EXPECT_THAT(found[0].message, HasSubstr("step 3 (node 3 '', 'Concat') reads 'a' (tensor 2)"));
  EXPECT_THAT(found[0].message, HasSubstr("step 2 (node 2 '', 'Mul') overwrote bytes [0, 16) with 'product'"));
}

// google-ai-edge/LiteRT 8889 and 8928: a buffer was given to the next result at the reshape, where its last direct
// reader is, although the reshaped tensor in it is read after that.
TEST(PublishedBug, LiteRt8889BufferRecycledBehindAReshape) {
  GraphMaker maker("reshape_then_fully_connected");
  const TensorId x = maker.input("x", {32});
  const TensorId features = maker.result("features", {32}, "Conv", {x});
  const TensorId rows = maker.result("rows", {2, 16}, "Reshape", {features});
  const TensorId logits = maker.result("logits", {2, 8}, "MatMul", {rows});
  const Graph graph = maker.make({logits});
  const auto plan_with = [&](std::uint32_t features_end, std::int64_t logits_offset) {
    PlanMaker planner(graph);
    const BufferId buffer = planner.buffer(BufferKind::temporary, 32, 0, 0, features_end);
    planner.put(features, buffer);
    planner.put(rows, buffer);
    planner.put(logits, planner.buffer(BufferKind::output, 16, logits_offset, 2, 3));
    planner.run_in_order({NodeId(1)});
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with(3, 32))), "");
  const auto found = verify(graph, plan_with(2, 0));
  EXPECT_EQ(kinds(found), "dead_access; bad_in_place");
  EXPECT_THAT(found[0].message,
              HasSubstr("reads 'rows' (tensor 2) in buffer 1 (temporary), which is live only in steps [0, 2)"));
  EXPECT_THAT(found[1].message, HasSubstr("writes 'logits' (tensor 3) over 'rows' (tensor 2) in bytes [0, 16)"));
}

// openvinotoolkit/openvino 35396 and 35505: the pool did not know the readers of a view that had been optimized out,
// here a slice.
TEST(PublishedBug, OpenVino35396PoolDidNotKnowTheReadersOfAView) {
  GraphMaker maker("slice_read_late");
  const TensorId x = maker.input("x", {32});
  const TensorId all = maker.result("all", {32}, "Gemm", {x});
  const TensorId half = maker.result("half", {16}, "Slice", {all}, {integers("starts", {16}), integers("ends", {32})});
  const TensorId other = maker.result("other", {16}, "Gemm", {x});
  const TensorId sum = maker.result("sum", {16}, "Add", {half, other});
  const Graph graph = maker.make({sum});
  const auto plan_with_other_at = [&](std::int64_t offset) {
    PlanMaker planner(graph);
    const BufferId pool = planner.buffer(BufferKind::temporary, 32, 0, 0, 4);
    planner.put(all, pool);
    planner.put(half, pool, 16);
    planner.put(other, pool, offset);
    planner.put(sum, planner.buffer(BufferKind::output, 16, 32, 3, 4));
    planner.run_in_order({NodeId(1)});
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with_other_at(0))), "");  // the half that is no longer needed is free
  const auto found = verify(graph, plan_with_other_at(1));
  EXPECT_EQ(kinds(found), "clobbered");
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{half, other}));
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{16, 17}));
}

// pytorch/pytorch 187678: the buffer behind an output that is an alias was freed early.
TEST(PublishedBug, PyTorch187678OutputThatIsAnAliasFreedEarly) {
  GraphMaker maker("alias_output");
  const TensorId x = maker.input("x", {16});
  const TensorId a = maker.result("a", {16}, "Gemm", {x});
  const TensorId shown = maker.result("shown", {4, 4}, "Reshape", {a});
  const TensorId late = maker.result("late", {16}, "Gemm", {x});
  const Graph graph = maker.make({shown, late});
  PlanMaker planner(graph);
  const BufferId first = planner.buffer(BufferKind::output, 16, 0, 0, 2);
  planner.put(a, first);
  planner.put(shown, first);
  planner.put(late, planner.buffer(BufferKind::output, 16, 0, 2, 3));
  planner.run_in_order({NodeId(1)});
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "output_lost; output_lost; overlap");
  EXPECT_THAT(found[0].message, HasSubstr("'shown' (tensor 2) should be intact at the end"));
  EXPECT_THAT(found[0].message, HasSubstr("overwrote bytes [0, 16) with 'late' (tensor 3)"));
}

// pulp-platform/Deeploy 91: an alias was freed, and its bytes overwritten in place, while a skip connection still needs
// the tensor under it.
TEST(PublishedBug, Deeploy91SkipConnectionNeedsTheRootOfAnAlias) {
  GraphMaker maker("skip");
  const TensorId x = maker.input("x", {16});
  const TensorId root = maker.result("root", {16}, "Gemm", {x});
  const TensorId flat = maker.result("flat", {16}, "Flatten", {root});
  const TensorId active = maker.result("active", {16}, "Relu", {flat});
  const TensorId sum = maker.result("sum", {16}, "Add", {root, active});
  const Graph graph = maker.make({sum});
  PlanMaker planner(graph);
  const BufferId buffer = planner.buffer(BufferKind::temporary, 16, 0, 0, 4);
  planner.put(root, buffer);
  planner.put(flat, buffer);
  planner.put(active, buffer);
  planner.put(sum, planner.buffer(BufferKind::output, 16, 16, 3, 4));
  planner.run_in_order({NodeId(1)});
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "clobbered");
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{root, active}));
  EXPECT_THAT(found[0].message, HasSubstr("step 3 (node 3 '', 'Add') reads 'root' (tensor 1)"));
  EXPECT_THAT(found[0].message, HasSubstr("step 2 (node 2 '', 'Relu') overwrote bytes [0, 16) with 'active'"));
}

// hw-native-sys/pypto 585: two accumulators of parallel paths were given one buffer.
TEST(PublishedBug, Pypto585TwoAccumulatorsInOneBuffer) {
  GraphMaker maker("accumulators");
  const TensorId x = maker.input("x", {16});
  const TensorId left = maker.result("left", {16}, "MatMul", {x});
  const TensorId right = maker.result("right", {16}, "MatMul", {x});
  const TensorId sum = maker.result("sum", {16}, "Add", {left, right});
  const Graph graph = maker.make({sum});
  PlanMaker planner(graph);
  const BufferId buffer = planner.buffer(BufferKind::temporary, 16, 0, 0, 3);
  planner.put(left, buffer);
  planner.put(right, buffer);
  planner.put(sum, planner.buffer(BufferKind::output, 16, 16, 2, 3));
  for (std::uint32_t node : {0, 1, 2}) planner.compute(NodeId(node));
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "clobbered");
  EXPECT_EQ(found[0].tensors, (std::vector<TensorId>{left, right}));
  EXPECT_THAT(found[0].message, HasSubstr("step 1 (node 1 '', 'MatMul') overwrote bytes [0, 16) with 'right'"));
}

// apache/tvm 18663: a dimension with a lower bound only was planned as if that were its size. Here a tensor is as large
// as it can get, and the buffer as small as it may be.
TEST(PublishedBug, Tvm18663SizeTakenFromTheLowerBound) {
  GraphMaker maker("bounds");
  const TensorId x = maker.input("x", {64});
  const TensorId few = maker.bounded("few", {64}, 0);
  maker.node("NonZero", {x}, {few});
  const Graph graph = maker.make({few});
  PlanMaker planner(graph);
  planner.put(few, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  planner.compute(NodeId(0));
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "out_of_buffer");
  EXPECT_THAT(found[0].message,
              HasSubstr("'few' (tensor 1) has 64 bytes at offset 0 of buffer 1 (output), which has 16"));
}

// Xilinx/mlir-aie 3656: a fused dispatch had one buffer for its input and its output, so identical runs differed.
TEST(PublishedBug, MlirAie3656InputAndOutputInOneBuffer) {
  GraphMaker maker("dispatch");
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.result("y", {16}, "Relu", {x});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  planner.put(y, planner.buffer_of(x));
  planner.compute(NodeId(0));
  const auto found = verify(graph, planner.finish());
  EXPECT_EQ(kinds(found), "role");
  EXPECT_THAT(found[0].message,
              HasSubstr("would write 'y' (tensor 1) into buffer 0 (input), which must stay untouched"));
}

}  // namespace
}  // namespace lowtide::testing
