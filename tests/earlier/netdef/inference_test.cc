// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/graph/text.h"
#include "tests/earlier/netdef/net_text.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// The types of all tensors of a net: "y f32[1,2]; ...".
std::string types_of(const std::string& text, const std::string& csv) {
  NetGraphOptions options;
  options.types = *parse_blob_types("name,shape,dtype\n" + csv);
  const NetGraph net = net_graph(text, options);
  std::string types;
  for (const Tensor& tensor : net.graph.tensors()) {
    if (tensor.producer) types += tensor.name + " " + print_tensor_type(tensor.dtype, tensor.shape) + "; ";
  }
  return types;
}

std::string fault_of(const std::string& text, const std::string& csv) {
  NetGraphOptions options;
  options.types = *parse_blob_types("name,shape,dtype\n" + csv);
  return net_refusal(text, options);
}

std::string op(const std::string& type, const std::string& arguments = "", const std::string& inputs = "x w b",
               const std::string& outputs = "y") {
  std::string text = "op { type: '" + type + "' ";
  const auto add = [&](const std::string& field, const std::string& names) {
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      text += field + ": '" + names.substr(at, end - at) + "' ";
      at = end + 1;
    }
  };
  add("input", inputs);
  add("output", outputs);
  return text + arguments + "}\n";
}

std::string integer(const std::string& name, int value) {
  return "arg { name: '" + name + "' i: " + std::to_string(value) + " } ";
}

std::string integers(const std::string& name, const std::string& list) {
  return "arg { name: '" + name + "' ints: [" + list + "] } ";
}

// (224 + 2 x 3 - 7) / 2 + 1 = 112 with the fraction left out
TEST(NetInference, Convolution) {
  const std::string first = op("Conv", integer("kernel", 7) + integer("stride", 2) + integer("pad", 3));
  EXPECT_EQ(types_of(first, "x,1x3x224x224,\nw,64x3x7x7,"), "y f32[1,64,112,112]; ");
  const std::string uneven = op("Conv", integers("kernels", "3, 1") + integers("pads", "1, 0, 2, 0"));
  EXPECT_EQ(types_of(uneven, "x,1x4x10x10,\nw,8x4x3x1,"), "y f32[1,8,11,10]; ");  // 10 + 1 + 2 - 3 + 1
  const std::string dilated = op("Conv", integer("kernel", 3) + integer("dilation", 2));
  EXPECT_EQ(types_of(dilated, "x,1x4x10x10,\nw,8x4x3x3,"), "y f32[1,8,6,6]; ");  // 10 - 5 + 1
  const std::string last = op("Conv", integer("kernel", 3) + integer("pad", 1) + "arg { name: 'order' s: 'NHWC' }");
  EXPECT_EQ(types_of(last, "x,1x10x10x4,\nw,8x3x3x4,"), "y f32[1,10,10,8]; ");
  const std::string grouped = op("Conv", integer("kernel", 1) + integer("group", 2));
  EXPECT_EQ(types_of(grouped, "x,1x4x5x5,\nw,6x2x1x1,"), "y f32[1,6,5,5]; ");
}

TEST(NetInference, ConvolutionWithContradictions) {
  const std::string conv = op("Conv", integer("kernel", 3));
  EXPECT_THAT(fault_of(conv, "x,1x4x10x10,\nw,8x3x3x3,"),
              HasSubstr("operator 0 ('Conv'): the input has 4 channels, but"));
  EXPECT_THAT(fault_of(conv, "x,1x3x2x2,\nw,8x3x3x3,"), HasSubstr("a window of 3 does not fit"));
  EXPECT_THAT(fault_of(op("Conv", integer("kernel", 3) + integer("stride", 0)), "x,1x3x9x9,\nw,8x3x3x3,"),
              HasSubstr("stride 0"));
  EXPECT_THAT(fault_of(op("Conv"), "x,1x3x9x9,\nw,8x3x3x3,"), HasSubstr("kernel 0"));
}

// (4 - 1) x 2 + 3 + 1 - 1 - 1 = 8
TEST(NetInference, TransposedConvolution) {
  const std::string text =
      op("ConvTranspose", integer("kernel", 3) + integer("stride", 2) + integer("pad", 1) + integer("adj", 1));
  EXPECT_EQ(types_of(text, "x,2x5x4x4,\nw,5x7x3x3,"), "y f32[2,7,8,8]; ");
}

// (112 - 3) / 2 + 1 = 55.5: Caffe2 rounds down, and with the padding of Caffe up.
TEST(NetInference, Pooling) {
  const std::string pool = integer("kernel", 3) + integer("stride", 2);
  EXPECT_EQ(types_of(op("MaxPool", pool, "x"), "x,1x64x112x112,"), "y f32[1,64,55,55]; ");
  EXPECT_EQ(types_of(op("MaxPool", pool + integer("legacy_pad", 3), "x"), "x,1x64x112x112,"), "y f32[1,64,56,56]; ");
  EXPECT_EQ(types_of(op("AveragePool", pool + integer("legacy_pad", 2), "x"), "x,1x64x7x7,"), "y f32[1,64,4,4]; ");
  EXPECT_EQ(types_of(op("AveragePool", pool + integer("legacy_pad", 1), "x"), "x,1x64x8x8,"), "y f32[1,64,3,3]; ");
  EXPECT_EQ(types_of(op("AveragePool", integer("global_pooling", 1), "x"), "x,1x64x7x7,"), "y f32[1,64,1,1]; ");
}

TEST(NetInference, Products) {
  EXPECT_EQ(types_of(op("FC"), "x,2x64x7x7,\nw,10x3136,"), "y f32[2,10]; ");  // 64 x 7 x 7 = 3136
  EXPECT_EQ(types_of(op("FC", integer("axis", 2)), "x,2x5x8,\nw,10x8,"), "y f32[2,5,10]; ");
  EXPECT_THAT(fault_of(op("FC"), "x,2x9,\nw,10x8,"), HasSubstr("rows of 9 elements, but the weight takes 8"));
  EXPECT_EQ(types_of(op("MatMul", integer("trans_b", 1), "x w"), "x,2x3,\nw,5x3,"), "y f32[2,5]; ");
  EXPECT_THAT(fault_of(op("MatMul", "", "x w"), "x,2x3,\nw,5x3,"), HasSubstr("have 3 elements, but the columns"));
  EXPECT_EQ(types_of(op("BatchMatMul", "", "x w"), "x,4x2x3,\nw,4x3x5,"), "y f32[4,2,5]; ");
}

TEST(NetInference, Joins) {
  EXPECT_EQ(types_of(op("Concat", "", "x w", "y parts"), "x,1x2x4x4,\nw,1x3x4x4,"), "y f32[1,5,4,4]; parts i32[2]; ");
  EXPECT_EQ(types_of(op("Concat", integer("axis", 0), "x w", "y"), "x,1x2,\nw,3x2,"), "y f32[4,2]; ");
  EXPECT_THAT(fault_of(op("Concat", "", "x w"), "x,1x2x4x4,\nw,1x3x5x4,"), HasSubstr("input 1 differs from input 0"));
  EXPECT_EQ(types_of(op("Split", "", "x", "y z"), "x,1x6,"), "y f32[1,3]; z f32[1,3]; ");
  EXPECT_EQ(types_of(op("Split", integers("split", "2, 4"), "x", "y z"), "x,1x6,"), "y f32[1,2]; z f32[1,4]; ");
  EXPECT_THAT(fault_of(op("Split", integers("split", "2, 3"), "x", "y z"), "x,1x6,"),
              HasSubstr("do not add up to the"));
}

TEST(NetInference, Shapes) {
  EXPECT_EQ(types_of(op("Flatten", "", "x"), "x,2x3x4,"), "y f32[2,12]; ");
  EXPECT_EQ(types_of(op("Reshape", integers("shape", "0, -1"), "x", "y old"), "x,2x3x4,"), "y f32[2,12]; old i64[3]; ");
  EXPECT_THAT(fault_of(op("Reshape", integers("shape", "5, -1"), "x", "y old"), "x,2x3x4,"), HasSubstr("24 elements"));
  EXPECT_EQ(types_of(op("Transpose", "", "x"), "x,2x3x4,"), "y f32[4,3,2]; ");
  EXPECT_EQ(types_of(op("Transpose", integers("axes", "0, 2, 1"), "x"), "x,2x3x4,"), "y f32[2,4,3]; ");
  EXPECT_EQ(types_of(op("ExpandDims", integers("dims", "0, 2"), "x"), "x,2x3,"), "y f32[1,2,1,3]; ");
  EXPECT_EQ(types_of(op("Squeeze", integers("dims", "0"), "x"), "x,1x3,"), "y f32[3]; ");
}

TEST(NetInference, ElementTypes) {
  EXPECT_EQ(types_of(op("Dropout", "", "x", "y mask"), "x,2x3,"), "y f32[2,3]; mask bool[2,3]; ");
  EXPECT_EQ(types_of(op("Cast", integer("to", 10), "x"), "x,2x3,i32"), "y i64[2,3]; ");
  EXPECT_EQ(types_of(op("ConstantFill", integers("shape", "2, 2") + integer("dtype", 2), ""), ""), "y i32[2,2]; ");
  EXPECT_EQ(types_of(op("ConstantFill", "", "x"), "x,7,i64"), "y f32[7]; ");
}

// The label of a loss and the statistics of a normalization follow from the data.
TEST(NetInference, LossesAndNormalization) {
  EXPECT_EQ(types_of(op("Softmax", "", "x", "p") + op("LabelCrossEntropy", "", "p label", "e") +
                         op("AveragedLoss", "", "e", "loss"),
                     "x,4x10,"),
            "p f32[4,10]; e f32[4]; loss f32[]; ");
  EXPECT_EQ(types_of(op("SoftmaxWithLoss", "", "x label", "p loss"), "x,4x10,"), "p f32[4,10]; loss f32[]; ");
  EXPECT_EQ(types_of(op("SpatialBN", "", "x s o m v", "y"), "x,4x10x5x5,"), "y f32[4,10,5,5]; ");
  EXPECT_EQ(types_of(op("SpatialBN", "", "x s o m v", "y m v sm sv"), "x,4x10x5x5,"),
            "y f32[4,10,5,5]; m@1 f32[10]; v@1 f32[10]; sm f32[10]; sv f32[10]; ");
}

TEST(NetInference, Gradients) {
  EXPECT_EQ(types_of(op("FCGradient", "", "x w dy", "dw db dx"), "x,2x8,\nw,10x8,\ndy,2x10,"),
            "dw f32[10,8]; db f32[10]; dx f32[2,8]; ");
  EXPECT_EQ(
      types_of(op("ConvGradient", integer("no_bias", 1), "x w dy", "dw dx"), "x,1x3x9x9,\nw,4x3x3x3,\ndy,1x4x7x7,"),
      "dw f32[4,3,3,3]; dx f32[1,3,9,9]; ");
  EXPECT_EQ(
      types_of(op("SpatialBNGradient", "", "x s dy m v", "dx ds do"), "x,1x3x9x9,\ns,3,\ndy,1x3x9x9,\nm,3,\nv,3,"),
      "dx f32[1,3,9,9]; ds f32[3]; do f32[3]; ");
  EXPECT_EQ(types_of(op("MaxPoolGradient", "", "x y dy", "dx"), "x,1x3x9x9,\ny,1x3x4x4,\ndy,1x3x4x4,"),
            "dx f32[1,3,9,9]; ");
}

// Without `broadcast`, either operand may repeat; with it, only the second one.
TEST(NetInference, Arithmetic) {
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    EXPECT_EQ(types_of(op(type, "", "x w"), "x,5,\nw,2x5,"), "y f32[2,5]; ") << type;
    EXPECT_EQ(types_of(op(type, "", "x w"), "x,2x1,\nw,5,"), "y f32[2,5]; ") << type;
    EXPECT_EQ(types_of(op(type, integer("broadcast", 1), "x w"), "x,2x5x3,\nw,5,"), "y f32[2,5,3]; ") << type;
    EXPECT_THAT(fault_of(op(type, "", "x w"), "x,2x5x3,\nw,5,"),
                HasSubstr("the inputs with the shapes [2,5,3] and [5] do not fit together"));
  }
}

// W has 10 x 2 rows of 8 elements.
TEST(NetInference, GradientOfABiasWithSeveralAxes) {
  EXPECT_EQ(types_of(op("FCGradient", integer("axis_w", 2), "x w dy", "dw db dx"), "x,2x8,\nw,10x2x8,\ndy,2x20,"),
            "dw f32[10,2,8]; db f32[20]; dx f32[2,8]; ");
}

TEST(NetInference, RefusesWindowsThatDoNotFit) {
  const std::string pool = integer("kernel", 3) + integer("stride", 2);
  const auto fault = [&](int legacy, const std::string& extents) {
    return fault_of(op("MaxPool", pool + integer("legacy_pad", legacy), "x"), "x,1x4x" + extents + ",");
  };
  EXPECT_THAT(fault(0, "2x2"), HasSubstr("a window of 3 does not fit into the spatial extent 2"));
  EXPECT_THAT(fault(1, "2x2"), HasSubstr("a window of 3 does not fit into the spatial extent 2"));
  EXPECT_THAT(fault(3, "1x1"), HasSubstr("a window of 3 does not fit into the spatial extent 1"));
  // Caffe rounds up: (2 - 3) / 2 + 1, rounded to 1.
  EXPECT_EQ(types_of(op("MaxPool", pool + integer("legacy_pad", 3), "x"), "x,1x4x2x2,"), "y f32[1,4,1,1]; ");
}

TEST(NetInference, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(fault_of(op("Foo", "", "x") + op("Relu", "", "y", "z"), "x,2,"),
              HasSubstr("results 'y' of operator 0 ('Foo'); set them with --shape"));
  EXPECT_THAT(fault_of(op("FC"), ""), HasSubstr("external inputs 'x', 'w', 'b'; set them"));
  EXPECT_EQ(types_of(op("Foo", "", "x") + op("Relu", "", "y", "z"), "x,2,\ny,3x4,f16"), "y f16[3,4]; z f16[3,4]; ");
}

TEST(NetInference, RefusesTypesThatContradictEachOther) {
  EXPECT_THAT(fault_of(op("Relu", "", "x"), "x,2x3,\ny,2x4,"),
              HasSubstr("its output 'y' is f32[2,3], but the given type is f32[2,4]"));
}

TEST(BlobTypes, AreReadFromCsv) {
  const Result<BlobTypes> types = parse_blob_types("name,shape,dtype\r\na,1x2,f16\n\n\"b,c\",,\n");
  ASSERT_TRUE(types.ok()) << types.error().describe();
  EXPECT_EQ(*types, (BlobTypes{{"a", {DType::f16, {1, 2}}}, {"\"b,c\"", {DType::f32, {}}}}));
  const auto refusal = [](const std::string& text) { return parse_blob_types(text).error().describe(); };
  EXPECT_THAT(refusal(""), HasSubstr("line 1: the text is empty"));
  EXPECT_THAT(refusal("a,1,f32"), HasSubstr("line 1: the header must be 'name,shape,dtype'"));
  EXPECT_THAT(refusal("name,shape,dtype\na,1x,f32"), HasSubstr("line 2: '1x' is not a shape"));
  EXPECT_THAT(refusal("name,shape,dtype\na,1x-2,f32"), HasSubstr("line 2: '1x-2' is not a shape"));
  EXPECT_THAT(refusal("name,shape,dtype\na,1,float"), HasSubstr("line 2: 'float' is not an element type"));
  EXPECT_THAT(refusal("name,shape,dtype\na,1"), HasSubstr("line 2: expected three columns"));
  EXPECT_THAT(refusal("name,shape,dtype\na,1,\na,1,"), HasSubstr("line 3: the name 'a' is there twice"));
}

TEST(BlobTypes, FollowFromAnInitNet) {
  const ProtoMessage net =
      net_of_text(op("XavierFill", integers("shape", "64, 3, 7, 7"), "", "w") +
                  op("GivenTensorFill", "arg { name: 'values' floats: [1, 2] } " + integers("shape", "2"), "", "b"));
  EXPECT_EQ(*types_written_by(net), (BlobTypes{{"b", {DType::f32, {2}}}, {"w", {DType::f32, {64, 3, 7, 7}}}}));
}

}  // namespace
}  // namespace lowtide::testing
