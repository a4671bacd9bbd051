// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// If, Loop and Scan. Their bodies are separate graphs that see the names of the outer graphs.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

const Body* body_of(const Graph& graph, const std::string& node, const std::string& name) {
  for (const Node& candidate : graph.nodes()) {
    for (const Body& body : candidate.bodies) {
      if (candidate.name == node && body.name == name) return &body;
    }
  }
  return nullptr;
}

TEST(Bodies, CaptureTheOuterTensorsThatTheyRead) {
  const auto model = import(
      "g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [pre] p = Relu(x) "
      "[choose] y = If (c) <"
      "then_branch = t () => (float[2] a) { a = Add(p, w) },"
      "else_branch = e () => (float[2] b) { b = Neg(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* then_branch = body_of(model->graph, "choose", "then_branch");
  ASSERT_NE(then_branch, nullptr);
  ASSERT_EQ(then_branch->captures.size(), 2U);
  for (const auto& [outer, inner] : then_branch->captures) {
    const Tensor& around = model->graph.tensor(outer);
    const Tensor& inside = then_branch->graph->tensor(inner);
    EXPECT_EQ(around.name, inside.name);
    EXPECT_TRUE(inside.is_captured);
    EXPECT_EQ(inside.role, around.role == Role::constant ? Role::constant : Role::input);
  }
  EXPECT_LT(then_branch->captures[0].first, then_branch->captures[1].first);
  EXPECT_TRUE(then_branch->graph->inputs().empty()) << "captured tensors are not inputs of the call";
  EXPECT_EQ(type_of(*then_branch->graph, "a"), "f32[2]");
  EXPECT_EQ(body_of(model->graph, "choose", "else_branch")->captures.size(), 1U);
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2]");
}

TEST(Bodies, InsideBodiesCaptureThroughTheOuterBody) {
  const auto model = import(
      "g (bool c, float[2] x) => (float[2] y) { [outer] y = If (c) <"
      "then_branch = t () => (float[2] a) { [inner] a = If (c) <"
      "  then_branch = tt () => (float[2] b) { b = Neg(x) },"
      "  else_branch = te () => (float[2] d) { d = Abs(x) }> },"
      "else_branch = e () => (float[2] f) { f = Relu(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* outer = body_of(model->graph, "outer", "then_branch");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->captures.size(), 2U) << "c for the inner condition, x for the innermost body";
  const Body* inner = body_of(*outer->graph, "inner", "then_branch");
  ASSERT_NE(inner, nullptr);
  ASSERT_EQ(inner->captures.size(), 1U);
  EXPECT_EQ(outer->graph->tensor(inner->captures[0].first).name, "x");
  EXPECT_EQ(model->graph.total_nodes(), 5);
}

TEST(Bodies, MayReadNodesThatComeLaterInTheFile) {
  const auto model = import(
      "g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
      "then_branch = t () => (float[2] a) { a = Neg(late) },"
      "else_branch = e () => (float[2] b) { b = Abs(late) }> [l] late = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.node(NodeId(0)).name, "l");
}

TEST(Bodies, MayReturnATensorOfTheOuterGraph) {
  const auto model = import(
      "g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
      "then_branch = t () => (float[2] x) { },"
      "else_branch = e () => (float[2] b) { b = Abs(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* body = body_of(model->graph, "choose", "then_branch");
  ASSERT_EQ(body->graph->outputs().size(), 1U);
  EXPECT_TRUE(body->graph->tensor(body->graph->outputs()[0]).is_captured);
}

TEST(Bodies, ThatReadAnUnknownNameAreRefused) {
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t () => (float[2] a) { a = Neg(ghost) },"
                        "else_branch = e () => (float[2] b) { b = Abs(x) }> }"),
                 ErrorCode::invalid, {"node 0 'choose' (If)", "'ghost'"});
}

TEST(Bodies, ThatProduceAnOuterNameAreRefused) {
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [n] p = Relu(x) [choose] y = If (c) <"
                        "then_branch = t () => (float[2] p) { [again] p = Neg(x) },"
                        "else_branch = e () => (float[2] b) { b = Abs(x) }> }"),
                 ErrorCode::invalid, {"node 1 'choose' (If)", "node 0 'again' (Neg)", "'p'", "an outer graph"});
}

TEST(Bodies, MayNameTheirInputsLikeAnOuterTensor) {
  // Some exporters do this; the standard only restricts the outputs of nodes. Inside the body, the name means its
  // input.
  const auto model = import(
      "g (int64 n, bool c, float[2] x) => (float[2] y) { [loop] y = Loop (n, c, x) <"
      "body = b (int64 i, bool k, float[2] x) => (bool k2, float[2] x2) "
      "{ k2 = Identity(k) x2 = Relu(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_TRUE(body_of(model->graph, "loop", "body")->captures.empty());
}

TEST(Bodies, OfALoopHaveTheSizesOfItsStates) {
  const auto model = import(
      "g (int64 n, bool c, float[2,3] x) => (float[2,3] y, float[m,2,3] all) "
      "{ [loop] y, all = Loop (n, c, x) <"
      "body = b (int64 i, bool k, float[2,3] s) => (bool k2, float[2,3] s2, float[2,3] out) "
      "{ k2 = Identity(k) s2 = Relu(s) out = Neg(s2) }> }",
      {.dims = {{"m", 10}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* body = body_of(model->graph, "loop", "body");
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->graph->inputs().size(), 3U);
  EXPECT_EQ(type_of(*body->graph, "s2"), "f32[2,3]");
  EXPECT_EQ(type_of(*body->graph, "i"), "i64[]");
  EXPECT_EQ(type_of(model->graph, "all"), "f32[10,2,3]");
}

TEST(Bodies, OfALoopWithAGrowingStateStayOpen) {
  expect_refused(import("g (int64 n, bool c, float[2] x) => (float[m] y) { [loop] y = Loop (n, c, x) <"
                        "body = b (int64 i, bool k, float[p] s) => (bool k2, float[q] s2) "
                        "{ k2 = Identity(k) s2 = Concat<axis = 0>(s, s) }> }"),
                 ErrorCode::unresolved, {"'y'", "node 0 'loop' (Loop)"});
}

TEST(Bodies, OfALoopThatNeverEndsAreBounded) {
  // 2^63 - 1 stacked outputs are refused. Without stacked outputs, the iterations of a loop need no memory.
  const char* const start = "g (bool c, float[2] x) => (float[2] y";
  const std::string rounds = "{ n = Constant<value_int = 9223372036854775807>() ";
  const auto carried = import(start + (") " + rounds) +
                              "y = Loop (n, c, x) <body = b (int64 i, bool k, float[2] s) => "
                              "(bool k2, float[2] s2) { k2 = Identity(k) s2 = Relu(s) }> }");
  ASSERT_TRUE(carried.ok()) << carried.error().describe();
  expect_refused(import(start + (", float[m,2] all) " + rounds) +
                        "[loop] y, all = Loop (n, c, x) <body = b (int64 i, bool k, float[2] s) => "
                        "(bool k2, float[2] s2, float[2] o) { k2 = Identity(k) s2 = Relu(s) o = Neg(s) }> }"),
                 ErrorCode::over_limit, {"'loop' (Loop)"});
}

TEST(Bodies, OfAScanSeeOneSlice) {
  const auto model = import(
      "g (float[2] s, float[5,3] xs) => (float[2] s_end, float[5,3] ys) { [scan] s_end, ys = "
      "Scan<num_scan_inputs = 1, body = b (float[2] h, float[3] x) => (float[2] h2, float[3] y) "
      "{ h2 = Relu(h) y = Neg(x) }>(s, xs) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(*body_of(model->graph, "scan", "body")->graph, "x"), "f32[3]");
  EXPECT_EQ(type_of(model->graph, "ys"), "f32[5,3]");
}

TEST(Bodies, WithAWrongNumberOfInputsOrOutputsAreRefused) {
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t () => () { },"
                        "else_branch = e () => (float[2] b) { b = Abs(x) }> }"),
                 ErrorCode::invalid, {"'choose'"});
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t (float[2] z) => (float[2] a) { a = Relu(z) },"
                        "else_branch = e () => (float[2] b) { b = Abs(x) }> }"),
                 ErrorCode::invalid, {"'choose'", "1 input,"});
}

TEST(Bodies, ThatNeverRunAreLeftOut) {
  // Exporters leave such a branch behind, with a rank that cannot occur.
  const auto model = import(
      "g (float[2,3] x) => (float[6] y) { c = Constant<value = bool {1}>() [choose] y = If (c) <"
      "then_branch = t () => (float[6] a) { s = Constant<value_ints = [6]>() a = Reshape(x, s) },"
      "else_branch = e () => (float[5] b) { z = Constant<value_ints = [5]>() b = Reshape(x, z) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_NE(body_of(model->graph, "choose", "then_branch"), nullptr);
  EXPECT_EQ(body_of(model->graph, "choose", "else_branch"), nullptr);
  EXPECT_EQ(type_of(model->graph, "y"), "f32[6]");
  ASSERT_EQ(model->notes.size(), 1U);
  EXPECT_NE(model->notes[0].find("'choose'"), std::string::npos);
}

std::vector<std::string> captured_names(const Graph& around, const Body& body) {
  std::vector<std::string> names;
  for (const auto& [outer, inner] : body.captures) {
    EXPECT_EQ(around.tensor(outer).name, body.graph->tensor(inner).name);
    names.push_back(around.tensor(outer).name);
  }
  return names;
}

std::size_t reader_count(const Graph& graph, std::string_view name) {
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (graph.tensor(id).name == name) return graph.readers(id).size();
  }
  ADD_FAILURE() << "there is no tensor " << name;
  return 0;
}

// A branch whose body contains an If that always takes its then_branch, Neg(small).
std::string branch_with_a_dead_branch(const std::string& dead) {
  return "t () => (float[2] a) { one = Constant<value = bool {1}>() [inner] a = If (one) <"
         "  then_branch = tt () => (float[2] b) { b = Neg(small) },"
         "  else_branch = te () => (float[2] d) { " +
         dead + " }> }";
}

TEST(Bodies, CaptureNothingForAnInnerBranchThatNeverRuns) {
  // Each `dead` captures `big`, the last one in a nested branch. Two of them capture `small`, as the branch that runs
  // does.
  for (const char* const dead : {"d = Slice(big, zero, two)", "e = Slice(big, zero, two) d = Add(e, small)",
                                 "d = If (c) <then_branch = x () => (float[2] e) { e = Slice(big, zero, two) },"
                                 "            else_branch = y () => (float[2] f) { f = Neg(small) }>"}) {
    const auto model = import(
        "g (bool c, float[2] x) => (float[2] y) <int64[1] zero = {0}, int64[1] two = {2}> { [p] small = Relu(x) "
        "[q] big = Concat<axis = 0>(x, x, x, x) [outer] y = If (c) <then_branch = " +
        branch_with_a_dead_branch(dead) + ", else_branch = e () => (float[2] f) { f = Relu(small) }> }");
    ASSERT_TRUE(model.ok()) << model.error().describe();
    const Body* outer = body_of(model->graph, "outer", "then_branch");
    ASSERT_NE(outer, nullptr);
    EXPECT_EQ(captured_names(model->graph, *outer), (std::vector<std::string>{"small"})) << dead;
    EXPECT_EQ(outer->graph->tensors().size(), 3U) << "small, one, a: no tensor is left that nothing reads; " << dead;
    EXPECT_EQ(reader_count(model->graph, "big"), 0U) << "only the dead branch reads big: " << dead;
    ASSERT_EQ(body_of(*outer->graph, "inner", "else_branch"), nullptr);
    EXPECT_EQ(captured_names(*outer->graph, *body_of(*outer->graph, "inner", "then_branch")),
              (std::vector<std::string>{"small"}));
  }
}

TEST(Bodies, CaptureNothingForAnInnerBranchThatCannotRun) {
  // MatMul of 2 columns by a matrix of 3 rows: no run can take the else_branch of `inner`.
  const auto model = import(
      "g (bool c, float[2] x) => (float[2] y) <float[3,5] w = {0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0}> { [p] big = Relu(x) "
      "[outer] y = If (c) <then_branch = t () => (float[2] a) { [inner] a = If (c) <"
      "  then_branch = tt () => (float[2] b) { b = Neg(x) },"
      "  else_branch = te () => (float[2] d) { d = MatMul(big, w) }> },"
      "else_branch = e () => (float[2] f) { f = Relu(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* outer = body_of(model->graph, "outer", "then_branch");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(captured_names(model->graph, *outer), (std::vector<std::string>{"c", "x"}));
  EXPECT_EQ(reader_count(model->graph, "big"), 0U);
}

TEST(Bodies, CaptureNothingForADeadBranchInNestedLoops) {
  // The body of the inner Loop is inferred more than once; the condition is a constant of the whole model.
  const auto model = import(
      "g (int64 n, bool c, float[2] x) => (float[2] y) <bool never = {0}> { [p] small = Relu(x) [q] big = Neg(x) "
      "[out] y = Loop (n, c, x) <body = lo (int64 i, bool k, float[2] s) => (bool k2, float[2] s2) { k2 = Identity(k) "
      "  [mid] s2 = If (k) <"
      "    then_branch = t () => (float[2] a) { [in] a = Loop (n, k, s) <"
      "      body = li (int64 j, bool m, float[2] r) => (bool m2, float[2] r2) { m2 = Identity(m) "
      "        [low] r2 = If (never) <"
      "          then_branch = dead () => (float[2] d) { d = Add(big, r) },"
      "          else_branch = lives () => (float[2] f) { f = Add(small, r) }> }> },"
      "    else_branch = e () => (float[2] h) { h = Neg(s) }> }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(reader_count(model->graph, "big"), 0U);
  const Body* out = body_of(model->graph, "out", "body");
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(captured_names(model->graph, *out), (std::vector<std::string>{"n", "never", "small"}));
  const Body* mid = body_of(*out->graph, "mid", "then_branch");
  ASSERT_NE(mid, nullptr);
  const Body* in = body_of(*mid->graph, "in", "body");
  ASSERT_NE(in, nullptr);
  EXPECT_EQ(captured_names(*mid->graph, *in), (std::vector<std::string>{"never", "small"}));
  EXPECT_EQ(body_of(*in->graph, "low", "then_branch"), nullptr);
  EXPECT_NE(body_of(*in->graph, "low", "else_branch"), nullptr);
}

TEST(Bodies, ThatCannotRunWithTheGivenSizesAreNoted) {
  // Data choose the branch, but rows of 3 fit only one of the two matrices.
  const char* const text =
      "g (bool c, float[1,n] x) => (float[1,q] y) <float[3,5] three = {0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0}, "
      "float[4,2] four = {0,0, 0,0, 0,0, 0,0}> { [choose] y = If (c) <"
      "then_branch = t () => (float[1,5] a) { a = MatMul(x, three) },"
      "else_branch = e () => (float[1,2] b) { b = MatMul(x, four) }> }";
  const auto three = import(text, {.dims = {{"n", 3}}, .shapes = {}});
  ASSERT_TRUE(three.ok()) << three.error().describe();
  EXPECT_EQ(type_of(three->graph, "y"), "f32[1,5]");
  EXPECT_NE(body_of(three->graph, "choose", "then_branch"), nullptr);
  EXPECT_EQ(body_of(three->graph, "choose", "else_branch"), nullptr);
  ASSERT_EQ(three->notes.size(), 1U);
  EXPECT_NE(three->notes[0].find("'else_branch' of 'choose'"), std::string::npos) << three->notes[0];
  const auto four = import(text, {.dims = {{"n", 4}}, .shapes = {}});
  ASSERT_TRUE(four.ok()) << four.error().describe();
  EXPECT_EQ(type_of(four->graph, "y"), "f32[1,2]");
  expect_refused(import(text, {.dims = {{"n", 7}}, .shapes = {}}), ErrorCode::invalid, {"'choose' (If)", "MatMul"});
}

TEST(Bodies, WithStaleDeclaredSizesArePlannedByOperators) {
  // The declared sizes are stale. A runtime prints a warning and can run both branches. `big` is 3 x 64.
  const auto model = import(
      "g (bool c, float[64] x) => (float[n] y) { [choose] y = If (c) <"
      "then_branch = t () => (float[64] a) { a = Relu(x) },"
      "else_branch = e () => (float[9] b) <float[3,64] big> { big = Concat<axis = 0>(x, x, x) b = Exp(big) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Body* other = body_of(model->graph, "choose", "else_branch");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(type_of(*other->graph, "big"), "f32[192]");
  EXPECT_EQ(type_of(*other->graph, "b"), "f32[192]");
  EXPECT_NE(body_of(model->graph, "choose", "then_branch"), nullptr);
  ASSERT_EQ(model->notes.size(), 2U);  // the other note: y has 64 or 192 elements and is planned at its upper bound
  for (const char* word : {"2 declared sizes", "'big' of graph 'e' is declared as f32[3,64]", "f32[192]", "'b'"})
    EXPECT_NE(model->notes[1].find(word), std::string::npos) << "lacks: " << word << "\n" << model->notes[1];
}

TEST(Bodies, ThatReturnAValueWithAStaleSizeArePlanned) {
  const auto model = import(
      "g (bool c, float[64] x) => (float[64] y) { [choose] y = If (c) <"
      "then_branch = t () => (float[8,8] x) { },"
      "else_branch = e () => (float[64] b) { b = Exp(x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_EQ(model->notes.size(), 1U);
  EXPECT_NE(model->notes[0].find("1 declared size"), std::string::npos) << model->notes[0];
}

TEST(Bodies, ThatAreMalformedAfterADeadBranchAreRefused) {
  // The error in the inner then_branch comes from sizes. The error after it does not.
  expect_refused(import("g (bool c, float[2] x) => (float[n] y) <float[3,5] w = {0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0}> {"
                        "p = Relu(x) [choose] y = If (c) <then_branch = t () => (float[q] a) {"
                        "  u = If (c) <then_branch = tt () => (float[5] d) { d = MatMul(x, w) },"
                        "              else_branch = te () => (float[2] f) { f = Abs(x) }>"
                        "  [bad] p = Neg(u) a = Abs(u) },"
                        "else_branch = e () => (float[2] b) { b = Abs(x) }> }"),
                 ErrorCode::invalid, {"'bad' (Neg)", "produces 'p'"});
}

TEST(Bodies, ThatAreMalformedForAllSizesAreRefused) {
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t () => (float[2] a) { [p] a = Neg(b) [q] b = Neg(a) },"
                        "else_branch = e () => (float[2] d) { d = Abs(x) }> }"),
                 ErrorCode::invalid, {"'choose' (If)", "cycle of 2 nodes"});
  // The element type is wrong for all sizes.
  expect_refused(import("g (bool c, float[2] x) => (float[2] y) { [choose] y = If (c) <"
                        "then_branch = t () => (float[2] a) { a = Cast<to = 7>(x) },"
                        "else_branch = e () => (float[2] d) { d = Abs(x) }> }"),
                 ErrorCode::invalid, {"'choose' (If)", "'a': is declared as f32[2]", "i64[2]"});
}

// Returns an If inside an If, and so on, with `depth` levels.
std::string nested(int depth, int level = 0) {
  const std::string name = "v" + std::to_string(level);
  if (depth == 0) return name + " = Relu(x)";
  return name + " = If (c) <then_branch = t () => (float[2] v" + std::to_string(level + 1) + ") { " +
         nested(depth - 1, level + 1) + " }, else_branch = e () => (float[2] w" + std::to_string(level + 1) + ") { w" +
         std::to_string(level + 1) + " = Neg(x) }>";
}

TEST(Bodies, NestTwentyDeep) {
  const auto model = import("g (bool c, float[2] x) => (float[2] v0) { " + nested(20) + " }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.total_nodes(), 20 + 1 + 20);  // the Ifs, the innermost Relu, the other branches
}

TEST(Bodies, OfNestedBranchesCountOnce) {
  // Both branches of each level contain the next level, so the file has 2^8 leaves.
  std::string text = "r = Relu(x)";
  int names = 0;
  for (int level = 0; level < 8; ++level) {
    const auto branch = [&](std::string inner) {
      const std::string name = "u" + std::to_string(names++);
      for (std::size_t at = inner.find("r = "); at == 0; at = std::string::npos) inner.replace(0, 1, name);
      return "b () => (float[2] " + name + ") { " + inner + " }";
    };
    const std::string then_branch = branch(text);
    text = "r = If (c) <then_branch = " + then_branch + ", else_branch = " + branch(text) + ">";
  }
  const auto model = import("g (bool c, float[2] x) => (float[2] r) { " + text + " }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.total_nodes(), (1 << 9) - 1);  // a full binary tree with 2^8 leaves
}

TEST(Bodies, OfNestedLoopsAreInferredWithinALimit) {
  // Each loop may infer its body more than once; with 12 levels that would be thousands of times.
  std::string text = "s_out = Relu(s_in)";
  std::string in = "s_in";
  for (int level = 0; level < 12; ++level) {
    const std::string n = std::to_string(level);
    std::string inner = text;
    text = "q" + n + " = Loop (n, c, z" + n + ") <body = b (int64 i" + n + ", bool k" + n + ", float[p] " +
           (level == 0 ? "s_in" : "z" + std::to_string(level - 1)) + ") => (bool kk" + n + ", float[p] " +
           (level == 0 ? "s_out" : "q" + std::to_string(level - 1)) + ") { kk" + n + " = Identity(k" + n + ") " +
           inner + " }>";
  }
  const auto model = import("g (int64 n, bool c, float[2] z11) => (float[2] q11) { " + text + " }");
  // The import must end soon, whether it accepts the model or lists its unknown sizes.
  if (!model.ok()) {
    EXPECT_EQ(model.error().code, ErrorCode::unresolved) << model.error().describe();
  }
}

}  // namespace
}  // namespace lowtide::testing
