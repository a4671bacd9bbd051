// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/program_of_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/c_source/c_kernels/run_c_program.h"
#include "lowtide/c_source/graph_program/c_target.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"

namespace lowtide::graph_program_internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Floats = std::vector<float>;

// The constants of a graph that are f32, by name.
using Constants = std::map<std::string, Floats>;

BytesOf bytes_in(const Graph& graph, const Constants& constants) {
  return [&](TensorId id) -> std::optional<std::span<const std::byte>> {
    const auto found = constants.find(graph.tensor(id).name);
    if (found == constants.end()) return std::nullopt;
    return std::as_bytes(std::span(found->second));
  };
}

// The graph with its inputs in the arena, planned and turned into a program.
Result<CProgram> made_of(const std::string& text, const Constants& constants) {
  LOWTIDE_TRY(const Graph graph, parse_graph(text, "test"));
  std::vector<std::string> inputs;
  for (TensorId id : graph.inputs()) inputs.push_back(graph.tensor(id).name);
  LowerOptions options;
  options.passes = PassSet{PassId::inputs_in_arena};
  LOWTIDE_TRY(const Lowered lowered, lower(graph, options));
  const BytesOf bytes_of = bytes_in(lowered.graph, constants);
  LOWTIDE_RETURN_IF_ERROR(check_nodes(lowered.graph, bytes_of));
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(lowered.graph, c_target()));
  return program_of_plan(lowered.graph, planned.plan, inputs, bytes_of);
}

CProgram program_of(const std::string& text, const Constants& constants = {}) {
  Result<CProgram> made = made_of(text, constants);
  if (!made) throw std::runtime_error(made.error().describe());
  return *std::move(made);
}

std::vector<std::string> kernels_of(const CProgram& program) {
  std::vector<std::string> kernels;
  for (const CCall& call : program.calls) kernels.push_back(call.kernel);
  return kernels;
}

const CTensor& tensor_named(const CProgram& program, const std::string& name) {
  for (const CTensor& tensor : program.tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::runtime_error("no tensor " + name);
}

// The first output of a run with these inputs.
Floats run(const CProgram& program, const std::vector<Floats>& inputs) {
  alignas(16) std::byte arena[4096];
  std::memset(arena, 0x7f, sizeof(arena));
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const CTensor& tensor = program.tensors[program.inputs[at].tensor];
    std::memcpy(arena + tensor.offset.position(), inputs[at].data(), inputs[at].size() * sizeof(float));
  }
  const Result<void> ran = run_c_program(program, arena);
  EXPECT_TRUE(ran.ok()) << ran.error().describe();
  const CTensor& tensor = program.tensors[program.outputs[0].tensor];
  Floats output(static_cast<std::size_t>(tensor.size.count()) / sizeof(float));
  std::memcpy(output.data(), arena + tensor.offset.position(), output.size() * sizeof(float));
  return output;
}

TEST(ProgramOfPlan, WorksInPlace) {
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[4]
    a = Neg(x) : f32[4]
    b = Abs(a) : f32[4]
    output b
  })");
  EXPECT_EQ(program.arena, Bytes(16));
  EXPECT_THAT(kernels_of(program), ElementsAre("neg_f32", "abs_f32"));
  EXPECT_EQ(tensor_named(program, "x").lifespan, (Interval<std::int64_t>{0, 1}));
  EXPECT_EQ(tensor_named(program, "b").lifespan, (Interval<std::int64_t>{1, 2}));
  EXPECT_THAT(run(program, {{1, -2, 3, -4}}), ElementsAre(1, 2, 3, 4));
}

TEST(ProgramOfPlan, ConcatsWithoutCopies) {
  // Both operands are computed where the result has them.
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[1,4]
    input y : f32[1,4]
    a = Neg(x) : f32[1,4]
    b = Abs(y) : f32[1,4]
    c = Concat(a, b) {axis = 1} : f32[1,8]
    d = Exp(c) : f32[1,8]
    output c
    output d
  })");
  EXPECT_EQ(std::ranges::count(kernels_of(program), "move_f32"), 0);
  EXPECT_EQ(tensor_named(program, "b").offset, tensor_named(program, "c").offset + Bytes(16));
  EXPECT_THAT(run(program, {{1, 2, 3, 4}, {-5, 6, -7, 8}}), ElementsAre(-1, -2, -3, -4, 5, 6, 7, 8));
}

TEST(ProgramOfPlan, CopiesAnInputIntoAConcat) {
  // x is read later, so one operand must be a copy. 3 elements of 4 bytes put the second part at 12.
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[1,3]
    a = Neg(x) : f32[1,3]
    c = Concat(a, x) {axis = 1} : f32[1,6]
    d = Exp(x) : f32[1,3]
    output c
    output d
  })");
  EXPECT_THAT(run(program, {{1, 2, 3}}), ElementsAre(-1, -2, -3, 1, 2, 3));
}

TEST(ProgramOfPlan, PassesConstantsAndMakesSome) {
  // (1, 2) (3 4 5; 6 7 8)^T + (10, 20) = (3 + 8 ...): rows (3 4), (5 6): 11 + 10, 17 + 20.
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[1,2]
    constant w : f32[2,2]
    constant b : f32[2]
    y = Gemm(x, w, b) {transB = 1} : f32[1,2]
    output y
  })",
                                      {{"w", {3, 4, 5, 6}}, {"b", {10, 20}}});
  EXPECT_THAT(program.constants, SizeIs(2));
  EXPECT_EQ(program.constants[0].name, "w transposed");
  EXPECT_EQ(program.constants[1].name, "b");
  EXPECT_THAT(run(program, {{1, 2}}), ElementsAre(21, 37));
}

TEST(ProgramOfPlan, LetsAConvolutionDoTheClipAfterIt) {
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[1,1,4]
    constant w : f32[1,1,1]
    constant least : f32[]
    constant most : f32[]
    a = Conv(x, w) : f32[1,1,4]
    b = Clip(a, least, most) "limit" : f32[1,1,4]
    output b
  })",
                                      {{"w", {2}}, {"least", {0}}, {"most", {6}}});
  EXPECT_THAT(kernels_of(program), ElementsAre("conv_2d_f32"));
  EXPECT_THAT(program.calls[0].origin, AllOf(HasSubstr("Conv"), HasSubstr("Clip limit")));
  EXPECT_THAT(run(program, {{-1, 1, 3, 4}}), ElementsAre(0, 2, 6, 6));
}

TEST(ProgramOfPlan, KeepsAConvolutionThatIsReadAgain) {
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[1,1,4]
    constant w : f32[1,1,1]
    a = Conv(x, w) : f32[1,1,4]
    b = Relu(a) : f32[1,1,4]
    c = Sub(b, a) : f32[1,1,4]
    output c
  })",
                                      {{"w", {2}}});
  EXPECT_THAT(kernels_of(program), ElementsAre("conv_2d_f32", "relu_f32", "subtract_f32"));
  EXPECT_THAT(run(program, {{-1, 1, 3, -4}}), ElementsAre(2, 0, 0, 8));
}

TEST(ProgramOfPlan, SumsSeveralOperandsOutOfPlace) {
  // The first of two calls would overwrite c if the sum had its bytes.
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[4]
    a = Neg(x) : f32[4]
    b = Exp(x) : f32[4]
    c = Abs(x) : f32[4]
    s = Sum(c, a, c) : f32[4]
    output s
  })");
  EXPECT_THAT(run(program, {{1, -2, 3, -4}}), ElementsAre(1, 6, 3, 12));
}

TEST(ProgramOfPlan, CopiesAConstantThatIsAnOutput) {
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[4]
    constant w : f32[3]
    y = Neg(x) : f32[4]
    output w
    output y
  })",
                                      {{"w", {7, 8, 9}}});
  EXPECT_THAT(run(program, {{1, 2, 3, 4}}), ElementsAre(7, 8, 9));
}

TEST(ProgramOfPlan, HasAnInputThatIsAnOutput) {
  const CProgram program = program_of(R"(graph "g" {
    input x : f32[2]
    y = Neg(x) : f32[2]
    output x
    output y
  })");
  EXPECT_THAT(run(program, {{1, 2}}), ElementsAre(1, 2));
}

TEST(CheckNodes, NameAllNodesWithoutKernels) {
  const Result<CProgram> made = made_of(R"(graph "g" {
    input x : f32[1,1,2,2,2]
    input n : f64[2]
    constant w : f32[1,1,1,1,1]
    a = Conv(x, w) "deep" : f32[1,1,2,2,2]
    b = Det(n) "det" : f64[2]
    c = Neg(n) "wide" : f64[2]
    output a
    output b
    output c
  })",
                                        {{"w", {1}}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
  EXPECT_THAT(made.error().message, AllOf(HasSubstr("3 nodes have no kernel of C:"),
                                          HasSubstr("Conv 'deep': kernels of C have one or two spatial axes"),
                                          HasSubstr("Det 'det': no kernel of C has this operator"),
                                          HasSubstr("Neg 'wide': 'n' is f64, and C has no such elements here")));
}

}  // namespace
}  // namespace lowtide::graph_program_internal
