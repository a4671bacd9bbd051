// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Operators on integers of ONNX Runtime. tests/engine/runtime_integers.py compares their results.

#include "lowtide/import/onnx/load/quantized_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/import/onnx_models.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

const std::string kHeader = "<ir_version: 8, opset_import: [\"\" : 11, \"com.microsoft\" : 1]>\n";
const std::string kParameters = "<float s = {0.5}, uint8 z = {128}, float v = {0.25}, float[1] s1 = {0.5}>";

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> types;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) types.push_back(graph.op(id).type);
  return types;
}

Result<ImportedModel> import_node(const std::string& inputs, const std::string& output, const std::string& nodes) {
  return import(kHeader + "g (" + inputs + ") => (" + output + ") " + kParameters + " { " + nodes + " }");
}

TEST(QuantizedOperators, ComputeOnRealNumbers) {
  const auto model = import_node("uint8[2,3] a, uint8[3] b", "uint8[2,3] y",
                                 "[sum] y = com.microsoft.QLinearAdd(a, s, z, b, v, z, v, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_THAT(operators_of(model->graph), ElementsAre("DequantizeLinear", "DequantizeLinear", "Add", "QuantizeLinear"));
  EXPECT_EQ(model->graph.node(NodeId(2)).name, "sum/Add");
  EXPECT_EQ(type_of(model->graph, "y"), "u8[2,3]") << "names of results do not change";
}

TEST(QuantizedOperators, TakeOperandsThatAreOmitted) {
  const auto model = import_node("uint8[2,3] a", "uint8[2,3] y", "y = com.microsoft.QLinearSigmoid(a, s, , v)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_THAT(operators_of(model->graph), IsSupersetOf({"DequantizeLinear", "Sigmoid", "QuantizeLinear"}));
  EXPECT_EQ(model->graph.node(NodeId(0)).inputs.size(), 2U);
}

// Without a zero point of the result, the standard's QuantizeLinear would give u8 for i8, too.
TEST(QuantizedOperators, GiveTheTypeOfTheOperandWithoutAZeroPoint) {
  for (const std::string type : {"int8", "uint8"}) {
    const std::string expected = (type == "int8" ? "i8" : "u8") + std::string("[2,3]");
    for (const std::string zero : {"", "k"}) {
      for (const std::string& call :
           {"QLinearSigmoid(a, s, " + zero + ", v)", "QLinearLeakyRelu <alpha = 0.1> (a, s, " + zero + ", v)",
            "QLinearSoftmax <axis = -1> (a, s, " + zero + ", v)", "QLinearAdd(a, s, " + zero + ", a, v, , v)",
            "QLinearMul(a, s, " + zero + ", a, v, k, v)", "QLinearConcat <axis = 1> (v, , a, s, " + zero + ")",
            "QLinearReduceMean <axes = [0]> (b, s, " + zero + ", v)", "QLinearWhere(c, a, s, " + zero + ", a, s, k, v)",
            "QGemm(a, s, " + zero + ", m, v, k, , v)"}) {
        const auto model = import(kHeader + "g (" + type + "[2,3] a, " + type + "[4,2,3] b, bool[2,3] c, " + type +
                                  "[3,3] m) => (" + type + " y) <float s = {0.5}, float v = {0.25}, " + type +
                                  " k = {3}> { y = com.microsoft." + call + " }");
        ASSERT_TRUE(model.ok()) << type << " " << call << " " << model.error().describe();
        EXPECT_EQ(type_of(model->graph, "y").substr(0, 2), expected.substr(0, 2)) << call;
      }
    }
  }
}

TEST(QuantizedOperators, ConcatenateAnyNumberOfOperands) {
  const auto model = import_node("uint8[2,1] a, uint8[2,2] b, uint8[2,3] c", "uint8[2,6] y",
                                 "y = com.microsoft.QLinearConcat <axis = 1> (v, z, a, s, z, b, v, z, c, s, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "u8[2,6]");
  EXPECT_EQ(model->graph.nodes().size(), 5U);
}

// A scale with an axis would count as one scale per entry of axis 1.
TEST(QuantizedOperators, TakeAScaleWithOneElementAsANumber) {
  const auto model =
      import_node("uint8[2,3] a", "uint8[2,3] y", "y = com.microsoft.QLinearLeakyRelu <alpha = 0.1> (a, s1, z, v, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "s1/number"), "f32[]");
}

TEST(QuantizedOperators, GiveRealProductsWithoutAScaleOfTheResult) {
  const auto model = import_node("uint8[2,3] a, uint8[4,3] b", "float[2,4] y",
                                 "y = com.microsoft.QGemm <transB = 1> (a, s, z, b, v, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_THAT(operators_of(model->graph), ElementsAre("DequantizeLinear", "DequantizeLinear", "Gemm"));
  EXPECT_EQ(type_of(model->graph, "y"), "f32[2,4]");
}

TEST(QuantizedOperators, QuantizeTheFirstOperandOfADynamicProduct) {
  const auto model =
      import_node("float[2,3] a, uint8[3,4] b", "float[2,4] y", "y = com.microsoft.DynamicQuantizeMatMul(a, b, s, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_THAT(operators_of(model->graph), ElementsAre("DynamicQuantizeLinear", "Mul", "MatMulInteger", "Cast", "Mul"));
}

// 2 directions of 4 * 5 columns: a scale per direction and column.
TEST(QuantizedOperators, GiveAnLstmRealWeights) {
  const auto model = import(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "g (float[7,1,3] x, int8[2,3,20] w, int8[2,5,20] r) => (float[7,2,1,5] y)\n"
      "<float[2] ws = {0.5, 0.25}, int8[2] wz = {0, 1}, float[2] rs = {0.5, 0.5}> {\n"
      "  y = com.microsoft.DynamicQuantizeLSTM <direction = \"bidirectional\", hidden_size = 5>\n"
      "      (x, w, r, , , , , , ws, wz, rs)\n"
      "}");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(type_of(model->graph, "y"), "f32[7,2,1,5]");
  EXPECT_EQ(operators_of(model->graph).back(), "LSTM");
  EXPECT_EQ(type_of(model->graph, "DynamicQuantizeLSTM/Transpose"), "f32[2,20,3]");
}

TEST(QuantizedOperators, ThatTheStandardHasAreThoseOfTheStandard) {
  const auto model = import_node("float[2,3] x", "uint8[2,3] y", "y = com.microsoft.QuantizeLinear(x, s, z)");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.op(NodeId(0)).domain, "");
}

TEST(QuantizedOperators, AreReplacedInBodies) {
  const auto model = import_node("bool c, uint8[2,3] a", "uint8[2,3] y",
                                 "y = If (c) <then_branch = t () => (uint8[2,3] p) { p = "
                                 "com.microsoft.QLinearMul(a, s, z, a, s, z, v, z) }, "
                                 "else_branch = e () => (uint8[2,3] q) { q = Identity(a) }>");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_THAT(operators_of(*model->graph.node(NodeId(0)).bodies[0].graph),
              ElementsAre("DequantizeLinear", "DequantizeLinear", "Mul", "QuantizeLinear"));
}

TEST(QuantizedOperators, SayWhichInputIsMissing) {
  const auto model =
      import_node("uint8[2,3] a", "uint8[2,3] y", "[sum] y = com.microsoft.QLinearAdd(a, s, z, a, s, z)");
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().describe(), HasSubstr("input 6 is missing"));
  EXPECT_THAT(model.error().describe(), HasSubstr("sum"));
}

TEST(QuantizedOperators, OnOtherImagesAreNotCalledPlannable) {
  const auto model = import_node("uint8[1,2,2,3] a", "uint8[1,1,1,3] y",
                                 "y = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (a, s, z, v, z)");
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().describe(), HasSubstr("QLinearGlobalAveragePool"));
}

}  // namespace
}  // namespace lowtide::testing
