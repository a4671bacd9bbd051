// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Sizes that depend on data: what bounds them, and which of them a message names.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

// Repeats each of 4 rows as often as `counts` says. The length of y is the sum of the counts.
const char* const kRepeated =
    "g (float[4,8] x, int64[4] counts) => (float[frames,8] y) "
    "<int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[1] back = {1}> { "
    "total = ReduceSum<keepdims = 0>(counts) [range] pos = Range(zero, total, one) "
    "length = Shape(pos) mask = ConstantOfShape(length) ends = CumSum(counts, zero) "
    "e = Unsqueeze(ends, back) p = Unsqueeze(pos, front) past = LessOrEqual(e, p) "
    "number = Cast<to = 7>(past) index = ReduceSum<keepdims = 0>(number, front) y = Gather<axis = 0>(x, index) }";

TEST(UpperBounds, AreAskedForOnlyWhereASizeBegins) {
  const auto refused = import(kRepeated);
  expect_refused(refused, ErrorCode::unresolved,
                 {"1 size is not known", "'pos' is i64[pos[0]]", "'range' (Range)", "give --at-most pos=N"});
  EXPECT_EQ(refused.error().message.find("'y'"), std::string::npos) << refused.error().message;
}

TEST(UpperBounds, AreAskedForAtEachSizeThatBegins) {
  const auto both = import(
      "g (int64 n, int64 m) => (int64[a] y, int64[b] z) <int64 zero = {0}, int64 one = {1}> { "
      "p = Range(zero, n, one) q = Range(zero, m, one) r = Concat<axis = 0>(p, q) y = Add(r, one) z = Add(q, one) }");
  expect_refused(both, ErrorCode::unresolved, {"2 sizes are not known", "--at-most p=N", "--at-most q=N"});
}

TEST(UpperBounds, GiveAllThatFollowsASize) {
  for (const std::string name : {"pos", "pos[0]"}) {
    const auto model = import(kRepeated, {.at_most = {{name, 50}}});
    ASSERT_TRUE(model.ok()) << model.error().describe();
    EXPECT_EQ(type_of(model->graph, "pos"), "i64[<=50]");
    EXPECT_EQ(type_of(model->graph, "mask"), "f32[<=50]");
    EXPECT_EQ(type_of(model->graph, "past"), "bool[4,<=50]");
    EXPECT_EQ(type_of(model->graph, "y"), "f32[<=50,8]");
  }
}

// The symbol that the file gives to the result is not known before it, so what comes before needs a bound of its own.
TEST(UpperBounds, OfSymbolsOfTheFileHoldWhereTheyAreDeclared) {
  const auto model = import(
      "g (int64 n) => (int64[frames] y) <int64 zero = {0}, int64 one = {1}> "
      "{ y = Range(zero, n, one) }",
      {.at_most = {{"frames", 7}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "i64[<=7]");
}

TEST(UpperBounds, OfInputsLeaveThemOpen) {
  const auto model = import("g (float[n,3] x) => (float[m,3] y) { y = Relu(x) }", {.at_most = {{"n", 16}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "x"), "f32[<=16,3]");
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=16,3]");
  const auto given = import("g (float[n,k] x) => (float[m,l] y) { y = Relu(x) }",
                            {.given = {{{"x", {5, 3}}}}, .at_most = {{"n", 16}}});
  ASSERT_TRUE(given.ok()) << given.error().describe();
  EXPECT_EQ(type_of(given->graph, "y"), "f32[<=16,3]");
  EXPECT_EQ(given->given_shapes, (std::map<std::string, std::vector<std::int64_t>>{{"x", {-1, 3}}}));
  expect_refused(
      import("g (float[n] x) => (float[m] y) { y = Relu(x) }", {.given = {{{"x", {17}}}}, .at_most = {{"n", 16}}}),
      ErrorCode::invalid, {"input 'x'", "extent 0 is 17", "'n' is given as at most 16"});
}

// NonZero of 8 elements has at most 8 columns, and the caller knows that there are at most 3.
TEST(UpperBounds, LowerThoseThatAreProven) {
  const auto model = import("g (float[2,4] x) => (int64[2,m] y) { y = NonZero(x) }", {.at_most = {{"y", 3}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "i64[2,<=3]");
  const auto larger = import("g (float[2,4] x) => (int64[2,m] y) { y = NonZero(x) }", {.at_most = {{"y", 30}}});
  ASSERT_TRUE(larger.ok()) << larger.error().describe();
  EXPECT_EQ(type_of(larger->graph, "y"), "i64[2,<=8]");
}

TEST(UpperBounds, ThatMeanNothingAreRefused) {
  expect_refused(import(kRepeated, {.at_most = {{"frame", 50}}}), ErrorCode::invalid,
                 {"--at-most", "no extent of the model has the name 'frame'", "'pos'"});
  expect_refused(import(kRepeated, {.at_most = {{"pos", -1}}}), ErrorCode::invalid, {"--at-most", "'pos'", "-1"});
  expect_refused(import("g (float[n] x) => (float[m] y) { y = Relu(x) }", {.dims = {{"n", 4}}, .at_most = {{"n", 8}}}),
                 ErrorCode::invalid, {"'n'", "both a number and an upper bound"});
  expect_refused(
      import("g (float[n] x) => (float[m] y) { y = Relu(x) }", {.shapes = {{"x", {4}}}, .at_most = {{"n", 8}}}),
      ErrorCode::invalid, {"'n'", "--shape 'x'", "an upper bound"});
  expect_refused(import("g (float[5] x) => (float[m] y) { y = Relu(x) }", {.at_most = {{"y[0]", 4}}}),
                 ErrorCode::invalid, {"extent 0 of 'y' is 5", "at most 4"});
  expect_refused(import("g (int64[2] n) => (float[a,b] y) { y = ConstantOfShape(n) }", {.at_most = {{"y", 4}}}),
                 ErrorCode::invalid, {"several extents of 'y'", "--at-most 'y[0]'=4"});
}

// A bound of an extent that is known changes nothing, and a user who gives one means something else.
TEST(UpperBounds, OfKnownExtentsAreNoted) {
  using Bounds = std::map<std::string, std::int64_t>;
  const auto notes = [](const std::string& text, const Bounds& bounds, std::map<std::string, std::int64_t> dims = {}) {
    const auto model = import(text, {.dims = std::move(dims), .at_most = bounds});
    return model.ok() ? model->notes : std::vector<std::string>{model.error().describe()};
  };
  using Notes = std::vector<std::string>;
  const std::string known = "g (float[1,3] x) => (float[a,b] y) { y = Relu(x) }";
  const std::string one = "1 --at-most has no effect, because all extents that it names are known: ";
  EXPECT_EQ(notes(known, {{"x", 3}}), Notes{one + "'x'=3"});
  EXPECT_EQ(notes(known, {{"y[1]", 3}}), Notes{one + "'y[1]'=3"});
  EXPECT_EQ(notes(known, {{"x", 3}, {"b", 5}}),
            Notes{"2 --at-most have no effect, because all extents that they name are known: 'b'=5, 'x'=3"});
  EXPECT_EQ(notes("g (float[n,2] x) => (float[a,b] y) { y = Relu(x) }", {{"y", 1}}, {{"n", 2}}), Notes{one + "'y'=1"});
  EXPECT_EQ(notes("g (float[n,2] x) => (float[a,b] y) { y = Relu(x) }", {{"n", 4}}),
            Notes{"2 tensors have sizes that depend on data and are planned at their upper bound: 'x', 'y'"});
}

TEST(UpperBounds, OfSeveralExtentsHaveOneOptionEach) {
  const char* const text = "g (int64[2] n) => (float[a,b] y) { y = ConstantOfShape(n) }";
  expect_refused(import(text), ErrorCode::unresolved, {"--at-most 'y[0]'=N --at-most 'y[1]'=N"});
  const auto model = import(text, {.at_most = {{"y[0]", 4}, {"y[1]", 6}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=4,<=6]");
}

const Body* loop_body(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!node.bodies.empty()) return &node.bodies.front();
  }
  return nullptr;
}

// Exporters write `while i < 24` without a trip count: the counter is a state, and the limit is a state that every
// iteration returns. The rows of the iterations are stacked.
TEST(CountedLoops, HaveAKnownTripCount) {
  const auto import_counted = [](const std::string& begin, const std::string& condition) {
    return import(
        "g (float[2] x) => (int64 j_end, int64 l_end, float[n,2] y) <int64 first = {3}, int64 limit = {24}, "
        "int64 outer = {24}, int64 two = {2}> { " +
        begin +
        " j_end, l_end, y = Loop (, begins, first, limit) <body = b (int64 i, bool k, int64 j, int64 l) => "
        "(bool k2, int64 j2, int64 l2, float[2] row) <int64 step = {2}, int64 ten = {10}> { "
        "l2 = Identity(l) j2 = Add(j, step) row = Neg(x) " +
        condition + " }> }");
  };
  const std::string begins = "begins = Less(first, limit)";
  const auto length = [](const Result<ImportedModel>& model) {
    return model.ok() ? type_of(model->graph, "y") : model.error().describe();
  };
  // j2 is 5, 7, ..., 23, 25: it is below 24 for 10 iterations, and the 11th one ends the loop.
  EXPECT_EQ(length(import_counted(begins, "k2 = Less(j2, l)")), "f32[11,2]");
  EXPECT_EQ(length(import_counted(begins, "k2 = Less(j2, outer)")), "f32[11,2]");
  EXPECT_EQ(length(import_counted(begins, "a = Cast<to = 1>(j2) b = Cast<to = 1>(l) k2 = Less(a, b)")), "f32[11,2]");
  EXPECT_EQ(length(import_counted(begins, "k2 = GreaterOrEqual(l, j2)")), "f32[11,2]");
  // The counter before its sum is 3, 5, ..., 23, 25, so there is one iteration more.
  EXPECT_EQ(length(import_counted(begins, "k2 = Less(j, l)")), "f32[12,2]");
  // Iterations 0 to 9, and the one of number 10 ends the loop.
  EXPECT_EQ(length(import_counted(begins, "k2 = Less(i, ten)")), "f32[11,2]");
  EXPECT_EQ(length(import_counted(begins,
                                  "a = Less(i, ten) s = ReduceSum<keepdims = 0>(row) "
                                  "b = Cast<to = 9>(s) k2 = And(a, b)")),
            "f32[<=11,2]");
  EXPECT_EQ(length(import_counted("begins = Less(limit, first)", "k2 = Less(j2, l)")), "f32[0,2]");
  expect_refused(import_counted(begins, "s = ReduceSum<keepdims = 0>(row) k2 = Cast<to = 9>(s)"), ErrorCode::unresolved,
                 {"--at-most y=N"});
  expect_refused(import_counted(begins, "k2 = Less(l, j2)"), ErrorCode::unresolved, {"--at-most y=N"});
}

// The limit is an open extent, so its bound is one of the iterations: 5 rows at most.
TEST(CountedLoops, AreBoundedByTheBoundOfTheLimit) {
  const auto model = import(
      "g (float[n,2] x, float[2] r, bool c) => (int64 j_end, float[m,2] y) <int64 zero = {0}, int64[1] front = {0}, "
      "int64[1] one = {1}> { s = Shape(x) t = Slice(s, front, one) n = Squeeze(t, front) "
      "j_end, y = Loop (, c, zero) <body = b (int64 i, bool k, int64 j) => "
      "(bool k2, int64 j2, float[2] row) <int64 step = {1}> { "
      "j2 = Add(j, step) row = Neg(r) k2 = Less(j2, n) }> }",
      {.at_most = {{"n", 5}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=5,2]");
}

// Each of 10 iterations appends 3 rows to 2 rows, so there are 2 + 10 x 3 = 32 in the end.
TEST(GrowingStates, OfALoopWithAKnownTripCountNeedNoBound) {
  const auto model = import(
      "g (float[2,8] x, float[3,8] rows) => (float[n,8] y) { trips = Constant<value_int = 10>() "
      "y = Loop (trips, , x) <body = b (int64 i, bool k, float[p,8] s) => (bool k2, float[q,8] s2) "
      "{ k2 = Identity(k) s2 = Concat<axis = 0>(s, rows) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[32,8]");
  const Body* body = loop_body(model->graph);
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(type_of(*body->graph, "s"), "f32[<=32,8]");
  EXPECT_EQ(type_of(*body->graph, "s2"), "f32[<=35,8]") << "a bound of one iteration more";
}

// The rows pass through other operators, and two rows are padded behind them: 1 + 4 x (2 + 1) = 13 at most, because the
// condition may end the loop.
TEST(GrowingStates, ThatMayEndEarlyAreBounded) {
  const auto model = import(
      "g (float[1,8] x, float[1,8] row, bool c) => (float[n,8] y) <int64[4] pads = {0, 0, 2, 0}> { "
      "trips = Constant<value_int = 4>() "
      "y = Loop (trips, c, x) <body = b (int64 i, bool k, float[p,8] s) => (bool k2, float[q,8] s2) "
      "{ r = Relu(s) t = Transpose<perm = [1, 0]>(r) u = Transpose<perm = [1, 0]>(t) "
      "w = Pad(u, pads) s2 = Concat<axis = 0>(row, w) sum = ReduceSum<keepdims = 0>(s2) k2 = Cast<to = 9>(sum) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=13,8]");
}

// A Scan over 6 rows appends each of them: 2 + 6 = 8.
TEST(GrowingStates, OfAScanGrowWithItsSequence) {
  const auto model = import(
      "g (float[2,8] x, float[6,8] rows) => (float[n,8] y) <int64[1] front = {0}> { "
      "y = Scan <num_scan_inputs = 1, body = b (float[p,8] s, float[8] row) => (float[q,8] s2) "
      "{ r = Unsqueeze(row, front) s2 = Concat<axis = 0>(s, r) }> (x, rows) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[8,8]");
}

// The inner loop appends 2 rows 3 times, and the outer loop runs it 4 times: 1 + 4 x 6 = 25.
TEST(GrowingStates, OfNestedLoopsMultiply) {
  const auto model = import(
      "g (float[1,8] x, float[2,8] rows) => (float[n,8] y) { outer = Constant<value_int = 4>() "
      "inner = Constant<value_int = 3>() "
      "y = Loop (outer, , x) <body = b (int64 i, bool k, float[p,8] s) => (bool k2, float[q,8] s2) { "
      "k2 = Identity(k) s2 = Loop (inner, , s) <body = b2 (int64 j, bool l, float[v,8] t) => (bool l2, float[w,8] t2) "
      "{ l2 = Identity(l) t2 = Concat<axis = 0>(t, rows) }> }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[25,8]");
}

// The last 5 rows of at most 5 + 1 stay, so there are never more than 5, however often the body runs.
TEST(GrowingStates, ThatAreCutHaveTheBoundOfTheCut) {
  const auto model = import(
      "g (int64 n, float[1,8] x, float[1,8] row) => (float[m,8] y) <int64[1] begin = {-5}, int64[1] end = {1000}, "
      "int64[1] axis = {0}> { "
      "y = Loop (n, , x) <body = b (int64 i, bool k, float[p,8] s) => (bool k2, float[q,8] s2) "
      "{ k2 = Identity(k) t = Concat<axis = 0>(s, row) s2 = Slice(t, begin, end, axis) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=5,8]");
}

// A state that doubles has no growth per iteration, and without a trip count, one that grows has no end.
TEST(GrowingStates, WithoutAKnownEndNeedABound) {
  const std::string loop =
      "g (int64 n, float[1,8] x) => (float[m,8] y) { [loop] y = Loop (n, , x) <body = b (int64 i, bool k, "
      "float[p,8] s) => (bool k2, float[q,8] s2) { k2 = Identity(k) s2 = Concat<axis = 0>(s, ";
  for (const std::string other : {"s) }> }", "x) }> }"}) {
    expect_refused(import(loop + other), ErrorCode::unresolved,
                   {"1 size is not known", "'loop' (Loop)", "give --at-most y=N"});
    const auto model = import(loop + other, {.at_most = {{"y", 20}}});
    ASSERT_TRUE(model.ok()) << model.error().describe();
    EXPECT_EQ(type_of(model->graph, "y"), "f32[<=20,8]");
    const Body* body = loop_body(model->graph);
    ASSERT_NE(body, nullptr);
    EXPECT_EQ(type_of(*body->graph, "s"), "f32[<=20,8]");
  }
}

// The sizes that the body declares for its state are those of the first iteration.
TEST(GrowingStates, AreNotWhatABodyDeclares) {
  const auto model = import(
      "g (float[1,8] x, float[1,8] row) => (float[n,8] y) { trips = Constant<value_int = 3>() "
      "y = Loop (trips, , x) <body = b (int64 i, bool k, float[1,8] s) => (bool k2, float[2,8] s2) "
      "{ k2 = Identity(k) s2 = Concat<axis = 0>(s, row) }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[4,8]");
  const Body* body = loop_body(model->graph);
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(type_of(*body->graph, "s2"), "f32[<=5,8]");
}

// A batch that was opened later leaves old sizes behind in bodies, also of nested ones, and at their inputs.
TEST(StaleBodies, ArePlannedByTheSizesThatTheirNodesPass) {
  const auto model = import(
      "g (float[N,4] x, bool c, float[3,N,4] xs) => (float[N,4] y) { trips = Constant<value_int = 2>() "
      "y = Loop (trips, , x) <body = b (int64 i, bool k, float[1,4] s) => (bool k2, float[1,4] s2) { k2 = Identity(k) "
      "t = If (c) <then_branch = p () => (float[1,4] a) { a = Relu(s) }, "
      "else_branch = q () => (float[1,4] d) { d = Neg(s) }> "
      "s2 = Scan <num_scan_inputs = 1, body = r (float[1,4] h, float[1,4] e) => (float[1,4] h2) "
      "{ h2 = Add(h, e) }> (t, xs) }> }",
      {.dims = {{"N", 5}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[5,4]");
  const Body* body = loop_body(model->graph);
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(type_of(*body->graph, "s"), "f32[5,4]");
  EXPECT_EQ(type_of(*body->graph, "s2"), "f32[5,4]");
}

// One branch returns 3 rows and the other 1, so a state has at most 3 rows in every iteration.
TEST(StaleBodies, MayReturnStatesOfSeveralSizes) {
  const auto model = import(
      "g (float[3,4] x, float[1,4] z, bool c) => (float[n,4] y) { trips = Constant<value_int = 2>() "
      "y = Loop (trips, , x) <body = b (int64 i, bool k, float[3,4] s) => (bool k2, float[3,4] s2) { k2 = Identity(k) "
      "s2 = If (c) <then_branch = p () => (float[3,4] a) { a = Relu(s) }, "
      "else_branch = q () => (float[1,4] d) { d = Neg(z) }> }> }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[<=3,4]");
}

TEST(OpenSizes, AreKeptForInspection) {
  const auto model = import(
      "g (float[batch,3] x) => (float[a,3] y, float[2] z) <float[2] w = {1, 2}> { "
      "t = Relu(x) y = Concat<axis = 0>(t, x) z = Neg(w) }",
      {.keeps_open_sizes = true});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_TRUE(model->open.has_value());
  EXPECT_NE(model->open->reason.find("--shape x=?x3"), std::string::npos) << model->open->reason;
  std::map<std::string, std::vector<std::string>> open;
  for (const auto& one : model->open->tensors) open[model->graph.tensor(one.tensor).name] = one.extents.value();
  EXPECT_EQ(open, (std::map<std::string, std::vector<std::string>>{
                      {"x", {"batch", "3"}}, {"t", {"batch", "3"}}, {"y", {"y[0]", "3"}}}));
  EXPECT_EQ(type_of(model->graph, "z"), "f32[2]");
  // A symbol that was made up for an extent, such as y[0], is none of the file.
  for (const auto& one : model->open->tensors) open[model->graph.tensor(one.tensor).name] = one.symbols;
  EXPECT_EQ(open, (std::map<std::string, std::vector<std::string>>{
                      {"x", {"batch", ""}}, {"t", {"batch", ""}}, {"y", {"", ""}}}));
  const auto closed = import("g (float[2] x) => (float[2] y) { y = Relu(x) }", {.keeps_open_sizes = true});
  ASSERT_TRUE(closed.ok()) << closed.error().describe();
  EXPECT_FALSE(closed->open.has_value());
}

TEST(DeclaredExtents, AreKeptIfAllOfATensorAreDeclared) {
  const auto model = import(
      "g (float[batch,3] x) => (float[?,3] y) <float[batch,3] t, float[?,3] u> { "
      "t = Relu(x) u = Neg(t) y = Exp(u) }",
      {.dims = {{"batch", 2}}, .keeps_declared_extents = true});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->declared_extents,
            (std::map<std::string, std::vector<std::string>>{{"x", {"batch", "3"}}, {"t", {"batch", "3"}}}));
  const auto plain = import("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  ASSERT_TRUE(plain.ok());
  EXPECT_TRUE(plain->declared_extents.empty());
}

}  // namespace
}  // namespace lowtide::testing
