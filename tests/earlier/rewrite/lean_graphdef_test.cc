// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/lean_graphdef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "float_graphs.h"
#include "lowtide/base/random.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "replayed_graphdef.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t kBytes = 400;  // of each tensor: 100 f32

Cluster one_device(std::int64_t memory) { return one_gpu(memory, 1, 1'000'000); }

DefNode float_node(std::string name, std::string op, std::vector<std::string> inputs) {
  return node_of_floats(std::move(name), std::move(op), std::move(inputs), {100});
}

// Whether a node computes the same in both graphs.
bool same_meaning(const std::vector<DefNode>& nodes, const ProtoMessage& graphdef, const std::string& name) {
  Meanings meanings;
  return meanings.of(nodes, name) == meanings.of(nodes_of_graphdef(graphdef), name);
}

LeanGraphDef lean(const std::vector<DefNode>& nodes, std::int64_t memory, const std::string& fetch) {
  const RunEnds ends = with_placeholders(nodes, {.feeds = {}, .fetches = {fetch}}).value();
  Result<LeanGraphDef> result =
      lean_graphdef(with_nodes({}, nodes), {.cluster = one_device(memory), .ends = ends, .effort = 200'000'000});
  if (!result) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

// v -> a -> b -> c -> d, and e reads d and a. a waits for e through b, c and d.
std::vector<DefNode> waiting_nodes(const std::string& first) {
  return {float_node("v", "VariableV2", {}), float_node("a", first, {"v"}), float_node("b", "Exp", {"a"}),
          float_node("c", "Exp", {"b"}),     float_node("d", "Exp", {"c"}), float_node("e", "Mul", {"d", "a"})};
}

// Live at once: v for the whole run; a, b and c, or d, e and a. Without a second run of a, that is 4 tensors. With it,
// v, c and d while d runs, but v, d, a and e while e runs: the same. So nothing saves memory below 4 tensors.
TEST(LeanGraphDef, ProvesThatNothingFits) {
  const LeanGraphDef found = lean(waiting_nodes("Square"), 4 * kBytes - 1, "e");
  EXPECT_EQ(found.answer.outcome, BudgetOutcome::infeasible);
  EXPECT_EQ(found.peak, Bytes(4 * kBytes));
  EXPECT_EQ(found.resident, Bytes(kBytes));
}

// f reads d and b, and g reads f and a. Then a and b wait while c and d run: v, a, b, c and d are 5 tensors. If a runs
// again after f, the most are v, b, c, d or v, b, d, f or v, f, a, g: 4 tensors.
std::vector<DefNode> twice_waiting_nodes() {
  std::vector<DefNode> nodes = waiting_nodes("Square");
  nodes.back() = float_node("f", "Mul", {"d", "b"});
  nodes.push_back(float_node("g", "Mul", {"f", "a"}));
  return nodes;
}

TEST(LeanGraphDef, RunsNodesAgainToKeepTheMemory) {
  const LeanGraphDef wide = lean(twice_waiting_nodes(), 5 * kBytes, "g");
  EXPECT_EQ(wide.answer.outcome, BudgetOutcome::found);
  EXPECT_THAT(wide.recomputed, IsEmpty());
  EXPECT_EQ(wide.answer.cost, wide.answer.base_cost);
  const LeanGraphDef narrow = lean(twice_waiting_nodes(), 4 * kBytes, "g");
  EXPECT_EQ(narrow.answer.outcome, BudgetOutcome::found);
  EXPECT_TRUE(narrow.answer.is_optimal());
  EXPECT_EQ(narrow.peak, Bytes(4 * kBytes));
  EXPECT_THAT(narrow.recomputed, ElementsAre(Pair("a", 1)));
  EXPECT_TRUE(same_meaning(twice_waiting_nodes(), narrow.graphdef, "g"));
}

// What reads a variable that is written may read something else in a second run, and so may what is random.
TEST(LeanGraphDef, RunsNodesOnceWhoseResultMayChange) {
  std::vector<DefNode> nodes = twice_waiting_nodes();
  nodes.push_back(float_node("w", "AssignAdd", {"v", "g"}));
  EXPECT_THAT(lean(nodes, 4 * kBytes, "w").recomputed, IsEmpty());
  std::vector<DefNode> random = twice_waiting_nodes();
  random[1].op = "RandomGammaGrad";  // no operator that Lowtide knows
  EXPECT_THAT(lean(random, 4 * kBytes, "g").recomputed, IsEmpty());
}

TEST(LeanGraphDef, RefusesWhatItCannotPlan) {
  const std::vector<DefNode> nodes = twice_waiting_nodes();
  const auto refusal = [&](const std::vector<DefNode>& given, const Cluster& cluster, const RunEnds& ends) {
    const Result<LeanGraphDef> result = lean_graphdef(with_nodes({}, given), {.cluster = cluster, .ends = ends});
    return result ? "accepted" : result.error().describe();
  };
  Cluster two = one_device(1);
  two.devices.push_back(two.devices.front());
  two.devices[1].name = "/gpu:1";
  std::vector<DefNode> on_both = nodes;
  on_both[2].device = "/gpu:1";
  EXPECT_THAT(refusal(on_both, two, {.feeds = {}, .fetches = {"g"}}), HasSubstr("keep the memory of one device"));
  EXPECT_THAT(refusal(nodes, one_device(1), {}), HasSubstr("nothing is fetched"));
  std::vector<DefNode> branches = nodes;
  branches[1].op = "Switch";
  EXPECT_THAT(refusal(branches, one_device(1), {.feeds = {}, .fetches = {"g"}}), HasSubstr("branches"));
}

// A name that is taken gets the next number.
TEST(LeanGraphDef, TakesFreeNames) {
  std::vector<DefNode> nodes = twice_waiting_nodes();
  nodes.insert(nodes.begin() + 1, float_node("Recomputed/a", "Exp", {"v"}));
  const LeanGraphDef found = lean(nodes, 4 * kBytes, "g");
  EXPECT_THAT(found.recomputed, ElementsAre(Pair("a", 1)));
  const std::vector<DefNode> written = nodes_of_graphdef(found.graphdef);
  EXPECT_TRUE(std::ranges::any_of(written, [](const DefNode& node) { return node.name == "Recomputed_2/a"; }));
}

// k waits for b, so it has its place after b. r is the content of v and has no place.
TEST(LeanGraphDef, OrdersConstantsThatWait) {
  DefNode constant = float_node("k", "VariableV2", {"^b"});
  set_type(constant, "dtype", 1);
  set_shape(constant, "shape", {100});
  const std::vector<DefNode> nodes = {constant, float_node("v", "VariableV2", {}), float_node("r", "Identity", {"v"}),
                                      float_node("b", "Exp", {"r"}), float_node("c", "Mul", {"b", "k"})};
  const LeanGraphDef found = lean(nodes, 0, "c");
  const std::vector<DefNode> written = nodes_of_graphdef(found.graphdef);
  EXPECT_EQ(written.back().name, "c");
  const auto inputs_of = [&](const std::string& name) {
    return std::ranges::find(written, name, &DefNode::name)->inputs;
  };
  EXPECT_THAT(inputs_of("k"), ElementsAre("^b"));
  EXPECT_THAT(inputs_of("r"), ElementsAre("v"));
  EXPECT_THAT(inputs_of("b"), ElementsAre("r"));
  EXPECT_EQ(found.peak, Bytes(4 * kBytes));  // v, b, k and c
}

// With an unknown extent nothing is known of the memory, until the shape is given.
TEST(LeanGraphDef, NamesWhatHasNoSize) {
  std::vector<DefNode> nodes = {float_node("x", "Placeholder", {}), float_node("a", "Exp", {"x"})};
  set_shape(nodes[0], "shape", {-1, 10});
  EXPECT_THAT(lean(nodes, 1000, "a").unsized, ElementsAre("x", "a"));
  const LeanGraphDef sized = lean_graphdef(with_nodes({}, nodes), {.cluster = one_device(1000),
                                                                   .ends = {.feeds = {"x"}, .fetches = {"a"}},
                                                                   .shapes = {{"x", {5, 10}}}})
                                 .value();
  EXPECT_THAT(sized.unsized, IsEmpty());
  EXPECT_EQ(sized.peak, Bytes(400));
}

// a, b, c and d are each made from the variable v, and s is their sum. With AddN, all four are live with v and s: 6
// tensors. In parts, a sum, the next operand and the next sum are live with v: 4.
TEST(LeanGraphDef, AddsOperandsOneAfterAnother) {
  const std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}),  float_node("a", "Exp", {"v"}),
                                      float_node("b", "Neg", {"v"}),      float_node("c", "Sqrt", {"v"}),
                                      float_node("d", "Tanh", {"v"}),     float_node("s", "AddN", {"a", "b", "c", "d"}),
                                      float_node("t", "Exp", {"s", "^v"})};
  const LeanGraphDef wide = lean(nodes, 6 * kBytes, "t");
  EXPECT_THAT(wide.sums, IsEmpty());
  EXPECT_EQ(wide.peak, Bytes(6 * kBytes));
  const LeanGraphDef narrow = lean(nodes, 4 * kBytes, "t");
  EXPECT_EQ(narrow.answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(narrow.peak, Bytes(4 * kBytes));
  EXPECT_THAT(narrow.sums, ElementsAre("s"));
  EXPECT_THAT(narrow.recomputed, IsEmpty());
  EXPECT_TRUE(narrow.answer.tries_parts);
  EXPECT_TRUE(same_meaning(nodes, narrow.graphdef, "t"));
  EXPECT_EQ(
      replay_graphdef(nodes_of_graphdef(narrow.graphdef), one_device(0), {.feeds = {}, .fetches = {"t"}}).peak_bytes,
      4 * kBytes);
  EXPECT_EQ(lean(nodes, 4 * kBytes - 1, "t").answer.outcome, BudgetOutcome::infeasible);
}

// The operands are listed in reverse: c is there last, but would be added first. v, and c with b, whose sum is added to
// a: a waits while b and c are made, so v, a, b, c and b + c are 5 tensors. In the order in which they are made, 4.
TEST(LeanGraphDef, AddsOperandsInTheOrderInWhichTheyAreMade) {
  const std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}),
                                      float_node("a", "Exp", {"v"}),
                                      float_node("b", "Neg", {"a"}),
                                      float_node("c", "Sqrt", {"b"}),
                                      float_node("s", "AddN", {"c", "b", "a"}),
                                      float_node("t", "Exp", {"s"})};
  const LeanGraphDef narrow = lean(nodes, 4 * kBytes, "t");
  EXPECT_EQ(narrow.answer.outcome, BudgetOutcome::found);
  EXPECT_TRUE(same_meaning(nodes, narrow.graphdef, "t"));
  EXPECT_LE(
      replay_graphdef(nodes_of_graphdef(narrow.graphdef), one_device(0), {.feeds = {}, .fetches = {"t"}}).peak_bytes,
      4 * kBytes);
}

// A fetched node has the bare name, so it runs once, even if a second run would save memory.
TEST(LeanGraphDef, RunsFetchedNodesOnce) {
  std::vector<DefNode> nodes = twice_waiting_nodes();
  const RunEnds ends{.feeds = {}, .fetches = {"g", "a"}};
  const LeanGraphDef found =
      lean_graphdef(with_nodes({}, nodes), {.cluster = one_device(4 * kBytes), .ends = ends}).value();
  EXPECT_THAT(found.recomputed, IsEmpty());
  EXPECT_NE(found.answer.outcome, BudgetOutcome::found);  // v, a, b, d and f
}

// p runs on a CPU of unknown memory and sends to the GPU, q receives from it. Only v, the copy of p, a, b and c count.
TEST(LeanGraphDef, PlansTheDeviceWithKnownMemory) {
  std::vector<DefNode> nodes = {float_node("w", "VariableV2", {}),
                                float_node("v", "VariableV2", {}),
                                float_node("o", "Exp", {"w"}),
                                float_node("p", "Exp", {"o"}),
                                float_node("a", "Exp", {"v"}),
                                float_node("b", "Mul", {"a", "p"}),
                                float_node("q", "Exp", {"b"}),
                                float_node("c", "Neg", {"b"}),
                                float_node("gradients/d", "NoOp", {"^q", "^c"})};
  for (const std::size_t at : {0, 2, 3, 6}) nodes[at].device = "/cpu:0";
  Cluster both = one_device(4 * kBytes);
  both.devices.push_back({.name = "/cpu:0", .type = "CPU", .cores = 1, .megahertz = 1, .kilobytes_per_second = 1000});
  const RunEnds ends{.feeds = {}, .fetches = {"gradients/d"}};
  const LeanGraphDef found = lean_graphdef(with_nodes({}, nodes), {.cluster = both, .ends = ends}).value();
  EXPECT_EQ(found.device, 0U);
  EXPECT_EQ(found.resident, Bytes(kBytes));
  EXPECT_EQ(found.peak, Bytes(4 * kBytes));  // v, a, p and b
  EXPECT_EQ(found.answer.outcome, BudgetOutcome::found);
  const std::vector<DefNode> written = nodes_of_graphdef(found.graphdef);
  const auto inputs_of = [&](const std::string& name) {
    return std::ranges::find(written, name, &DefNode::name)->inputs;
  };
  EXPECT_THAT(inputs_of("o"), ElementsAre("w"));  // it has nothing to do with the GPU
}

// r is the content of w, and f is made of it. g to k need memory, and then w is written; l waits for that and reads f.
// A second run of f just before l would save a tensor, but with the new content of w. It may only run before u.
std::vector<DefNode> with_written_content() {
  return {
      float_node("w", "VariableV2", {}),   float_node("x", "Placeholder", {}), float_node("r", "Identity", {"w"}),
      float_node("f", "Mul", {"r", "x"}),  float_node("g", "Exp", {"f"}),      float_node("h", "Exp", {"g"}),
      float_node("i", "Mul", {"h", "g"}),  float_node("j", "Exp", {"i"}),      float_node("u", "AssignSub", {"w", "j"}),
      float_node("k", "Exp", {"x", "^u"}), float_node("m", "Exp", {"k"}),      float_node("n", "Mul", {"m", "k"}),
      float_node("l", "Mul", {"n", "f"})};
}

TEST(LeanGraphDef, ReadsNoVariableAfterItWasWritten) {
  const std::vector<DefNode> nodes = with_written_content();
  for (std::int64_t tensors = 4; tensors <= 7; ++tensors) {
    const LeanGraphDef found = lean(nodes, tensors * kBytes, "l");
    const std::vector<DefNode> written = nodes_of_graphdef(found.graphdef);
    const auto place_of = [&](const std::string& name) {
      return std::ranges::find(written, name, &DefNode::name) - written.begin();
    };
    for (const DefNode& node : written) {
      if (!node.name.ends_with("/f")) continue;
      EXPECT_LT(place_of(node.name), place_of("u")) << tensors;
    }
    EXPECT_TRUE(same_meaning(nodes, found.graphdef, "l"));
  }
}

// A variable or constant that waits for b holds its memory all the time: v, k, b and c.
TEST(LeanGraphDef, ConstantsThatWaitAreResident) {
  const std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}), float_node("b", "Exp", {"v"}),
                                      float_node("k", "VariableV2", {"^b"}), float_node("c", "Mul", {"b", "k"})};
  const LeanGraphDef found = lean(nodes, 0, "c");
  EXPECT_EQ(found.resident, Bytes(2 * kBytes));
  EXPECT_EQ(found.peak, Bytes(4 * kBytes));
}

// A view of a variable is the memory of the variable, even if some node writes it: v and a, and then v and u.
TEST(LeanGraphDef, ViewsOfVariablesNeedNoMemory) {
  const std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}), float_node("s", "StopGradient", {"v"}),
                                      float_node("a", "Exp", {"s"}), float_node("u", "AssignSub", {"v", "a"})};
  const LeanGraphDef found = lean(nodes, 0, "u");
  EXPECT_EQ(found.peak, Bytes(2 * kBytes));
  EXPECT_THAT(found.unsized, IsEmpty());
}

// What is written while a copy of it is in use counts twice. What no node writes does not.
TEST(LeanGraphDef, ReadsOfVariablesNeedNoMemory) {
  const auto nodes = [](bool writes) {
    DefNode handle = float_node("h", "VarHandleOp", {});
    set_type(handle, "dtype", 1);
    set_shape(handle, "shape", {100});
    DefNode read = float_node("r", "ReadVariableOp", {"h"});
    set_type(read, "dtype", 1);
    std::vector<DefNode> all = {handle, read, float_node("a", "Exp", {"r"})};
    if (writes) all.push_back(float_node("u", "AssignSubVariableOp", {"h", "a"}));
    return all;
  };
  EXPECT_EQ(lean(nodes(false), 0, "a").peak, Bytes(2 * kBytes));
  EXPECT_EQ(lean(nodes(true), 0, "u").peak, Bytes(3 * kBytes));
}

TEST(LeanGraphDef, RefusesDevicesAndShapesThatContradict) {
  std::vector<DefNode> nodes = twice_waiting_nodes();
  nodes[2].device = "/cpu:0";
  const Result<LeanGraphDef> strange =
      lean_graphdef(with_nodes({}, nodes), {.cluster = one_device(0), .ends = {.feeds = {}, .fetches = {"g"}}});
  ASSERT_FALSE(strange);
  EXPECT_THAT(
      strange.error().describe(),
      HasSubstr("on '/cpu:0', which the cluster file does not have; add it there, or place the node on '/gpu:0'"));
  const std::vector<DefNode> fed = {float_node("x", "Placeholder", {}), float_node("a", "Exp", {"x"})};
  const Result<LeanGraphDef> other =
      lean_graphdef(with_nodes({}, fed),
                    {.cluster = one_device(0), .ends = {.feeds = {"x"}, .fetches = {"a"}}, .shapes = {{"x", {5, 5}}}});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().describe(), HasSubstr("the shape 5x5 is given, but that of the node is 100"));
}

// What counts as 1 may be empty, so nothing is proven to be infeasible.
TEST(LeanGraphDef, ProvesNothingOfUnknownSizes) {
  const std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}), float_node("a", "Unknown", {"v"}),
                                      float_node("b", "Exp", {"v"}), float_node("c", "Unknown", {"a", "b"})};
  const LeanGraphDef found = lean(nodes, kBytes, "c");
  EXPECT_THAT(found.unsized, ElementsAre("a", "c"));
  EXPECT_EQ(found.answer.outcome, BudgetOutcome::not_found);
  EXPECT_FALSE(found.answer.is_optimal());
  EXPECT_EQ(found.floor, Bytes(0));
}

// Forward nodes, and gradients that read them in reverse.
std::vector<DefNode> training_nodes(Random& chance) {
  const std::vector<std::string> ops = {"Relu", "Square", "Exp", "Sigmoid", "Mul", "Add", "Sqrt", "Neg", "Tanh"};
  std::vector<DefNode> nodes = {float_node("v", "VariableV2", {}), float_node("x", "Placeholder", {})};
  const std::size_t count = 4 + chance.below(12);
  for (std::size_t at = 0; at < count; ++at) {
    const std::string& op = ops[chance.below(ops.size())];
    const auto operand = [&] {
      return nodes[nodes.size() - 1 - chance.below(std::min<std::size_t>(nodes.size(), 3))].name;
    };
    const bool is_binary = op == "Mul" || op == "Add";
    nodes.push_back(float_node("f" + std::to_string(at), op,
                               is_binary ? std::vector{operand(), operand()} : std::vector{operand()}));
  }
  nodes.push_back(float_node("gradients/g" + std::to_string(count), "Square", {nodes.back().name}));
  for (std::size_t at = count; at-- > 0;) {
    std::vector<std::string> inputs = {nodes.back().name, "f" + std::to_string(at)};
    if (chance.below(4) == 0) inputs.push_back("f" + std::to_string(chance.below(count)));
    const std::string op = inputs.size() > 2 ? "AddN" : "Mul";
    nodes.push_back(float_node("gradients/g" + std::to_string(at), op, inputs));
  }
  return nodes;
}

// Grappler decides what to recompute, and Lowtide finds the best order of its graph, which Grappler does not. Even so,
// within the same memory, Lowtide's own plan never takes longer, and its peak is never higher.
TEST(LeanGraphDef, NeverNeedsMoreThanGrappler) {
  Random chance(17);
  std::size_t faster = 0;
  for (int graph = 0; graph < 250; ++graph) {
    const std::vector<DefNode> nodes = training_nodes(chance);
    const std::string fetch = nodes.back().name;
    const GrapplerResult theirs =
        run_grappler(with_nodes({}, nodes), {.level = GrapplerLevel::recomputation, .feeds = {}, .fetches = {fetch}})
            .value();
    const LeanGraphDef ordered = lean(nodes_of_graphdef(theirs.graphdef), 0, fetch);  // unknown memory: no reruns
    const LeanGraphDef ours = lean(nodes, ordered.peak.count(), fetch);
    EXPECT_EQ(ours.answer.outcome, BudgetOutcome::found) << graph;
    EXPECT_LE(ours.peak, ordered.peak) << graph;
    EXPECT_LE(ours.answer.cost, ordered.answer.base_cost) << graph;
    faster += ours.answer.cost < ordered.answer.base_cost ? 1 : 0;
    EXPECT_TRUE(same_meaning(nodes, ours.graphdef, fetch)) << graph;
  }
  EXPECT_EQ(faster, 195U);  // docs/graphdef.md
}

}  // namespace
}  // namespace lowtide::testing
