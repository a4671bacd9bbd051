// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/import/order_json.h"

// Files with parts, views, states, updates and all else that a step of training needs.
namespace lowtide::import_internal {
namespace {

// forward has two outputs, of which one has two names. 'shaped' is a view of the weight, and 'update' overwrites it.
constexpr std::string_view kStep = R"({
  "states": [{"name": "weight", "bytes": 8, "other_names": ["tied"]}],
  "links": [{"name": "disk", "bytes_per_second": 1000, "latency_ns": 5}],
  "nodes": [
    {"name": "batch", "bytes": 5, "cost": 2, "from": "disk"},
    {"name": "shaped", "view_of": "tied"},
    {"name": "forward", "cost": 3, "scratch": 7, "seed_bytes": 2, "module": "net.0", "source": "net.py:4",
     "outputs": [{"bytes": 6}, {"name": "mean", "bytes": 1}, {"same_as": 0, "name": "saved"}]},
    {"name": "gradient", "bytes": 8, "cost": 4, "once": true},
    {"name": "halved", "bytes": 8, "cost": 1, "overwrites": "gradient"},
    {"name": "update", "cost": 1, "overwrites": "weight"},
    {"name": "loss", "bytes": 1, "cost": 1}],
  "edges": [[0, 2], ["shaped", 2], [1, 3], [["forward", "mean"], "gradient"], ["halved", "update"],
            [["forward", 2], "loss"]],
  "before": [["batch", "update"]],
  "groups": [["forward", "gradient"]],
  "outputs": ["loss", "update"], "version": 1})";

ImportedOrderGraph step_of(std::string_view text) {
  Result<ImportedOrderGraph> parsed = parse_order_graph(text, {.with_costs = true});
  EXPECT_TRUE(parsed.ok()) << parsed.error().describe();
  return *std::move(parsed);
}

// A step with one text replaced by another one. The refusal, or "accepted".
std::string refusal_with(std::string_view old, std::string_view changed) {
  std::string text(kStep);
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  text.replace(at, old.size(), changed);
  const Result<ImportedOrderGraph> parsed = parse_order_graph(text, {.with_costs = true});
  return parsed.ok() ? "accepted" : parsed.error().describe();
}

using testing::HasSubstr;

TEST(OrderSteps, RunsComeFirstThenPartsViewsAndStates) {
  const ImportedOrderGraph file = step_of(kStep);
  EXPECT_TRUE(file.has_steps);
  EXPECT_EQ((std::vector<std::int64_t>{file.index.begin(), file.index.end()}),
            (std::vector<std::int64_t>{0, 2, 3, 4, 5, 6}));  // without the view
  const IdVector<NodeId, BudgetNode>& nodes = file.problem.nodes;
  ASSERT_EQ(nodes.size(), 6U + 1 + 1 + 1);
  const NodeId mean(6);
  const NodeId shaped(7);
  const NodeId weight(8);
  EXPECT_EQ(nodes[mean].part_of, NodeId(1));
  EXPECT_EQ(nodes[mean].size, Bytes(1));
  EXPECT_EQ(nodes[shaped].view_of, weight);
  EXPECT_TRUE(nodes[weight].is_state);
  EXPECT_EQ(nodes[weight].size, Bytes(0));  // its bytes are always live
  EXPECT_EQ(file.fixed_bytes, Bytes(8));
  EXPECT_TRUE(check_budget_problem(file.problem).ok());
}

TEST(OrderSteps, NodesHaveWhatTheFileStates) {
  const ImportedOrderGraph file = step_of(kStep);
  const IdVector<NodeId, BudgetNode>& nodes = file.problem.nodes;
  EXPECT_EQ(nodes[NodeId(0)], (BudgetNode{.reads = {}, .size = Bytes(5), .cost = 2, .fetched_over = 0}));
  EXPECT_EQ(
      nodes[NodeId(1)],
      (BudgetNode{.reads = {NodeId(0), NodeId(7)}, .size = Bytes(6), .cost = 3, .extra = Bytes(7), .seed = Bytes(2)}));
  EXPECT_EQ(nodes[NodeId(2)],
            (BudgetNode{.reads = {NodeId(6), NodeId(7)}, .size = Bytes(8), .cost = 4, .runs_once = true}));
  EXPECT_EQ(
      nodes[NodeId(3)],
      (BudgetNode{.reads = {NodeId(2)}, .size = Bytes(8), .cost = 1, .extra = Bytes(-8), .overwrites = NodeId(2)}));
  EXPECT_EQ(
      nodes[NodeId(4)],
      (BudgetNode{
          .reads = {NodeId(3), NodeId(8)}, .size = Bytes(0), .cost = 1, .is_output = true, .overwrites = NodeId(8)}));
  EXPECT_EQ(nodes[NodeId(5)].reads, (CompactVector<NodeId>{NodeId(1)}));  // 'saved' is the first output
  EXPECT_EQ(file.problem.before, (std::vector<BeforeEdge>{{.reader = NodeId(0), .writer = NodeId(4)}}));
  EXPECT_EQ(file.problem.groups, (std::vector<std::vector<NodeId>>{{NodeId(1), NodeId(2)}}));
  EXPECT_EQ(file.problem.links,
            (std::vector<FetchLink>{{.name = "disk", .bytes_per_second = 1000, .latency_nanoseconds = 5}}));
  EXPECT_EQ(file.origins[NodeId(1)], "net.0, net.py:4");
  EXPECT_EQ(file.origins[NodeId(0)], "");
}

TEST(OrderSteps, NodesMayHaveAPhase) {
  EXPECT_TRUE(step_of(kStep).phases.empty());
  const ImportedOrderGraph file = step_of(R"({"order": [2, 1, 0], "nodes": [
    {"name": "c", "bytes": 1, "cost": 1, "phase": "r\u00fcckw\u00e4rts"}, {"name": "b", "bytes": 1, "cost": 1},
    {"name": "a", "bytes": 1, "cost": 1, "phase": "forward"}], "edges": []})");
  EXPECT_THAT(file.phases, testing::ElementsAre("forward", "", "r\u00fcckw\u00e4rts"));  // in the order of the nodes
}

TEST(OrderSteps, PhasesAreShortTextsThatCanBeSeen) {
  const auto refusal = [](const std::string& phase) {
    return refusal_with(R"("module": "net.0")", R"("module": "net.0", "phase": )" + phase);
  };
  EXPECT_EQ(refusal('"' + std::string(40, 'x') + '"'), "accepted");
  EXPECT_EQ(refusal(R"("")"), "accepted");
  std::string wide;
  for (int at = 0; at < 40; ++at) wide += "\u00fc";
  EXPECT_EQ(refusal('"' + wide + '"'), "accepted");  // 80 bytes
  EXPECT_EQ(refusal('"' + wide + R"(x")"),
            ":7:95: $.nodes[2].phase: a phase has at most 40 characters, and this one has 41");
  for (const char* wrong : {R"("\u001b[31m")", R"("a\nb")", R"("\u202eabc")", R"("\u0000")", R"("\u200b")"}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("$.nodes[2].phase: a phase has only characters that can be seen; found '"))
        << wrong;
  }
  for (const char* wrong : {"1", "null", "true", R"(["forward"])", R"({"a": 1})"}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("$.nodes[2].phase: expected a string")) << wrong;
  }
}

// The graph orders the runs without a budget: parts and scratch are tensors, and updates come after readers.
TEST(OrderSteps, TheGraphHasPartsScratchAndUpdates) {
  const ImportedOrderGraph file = step_of(kStep);
  const Node& forward = file.graph.node(NodeId(1));
  ASSERT_EQ(forward.outputs.size(), 3U);
  EXPECT_EQ(file.graph.tensor(*forward.outputs[1]).name, "forward/mean");
  EXPECT_EQ(file.graph.tensor(*forward.outputs[2]).size, Bytes(7));
  EXPECT_TRUE(file.graph.readers(*forward.outputs[2]).empty());
  EXPECT_THAT(file.graph.node(NodeId(4)).control_inputs, testing::IsSupersetOf({NodeId(0), NodeId(1), NodeId(2)}));
}

// A fused update of a weight and two moments, and a node that writes its second output over an input.
TEST(OrderSteps, EachOutputMayOverwriteSomething) {
  const ImportedOrderGraph file = step_of(R"({"states": [{"name": "w", "bytes": 4}, {"name": "m", "bytes": 4},
      {"name": "v", "bytes": 4}],
    "nodes": [{"name": "g", "bytes": 4, "cost": 1}, {"name": "h", "bytes": 6, "cost": 1},
      {"name": "scale", "cost": 1, "outputs": [{"bytes": 2}, {"bytes": 8, "overwrites": "h"}]},
      {"name": "adam", "cost": 1, "outputs": [{"overwrites": "w"}, {"overwrites": "m"}, {"overwrites": "v"}]}],
    "edges": [["g", "h"], ["g", "adam"], [["scale", 1], "adam"]], "outputs": [["adam", 1]]})");
  const IdVector<NodeId, BudgetNode>& nodes = file.problem.nodes;
  ASSERT_EQ(nodes.size(), 4U + 3 + 3);  // runs, parts, states
  EXPECT_EQ(nodes[NodeId(2)], (BudgetNode{.reads = {NodeId(1)}, .size = Bytes(2), .cost = 1, .extra = Bytes(-6)}));
  EXPECT_EQ(nodes[NodeId(4)],
            (BudgetNode{.reads = {}, .size = Bytes(8), .part_of = NodeId(2), .overwrites = NodeId(1)}));
  EXPECT_EQ(nodes[NodeId(3)].reads, (CompactVector<NodeId>{NodeId(0), NodeId(4), NodeId(7), NodeId(8), NodeId(9)}));
  EXPECT_EQ(nodes[NodeId(3)].overwrites, NodeId(7));
  EXPECT_EQ(
      nodes[NodeId(5)],
      (BudgetNode{.reads = {}, .size = Bytes(0), .is_output = true, .part_of = NodeId(3), .overwrites = NodeId(8)}));
  EXPECT_TRUE(EntryBytes(file.problem).happens_once.test(NodeId(3)));
}

TEST(OrderSteps, OverwritesBelongToOneOutput) {
  const std::string old = R"({"name": "update", "cost": 1, "overwrites": "weight"})";
  EXPECT_THAT(refusal_with(old, R"({"name": "update", "cost": 1, "overwrites": "weight",
                                    "outputs": [{"overwrites": "weight"}]})"),
              HasSubstr("a node and its first output have 'overwrites'"));
  EXPECT_THAT(refusal_with(old, R"({"name": "update", "cost": 1, "outputs": [{"bytes": 1},
                                    {"same_as": 0, "overwrites": "weight"}]})"),
              HasSubstr("an output needs 'bytes', 'overwrites' or 'same_as'"));
  EXPECT_THAT(refusal_with(old, R"({"name": "update", "cost": 1, "outputs": [{"bytes": 1},
                                    {"name": "x", "overwrites": "halved"}]})"),
              HasSubstr("node 'update/x' has no 'bytes'; only what overwrites a state needs none"));
  EXPECT_EQ(refusal_with(old, R"({"name": "update", "cost": 1, "outputs": [{"bytes": 1}, {"overwrites": "weight"}]})"),
            "accepted");
}

TEST(OrderSteps, SortedNodesKeepTheirEntries) {
  const ImportedOrderGraph file = step_of(R"({"nodes": [{"bytes": 1, "cost": 1}, {"cost": 7,
    "outputs": [{"bytes": 2}, {"bytes": 3}]}, {"cost": 2, "overwrites": "w"}],
    "states": [{"name": "w", "bytes": 4}], "edges": [[[1, 1], 0], ["w", 0]], "order": [2, 0, 1]})");
  ASSERT_EQ((std::vector<std::int64_t>{file.index.begin(), file.index.end()}), (std::vector<std::int64_t>{1, 0, 2}));
  const IdVector<NodeId, BudgetNode>& nodes = file.problem.nodes;
  EXPECT_EQ(nodes[NodeId(0)].cost, 7);
  EXPECT_EQ(nodes[NodeId(3)].part_of, NodeId(0));
  EXPECT_EQ(nodes[NodeId(1)].reads, (CompactVector<NodeId>{NodeId(3), NodeId(4)}));
  EXPECT_EQ(nodes[NodeId(2)].overwrites, NodeId(4));
}

TEST(OrderSteps, WhatIsFetchedForNothingIsAnOutput) {
  const ImportedOrderGraph file = step_of(R"({"nodes": [
    {"name": "read", "bytes": 3, "cost": 0, "from": "disk"}, {"name": "unread", "bytes": 5, "cost": 0, "from": "disk"},
    {"name": "shown", "bytes": 7, "cost": 0, "from": "disk"}, {"name": "view", "view_of": "shown"},
    {"name": "run", "bytes": 1, "cost": 1}], "edges": [["read", "run"], ["view", "run"]],
    "links": [{"name": "disk", "bytes_per_second": 1}]})");
  std::vector<bool> outputs;
  for (NodeId id : all_ids<NodeId>(4)) outputs.push_back(file.problem.nodes[id].is_output);
  EXPECT_EQ(outputs, (std::vector<bool>{false, true, false, false}));
}

TEST(OrderSteps, UnknownKeysAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal_with("\"scratch\"", "\"scratch_bytes\""),
              HasSubstr("$.nodes[2]: unknown key 'scratch_bytes'; the keys here are name, bytes, "));
  EXPECT_THAT(refusal_with("\"version\"", "\"fixed\""),
              HasSubstr("unknown key 'fixed'; the keys here are nodes, edges, "));
  EXPECT_THAT(refusal_with("\"same_as\"", "\"alias\""), HasSubstr("$.nodes[2].outputs[2]: unknown key 'alias'"));
  EXPECT_THAT(refusal_with("\"latency_ns\"", "\"latency\""), HasSubstr("$.links[0]: unknown key 'latency'"));
  EXPECT_THAT(refusal_with("\"other_names\"", "\"names\""), HasSubstr("$.states[0]: unknown key 'names'"));
  EXPECT_THAT(refusal_with("\"version\": 1", "\"version\": 2"), HasSubstr("$.version"));
}

TEST(OrderSteps, ReferencesThatMeanNothingAreRefused) {
  EXPECT_THAT(refusal_with("\"tied\"}", "\"tie\"}"),
              HasSubstr("'view_of' of node 'shaped' is 'tie', and no node or state has this name"));
  EXPECT_THAT(refusal_with("\"mean\"], ", "\"median\"], "),
              HasSubstr("the start of edge 3 is output 'median' of node 'forward', which has no such output"));
  EXPECT_THAT(refusal_with("[\"forward\", 2], \"loss\"", "[\"forward\", 3], \"loss\""),
              HasSubstr("output 3 of node 'forward', which has 3 outputs, counted from 0"));
  EXPECT_THAT(refusal_with("\"halved\", \"update\"", "\"halved\", \"weight\""),
              HasSubstr("the end of edge 4 is a state, and must be a node that runs"));
  EXPECT_THAT(refusal_with("[1, 3]", "[1, 1]"), HasSubstr("the end of edge 2 is node 'shaped', which is a view"));
  EXPECT_THAT(refusal_with("\"same_as\": 0", "\"same_as\": 2"), HasSubstr("must be an earlier one with 'bytes'"));
  EXPECT_THAT(refusal_with("\"from\": \"disk\"", "\"from\": \"disc\""), HasSubstr("no link has this name"));
  EXPECT_THAT(refusal_with("\"links\": [", "\"links\": [{\"name\": \"disk\", \"bytes_per_second\": 1}, "),
              HasSubstr("two links are named 'disk'"));
  EXPECT_THAT(refusal_with("[\"tied\"]", "[\"loss\"]"), HasSubstr("a state and a node are both named 'loss'"));
  EXPECT_THAT(refusal_with("{\"bytes\": 6}", "{\"bytes\": 6, \"name\": \"mean\"}"),
              HasSubstr("of node 'forward' are both named 'mean'; give them different names or omit 'name'"));
}

TEST(OrderSteps, NodesThatContradictThemselvesAreRefused) {
  EXPECT_THAT(refusal_with("\"cost\": 3, ", "\"cost\": 3, \"bytes\": 1, "), HasSubstr("'bytes' and 'outputs'"));
  EXPECT_THAT(refusal_with("\"view_of\"", "\"cost\": 1, \"view_of\""),
              HasSubstr("it has no bytes, cost or other keys"));
  EXPECT_THAT(refusal_with("{\"bytes\": 6}", "{}"), HasSubstr("needs 'bytes', 'overwrites' or 'same_as'"));
  EXPECT_THAT(refusal_with("\"bytes\": 8, \"cost\": 1, \"overwrites\"", "\"cost\": 1, \"overwrites\""),
              HasSubstr("node 'halved' has no 'bytes'"));
  EXPECT_THAT(
      refusal_with("\"cost\": 1, \"overwrites\": \"weight\"", "\"bytes\": 8, \"cost\": 1, \"overwrites\": \"weight\""),
      HasSubstr("node 'update' overwrites a state, so it has no bytes of its own"));
  EXPECT_THAT(refusal_with("\"seed_bytes\": 2", "\"seed_bytes\": 2, \"once\": true"), HasSubstr("and runs once"));
  EXPECT_THAT(refusal_with("[\"batch\", \"update\"]", "[\"update\", \"batch\"]"), HasSubstr("must come before itself"));
}

}  // namespace
}  // namespace lowtide::import_internal
