// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/executable.h"

#include <gmock/gmock.h>

#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;
using testing::must_prepare;
using testing::plan_for;
using testing::try_prepare;
using testing::weights_for;

constexpr const char* kRelu = R"(graph "g" { input x : f32[4]; y = Relu(x) : f32[4]; output y })";

TEST(Executable, ListsInputsOutputsAndStates) {
  const auto executable = must_prepare(R"(graph "g" {
    input x : f32[2,2]
    input u : f32[2,2]
    state h : f32[2,2]
    y = Relu(x) : f32[2,2]
    output y, u
    update h = y
  })");
  ASSERT_EQ(executable->inputs().size(), 2U);
  EXPECT_EQ(executable->inputs()[1].name, "u");
  EXPECT_EQ(executable->inputs()[1].size, Bytes(16));
  ASSERT_EQ(executable->outputs().size(), 2U);
  EXPECT_FALSE(executable->outputs()[1].is_in_arena);
  ASSERT_EQ(executable->states().size(), 1U);
  EXPECT_EQ(executable->states()[0].name, "h");
}

TEST(Executable, RefusesAPlanOfAnotherGraph) {
  Graph graph = graph_of(R"(graph "g" { input x : f32[4]; y = Relu(x) : f32[4]; output y })");
  const Graph other = graph_of(R"(graph "g" { input x : f32[4]; output x })");
  const auto refused = Executable::prepare(graph, plan_for(other), weights_for());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::mismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("for graph 'g' with 0 nodes and 1 tensors, but this one has 1 nodes"));
}

TEST(Executable, RefusesAPlanOfAnotherMachine) {
  Graph graph = graph_of(kRelu);
  Plan plan = plan_for(graph, {.model = "small.onnx"});
  plan.provenance.machine_key = {"isa=sse41", "kernels=1", "library=none", "threads=1"};
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for()).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message,
              HasSubstr("machine with isa=sse41, kernels=1, library=none and threads=1, but this one has"));
  EXPECT_THAT(error.message, HasSubstr("lowtide plan 'small.onnx' --target cpu --threads 1 -o PLAN"));
}

TEST(Executable, RefusesAPlanForAnotherNumberOfThreads) {
  Graph graph = graph_of(kRelu);
  Plan plan = plan_for(graph);
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for(), {.threads = 2}).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("--target cpu --threads 2"));
}

// A target may have an alignment of 1.
TEST(Executable, RefusesElementsAtOddAddresses) {
  Graph graph = graph_of(kRelu);
  Plan plan = plan_for(graph);
  for (Buffer& buffer : plan.layout.buffers) {
    if (buffer.placement) buffer.placement->offset = Offset(1);
  }
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for()).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("is at address 1, which is not a multiple of the 4 bytes of its elements"));
}

TEST(Executable, RefusesElementsOfABodyAtOddAddresses) {
  Graph graph = graph_of(R"(graph "g" {
    input x : f32[2]
    constant n : i64[] = [3]
    y = Loop(n, _, x) "loop" {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[2]
        q = Neg(p) : f32[2]
        output c, q
      }
    } : f32[2]
    output y
  })");
  Plan plan = plan_for(graph);
  plan.layout.steps[StepId(0)].bodies[0].offset = plan.layout.steps[StepId(0)].bodies[0].offset + Bytes(2);
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for()).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("bytes of its elements"));
  EXPECT_EQ(error.place, "plan of graph 'b'");
}

// A TopK sorts in its scratch. A target with an alignment of 16 may put it at 16.
TEST(Executable, RefusesScratchAtOtherAddressesThanMultiplesOf64) {
  Graph graph = graph_of(R"(graph "g" {
    input x : f32[8]
    constant k : i64[1] = [2]
    v, i = TopK(x, k) "top" : f32[2], i64[2]
    output v, i
  })");
  Plan plan = plan_for(graph);
  const std::optional<BufferId> scratch = plan.layout.steps[StepId(0)].scratch;
  ASSERT_TRUE(scratch.has_value());
  plan.layout.buffers[*scratch].placement->offset = plan.layout.buffers[*scratch].placement->offset + Bytes(16);
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for()).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("the scratch is at address "));
  EXPECT_THAT(error.message, HasSubstr("which is not a multiple of 64; plan again with --target cpu"));
  EXPECT_THAT(error.place, HasSubstr("'top' (TopK)"));
}

TEST(Executable, RefusesTheScanOfOpset8WithAWayOut) {
  const auto refused = try_prepare(R"(graph "g" {
    input x : f32[1,2]
    y = Scan(_, x) "it" {num_scan_inputs = 1, lowtide_since = 8, body = graph "b" {
      input e : f32[]
      output e
    }} : f32[1,2]
    output y
  })");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("Scan 'it': this Scan is that of opset 8, which has a batch axis"));
  EXPECT_THAT(refused.error().message, HasSubstr("convert it with onnx.version_converter"));
}

TEST(Executable, NamesAllStepsWithoutKernel) {
  const auto refused = try_prepare(R"(graph "g" {
    input x : f32[4]
    r = Reshape(x) : f32[2,2]
    a = my.domain::One(r) "first" : f32[2,2]
    y = my.domain::Two(a) "second" : f32[2,2]
    output y
  })");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_EQ(refused.error().message,
            "2 nodes cannot run here:\n"
            "  my.domain::One 'first': no kernel has this operator\n"
            "  my.domain::Two 'second': no kernel has this operator");
}

// The first is refused because of the value of its constant.
TEST(Executable, NamesNodesThatAKernelRefusesWithTheOthers) {
  ConstantTable table;
  table.sources.push_back({"half", DType::f32, Shape(), Bytes(4),
                           ConstantSource::Inline{{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x3F}}}});
  const auto refused = try_prepare(R"(graph "g" {
    input x : f32[4]
    constant half : f32[] data 0
    constant train : bool[] = [1]
    a = Dropout(x, half, train) "drop" : f32[4]
    y = my.domain::Two(a) "second" : f32[4]
    output y
  })",
                                   table);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("2 nodes cannot run here:\n"));
  EXPECT_THAT(refused.error().message, HasSubstr("  Dropout 'drop': it is in training mode with a ratio above 0"));
  EXPECT_THAT(refused.error().message, HasSubstr("  my.domain::Two 'second': no kernel has this operator"));
}

TEST(Executable, NamesAllConstantsWithoutBytes) {
  const auto refused = try_prepare(R"(graph "g" {
    constant w : f32[4]
    constant v : f32[4] data 0
    a = Relu(w) : f32[4]
    b = Relu(v) : f32[4]
    output a, b
  })");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("2 constants without bytes: 'w', 'v'"));
}

// b is in the bytes of its operand a. A Transpose reads an element after it has written others.
TEST(Executable, RefusesAResultOverAnOperandThatItsKernelStillReads) {
  Graph graph = graph_of(R"(graph "g" {
    input x : f32[4,4]
    a = Relu(x) : f32[4,4]
    b = Transpose(a) "turn" {perm = [1, 0]} : f32[4,4]
    output b
  })");
  Plan plan = plan_for(graph);
  const Step& turn = plan.program.steps[StepId(1)];
  plan.layout.values[turn.writes[0]] = plan.layout.values[turn.reads[0]];
  const auto error = Executable::prepare(std::move(graph), std::move(plan), weights_for()).error();
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("writes 'b' over operand 'a', but kernel 'plain' may not work in place there"));
  EXPECT_THAT(error.place, HasSubstr("'turn' (Transpose)"));
}

TEST(Executable, RunsPlansOfTheTargetDense) {
  Graph graph = graph_of(R"(graph "g" { input x : f32[4]; y = Relu(x) : f32[4]; output y })");
  Plan plan = plan_graph(graph, dense_target())->plan;
  EXPECT_TRUE(Executable::prepare(std::move(graph), std::move(plan), weights_for()).ok());
}

TEST(Executable, RefusesASecondRegion) {
  Graph graph = graph_of(R"(graph "g" { input x : f32[4]; y = Relu(x) : f32[4]; output y })");
  Plan plan = plan_for(graph);
  plan.machine.regions.push_back({.name = "other"});
  const auto refused = Executable::prepare(std::move(graph), std::move(plan), weights_for());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              HasSubstr("the workers of the plan address 2 regions, and a session has one arena"));
}

}  // namespace
}  // namespace lowtide
