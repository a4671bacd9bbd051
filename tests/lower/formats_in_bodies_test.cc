// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/text.h"
#include "lowtide/lower/lower.h"
#include "lowtide/verify/verify.h"
#include "tests/lower/lowered_formats.h"
#include "tests/testing/lowered_graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::lowered;
using testing::nodes_of;

// Both branches capture w. One has v, too.
constexpr std::string_view kBranches = R"(graph "g" {
  input p : bool[]
  input x : f32[1,16,8,8]
  constant w : f32[32,16,1,1]
  y = If(p) "choose" {
    then_branch = graph "t" captures (x, w) {
      captured input x : f32[1,16,8,8]
      captured input w : f32[32,16,1,1]
      constant v : f32[32,32,1,1]
      a = Conv(x, w) : f32[1,32,8,8]
      b = Conv(a, v) : f32[1,32,8,8]
      output b
    },
    else_branch = graph "e" captures (x, w) {
      captured input x : f32[1,16,8,8]
      captured input w : f32[32,16,1,1]
      c = Conv(x, w) : f32[1,32,8,8]
      output c
    }
  } : f32[1,32,8,8]
  output y
})";

TEST(FormatsInBodies, ArePackedWhenTheModelIsLoaded) {
  const Lowered two = lowered(kBranches);
  const std::vector<Body>& branches = two.graph.node(NodeId(0)).bodies;
  EXPECT_THAT(nodes_of(*branches[0].graph),
              ElementsAre("lowtide::Reorder x (nchw16c) : f32[1,1,8,8,16]", "lowtide::Conv a : f32[1,2,8,8,16]",
                          "lowtide::Conv b (nchw16c) : f32[1,2,8,8,16]", "lowtide::Reorder b : f32[1,32,8,8]"));
  EXPECT_THAT(nodes_of(two.load), ElementsAre("lowtide::Pack choose/then_branch/w (packed) : f32[512]",
                                              "lowtide::Pack choose/then_branch/v (packed) : f32[1024]",
                                              "lowtide::Pack choose/else_branch/w (packed) : f32[512]"));
  EXPECT_EQ(two.graph.tensors().size(), 3U);  // no branch captures w, so the outer graph needs it no more
}

// With numbers of constants, one result of the load-time work may be a constant of both.
TEST(FormatsInBodies, ShareThePackedWeightsOfBranches) {
  const Graph graph = testing::graph_of(kBranches);
  const Result<Lowered> lowered = lower(
      graph, {.passes = {PassId::load_time, PassId::formats}, .constants = 1, .machine = testing::block_formats()});
  ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
  EXPECT_THAT(nodes_of(lowered->load), ElementsAre("lowtide::Pack choose/then_branch/w (packed) : f32[512]",
                                                   "lowtide::Pack choose/then_branch/v (packed) : f32[1024]"));
  const auto number_of = [&](std::size_t branch, std::string_view name) {
    const IdVector<TensorId, Tensor>& tensors = lowered->graph.node(NodeId(0)).bodies[branch].graph->tensors();
    const auto found = std::ranges::find(tensors, name, &Tensor::name);
    return found == tensors.end() ? std::nullopt : found->constant;
  };
  EXPECT_EQ(number_of(0, "w (packed)"), ConstantId(1));
  EXPECT_EQ(number_of(0, "v (packed)"), ConstantId(2));
  EXPECT_EQ(number_of(1, "w (packed)"), ConstantId(1));

  ConstantTable table;  // of a model with one constant
  table.sources.push_back(
      {.name = "w", .dtype = DType::f32, .shape = Shape({32, 16, 1, 1}), .where = ConstantSource::Inline{}});
  EXPECT_THAT(verify_lowering(graph, lowered->graph, lowered->load, {}, &table), IsEmpty());
}

// A packed matrix beside the plain one would take memory.
TEST(FormatsInBodies, LeaveMatricesThatAnotherGraphReads) {
  constexpr std::string_view kMatrices = R"(graph "g" {
    input p : bool[]
    input x : f32[4,4]
    constant w : f32[4,4]
    a = MatMul(x, w) : f32[4,4]
    y = If(p) "choose" {
      then_branch = graph "t" captures (a, w) {
        captured input a : f32[4,4]
        captured input w : f32[4,4]
        b = MatMul(a, w) : f32[4,4]
        output b
      },
      else_branch = graph "e" captures (a, w) {
        captured input a : f32[4,4]
        captured input w : f32[4,4]
        c = MatMul(a, w) : f32[4,4]
        output c
      }
    } : f32[4,4]
    output y
  })";
  const auto operators = [](const Lowered& model) {
    std::vector<std::string> types;
    for (const Node& node : model.graph.nodes()) types.push_back(model.graph.operators()[node.op].type);
    for (const Body& body : model.graph.node(NodeId(1)).bodies) {
      for (const Node& node : body.graph->nodes()) types.push_back(body.graph->operators()[node.op].type);
    }
    return types;
  };
  EXPECT_THAT(operators(lowered(kMatrices)), ElementsAre("PackedMatMul", "If", "PackedMatMul", "PackedMatMul"));
  const std::string added = testing::with(kMatrices, "c = MatMul(a, w)", "c = Add(a, w)");
  EXPECT_THAT(operators(lowered(added)), ElementsAre("MatMul", "If", "MatMul", "Add"));
}

// Load-time work that belongs to a body is compared with the body.
TEST(VerifyFormatsInBodies, FindWeightsInPlaceOfOthers) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input p : bool[]
    input x : f32[1,16,8,8]
    constant k : f32[16,16,1,1]
    y = If(p) "choose" {
      then_branch = graph "t" captures (x, k) {
        captured input x : f32[1,16,8,8]
        captured input k : f32[16,16,1,1]
        constant v : f32[16,16,1,1]
        w = Neg(v) : f32[16,16,1,1]
        a = Conv(x, k) : f32[1,16,8,8]
        b = Conv(a, v) : f32[1,16,8,8]
        c = Conv(b, w) : f32[1,16,8,8]
        output c
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[1,16,8,8]
        d = Neg(x) : f32[1,16,8,8]
        output d
      }
    } : f32[1,16,8,8]
    output y
  })");
  const Result<Lowered> lowered =
      lower(graph, {.passes = {PassId::load_time, PassId::formats}, .machine = testing::block_formats()});
  ASSERT_TRUE(lowered.ok()) << lowered.error().describe();
  EXPECT_THAT(verify_lowering(graph, lowered->graph, lowered->load), IsEmpty());
  const std::string load = print_graph(lowered->load);
  for (const auto& [words, others] : std::vector<std::pair<std::string, std::string>>{
           {"lowtide::Pack(choose/then_branch/v)", "lowtide::Pack(k)"},
           {"lowtide::Pack(k)", "lowtide::Pack(choose/then_branch/v)"},
           {"lowtide::Pack(choose/then_branch/w)", "lowtide::Pack(choose/then_branch/v)"},
           {"Neg(choose/then_branch/v)", "Neg(k)"},
           {"Neg(choose/then_branch/v)", "Abs(choose/then_branch/v)"}}) {
    const Graph damaged = testing::graph_of(testing::with(load, words, others));
    EXPECT_FALSE(verify_lowering(graph, lowered->graph, damaged).empty()) << words << " -> " << others;
  }
}

// The packed matrix has the number of nodes, tensors and constants of the plain one, and the graph around the body
// stays as it is.
TEST(FormatsInBodies, PackAMatrixThatIsTheOnlyChange) {
  const Lowered lowered = testing::lowered(R"(graph "g" {
    input p : bool[]
    input x : f32[2,4]
    y = If(p) "choose" {
      then_branch = graph "t" captures (x) {
        captured input x : f32[2,4]
        constant w : f32[4,4]
        b = MatMul(x, w) : f32[2,4]
        output b
      },
      else_branch = graph "e" captures (x) {
        captured input x : f32[2,4]
        b = Softmax(x) : f32[2,4]
        output b
      }
    } : f32[2,4]
    output y
  })");
  EXPECT_THAT(lowered.passes, ElementsAre("load_time", "formats"));
  const std::vector<Body>& bodies = lowered.graph.node(NodeId(0)).bodies;
  EXPECT_THAT(nodes_of(*bodies[0].graph), ElementsAre("lowtide::PackedMatMul b : f32[2,4]"));
  EXPECT_THAT(nodes_of(lowered.load), ElementsAre("lowtide::Pack choose/then_branch/w (packed) : f32[16]"));
}

}  // namespace
}  // namespace lowtide
