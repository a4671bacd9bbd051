// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/grappler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
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

const std::string kCpu = "/job:localhost/replica:0/task:0/device:CPU:0";

// A device of which every operation takes long, so that tensors live for milliseconds.
Cluster one_cpu(std::int64_t memory) {
  return {.devices = {{.name = kCpu,
                       .type = "CPU",
                       .memory_bytes = memory,
                       .cores = 1,
                       .megahertz = 50,
                       .kilobytes_per_second = 4'000'000,
                       .architecture = ""}}};
}

// "name Op input,input key=value": `dtype` is a type, `shape` a shape, `value` a list of int32, and T is f32.
std::string def_of(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  std::string op;
  std::string inputs;
  words >> name >> op >> inputs;
  std::string text = "node { name: '" + name + "' op: '" + op + "' device: '" + kCpu + "' ";
  std::istringstream list(inputs == "-" ? "" : inputs);
  for (std::string input; std::getline(list, input, ',');) text += "input: '" + input + "' ";
  if (line.find("dtype=") == std::string::npos) text += "attr { key: 'T' value { type: 1 } } ";
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('='));
    std::istringstream numbers(word.substr(word.find('=') + 1));
    text += "attr { key: '" + key + "' value { ";
    std::string dims;
    std::string values;
    std::size_t count = 0;
    for (std::string number; std::getline(numbers, number, 'x'); ++count) {
      dims += "dim { size: " + number + " } ";
      values += "int_val: " + number + " ";
    }
    if (key == "dtype") text += "type: " + word.substr(word.find('=') + 1);
    if (key == "shape") text += "shape { " + dims + "}";
    if (key == "value") {
      text += "tensor { dtype: 3 tensor_shape { dim { size: " + std::to_string(count) + " } } " + values + "}";
    }
    if (key == "transpose_a") text += "b: true";
    text += " } } ";
  }
  return text + "} ";
}

GrapplerResult sums_in(const std::vector<std::string>& lines, const std::string& fetch, std::int64_t memory) {
  std::string text;
  for (const std::string& line : lines) text += def_of(line);
  Result<GrapplerResult> result =
      run_grappler(read_graphdef(text).value(),
                   {.level = GrapplerLevel::scheduling, .feeds = {}, .fetches = {fetch}, .cluster = one_cpu(memory)});
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// TensorFlow forgets the shape of what is fed, and then knows that of the sum by the constant shape. All tensors have
// 16 * 512 * 4 = 32,768 bytes. TensorFlow accumulates with 90 % of the peak, and not with 130 %.
TEST(Grappler, KnowsTheShapesOfSumsByConstantShapes) {
  const std::vector<std::string> lines = {"x Placeholder - dtype=1 shape=16x512",
                                          "s Const - dtype=3 value=8192",
                                          "a Square x",
                                          "b Exp x",
                                          "c Sin x",
                                          "p Reshape a,s",
                                          "q Reshape b,s",
                                          "r Reshape c,s",
                                          "tot AddN p,q,r"};
  const GrapplerResult enough = sums_in(lines, "tot", 1 << 30);
  EXPECT_THAT(enough.sums, IsEmpty());
  ASSERT_EQ(enough.left_out.size(), 1U);
  EXPECT_EQ(enough.left_out[0].node, "tot");
  EXPECT_THAT(enough.left_out[0].text, HasSubstr("no device uses more than 80 % of its memory"));
  EXPECT_THAT(sums_in(lines, "tot", enough.peaks[0].before * 9 / 10).sums, ElementsAre("tot"));
}

// The gradient of the weights w [16,32] is x^T * g. The product x * w tells that x has 16 columns, whatever is fed.
TEST(Grappler, KnowsExtentsThatProductsTell) {
  std::vector<std::string> lines = {"w VariableV2 - dtype=1 shape=16x32", "g VariableV2 - dtype=1 shape=8x32"};
  for (const std::string at : {"0", "1", "2"}) {
    lines.push_back("x" + at + " Placeholder - dtype=1 shape=8x16");
    lines.push_back("y" + at + " MatMul x" + at + ",w");
    lines.push_back("d" + at + " MatMul x" + at + ",g transpose_a=1");
  }
  lines.emplace_back("tot AddN d0,d1,d2");
  EXPECT_THAT(sums_in(lines, "tot", 1'000).sums, ElementsAre("tot"));
  std::erase_if(lines, [](const std::string& line) { return line[0] == 'y'; });
  const GrapplerResult unknown = sums_in(lines, "tot", 1'000);
  EXPECT_THAT(unknown.sums, IsEmpty());
  ASSERT_EQ(unknown.left_out.size(), 1U);
  EXPECT_EQ(unknown.left_out[0].text, "is a sum whose shape TensorFlow does not know without the feeds: ?x32");
}

// The batch is open, but the sum of the gradients of the weights needs only the other extents: the list is [?, 32].
TEST(Grappler, FollowsShapesOfWhichSomeExtentsAreOpen) {
  std::vector<std::string> lines = {"w VariableV2 - dtype=1 shape=32x32", "x Placeholder - dtype=1 shape=-1x32",
                                    "n Shape x"};
  for (const std::string at : {"0", "1", "2"}) {
    lines.push_back("u" + at + " Placeholder - dtype=1 shape=-1x-1");
    lines.push_back("r" + at + " Reshape u" + at + ",n");
    lines.push_back("d" + at + " MatMul r" + at + ",r" + at + " transpose_a=1");
  }
  lines.emplace_back("y MatMul x,w");
  lines.emplace_back("tot AddN d0,d1,d2");
  EXPECT_THAT(sums_in(lines, "tot", 1'000).sums, ElementsAre("tot"));
}

TEST(Grappler, SaysWhyHintsAreNotFollowed) {
  std::vector<DefNode> nodes = relu_nodes();
  set_true(nodes[0], "_recompute_hint");  // x, which no gradient reads
  set_true(nodes[3], "_recompute_hint");
  nodes[2].attributes.clear();
  set_integers(nodes[2], "_swap_to_host", {0});
  const auto left_out = [&](GrapplerLevel level) {
    std::string all;
    for (const GrapplerRemark& one : run(nodes, {.level = level, .feeds = {}, .fetches = {}}).left_out) {
      all += one.node + " " + one.text + "\n";
    }
    return all;
  };
  EXPECT_EQ(left_out(GrapplerLevel::manual),
            "x has _recompute_hint, but no node in the scope 'gradients/' reads it, or what runs again and needs it\n"
            "loss asks for a swap of input 0, but swaps need --cluster and --fetch\n"
            "gradients/g has _recompute_hint, but is itself in the scope 'gradients/', whose nodes read recomputed "
            "results\n");
  EXPECT_THAT(left_out(GrapplerLevel::scheduling),
              HasSubstr("x has _recompute_hint, but this level runs nothing again"));
  EXPECT_THAT(left_out(GrapplerLevel::scheduling), HasSubstr("but this level swaps nothing"));
}

// u draws other numbers when it runs again, unless it has a seed. v may be written before r runs again.
TEST(Grappler, WarnsOfNodesThatMayGiveOtherResults) {
  const auto warnings = [](std::vector<DefNode> nodes) {
    for (DefNode& node : nodes) {
      if (node.name == "u" || node.name == "r") set_true(node, "_recompute_hint");
    }
    const GrapplerResult result = run(nodes, {.feeds = {}, .fetches = {}});
    EXPECT_EQ(result.recomputed.size(), 1U);
    std::string all;
    for (const GrapplerRemark& one : result.warnings) all += one.node + " " + one.text + "\n";
    return all;
  };
  std::vector<DefNode> random = {def_node("s", "Const", {}), def_node("u", "RandomUniform", {"s"}),
                                 def_node("l", "Exp", {"u"}), def_node("gradients/g", "Mul", {"l", "u"})};
  EXPECT_EQ(warnings(random),
            "u runs again and may give other results then: 'RandomUniform' does not repeat its results\n");
  set_integers(random[1], "seed", {7});
  EXPECT_EQ(warnings(random), "");
  std::vector<DefNode> variable = {def_node("v", "VariableV2", {}), def_node("r", "Exp", {"v"}),
                                   def_node("l", "Exp", {"r"}), def_node("gradients/g", "Mul", {"l", "r"})};
  EXPECT_EQ(warnings(variable), "");
  variable.push_back(def_node("a", "AssignAdd", {"v", "gradients/g"}));
  EXPECT_THAT(warnings(variable), HasSubstr("r runs again and reads the variable 'v', which a node writes"));
}

}  // namespace
}  // namespace lowtide::testing
