// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// --dim and --shape, and the messages for sizes that remain unknown.

#include "lowtide/import/onnx/bindings.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

const char* const kDynamic = "g (float[batch,3,side,side] x) => (float[batch,3,side,side] y) { y = Relu(x) }";

TEST(Dims, BindASymbolEverywhere) {
  const auto model = import(kDynamic, {.dims = {{"batch", 8}, {"side", 16}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "x"), "f32[8,3,16,16]");
  EXPECT_EQ(type_of(model->graph, "y"), "f32[8,3,16,16]");
}

TEST(Dims, MayBeZero) {
  const auto model = import(kDynamic, {.dims = {{"batch", 0}, {"side", 16}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(find_tensor(model->graph, "y")->size, Bytes(0));
}

TEST(Dims, OfUnknownSymbolsAreRefused) {
  expect_refused(import(kDynamic, {.dims = {{"bach", 8}}, .shapes = {}}), ErrorCode::invalid,
                 {"'bach'", "'batch', 'side'"});
  expect_refused(import("g (float[2] x) => (float[2] y) { y = Relu(x) }", {.dims = {{"n", 1}}, .shapes = {}}),
                 ErrorCode::invalid, {"'n'", "none"});
}

TEST(Dims, BelowZeroAreRefused) {
  expect_refused(import(kDynamic, {.dims = {{"batch", -1}}, .shapes = {}}), ErrorCode::invalid, {"'batch'", "-1"});
}

TEST(Dims, ThatAreTooLargeAreRefusedAtTheTensor) {
  expect_refused(
      import(kDynamic, {.dims = {{"batch", std::numeric_limits<std::int64_t>::max()}, {"side", 16}}, .shapes = {}}),
      ErrorCode::over_limit, {"'x'"});
}

TEST(Shapes, GiveAnInputItsExtents) {
  const auto model = import(kDynamic, {.dims = {}, .shapes = {{"x", {1, 3, 8, 8}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[1,3,8,8]");
}

TEST(Shapes, KeepTheExtentOfTheFileForMinusOne) {
  const auto model = import(kDynamic, {.dims = {{"batch", 2}}, .shapes = {{"x", {-1, -1, 8, 8}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "x"), "f32[2,3,8,8]");
}

TEST(Shapes, BindSymbolsOfOtherInputs) {
  const char* const two = "g (float[n] a, float[n] b) => (float[n] c) { c = Add(a, b) }";
  const auto model = import(two, {.dims = {}, .shapes = {{"a", {5}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "b"), "f32[5]");
  expect_refused(import(two, {.dims = {}, .shapes = {{"a", {5}}, {"b", {6}}}}), ErrorCode::invalid,
                 {"--shape 'b'", "given as 6", "'n' is given as 5 by extent 0 of --shape 'a'"});
  expect_refused(import(two, {.dims = {{"n", 4}}, .shapes = {{"a", {5}}}}), ErrorCode::invalid,
                 {"5", "'n' is given as 4 by --dim"});
  const char* const square = "g (float[n,n] a) => (float[n,n] b) { b = Relu(a) }";
  expect_refused(import(square, {.dims = {}, .shapes = {{"a", {2, 3}}}}), ErrorCode::invalid,
                 {"extent 1 is given as 3", "'n' is given as 2 by extent 0 of --shape 'a'; give it one value"});
}

TEST(Shapes, ThatContradictTheFileAreRefused) {
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"x", {1, 4, 8, 8}}}}), ErrorCode::invalid,
                 {"--shape 'x'", "extent 1", "given as 4", "fixed in the file at 3"});
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"x", {1, 3, 8, 9}}}}), ErrorCode::invalid,
                 {"extent 3", "9", "'side' is given as 8 by extent 2"});
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"x", {1, 3, 8}}}}), ErrorCode::invalid,
                 {"given with 3 extents", "declares 4"});
}

TEST(Shapes, OfUnknownInputsAreRefused) {
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"input", {1}}}}), ErrorCode::invalid, {"'input'", "'x'"});
}

TEST(Shapes, WithInvalidExtentsAreRefused) {
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"x", {-2, 3, 8, 8}}}}), ErrorCode::invalid, {"-2"});
  const std::vector<std::int64_t> long_shape(65, 1);
  expect_refused(import(kDynamic, {.dims = {}, .shapes = {{"x", long_shape}}}), ErrorCode::invalid, {"kMaxRank"});
}

TEST(Shapes, GiveARankThatTheFileLacks) {
  onnx::ModelProto proto = model_from("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  expect_refused(import(proto), ErrorCode::unresolved, {"'x'", "rank unknown", "--shape x="});
  const auto model = import(proto, {.dims = {}, .shapes = {{"x", {4, 5}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[4,5]");
  expect_refused(import(proto, {.dims = {}, .shapes = {{"x", {-1, 5}}}}), ErrorCode::invalid, {"-1"});
}

TEST(OpenSizes, AreListedByInputWithTheOptionToUse) {
  expect_refused(import(kDynamic), ErrorCode::unresolved,
                 {"1 size is not known", "input 'x' is f32[batch,3,side,side]",
                  "give --shape x=?x3x?x?, with a number for each ?"});
}

// The second input has the symbols of the first, so one option is enough. The third has one more.
TEST(OpenSizes, AreListedOnceForAllInputsWithTheSameSymbols) {
  const auto refused = import(
      "g (float[n,m] x, float[m,n] y, float[n,k] z) => (float[a,b] u, float[c,d] v) { u = MatMul(x, y) v = Relu(z) }");
  expect_refused(refused, ErrorCode::unresolved,
                 {"2 sizes are not known", "input 'x' is f32[n,m]: give --shape x=?x?",
                  "input 'z' is f32[n,k]: give --shape z=?x?"});
  EXPECT_EQ(refused.error().message.find("'y'"), std::string::npos) << refused.error().message;
}

// What follows from open inputs is no cause of its own: the content of a Shape, and what Range makes of it.
TEST(OpenSizes, OfResultsAreNotListedWhereInputsAreOpen) {
  const auto refused = import(
      "g (float[n] x) => (int64[m] y) <int64 zero = {0}, int64 two = {2}, int64[1] first = {0}> { "
      "s = Shape(x) l = Squeeze(s, first) d = Mul(l, two) y = Range(zero, d, two) }");
  expect_refused(refused, ErrorCode::unresolved, {"1 size is not known", "--shape x=?"});
  EXPECT_EQ(refused.error().message.find("'y'"), std::string::npos) << refused.error().message;
}

// "?" is what some exporters write for each extent that is not known. It is not one symbol.
TEST(OpenSizes, WithAQuestionMarkAreNotOneSymbol) {
  onnx::ModelProto proto = model_from("g (float[a,b] x) => (float[c,d] y) { y = Relu(x) }");
  auto* shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < 2; ++axis) shape->mutable_dim(axis)->set_dim_param("?");
  expect_refused(import(proto), ErrorCode::unresolved, {"input 'x' is f32[?,?]", "--shape x=?x?"});
  const auto model = import(proto, {.shapes = {{"x", {2, 3}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2,3]");
}

// The bound of the Slice is the largest number of 31 bits, with which its result is above the limit of sizes. The error
// is the open input nevertheless.
TEST(OpenSizes, AreListedThoughABoundIsAboveALimit) {
  expect_refused(import("g (float[n,1,100000] x) => (float[a,1,100000] y) "
                        "<int64[1] begin = {0}, int64[1] end = {2147483647}, int64[1] axis = {0}> "
                        "{ t = Slice(x, begin, end, axis) y = Relu(t) }"),
                 ErrorCode::unresolved, {"--shape x=?x1x100000"});
}

// A plan of the model for A = 4 and B = 64 gives what the options leave open, whether it has symbols or shapes.
TEST(PlannedSizes, BindWhatTheOptionsLeaveOpen) {
  const std::string text = "g (float[A,B] x, float[B] w) => (float[A,B] y) { y = Add(x, w) }";
  const auto type = [&](ImportOptions options, bool has_shapes) {
    if (has_shapes) {
      options.planned_shapes = {{"x", {4, 64}}, {"w", {64}}};
    } else {
      options.planned_dims = {{"A", 4}, {"B", 64}};
    }
    const auto model = import(text, options);
    return model.ok() ? type_of(model->graph, "y") : model.error().describe();
  };
  for (const bool has_shapes : {false, true}) {
    EXPECT_EQ(type({}, has_shapes), "f32[4,64]");
    EXPECT_EQ(type({.dims = {{"A", 8}}}, has_shapes), "f32[8,64]");
    EXPECT_EQ(type({.shapes = {{"x", {8, 64}}}}, has_shapes), "f32[8,64]");
    EXPECT_EQ(type({.shapes = {{"x", {8, 32}}}}, has_shapes), "f32[8,32]");
    EXPECT_EQ(type({.shapes = {{"x", {8, -1}}}}, has_shapes), "f32[8,64]");
    EXPECT_EQ(type({.at_most = {{"A", 8}}}, has_shapes), "f32[<=8,64]");
  }
}

TEST(PlannedSizes, OfAnotherModelAreRefused) {
  const std::string text = "g (float[A,2] x) => (float[A,2] y) { y = Relu(x) }";
  expect_refused(import(text, {.planned_dims = {{"batch", 4}}}), ErrorCode::invalid,
                 {"sizes of the plan", "the model has no symbol 'batch'", "of another model", "its symbols: 'A'"});
  expect_refused(import(text, {.dims = {{"A", 4}}, .planned_shapes = {{"z", {4, 2}}}}), ErrorCode::invalid,
                 {"the model has no input 'z'", "of another model", "its inputs: 'x'"});
  expect_refused(import(text, {.planned_shapes = {{"x", {4, 3}}}}), ErrorCode::invalid,
                 {"shape of 'x' in the plan", "extent 1 is given as 3, but it is fixed in the file at 2"});
}

TEST(GivenShapes, BindWhatIsOpen) {
  const auto model = import(kDynamic, {.given = {{{"x", {2, 3, 8, 8}}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "x"), "f32[2,3,8,8]");
  EXPECT_EQ(model->given_shapes, (std::map<std::string, std::vector<std::int64_t>>{{"x", {2, 3, 8, 8}}}));
  const auto ignored = import(kDynamic, {.given = {{{"x", {2, 3, 8, 8}}}, {{"other", {7}}}}});
  EXPECT_TRUE(ignored.ok()) << "the command line says which names it does not know";
}

TEST(GivenShapes, ThatContradictAreRefused) {
  const ImportOptions square{.given = {{{"x", {2, 3, 8, 9}}}}};
  expect_refused(import(kDynamic, square), ErrorCode::invalid,
                 {"input 'x'", "extent 3 is given as 9", "'side' is given as 8 by extent 2 of input 'x'"});
  expect_refused(import(kDynamic, {.given = {{{"x", {2, 4, 8, 8}}}}}), ErrorCode::invalid,
                 {"input 'x'", "extent 1 is given as 4", "fixed in the file at 3"});
  expect_refused(import(kDynamic, {.dims = {{"side", 16}}, .given = {{{"x", {2, 3, 8, 8}}}}}), ErrorCode::invalid,
                 {"input 'x'", "extent 2 is given as 8", "given as 16 by --dim"});
  expect_refused(import(kDynamic, {.shapes = {{"x", {1, 3, 8, 8}}}, .given = {{{"x", {2, 3, 8, 8}}}}}),
                 ErrorCode::invalid, {"input 'x'", "given as 2", "'batch' is given as 1 by extent 0 of --shape 'x'"});
  expect_refused(import(kDynamic, {.given = {{{"x", {2, 3, 8}}}}}), ErrorCode::invalid,
                 {"input 'x'", "given with 3 extents", "declares 4"});
  onnx::ModelProto unnamed = model_from("g (float[a] x) => (float[b] y) { y = Relu(x) }");
  unnamed.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->Clear();
  expect_refused(import(unnamed, {.shapes = {{"x", {4}}}, .given = {{{"x", {5}}}}}), ErrorCode::invalid,
                 {"input 'x'", "extent 0 is 5", "--shape 'x' gives 4"});
}

// A word such as a=b=c.npy is the file "b=c.npy" of the input "a", or "c.npy" of "a=b". The longer name counts.
TEST(GivenShapes, AreOfTheLongestNameThatIsAnInput) {
  onnx::ModelProto proto = model_from("g (float[n] a, float[m] b) => (float[k] y) { y = Concat<axis = 0>(a, b) }");
  proto.mutable_graph()->mutable_input(1)->set_name("a=b");
  proto.mutable_graph()->mutable_node(0)->set_input(1, "a=b");
  const auto model = import(proto, {.given = {{{"a", {2}}, {"a=b", {3}}}, {{"a", {4}}}}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "a=b"), "f32[3]");
  EXPECT_EQ(type_of(model->graph, "y"), "f32[7]");
}

TEST(OpenSizes, WithoutASymbolAreListedWithAShape) {
  onnx::ModelProto proto = model_from("g (float[a,3] x) => (float[b,3] y) { y = Relu(x) }");
  proto.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->Clear();
  expect_refused(import(proto), ErrorCode::unresolved, {"input 'x' is f32[?,3]", "--shape x=?x3"});
  // Some exporters write -1 for an unknown extent. Lower numbers are invalid.
  auto* extent =
      proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
  extent->set_dim_value(-1);
  expect_refused(import(proto), ErrorCode::unresolved, {"--shape x=?x3"});
  extent->set_dim_value(-5);
  expect_refused(import(proto), ErrorCode::invalid, {"input 'x'", "-5"});
  extent->set_dim_param("");
  expect_refused(import(proto), ErrorCode::unresolved, {"--shape x=?x3"});
}

TEST(OpenSizes, ThatDependOnDataNameTheirNode) {
  expect_refused(import("g (float[1] n, int64[1] s) => (float[m] y) { [make] y = Expand(n, s) }"),
                 ErrorCode::unresolved, {"'y'", "node 0 'make' (Expand)", "depends on data"});
}

TEST(OpenSizes, OfAnOutputCanBeBoundByItsSymbol) {
  // The file names the extent, and the user gives its size.
  const auto model =
      import("g (float[1] n, int64[1] s) => (float[m] y) { y = Expand(n, s) }", {.dims = {{"m", 7}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[7]");
}

TEST(OpenSizes, ComeFromDeclaredTypesIfInferenceFails) {
  const auto model = import("g (float[1] n, int64[1] s) => (float[9] y) { y = Expand(n, s) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[9]");
}

}  // namespace
}  // namespace lowtide::testing
