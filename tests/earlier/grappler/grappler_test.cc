// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/grappler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DefNode def_node(std::string name, std::string op, std::vector<std::string> inputs, std::string device = "") {
  return {.name = std::move(name),
          .op = std::move(op),
          .device = std::move(device),
          .inputs = std::move(inputs),
          .attributes = {}};
}

// x -> r -> loss, and a gradient that reads r.
std::vector<DefNode> relu_nodes() {
  return {def_node("x", "Const", {}), def_node("r", "Relu", {"x"}), def_node("loss", "Conv2D", {"r"}),
          def_node("gradients/g", "ReluGrad", {"loss", "r"})};
}

GrapplerResult run(const std::vector<DefNode>& nodes, const GrapplerOptions& options) {
  Result<GrapplerResult> result = run_grappler(with_nodes({}, nodes), options);
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

std::string refusal(const std::vector<DefNode>& nodes, const GrapplerOptions& options) {
  const Result<GrapplerResult> result = run_grappler(with_nodes({}, nodes), options);
  return result ? "accepted" : result.error().describe();
}

// What is fed has a value that a copy would not have.
TEST(Grappler, DoesNotRecomputeWhatIsFed) {
  const GrapplerOptions cheap{.level = GrapplerLevel::recomputation, .feeds = {}, .fetches = {}};
  EXPECT_THAT(run(relu_nodes(), cheap).recomputed, ElementsAre("r"));
  const GrapplerOptions fed{.level = GrapplerLevel::recomputation, .feeds = {"r:0"}, .fetches = {}};
  EXPECT_THAT(run(relu_nodes(), fed).recomputed, IsEmpty());
  EXPECT_THAT(refusal(relu_nodes(), {.feeds = {"y"}, .fetches = {}}), HasSubstr("no node 'y' that could be fed"));
  EXPECT_THAT(refusal(relu_nodes(), {.feeds = {}, .fetches = {"y"}}), HasSubstr("that could be fetched"));
}

TEST(Grappler, KeepsFieldsThatItDoesNotKnow) {
  // node {name "a", op "NoOp", field 9 = 5}, and field 9 of the graph.
  const std::string bytes(
      "\x0A\x0B\x0A\x01"
      "a\x12\x04NoOp\x48\x05\x48\x07",
      15);
  const Result<ProtoMessage> graphdef = read_graphdef(bytes);
  ASSERT_TRUE(graphdef);
  const Result<GrapplerResult> result = run_grappler(*graphdef, {.feeds = {}, .fetches = {}});
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_EQ(*write_graphdef(result->graphdef, false), bytes);
}

// Without a fetch, the original does not look at swaps. On a CPU it does not make them.
TEST(Grappler, RefusesSwapsThatItWouldHaveToMake) {
  std::vector<DefNode> nodes = {def_node("x", "Const", {}, "/gpu:0"), def_node("y", "Relu", {"x"}, "/gpu:0")};
  set_true(nodes[1], "_swap_to_host");
  EXPECT_THAT(refusal(nodes, {.feeds = {}, .fetches = {"y"}}), HasSubstr("node 'y' ('Relu')"));
  EXPECT_EQ(refusal(nodes, {.feeds = {}, .fetches = {}}), "accepted");
  EXPECT_EQ(refusal(nodes, {.level = GrapplerLevel::recomputation, .feeds = {}, .fetches = {"y"}}), "accepted");
  nodes[1].device = "/cpu:0";
  EXPECT_EQ(refusal(nodes, {.feeds = {}, .fetches = {"y"}}), "accepted");
}

// A vector of TensorFlow's own tests: what takes a reference is not swapped, so e keeps d, and d reads c from the host.
// TensorFlow's answer depends on a hash table of addresses; this is the one that its test expects.
TEST(Grappler, SwapsNoReferences) {
  const std::string text = R"(
    node { name: "v" op: "VariableV2" device: "/gpu:0" attr { key: "dtype" value { type: 1 } }
           attr { key: "shape" value { shape { dim { size: 1 } dim { size: 128 } dim { size: 1024 } } } } }
    node { name: "a" op: "Square" device: "/gpu:0" input: "v" attr { key: "T" value { type: 1 } } }
    node { name: "b" op: "Identity" device: "/gpu:0" input: "v" attr { key: "T" value { type: 1 } } }
    node { name: "c" op: "Identity" device: "/gpu:0" input: "a" attr { key: "T" value { type: 1 } } }
    node { name: "indices" op: "Const" device: "/gpu:0" attr { key: "dtype" value { type: 3 } }
           attr { key: "value" value { tensor { dtype: 3 tensor_shape { dim { size: 1 } } int_val: 5 } } } }
    node { name: "d" op: "ScatterAdd" device: "/gpu:0" input: "v" input: "indices" input: "c"
           attr { key: "T" value { type: 1 } } }
    node { name: "axis" op: "Const" device: "/gpu:0" attr { key: "dtype" value { type: 3 } }
           attr { key: "value" value { tensor { dtype: 3 tensor_shape { } int_val: 0 } } } }
    node { name: "e" op: "ConcatV2" device: "/gpu:0" input: "b" input: "c" input: "d" input: "axis"
           attr { key: "T" value { type: 1 } } })";
  const Cluster cluster{.devices = {{.name = "/gpu:0",
                                     .type = "GPU",
                                     .memory_bytes = 1 << 20,
                                     .cores = 1,
                                     .megahertz = 1,
                                     .kilobytes_per_second = 2'000'000,
                                     .architecture = "6"}}};
  const Result<GrapplerResult> result =
      run_grappler(read_graphdef(text).value(),
                   {.level = GrapplerLevel::swapping, .feeds = {}, .fetches = {"e"}, .cluster = cluster});
  ASSERT_TRUE(result) << result.error().describe();
  for (const DefNode& node : nodes_of_graphdef(result->graphdef)) {
    if (node.name == "e") {
      EXPECT_THAT(node.inputs, ElementsAre("b", "c", "d", "axis", "^swap_out_d_2"));
    } else if (node.name == "d") {
      EXPECT_THAT(node.inputs, ElementsAre("v", "indices", "swap_in_d_2"));
    }
  }
  EXPECT_EQ(result->swaps.size(), 1U);
}

}  // namespace
}  // namespace lowtide::testing
