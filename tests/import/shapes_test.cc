// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Declared and inferred types, sizes beyond the limits, sizes that depend on data, and contents that grow.

#include <gtest/gtest.h>

#include <string>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "lacks: " << word << "\n" << text;
}

TEST(DeclaredTypes, OfOtherElementsAreRefused) {
  expect_refused(import("g (float[2] x) => (int64[2] y) { [r] y = Relu(x) }"), ErrorCode::invalid,
                 {"node 0 'r' (Relu)", "output 'y'", "i64[2]", "f32[2]"});
  expect_refused(import("g (float[2] x) => (int64[2] x) { }"), ErrorCode::invalid, {"output 'x'", "i64[2]", "f32[2]"});
}

// A batch that was opened later leaves old sizes behind: here 1, 3 and 4, and a rank of 1.
TEST(DeclaredTypes, WithOtherSizesAreNotedAndIgnored) {
  const auto model = import(
      "g (float[N,4] x) => (float[1,4] y, float[4] z, float[3] w, float[2,4] x) <float[1,4] t, int64[1] axis = {1}> { "
      "t = Relu(x) y = Neg(t) z = Exp(t) w = ReduceSum<keepdims = 0>(y, axis) }",
      {.dims = {{"N", 5}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "t"), "f32[5,4]");
  EXPECT_EQ(type_of(model->graph, "y"), "f32[5,4]");
  EXPECT_EQ(type_of(model->graph, "z"), "f32[5,4]");
  EXPECT_EQ(type_of(model->graph, "w"), "f32[5]");
  ASSERT_EQ(model->notes.size(), 1U);
  expect_words(model->notes[0], {"5 declared sizes", "'t'", "'y'", "'z'", "'w'", "'x'", "f32[1,4]", "f32[5,4]",
                                 "f32[3]", "f32[5]", "f32[2,4]"});
}

TEST(DeclaredTypes, OfManyTensorsAreNotedByTheFirstFive) {
  std::string nodes;
  std::string types;
  for (int at = 0; at < 8; ++at) {
    const std::string name = "t" + std::to_string(at);
    types += (at == 0 ? "" : ", ") + ("float[1] " + name);
    nodes += name + " = Relu(x) ";
  }
  const auto model = import("g (float[2] x) => (float[2] y) <" + types + "> { " + nodes + " y = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  ASSERT_EQ(model->notes.size(), 1U);
  expect_words(model->notes[0], {"8 declared sizes", "'t0'", "'t4'", "and 3 more"});
  EXPECT_EQ(model->notes[0].find("'t5'"), std::string::npos);
}

// Runs with other data may find up to 8 elements.
TEST(DeclaredTypes, DoNotLowerAnUpperBound) {
  const auto model = import("g (float[2,4] x) => (int64[2,3] y) { y = NonZero(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "i64[2,<=8]");
  const auto larger = import("g (float[2,4] x) => (int64[2,9] y) { y = NonZero(x) }");
  ASSERT_TRUE(larger.ok()) << larger.error().describe();
  EXPECT_EQ(type_of(larger->graph, "y"), "i64[2,<=8]");
  ASSERT_EQ(larger->notes.size(), 2U);
  expect_words(larger->notes[1], {"1 declared size", "i64[2,9]", "i64[2,<=8]"});
}

// The onnx library counts a window that begins in the padding at the end, up to opset 21. It has written 4.
TEST(DeclaredTypes, ThatCountAWindowInThePaddingAreIgnored) {
  const auto model = import(
      "g (float[1,1,5] x) => (float[1,1,4] y) <float[1,1,4] p> { "
      "p = MaxPool<kernel_shape = [3], strides = [2], pads = [1, 2], ceil_mode = 1>(x) y = Relu(p) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "p"), "f32[1,1,3]");
  EXPECT_EQ(type_of(model->graph, "y"), "f32[1,1,3]");
  ASSERT_EQ(model->notes.size(), 1U);
  for (const char* word : {"2 declared sizes", "'p'", "'y'", "f32[1,1,4]", "f32[1,1,3]"})
    EXPECT_NE(model->notes[0].find(word), std::string::npos) << "lacks: " << word << "\n" << model->notes[0];
  expect_refused(import("g (float[1,1,5] x) => (int64[1,1,4] y) { "
                        "y = MaxPool<kernel_shape = [3], strides = [2], pads = [1, 2], ceil_mode = 1>(x) }"),
                 ErrorCode::invalid, {"'y'", "i64[1,1,4]", "f32[1,1,3]"});
}

TEST(DeclaredTypes, MayBeLessSpecific) {
  const auto model = import("g (float[2,3] x) => (float[n,m] y) { y = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2,3]");
}

TEST(DeclaredTypes, MayUseASymbolForDifferentNumbers) {
  // Exporters use one name for different extents. The inferred extent is used.
  const auto model =
      import("g (float[n] x) => (float[n] y) { y = Concat<axis = 0>(x, x) }", {.dims = {{"n", 4}}, .shapes = {}});
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[8]");
}

TEST(DeclaredTypes, WithARankBeyondTheLimitAreRefused) {
  onnx::ModelProto proto = model_from("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  auto* shape = proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < 100'000; ++axis) shape->add_dim()->set_dim_value(1);
  expect_refused(import(proto), ErrorCode::over_limit, {"rank 100001", "kMaxRank"});
  proto = model_from("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < 100; ++axis) shape->add_dim()->set_dim_value(1);
  expect_refused(import(proto), ErrorCode::over_limit, {"input 'x'", "rank 101"});
}

TEST(DeclaredTypes, OfInputsOtherThanTensorsAreUnsupported) {
  onnx::ModelProto proto = model_from("g (float[2] x, float[2] s) => (float[2] y) { y = Relu(x) }");
  auto* type = proto.mutable_graph()->mutable_input(1)->mutable_type();
  onnx::TypeProto element = *type;
  *type->mutable_sequence_type()->mutable_elem_type() = element;
  expect_refused(import(proto), ErrorCode::unsupported, {"'s' is a sequence"});
  element.Clear();
  element.mutable_tensor_type()->set_elem_type(9999);
  *type = element;
  expect_refused(import(proto), ErrorCode::invalid, {"input 's'", "9999"});
}

TEST(Sizes, BeyondTheLimitAreRefusedAtTheirTensor) {
  expect_refused(import("g (float[4611686018427387904,4611686018427387904] x) => (float[n,m] y) { y = Relu(x) }"),
                 ErrorCode::over_limit, {"'x'"});
  // 65537 x 65536 elements would be 65536 in 32 bits. They are 16 GiB, which is accepted.
  const auto wide = import("g (float[65537,65536] x) => (float[n,m] y) { y = Relu(x) }");
  ASSERT_TRUE(wide.ok()) << wide.error().describe();
  EXPECT_EQ(find_tensor(wide->graph, "y")->size, Bytes(std::int64_t{65537} * 65536 * 4));
  expect_refused(import("g (float[4294967296,4294967296] x) => (float[n,m] y) { y = Relu(x) }"), ErrorCode::over_limit,
                 {"'x'"});
  // 2^45 floats have 2^47 bytes, one byte above the limit.
  expect_refused(import("g (float[35184372088832] x) => (float[n] y) { y = Relu(x) }"), ErrorCode::over_limit,
                 {"'x'", "kMaxTensorBytes"});
}

TEST(Sizes, OfNodesBeyondTheLimitAreRefusedAtTheNode) {
  expect_refused(import("g () => (float[n] y) { s = Constant<value_ints = [4611686018427387904]>() "
                        "[grow] y = ConstantOfShape(s) }"),
                 ErrorCode::invalid, {"node 1 'grow' (ConstantOfShape)", "4611686018427387904"});
  // 2^46 floats have 2^48 bytes.
  expect_refused(import("g () => (float[n] y) { s = Constant<value_ints = [70368744177664]>() "
                        "[grow] y = ConstantOfShape(s) }"),
                 ErrorCode::over_limit, {"node 1 'grow' (ConstantOfShape)", "'y'", "kMaxTensorBytes"});
  expect_refused(
      import("g (float[1] x) => (float[n,m] y) { s = Constant<value_ints = [1099511627776, 1099511627776]>() "
             "[grow] y = Expand(x, s) }"),
      ErrorCode::over_limit, {"node 1 'grow' (Expand)"});
  const auto large =
      import("g () => (float[n] y) { s = Constant<value_ints = [1073741824]>() y = ConstantOfShape(s) }");
  ASSERT_TRUE(large.ok()) << "4 GiB are planned, not allocated: " << large.error().describe();
}

TEST(Sizes, OfZeroArePlanned) {
  const auto model = import("g (float[0,3] x) => (float[0,3] y) { y = Relu(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(find_tensor(model->graph, "y")->size, Bytes(0));
  const auto scalar = import("g (float x) => (float y) { y = Relu(x) }");
  ASSERT_TRUE(scalar.ok()) << scalar.error().describe();
  EXPECT_EQ(find_tensor(scalar->graph, "y")->size, Bytes(4));
}

TEST(Sizes, ThatDependOnDataAreUpperBoundsAndNoted) {
  const auto model = import("g (float[5,4] x) => (int64[2,n] y) { y = NonZero(x) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  const Tensor* y = find_tensor(model->graph, "y");
  EXPECT_EQ(y->shape[1], 20) << "all 20 elements may be non-zero";
  EXPECT_TRUE(y->shape.is_at_most(1));
  EXPECT_FALSE(y->shape.is_at_most(0));
  ASSERT_EQ(model->notes.size(), 1U);
  EXPECT_NE(model->notes[0].find("'y'"), std::string::npos);
}

TEST(Contents, AreComputedAndKept) {
  const auto model = import(
      "g (float[2,3,4] x) => (float[24] y) { "
      "s = Shape(x) n = ReduceProd<keepdims = 1>(s) y = Reshape(x, n) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  for (TensorId id : all_ids<TensorId>(model->graph.tensors().size())) {
    if (model->graph.tensor(id).name != "s") continue;
    ASSERT_NE(model->graph.known_integers(id), nullptr);
    EXPECT_EQ(*model->graph.known_integers(id), (std::vector<std::int64_t>{2, 3, 4}));
  }
  EXPECT_EQ(type_of(model->graph, "y"), "f32[24]");
}

TEST(Contents, ThatCannotBeComputedAreRefusedAtTheNode) {
  expect_refused(
      import("g (int64[1] x) => (int64[1] y) { a = Constant<value_ints = [1]>() b = Constant<value_ints = [0]>() "
             "[zero] c = Div(a, b) y = Add(x, c) }"),
      ErrorCode::invalid, {"node 2 'zero' (Div)"});
}

TEST(Contents, OfManyLargeTensorsStayWithinTheirBudget) {
  // Each known number takes 56 bytes, while a node takes about 20 bytes in the file.
  onnx::ModelProto proto = model_from(
      "g (int64[1] x) => (int64[1] y) { s = Constant<value_ints = [4096]>() "
      "t0 = ConstantOfShape<value = int64[1] {1}>(s) y = Relu(x) }");
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.mutable_node(2)->set_op_type("Identity");
  for (int at = 1; at <= 2000; ++at) {
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type("Add");
    node->add_input("t0");
    node->add_input("t" + std::to_string(at - 1));
    node->add_output("t" + std::to_string(at));
  }
  const auto model = import(proto);
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "t2000"), "i64[4096]");
}

TEST(Contents, ThatNeedTooMuchWorkAreRefused) {
  // 4,096 numbers, computed 5,000 times, are 20 million in total. The limit is 16 Mi, plus 64 per node.
  onnx::ModelProto proto = model_from(
      "g (int64[1] x) => (int64[1] y) { s = Constant<value_ints = [4096]>() "
      "one = Constant<value_ints = [1]>() y = Identity(x) }");
  onnx::GraphProto& graph = *proto.mutable_graph();
  for (int at = 1; at <= 5000; ++at) {
    onnx::NodeProto* node = graph.add_node();
    node->set_op_type("Expand");
    node->add_input("one");
    node->add_input("s");
    node->add_output("t" + std::to_string(at));
  }
  expect_refused(import(proto), ErrorCode::over_limit, {"(Expand)", "content_work_left"});
}

}  // namespace
}  // namespace lowtide::testing
