// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/rewrite.h"

#include <gmock/gmock.h>

#include <functional>

#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph parsed(const std::string& text) {
  Result<Graph> graph = parse_graph(text, "test");
  if (!graph.ok()) throw std::runtime_error(graph.error().describe());
  return std::move(graph).value();
}

TensorId tensor(const Graph& graph, const std::string& name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return id;
  }
  throw std::runtime_error("no tensor " + name);
}

GraphBuilder::TensorSpec floats(std::string name = "") { return {.name = std::move(name), .shape = Shape({4})}; }

void expect_text(const Rewritten& rewritten, const std::string& text) {
  EXPECT_EQ(print_graph(rewritten.graph), print_graph(parsed(text)));
}

void expect_refused(GraphRewriter rewriter, const std::string& message) {
  const Result<Rewritten> rewritten = std::move(rewriter).finish();
  ASSERT_FALSE(rewritten.ok()) << message;
  EXPECT_EQ(rewritten.error().code, ErrorCode::invalid);
  EXPECT_THAT(rewritten.error().describe(), HasSubstr(message));
}

// Tensors x w t y z; nodes c r n.
Graph chain() {
  return parsed(R"(graph "g" {
    input x : f32[4]
    constant w : f32[4]
    t = Conv(x, w) "c" : f32[4]
    y = Relu(t) "r" : f32[4]
    z = Neg(y) "n" : f32[4]
    output z
  })");
}
constexpr TensorId kX(0), kW(1), kT(2), kY(3), kZ(4);
constexpr NodeId kConv(0), kRelu(1), kNeg(2);

TEST(Rewrite, MergedNodesKeepTheirNamesAsOrigins) {
  const Graph graph = chain();
  GraphRewriter rewriter(graph);
  rewriter.replace_node(kRelu, {.name = "cr", .type = "ConvRelu", .inputs = {kX, kW}, .outputs = {kY}});
  rewriter.merge_node(kConv, kRelu);
  const Rewritten rewritten = std::move(rewriter).finish().value();
  expect_text(rewritten, R"(graph "g" {
    input x : f32[4]
    constant w : f32[4]
    y = ConvRelu(x, w) "cr" : f32[4]
    z = Neg(y) "n" : f32[4]
    output z
  })");
  EXPECT_THAT(rewritten.origins.nodes, ElementsAre(ElementsAre(kConv, kRelu), ElementsAre(kNeg)));
  EXPECT_THAT(rewritten.origins.tensors,
              ElementsAre(ElementsAre(kX), ElementsAre(kW), ElementsAre(kY), ElementsAre(kZ)));
}

TEST(Rewrite, AddedNodesComeAfterTheirOrigin) {
  const Graph graph = chain();
  GraphRewriter rewriter(graph);
  const TensorId columns = rewriter.add_tensor(floats(), {kX});
  rewriter.add_node({.name = "c", .type = "Im2Col", .inputs = {kX}, .outputs = {columns}}, {kConv});
  rewriter.replace_node(kConv, {.name = "c", .type = "MatMul", .inputs = {columns, kW}, .outputs = {kT}});
  const Rewritten rewritten = std::move(rewriter).finish().value();
  expect_text(rewritten, R"(graph "g" {
    input x : f32[4]
    constant w : f32[4]
    tensor t : f32[4]
    tensor y : f32[4]
    tensor z : f32[4]
    x.1 = Im2Col(x) "c" : f32[4]
    t = MatMul(x.1, w) "c"
    y = Relu(t) "r"
    z = Neg(y) "n"
    output z
  })");
  EXPECT_THAT(rewritten.origins.nodes,
              ElementsAre(ElementsAre(kConv), ElementsAre(kConv), ElementsAre(kRelu), ElementsAre(kNeg)));
}

TEST(Rewrite, GeneratedNamesAreUnique) {
  const Graph graph = parsed(R"(graph "g" {
    input x : f32[4]
    input x.2 : f32[4]
    output x
  })");
  GraphRewriter rewriter(graph);
  std::vector<std::optional<TensorId>> copies;
  for (int copy = 0; copy < 3; ++copy) copies.emplace_back(rewriter.add_tensor(floats(), {TensorId(0)}));
  copies.emplace_back(rewriter.add_tensor(floats(), {}));
  copies.emplace_back(rewriter.add_tensor(floats("x.3"), {}));
  rewriter.add_node({.type = "Split", .inputs = {TensorId(0)}, .outputs = copies}, {});
  const Graph rewritten = std::move(rewriter).finish().value().graph;
  std::vector<std::string> names;
  for (const Tensor& each : rewritten.tensors()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("x", "x.2", "x.1", "x.4", "x.5", "tensor.1", "x.3"));
}

TEST(Rewrite, LaterNodesMayReadAReplacedTensor) {
  const Graph graph = chain();
  GraphRewriter rewriter(graph);
  const TensorId copy = rewriter.add_tensor(floats("copy"), {kT});
  rewriter.replace_uses(kT, copy);
  rewriter.add_node({.type = "Identity", .inputs = {kT}, .outputs = {copy}}, {});
  const Rewritten rewritten = std::move(rewriter).finish().value();
  EXPECT_EQ(rewritten.graph.op(NodeId(1)).type, "Identity");
  EXPECT_EQ(rewritten.graph.node(NodeId(2)).inputs[0], tensor(rewritten.graph, "copy"));
  EXPECT_THAT(rewritten.origins.nodes[NodeId(1)], IsEmpty());
}

TEST(Rewrite, ReplacesUsesInOutputsAndStateUpdates) {
  const Graph graph = parsed(R"(graph "g" {
    input x : f32[4]
    state s : f32[4]
    y = Add(x, s) : f32[4]
    output y, x, y
    update s = y
  })");
  GraphRewriter rewriter(graph);
  const TensorId y = tensor(graph, "y");
  const TensorId copy = rewriter.add_tensor(floats("copy"), {y});
  rewriter.replace_uses(y, copy);
  rewriter.add_node({.type = "Identity", .inputs = {y}, .outputs = {copy}}, {});
  const Graph rewritten = std::move(rewriter).finish().value().graph;
  EXPECT_THAT(rewritten.outputs(), ElementsAre(copy, tensor(graph, "x"), copy));
  EXPECT_THAT(rewritten.state_updates(), ElementsAre(StateUpdate{tensor(graph, "s"), copy}));
  EXPECT_EQ(rewritten.tensor(y).role, Role::temporary);
}

TEST(Rewrite, InvalidGraphsAreRefused) {
  const Graph graph = chain();
  const auto relu = [](TensorId from, TensorId to) {
    return GraphBuilder::NodeSpec{.name = "new", .type = "Relu", .inputs = {from}, .outputs = {to}};
  };
  GraphRewriter cycle(graph);
  cycle.replace_node(kConv, relu(kZ, kT));
  expect_refused(std::move(cycle),
                 "depends on its own result, through a cycle of 3 nodes: 'new' -> 'r' -> 'n' -> 'new'");
  GraphRewriter twice(graph);
  twice.add_node(relu(kX, kY), {});
  expect_refused(std::move(twice), "a tensor has one producer");
  GraphRewriter dangling(graph);
  dangling.remove_node(kRelu);
  expect_refused(std::move(dangling), "reads 'y', which nothing produces");
  GraphRewriter same_name(graph);
  same_name.add_node(relu(kX, same_name.add_tensor(floats("y"), {})), {});
  expect_refused(std::move(same_name), "two tensors have this name");
  GraphRewriter output(graph);
  const TensorId other = output.add_tensor({.dtype = DType::f16, .shape = Shape({4})}, {kZ});
  output.replace_uses(kZ, other);
  output.add_node(relu(kZ, other), {});
  expect_refused(std::move(output), "graph 'g': output 0 is 'z' of type f32[4], and would become f16[4]");
}

TEST(Rewrite, UnknownIdsThrow) {
  const Graph graph = chain();
  GraphRewriter rewriter(graph);
  rewriter.remove_node(kNeg);
  EXPECT_THROW(rewriter.remove_node(kNeg), InvariantViolation);
  EXPECT_THROW(rewriter.remove_node(NodeId(3)), InvariantViolation);
  EXPECT_THROW(rewriter.merge_node(kConv, kConv), InvariantViolation);
  EXPECT_THROW(rewriter.replace_uses(kX, TensorId(5)), InvariantViolation);
  EXPECT_THROW(rewriter.replace_body(kConv, 0, {graph, {}}), InvariantViolation);
  EXPECT_THROW(rewriter.add_node({.type = "Relu", .inputs = {TensorId(5)}}, {}), InvariantViolation);
}

TEST(Rewrite, RemovesWhatNothingNeeds) {
  const Graph graph = parsed(R"(graph "g" {
    input x : f32[4]
    input unread : f32[4]
    constant w : f32[4]
    constant v : f32[4]
    state s : f32[4]
    a = Add(x, w) : f32[4]
    b = Relu(a) : f32[4]
    c = Add(x, v) : f32[4]
    d = RandomNormalLike(c) : f32[4]
    e = Neg(x) : f32[4]
    update s = e
    output x
  })");
  GraphRewriter rewriter(graph);
  rewriter.remove_unused();
  expect_text(std::move(rewriter).finish().value(), R"(graph "g" {
    input x : f32[4]
    input unread : f32[4]
    constant v : f32[4]
    state s : f32[4]
    c = Add(x, v) : f32[4]
    d = RandomNormalLike(c) : f32[4]
    e = Neg(x) : f32[4]
    update s = e
    output x
  })");
}

TEST(Rewrite, GivesNoGraphIfNothingChanged) {
  const Graph graph = chain();
  const auto changes = [&](const std::function<void(GraphRewriter&)>& edit) {
    GraphRewriter rewriter(graph);
    edit(rewriter);
    return std::move(rewriter).finish_if_changed().value().has_value();
  };
  EXPECT_FALSE(changes([](GraphRewriter&) {}));
  EXPECT_FALSE(changes([](GraphRewriter& rewriter) { rewriter.remove_unused(); }));
  EXPECT_FALSE(changes([](GraphRewriter& rewriter) { rewriter.replace_uses(kX, kX); }));
  EXPECT_TRUE(changes([](GraphRewriter& rewriter) { rewriter.replace_uses(kZ, kY); }));
  EXPECT_TRUE(changes([](GraphRewriter& rewriter) {
    rewriter.replace_node(kRelu, {.name = "cr", .type = "ConvRelu", .inputs = {kX, kW}, .outputs = {kY}});
    rewriter.merge_node(kConv, kRelu);
  }));
  // The graph has as many nodes and tensors as before, with equal operators.
  EXPECT_TRUE(changes([](GraphRewriter& rewriter) {
    GraphBuilder::NodeSpec spec = rewriter.node(kConv);
    spec.attributes = {{"group", std::int64_t{1}}};
    rewriter.replace_node(kConv, std::move(spec));
  }));
}

TEST(Rewrite, NodesWaitForWhatARemovedNodeWaitedFor) {
  const Graph graph = parsed(R"(graph "g" {
    input x : f32[4]
    a = Load(x) "a" : f32[4]
    b = Relu(a) "b" : f32[4]
    c = Load(x) "c" after (b) : f32[4]
    d = Store(c) "d" after (c) : f32[4]
    output c
  })");
  GraphRewriter removed(graph);
  removed.remove_node(NodeId(1));
  EXPECT_THAT(std::move(removed).finish()->graph.node(NodeId(1)).control_inputs, ElementsAre(NodeId(0)));
  GraphRewriter merged(graph);
  merged.replace_node(NodeId(0), {.name = "ab", .type = "LoadRelu", .inputs = {TensorId(0)}, .outputs = {TensorId(2)}});
  merged.merge_node(NodeId(1), NodeId(0));
  EXPECT_THAT(std::move(merged).finish()->graph.node(NodeId(1)).control_inputs, ElementsAre(NodeId(0)));
}

constexpr const char* kBranches = R"(graph "g" {
    input cond : bool[]
    input x : f32[4]
    t = Neg(x) : f32[4]
    y = If(cond) "choose" {
      then_branch = graph "then" captures (t) {
        captured input t : f32[4]
        a = Relu(t) "inner" : f32[4]
        output a
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[4]
        output x
      }
    } : f32[4]
    output y
  })";

TEST(Rewrite, CapturesFollowReplacedUses) {
  const Graph graph = parsed(kBranches);
  GraphRewriter rewriter(graph);
  rewriter.replace_uses(tensor(graph, "t"), tensor(graph, "x"));
  rewriter.remove_unused();
  const Graph rewritten = std::move(rewriter).finish().value().graph;
  ASSERT_EQ(rewritten.nodes().size(), 1U);
  const std::vector<Body>& bodies = rewritten.node(NodeId(0)).bodies;
  EXPECT_THAT(bodies[0].captures, ElementsAre(std::pair(tensor(rewritten, "x"), TensorId(0))));
  EXPECT_EQ(bodies[0].graph, graph.node(NodeId(1)).bodies[0].graph);
  GraphRewriter other_type(graph);
  other_type.replace_uses(tensor(graph, "t"), tensor(graph, "cond"));
  expect_refused(std::move(other_type), "body 'then_branch' captures 'cond' of type bool[] as 't' of type f32[4]");
}

TEST(Rewrite, BodiesAreRewrittenWithTheirCaptures) {
  const Graph graph = parsed(kBranches);
  const NodeId choose(1);
  const Graph& then = *graph.node(choose).bodies[0].graph;
  GraphRewriter inside(then);
  const TensorId x = inside.add_tensor({.name = "x", .shape = Shape({4}), .is_captured = true}, {}, Role::input);
  inside.replace_node(NodeId(0), {.name = "inner", .type = "Relu", .inputs = {x}, .outputs = {tensor(then, "a")}});
  inside.remove_unused();
  Rewritten body = std::move(inside).finish().value();
  GraphRewriter unbound(graph);
  unbound.replace_body(choose, 0, body);
  expect_refused(std::move(unbound),
                 "the captured tensor 'x' of body 'then_branch' stands for 0 tensors of this graph");

  GraphRewriter rewriter(graph);
  const TensorId inner_x = tensor(body.graph, "x");
  rewriter.replace_body(choose, 0, std::move(body), {{tensor(graph, "x"), inner_x}});
  rewriter.remove_unused();
  const Rewritten rewritten = std::move(rewriter).finish().value();
  expect_text(rewritten, R"(graph "g" {
    input cond : bool[]
    input x : f32[4]
    y = If(cond) "choose" {
      then_branch = graph "then" captures (x) {
        tensor a : f32[4]
        captured input x : f32[4]
        a = Relu(x) "inner"
        output a
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[4]
        output x
      }
    } : f32[4]
    output y
  })");
  ASSERT_EQ(rewritten.origins.bodies.size(), 1U);
  EXPECT_EQ(rewritten.origins.bodies[0].node, NodeId(0));
  EXPECT_THAT(rewritten.origins.bodies[0].origins.tensors, ElementsAre(ElementsAre(TensorId(1)), IsEmpty()));
}

TEST(Origins, OfBodiesCompose) {
  const auto rewrite_body = [](const Graph& graph, NodeId node) {
    GraphRewriter inside(*graph.node(node).bodies[0].graph);
    inside.add_node({.type = "Relu", .inputs = {TensorId(0)}, .outputs = {inside.add_tensor(floats(), {TensorId(1)})}},
                    {NodeId(0)});
    GraphRewriter rewriter(graph);
    rewriter.replace_body(node, 0, std::move(inside).finish().value());
    return std::move(rewriter).finish().value();
  };
  const Graph graph = parsed(kBranches);
  const Rewritten first = rewrite_body(graph, NodeId(1));
  const Rewritten second = rewrite_body(first.graph, NodeId(1));
  const Origins composed = compose(first.origins, second.origins);
  ASSERT_EQ(composed.bodies.size(), 1U);
  const TensorId t(0), a(1);
  EXPECT_THAT(composed.bodies[0].origins.tensors,
              ElementsAre(ElementsAre(t), ElementsAre(a), ElementsAre(a), ElementsAre(a)));
  GraphRewriter rewriter(first.graph);
  const Origins kept = std::move(rewriter).finish()->origins;
  EXPECT_THAT(kept.bodies, IsEmpty());
  EXPECT_EQ(compose(first.origins, kept), first.origins);
}

TEST(Rewrite, AddsOutputsAndStateUpdates) {
  const Graph graph = chain();
  GraphRewriter rewriter(graph);
  const TensorId state = rewriter.add_tensor(floats("s"), {}, Role::state);
  const TensorId shape =
      rewriter.add_tensor({.name = "n", .dtype = DType::i64, .shape = Shape({1})}, {}, Role::constant);
  rewriter.set_known_integers(shape, {4});
  rewriter.add_state_update(state, kY);
  rewriter.add_output(kT);
  const Graph rewritten = std::move(rewriter).finish().value().graph;
  EXPECT_THAT(rewritten.outputs(), ElementsAre(kZ, kT));
  EXPECT_THAT(rewritten.state_updates(), ElementsAre(StateUpdate{state, kY}));
  EXPECT_THAT(*rewritten.known_integers(shape), ElementsAre(4));
}

}  // namespace
}  // namespace lowtide
