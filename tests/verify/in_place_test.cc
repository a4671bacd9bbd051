// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

using Extents = std::vector<std::int64_t>;

struct Operand {
  Extents extents;
  DType dtype = DType::u8;
};

// A node whose operands are all computed and die there. Its result lies over operand `over`, shifted by `shift` bytes.
// Every other operand has bytes of its own.
std::vector<Violation> overwrite(const std::string& op, const std::vector<Operand>& operands, const Operand& result,
                                 std::size_t over, std::int64_t shift = 0) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  std::vector<std::optional<TensorId>> inputs;
  for (const Operand& operand : operands) {
    inputs.emplace_back(maker.tensor("in" + std::to_string(inputs.size()), operand.extents, operand.dtype));
    maker.node("Gemm", {x}, {inputs.back()});
  }
  const TensorId y = maker.tensor("y", result.extents, result.dtype);
  const std::size_t colon = op.find("::");
  const NodeId node = maker.node({.domain = colon == std::string::npos ? "" : op.substr(0, colon),
                                  .type = colon == std::string::npos ? op : op.substr(colon + 2),
                                  .inputs = inputs,
                                  .outputs = {y}});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  const auto steps = static_cast<std::uint32_t>(graph.nodes().size());
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const BufferId buffer = planner.buffer(at == over ? BufferKind::output : BufferKind::temporary, 256,
                                           static_cast<std::int64_t>(at) * 256, 0, steps);
    planner.put(*inputs[at], buffer, 64);
    if (at == over) planner.put(y, buffer, 64 + shift);
  }
  for (std::uint32_t at = 0; at < inputs.size(); ++at) planner.compute(NodeId(at));
  planner.compute(node);
  return verify(graph, planner.finish());
}

TEST(InPlace, ElementWiseMayOverwriteItsFirstOperand) {
  EXPECT_EQ(messages(overwrite("Relu", {{{4, 4}}}, {{4, 4}}, 0)), "");
  EXPECT_EQ(messages(overwrite("Softmax", {{{4, 4}}}, {{4, 4}}, 0)), "");
  EXPECT_EQ(messages(overwrite("Add", {{{4, 4}}, {{4, 4}}}, {{4, 4}}, 0)), "");
}

TEST(InPlace, AddMayOverwriteEitherOperand) {
  EXPECT_EQ(messages(overwrite("Add", {{{4, 4}}, {{4, 4}}}, {{4, 4}}, 1)), "");
  EXPECT_EQ(messages(overwrite("Add", {{{4}}, {{4, 4}}}, {{4, 4}}, 1)), "");
  EXPECT_EQ(messages(overwrite("Add", {{{1, 16}}, {{16}}}, {{1, 16}}, 1)), "");  // element i is element i
}

TEST(InPlace, SomeOperatorsMayOverwriteOnlyTheFirstInput) {
  const auto found = overwrite("PRelu", {{{4, 4}}, {{4, 4}}}, {{4, 4}}, 1);
  EXPECT_EQ(kinds(found), "bad_in_place");
  EXPECT_THAT(found[0].message, HasSubstr("the operator overwrites its first operand only"));
}

TEST(InPlace, ProductsMayOverwriteOperandsOfTheirEpilogue) {
  const std::vector<Operand> operands = {{{4, 4}}, {{4, 4}}, {{4}}, {{4, 4}}};
  for (const char* type : {"lowtide::Conv", "lowtide::Gemm", "lowtide::MatMul"}) {
    EXPECT_EQ(messages(overwrite(type, operands, {{4, 4}}, 3)), "") << type;
    const auto found = overwrite(type, operands, {{4, 4}}, 0);
    EXPECT_EQ(kinds(found), "bad_in_place");
    EXPECT_THAT(found[0].message, HasSubstr("the product reads this operand to its end"));
  }
  // A result with other extents has its elements elsewhere.
  EXPECT_EQ(kinds(overwrite("lowtide::Conv", {{{4, 4}}, {{4, 4}}, {{4}}, {{1, 4, 4}}}, {{4, 4}}, 3)), "bad_in_place");
}

TEST(InPlace, OtherOperatorsNeverWorkInPlace) {
  EXPECT_EQ(kinds(overwrite("Gemm", {{{16}}}, {{16}}, 0)), "bad_in_place");
  EXPECT_EQ(kinds(overwrite("Unheard", {{{16}}}, {{16}}, 0)), "bad_in_place");
  EXPECT_EQ(kinds(overwrite("Transpose", {{{4, 4}}}, {{4, 4}}, 0)), "bad_in_place");
}

// Element 1 of the result would be written over element 0 or 2 of the operand, which is still to be read.
TEST(InPlace, ShiftedResultIsWrong) {
  for (std::int64_t shift : {-8, -1, 1, 8}) {
    const auto found = overwrite("Relu", {{{16}}}, {{16}}, 0, shift);
    EXPECT_EQ(kinds(found), "bad_in_place") << shift;
    EXPECT_THAT(found[0].message, HasSubstr("do not begin and end at the same bytes"));
  }
  EXPECT_EQ(messages(overwrite("Relu", {{{16}}}, {{16}}, 0, 16)), "");  // right after it
}

TEST(InPlace, BroadcastOperandIsStillNeeded) {
  EXPECT_EQ(kinds(overwrite("Add", {{{4}}, {{4, 4}}}, {{4, 4}}, 0)), "bad_in_place");
  EXPECT_EQ(kinds(overwrite("Add", {{{1, 4}}, {{4, 1}}}, {{4, 4}}, 1)), "bad_in_place");
}

TEST(InPlace, ElementsOfAnotherSizeAreWrong) {
  EXPECT_EQ(messages(overwrite("Cast", {{{4}, DType::f32}}, {{4}, DType::i32}, 0)), "");
  EXPECT_EQ(kinds(overwrite("Cast", {{{4}, DType::u8}}, {{4}, DType::f32}, 0)), "bad_in_place");
  // The total sizes are equal, but those of the elements are not.
  const auto found =
      overwrite("Where", {{{16}, DType::boolean}, {{4}, DType::f32}, {{4}, DType::f32}}, {{4}, DType::f32}, 0);
  EXPECT_EQ(kinds(found), "bad_in_place");
  EXPECT_THAT(found[0].message, HasSubstr("different sizes"));
}

TEST(InPlace, AnotherShapeOfTheSameBytesIsWrong) {
  EXPECT_EQ(kinds(overwrite("Relu", {{{2, 8}}}, {{4, 4}}, 0)), "bad_in_place");
  EXPECT_EQ(kinds(overwrite("Add", {{{2, 8}}, {{4, 4}}}, {{4, 4}}, 0)), "bad_in_place");
}

// Add(v, v) reads element i twice and then writes it; PRelu(v, v) may read a slope again.
TEST(InPlace, OperandReadTwiceMayBeOverwrittenByAddOnly) {
  for (const bool is_add : {true, false}) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {16});
    const TensorId v = maker.tensor("v", {16});
    const TensorId y = maker.tensor("y", {16});
    maker.node("Gemm", {x}, {v});
    maker.node(is_add ? "Add" : "PRelu", {v, v}, {y});
    const Graph graph = maker.make({y});
    PlanMaker planner(graph);
    const BufferId buffer = planner.buffer(BufferKind::output, 16, 0, 0, 2);
    planner.put(v, buffer);
    planner.put(y, buffer);
    planner.run_in_order();
    EXPECT_EQ(kinds(verify(graph, planner.finish())), is_add ? "" : "bad_in_place");
  }
}

// An operand of at most 8 elements may turn out to have one, which is then used for each element of the other operand.
TEST(InPlace, OperandThatMayBeBroadcastMustNotBeOverwritten) {
  const auto add_over_bounded = [](const Extents& other, bool other_is_bounded) {
    GraphMaker maker;
    const TensorId x = maker.input("x", {8});
    const TensorId few = maker.bounded("few", {8}, 0);
    const TensorId more = other_is_bounded ? maker.bounded("more", other, 0) : maker.tensor("more", other);
    const TensorId y = maker.bounded("y", {8}, 0);
    maker.node("Compress", {x}, {few});
    maker.node("Compress", {x}, {more});
    maker.node("Add", {few, more}, {y});
    const Graph graph = maker.make({y});
    PlanMaker planner(graph);
    const BufferId buffer = planner.buffer(BufferKind::output, 8, 0, 0, 3);
    planner.put(few, buffer);
    planner.put(more, planner.buffer(BufferKind::temporary, 8, 16, 0, 3));
    planner.put(y, buffer);
    for (std::uint32_t node : {0, 1, 2}) planner.compute(NodeId(node));
    return kinds(verify(graph, planner.finish()));
  };
  EXPECT_EQ(add_over_bounded({8}, true), "bad_in_place");
  EXPECT_EQ(add_over_bounded({8}, false), "bad_in_place");
  EXPECT_EQ(add_over_bounded({1}, false), "");
  EXPECT_EQ(add_over_bounded({}, false), "");
}

TEST(InPlace, SecondOutputMustNotOverwriteAnOperand) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId v = maker.tensor("v", {16});
  const TensorId y = maker.tensor("y", {16});
  const TensorId statistics = maker.tensor("statistics", {16});
  maker.node("Gemm", {x}, {v});
  maker.node("LayerNormalization", {v}, {y, statistics});
  const Graph graph = maker.make({y, statistics});
  const auto plan_with = [&](TensorId over, TensorId apart) {
    PlanMaker planner(graph);
    const BufferId shared = planner.buffer(BufferKind::output, 16, 0, 0, 2);
    planner.put(v, shared);
    planner.put(over, shared);
    planner.put(apart, planner.buffer(BufferKind::output, 16, 16, 0, 2));
    planner.run_in_order();
    return planner.finish();
  };
  EXPECT_EQ(messages(verify(graph, plan_with(y, statistics))), "");
  EXPECT_EQ(kinds(verify(graph, plan_with(statistics, y))), "bad_in_place");
}

TEST(InPlace, OutputsOfOneStepMustNotShareBytes) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.tensor("y", {16});
  const TensorId z = maker.tensor("z", {16});
  const TensorId sum = maker.tensor("sum", {16});
  maker.node("TopK", {x}, {y, z});
  maker.node("Gemm", {y}, {sum});
  const Graph graph = maker.make({sum});
  PlanMaker planner(graph);
  const BufferId shared = planner.buffer(BufferKind::temporary, 32, 0, 0, 2);
  planner.put(z, shared, 0);
  planner.put(y, shared, 8);
  planner.put(sum, planner.buffer(BufferKind::output, 16, 32, 1, 2));
  planner.run_in_order();
  const auto found = verify(graph, planner.finish());
  // Both are written into the same bytes. The reader of y finds z, which was written second.
  EXPECT_EQ(kinds(found), "clobbered; clobbered");
  EXPECT_EQ(found[0].bytes, (Interval<std::int64_t>{8, 16}));
  EXPECT_THAT(found[1].message, HasSubstr("step 0 (node 0 '', 'TopK') overwrote bytes [8, 16) with 'z'"));
}

}  // namespace
}  // namespace lowtide::testing
