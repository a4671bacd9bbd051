// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/onnx_of_graphdef.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lowtide::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kOfFloats = "attr { key: 'T' value { type: DT_FLOAT } } ";

std::string input_node(const std::string& name, const std::string& dims) {
  return "node { name: '" + name +
         "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { " +
         dims + " } } } }\n";
}

std::string op_node(const std::string& name, const std::string& op, const std::string& inputs,
                    const std::string& more = kOfFloats) {
  return "node { name: '" + name + "' op: '" + op + "' input: [" + inputs + "] " + more + "}\n";
}

Result<OnnxOfGraphDef> convert(const std::string& text) {
  const Result<ProtoMessage> graphdef = read_graphdef(text);
  if (!graphdef) return graphdef.error();
  return onnx_of_graphdef(*graphdef);
}

std::string why_refused(const std::string& text) {
  const Result<OnnxOfGraphDef> made = convert(text);
  return made.ok() ? "accepted" : made.error().describe();
}

const std::string kImage = input_node("x", "dim { size: 1 } dim { size: 4 } dim { size: 4 } dim { size: 2 }");

TEST(OnnxOfGraphDef, NamesWhatDoesNotRunAndTheWayOut) {
  const std::string refused =
      why_refused(kImage + "node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } }\n" +
                  op_node("read", "ReadVariableOp", "'v'", "attr { key: 'dtype' value { type: DT_FLOAT } }") +
                  op_node("y", "Mul", "'x', 'read'") + op_node("r", "RandomShuffle", "'y'") +
                  op_node("g", "ReluGrad", "'x', 'x'") + op_node("d", "Digamma", "'r'"));
  EXPECT_THAT(refused, HasSubstr("node 'v' ('VarHandleOp') reads or writes a variable; freeze the graph"));
  EXPECT_THAT(refused, HasSubstr("node 'r' ('RandomShuffle') is random"));
  EXPECT_THAT(refused, HasSubstr("node 'g' ('ReluGrad') is for training; export the graph for inference"));
  EXPECT_THAT(refused, HasSubstr("node 'd' ('Digamma') has no conversion to operators of ONNX"));
}

TEST(OnnxOfGraphDef, RefusesNormalizationOfTraining) {
  EXPECT_THAT(why_refused(kImage + input_node("c", "dim { size: 2 }") +
                          op_node("n", "FusedBatchNormV3", "'x', 'c', 'c', 'c', 'c'")),
              HasSubstr("node 'n' ('FusedBatchNormV3'): this node cannot run here: it is for training"));
}

TEST(OnnxOfGraphDef, ConvertsOnlyWhatAnOutputNeeds) {
  // The shape of a random tensor is known, so its numbers are not needed.
  const std::string text = kImage + op_node("r", "RandomShuffle", "'x'") +
                           op_node("s", "Shape", "'r'", "attr { key: 'out_type' value { type: DT_INT32 } }") +
                           op_node("y", "Reshape", "'x', 's'");
  EXPECT_EQ(why_refused(text), "accepted");
}

TEST(OnnxOfGraphDef, RefusesConstantsThatDoNotFitTheirType) {
  const auto constant = [](const std::string& content) {
    return "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { "
           "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } " +
           content + " } } } }\n" + op_node("y", "Mul", "'x', 'c'");
  };
  EXPECT_EQ(why_refused(kImage + constant("float_val: 3")), "accepted");
  EXPECT_THAT(why_refused(kImage + constant("float_val: [1, 2, 3]")),
              HasSubstr("node 'c' ('Const'): its content has 3 numbers, but the tensor has 2 elements"));
  EXPECT_THAT(why_refused(kImage + constant("tensor_content: 'abc'")), HasSubstr("3 bytes, but the tensor has 8"));
}

TEST(OnnxOfGraphDef, LimitsWhatOneNumberStandsFor) {
  const std::string large =
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { "
      "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1048576 } dim { size: 1048576 } } float_val: 3 } } } }\n";
  EXPECT_THAT(why_refused(large + op_node("y", "Relu", "'c'")), HasSubstr("stand for more than 268435456 bytes"));
}

std::string repeated_input(std::size_t count) {
  std::string inputs;
  for (std::size_t at = 0; at < count; ++at) inputs += at == 0 ? "'x'" : ", 'x'";
  return inputs;
}

TEST(OnnxOfGraphDef, SaysHowManyOperandsAreMissing) {
  const std::vector<std::pair<std::string, std::size_t>> needed = {
      {"Relu", 1},   {"Pack", 1},   {"Unpack", 1},      {"Reshape", 1},   {"Add", 2},    {"Conv2D", 2},
      {"MatMul", 2}, {"Mean", 2},   {"ConcatV2", 2},    {"Split", 2},     {"Pad", 2},    {"GatherV2", 2},
      {"TopKV2", 2}, {"Select", 3}, {"ClipByValue", 3}, {"Transpose", 2}, {"OneHot", 4}, {"FusedBatchNorm", 5}};
  for (const auto& [op, least] : needed) {
    for (std::size_t count = 0; count < least; ++count) {
      const std::string node = op_node("y", op, repeated_input(count),
                                       std::string(kOfFloats) +
                                           "attr { key: 'Tparams' value { type: DT_FLOAT } } "
                                           "attr { key: '_output_shapes' value { list { shape { dim { size: 1 } dim { "
                                           "size: 4 } dim { size: 4 } dim { size: 2 } } } } } ");
      EXPECT_THAT(why_refused(kImage + node),
                  HasSubstr("node 'y' ('" + op + "'): this node cannot run here: it has " + std::to_string(count) +
                            (count == 1 ? " input" : " inputs") + ", but its operator needs " + std::to_string(least)));
    }
  }
}

TEST(OnnxOfGraphDef, NamesANodeWithOperandsThatDoNotFit) {
  for (const char* op : {"Add", "Conv2D", "MatMul", "Mean", "ConcatV2", "Split", "StridedSlice", "Pad", "OneHot",
                         "FusedBatchNorm", "Pack", "Unpack", "GatherV2", "Select", "Transpose", "Reshape", "TopKV2"}) {
    for (std::size_t count : {1U, 2U, 3U, 5U}) {
      EXPECT_THAT(why_refused(kImage + op_node("y", op, repeated_input(count))),
                  AnyOf("accepted", HasSubstr("node 'y' ('" + std::string(op) + "')")))
          << op << " " << count;
    }
  }
}

TEST(OnnxOfGraphDef, NamesANodeWithComplexNumbers) {
  const std::string complex = "attr { key: 'T' value { type: DT_COMPLEX64 } } ";
  EXPECT_THAT(
      why_refused("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_COMPLEX64 } } attr { key: "
                  "'shape' value { shape { dim { size: 2 } } } } }\n" +
                  op_node("y", "OnesLike", "'x'", complex)),
      HasSubstr("node 'y' ('OnesLike'): this node cannot run here: no kernel has elements of the type c64"));
}

TEST(OnnxOfGraphDef, NamesElementsThatNoKernelHas) {
  for (const std::string type : {"DT_INT4", "DT_UINT4", "DT_FLOAT8_E5M2", "DT_STRING"}) {
    const std::string of_type = "attr { key: 'T' value { type: " + type + " } } ";
    std::string text = kImage;
    text.replace(text.find("DT_FLOAT"), 8, type);
    for (const std::string& node :
         {op_node("y", "Identity", "'x'", of_type), op_node("y", "Reshape", "'x', 's'", of_type),
          op_node("y", "Cast", "'x'",
                  "attr { key: 'SrcT' value { type: " + type + " } } " +
                      "attr { key: 'DstT' value { type: DT_FLOAT } }")}) {
      EXPECT_THAT(why_refused(text + input_node("s", "dim { size: 1 }") + node),
                  HasSubstr("elements that no kernel has: 'x' of node 'x' ('Placeholder') is " + type + "; replace"));
    }
  }
}

TEST(OnnxOfGraphDef, RefusesTransposedConvolutionsOfDoubles) {
  const std::string of_doubles = "attr { key: 'T' value { type: DT_DOUBLE } } ";
  std::string text = kImage + input_node("f", "dim { size: 1 } dim { size: 1 } dim { size: 2 } dim { size: 2 }");
  for (std::size_t at = text.find("DT_FLOAT"); at != std::string::npos; at = text.find("DT_FLOAT"))
    text.replace(at, 8, "DT_DOUBLE");
  EXPECT_THAT(
      why_refused(text + op_node("s", "Shape", "'x'", of_doubles) +
                  op_node("y", "Conv2DBackpropInput", "'s', 'f', 'x'",
                          of_doubles + "attr { key: 'padding' value { s: 'VALID' } } " +
                              "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } }")),
      HasSubstr(
          "node 'y' ('Conv2DBackpropInput'): this node cannot run here: no kernel has transposed convolutions of f64"));
}

TEST(OnnxOfGraphDef, NamesAnAxisThatAGatherDoesNotHave) {
  const std::string axis =
      "node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: "
      "'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 7 } } } }\n";
  const std::string gather = op_node("y", "GatherV2", "'x', 'i', 'axis'",
                                     "attr { key: 'Tparams' value { type: DT_FLOAT } } attr { key: '_output_shapes' "
                                     "value { list { shape { dim { size: 2 } } } } } ");
  EXPECT_THAT(why_refused(kImage + input_node("i", "dim { size: 2 }") + axis + gather),
              HasSubstr("node 'y' ('GatherV2'): this node cannot run here: it has no axis 7"));
}

}  // namespace
}  // namespace lowtide::testing
