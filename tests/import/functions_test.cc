// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What inlining of functions produces and refuses.

#include "lowtide/import/onnx/load/functions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/import/onnx/load/call_costs.h"
#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

const std::string kHeader = "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n";

std::string function(const std::string& text) {
  return "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]>\n" + text;
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> types;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) types.push_back(graph.op(id).type);
  return types;
}

TEST(Functions, AreReplacedByNodesNamedAfterTheCall) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y) { [call] y = local.f(x) }" +
                            function("f (a) => (b) { [first] t = Relu(a) [second] b = Neg(t) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(operators_of(model->graph), (std::vector<std::string>{"Relu", "Neg"}));
  EXPECT_EQ(model->graph.node(NodeId(0)).name, "call/first");
  EXPECT_NE(find_tensor(model->graph, "call/t"), nullptr);
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2]") << "names of the graph do not change";
}

TEST(Functions, CalledTwiceHaveDifferentNames) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y) { m = local.f(x) y = local.f(m) }" +
                            function("f (a) => (b) { t = Relu(a) b = Neg(t) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 4U);
  EXPECT_NE(find_tensor(model->graph, "f/t"), nullptr) << "a call without a name is named after its function";
  EXPECT_NE(find_tensor(model->graph, "f/t_2"), nullptr);
}

TEST(Functions, AvoidNamesOfTheGraph) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y) { [c] m = local.f(x) y = Identity(m) }" +
                            function("f (a) => (b) { t = Relu(a) b = Neg(t) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  onnx::ModelProto proto =
      model_from(kHeader + "g (float[2] x) => (float[2] y) { [c] m = local.f(x) y = Identity(m) }" +
                 function("f (a) => (b) { t = Relu(a) b = Neg(t) }"));
  proto.mutable_graph()->mutable_input(0)->set_name("c/t");
  proto.mutable_graph()->mutable_node(0)->set_input(0, "c/t");
  const auto clash = import(proto);
  ASSERT_TRUE(clash.ok()) << clash.error().describe();
  EXPECT_NE(find_tensor(clash->graph, "c/t_2"), nullptr);
}

TEST(Functions, CallEachOther) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y) { [c] y = local.f(x) }" +
                            function("f (a) => (b) { [i] t = local.h(a) b = local.h(t) }") +
                            function("h (a) => (b) { u = Relu(a) b = Neg(u) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(operators_of(model->graph), (std::vector<std::string>{"Relu", "Neg", "Relu", "Neg"}));
  EXPECT_NE(find_tensor(model->graph, "c/i/u"), nullptr);
}

TEST(Functions, TakeAttributesOfTheCallOrTheirDefaults) {
  const std::string text = kHeader + "g (float[2,3] x) => (float[n] y) { y = local.f CALL (x) }" +
                           function("f <START> (a) => (b) { b = Flatten<axis: int = @start>(a) }");
  const auto with = [&](const std::string& call, const std::string& start) {
    std::string filled = text;
    filled.replace(filled.find("CALL"), 4, call);
    filled.replace(filled.find("START"), 5, start);
    onnx::ModelProto proto = model_from(filled);
    proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    return import(proto);
  };
  const auto given = with("<start = 2>", "start");  // Flatten with axis 2: [2 * 3, 1]
  ASSERT_TRUE(given.ok()) << given.error().describe();
  EXPECT_EQ(type_of(given->graph, "y"), "f32[6,1]");
  const auto standard = with("", "start: int = 0");  // with axis 0: [1, 6]
  ASSERT_TRUE(standard.ok()) << standard.error().describe();
  EXPECT_EQ(type_of(standard->graph, "y"), "f32[1,6]");
  const auto left_out = with("", "start");  // with the default of Flatten, 1: [2, 3]
  ASSERT_TRUE(left_out.ok()) << left_out.error().describe();
  EXPECT_EQ(type_of(left_out->graph, "y"), "f32[2,3]");
}

TEST(Functions, MayOmitInputsAndOutputs) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y) { y = local.f(x) }" +
                            function("f (a, low) => (b, c) { b = Clip(a, low) c = Neg(a) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 2U);
  expect_refused(import(kHeader + "g (float[2] x) => (float[2] y) { [c] y = local.f(x, x) }" +
                        function("f (a) => (b) { b = Relu(a) }")),
                 ErrorCode::invalid, {"'c'", "'f'", "2 inputs"});
}

TEST(Functions, ThatReturnAnInputCopyIt) {
  const auto model = import(kHeader + "g (float[2] x) => (float[2] y, float[2] z) { y, z = local.f(x) }" +
                            function("f (a) => (a, b) { b = Relu(a) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(operators_of(model->graph), (std::vector<std::string>{"Relu", "Identity"}));
}

TEST(Functions, ReplaceOperatorsOfTheSameName) {
  const auto model = import(
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[2] x) => (float[2] y) { y = Selu(x) }"
      "<domain: \"\", opset_import: [\"\" : 17]>\nSelu (a) => (b) { b = Neg(a) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(operators_of(model->graph), (std::vector<std::string>{"Neg"}));
}

TEST(Functions, KeepTheirOpset) {
  // Up to opset 12 the axes of Squeeze are an attribute; from 13 on they are an input.
  const auto model =
      import(kHeader + "g (float[1,2] x) => (float[2] y) { y = local.f(x) }" +
             "<domain: \"local\", opset_import: [\"\" : 11]>\nf (a) => (b) { b = Squeeze<axes = [0]>(a) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2]");
  expect_refused(import(kHeader + "g (float[1,2] x) => (float[2] y) { y = Squeeze<axes = [0]>(x) }"),
                 ErrorCode::invalid, {"Squeeze", "axes"});
}

TEST(Functions, AreInlinedInBodiesAndHaveBodies) {
  const auto model = import(kHeader +
                            "g (bool c, float[2] x) => (float[2] y) { y = If (c) <"
                            "then_branch = t () => (float[2] p) { [call] p = local.f(c, x) },"
                            "else_branch = e () => (float[2] q) { q = Relu(x) }> }" +
                            function("f (c, a) => (b) { u = Neg(a) b = If (c) <"
                                     "then_branch = t () => (float[2] p) { v = local.h(u) p = Relu(v) },"
                                     "else_branch = e () => (float[2] q) { q = Relu(a) }> }") +
                            function("h (a) => (b) { w = Abs(a) b = Neg(w) }"));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Node& outer = model->graph.node(NodeId(0));
  ASSERT_EQ(outer.bodies.size(), 2U);
  const Graph& then_branch = *outer.bodies[0].graph;
  EXPECT_EQ(operators_of(then_branch), (std::vector<std::string>{"Neg", "If"}));
  const Node& inner = then_branch.node(NodeId(1));
  ASSERT_EQ(inner.bodies.size(), 2U);
  EXPECT_EQ(operators_of(*inner.bodies[0].graph), (std::vector<std::string>{"Abs", "Neg", "Relu"}));
  EXPECT_EQ(inner.bodies[0].captures.size(), 1U) << "u of the function";
}

TEST(Functions, ThatReadUnknownNamesAreRefused) {
  expect_refused(import(kHeader + "g (float[2] x) => (float[2] y) { y = local.f(x) }" +
                        function("f (a) => (b) { [n] b = Add(a, x) }")),
                 ErrorCode::invalid, {"function 'f'", "'n'", "'x'"});
}

TEST(Functions, WithTheSameNameAreRefused) {
  expect_refused(import(kHeader + "g (float[2] x) => (float[2] y) { y = local.f(x) }" +
                        function("f (a) => (b) { b = Relu(a) }") + function("f (a) => (b) { b = Neg(a) }")),
                 ErrorCode::invalid, {"'f'", "two functions"});
}

TEST(Functions, ThatCallThemselvesAreRefusedAndNamed) {
  const std::string main = kHeader + "g (float[2] x) => (float[2] y) { y = local.f(x) }";
  expect_refused(import(main + function("f (a) => (b) { b = local.f(a) }")), ErrorCode::invalid, {"'f' calls 'f'"});
  expect_refused(
      import(main + function("f (a) => (b) { b = local.h(a) }") + function("h (a) => (b) { b = local.f(a) }")),
      ErrorCode::invalid, {"'f' calls 'h' calls 'f'"});
  // The function calls itself only through a branch.
  expect_refused(import(main +
                        function("f (a) => (b) { c = Constant<value_int = 1>() d = Cast<to = 9>(c) b = If (d) <"
                                 "then_branch = t () => (p) { p = local.h(a) },"
                                 "else_branch = e () => (q) { q = Relu(a) }> }") +
                        function("h (a) => (b) { b = local.f(a) }")),
                 ErrorCode::invalid, {"'f' calls 'h' calls 'f'"});
}

// f0 is one node, and each other function calls the one before it twice: 2^k nodes from 2 k + 1.
onnx::ModelProto doubling(int depth) {
  onnx::ModelProto model = model_from(kHeader + "g (float[2] x) => (float[2] y) { y = local.f" + std::to_string(depth) +
                                      "(x) }" + function("f0 (a) => (b) { b = Relu(a) }"));
  for (int level = 1; level <= depth; ++level) {
    onnx::FunctionProto* caller = model.add_functions();
    *caller = model.functions(0);
    caller->set_name("f" + std::to_string(level));
    caller->clear_node();
    for (int call = 0; call < 2; ++call) {
      onnx::NodeProto* node = caller->add_node();
      node->set_domain("local");
      node->set_op_type("f" + std::to_string(level - 1));
      node->add_input(call == 0 ? "a" : "t");
      node->add_output(call == 0 ? "t" : "b");
    }
  }
  return model;
}

TEST(FunctionBombs, BelowTheBudgetAreInlined) {
  const auto model = import(doubling(10));
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.nodes().size(), 1024U);
}

TEST(FunctionBombs, AreCountedBeforeTheyAreInlined) {
  expect_refused(import(doubling(20)), ErrorCode::over_limit, {"1048576 nodes", "inlined_node_budget"});
  expect_refused(import(doubling(40)), ErrorCode::over_limit, {"1099511627776 nodes", "inlined_node_budget"});
  expect_refused(import(doubling(63)), ErrorCode::over_limit, {"2^63 or more nodes"});
}

TEST(FunctionBombs, OfLargeConstantsAreCountedInBytes) {
  // One megabyte is inlined 2^10 times: few nodes, but a gigabyte.
  onnx::ModelProto model = doubling(10);
  onnx::FunctionProto* leaf = model.mutable_functions(0);
  onnx::NodeProto* constant = leaf->add_node();
  constant->set_op_type("Constant");
  constant->add_output("c");
  auto* value = constant->add_attribute();
  value->set_name("value_string");
  value->set_type(onnx::AttributeProto::STRING);
  value->set_s(std::string(1 << 20, 'x'));
  expect_refused(import(model), ErrorCode::over_limit, {"bytes", "inlined_byte_budget"});
}

TEST(FunctionBombs, WithLargeAttributesAreCountedInBytes) {
  onnx::ModelProto model = doubling(10);
  auto* given = model.mutable_graph()->mutable_node(0)->add_attribute();
  given->set_name("big");
  given->set_type(onnx::AttributeProto::STRING);
  given->set_s(std::string(1 << 20, 'x'));
  for (int level = 1; level <= 10; ++level) {
    for (onnx::NodeProto& node : *model.mutable_functions(level)->mutable_node()) {
      auto* handed = node.add_attribute();
      handed->set_name("big");
      handed->set_type(onnx::AttributeProto::STRING);
      handed->set_ref_attr_name("big");
    }
  }
  expect_refused(import(model), ErrorCode::over_limit, {"inlined_byte_budget"});
}

TEST(FunctionBombs, OfCallsInARowAreLimitedInDepth) {
  const auto chain = [](int depth) {
    onnx::ModelProto model = doubling(depth);
    for (onnx::FunctionProto& function : *model.mutable_functions()) {
      if (function.node_size() < 2) continue;
      function.mutable_node()->RemoveLast();
      function.mutable_node(0)->set_output(0, "b");
    }
    return import(model);
  };
  // f99 calls f98, and so on to f0. With the call in the graph, the depth is 100.
  const auto deepest = chain(99);
  ASSERT_TRUE(deepest.ok()) << deepest.error().describe();
  EXPECT_EQ(deepest->graph.nodes().size(), 1U);
  expect_refused(chain(100), ErrorCode::over_limit, {"call depth of 101", "100 (kMaxCallDepth)"});
  expect_refused(chain(50'000), ErrorCode::over_limit, {"kMaxCallDepth"});
}

TEST(FunctionBombs, OfBodiesInBodiesAreLimitedInDepth) {
  // Each of 40 functions calls the next one inside a branch: 40 nested bodies.
  onnx::ModelProto model = model_from(kHeader + "g (bool c, float[2] x) => (float[2] y) { y = local.f0(c, x) }");
  for (int level = 0; level < 40; ++level) {
    const onnx::ModelProto part = model_from(
        kHeader + "g (float[2] x) => (float[2] y) { y = Relu(x) }" +
        function("f" + std::to_string(level) + " (c, a) => (b) { b = If (c) <" + "then_branch = t () => (p) { p = " +
                 (level == 39 ? std::string("Relu(a)") : "local.f" + std::to_string(level + 1) + "(c, a)") + " }," +
                 "else_branch = e () => (q) { q = Relu(a) }> }"));
    *model.add_functions() = part.functions(0);
  }
  expect_refused(import(model), ErrorCode::over_limit, {"graphs nested to a depth of 40", "kMaxBodyNesting"});
}

TEST(FunctionBombs, InGraphsPassedAsAttributesAreRefused) {
  onnx::ModelProto model = doubling(1);
  auto* given = model.mutable_graph()->mutable_node(0)->add_attribute();
  given->set_name("body");
  given->set_type(onnx::AttributeProto::GRAPH);
  given->mutable_g()->set_name("b");
  expect_refused(import(model), ErrorCode::unsupported, {"attribute 'body'", "graph"});
}

}  // namespace
}  // namespace lowtide::testing
