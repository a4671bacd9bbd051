// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that ONNX Runtime writes into optimized models.

#include "lowtide/import/onnx/proto/runtime_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/inference_cases.h"
#include "tests/import/onnx_models.h"

namespace lowtide::import_internal {
namespace {

using namespace testing;  // the helpers of inference_cases.h
using ::testing::HasSubstr;

TEST(RuntimeOperators, FusedOperatorsHaveTheSizesOfTheStandardOnes) {
  EXPECT_EQ(sizes("y = com.microsoft.FusedConv <strides = [2, 2], pads = [1, 1, 1, 1], activation = \"Relu\"> (x, w)",
                  {f32({1, 3, 32, 32}), f32({8, 3, 3, 3})}),
            "f32[1,8,16,16]");
  EXPECT_EQ(sizes("y = com.microsoft.FusedGemm <transB = 1> (a, b, c)", {f32({2, 3}), f32({5, 3}), f32({5})}),
            "f32[2,5]");
  for (const char* type : {"Gelu", "QuickGelu"}) {
    EXPECT_EQ(sizes("y = com.microsoft." + std::string(type) + "(x)", {f32({2, 3})}), "f32[2,3]") << type;
  }
  EXPECT_EQ(sizes("y = com.microsoft.BiasGelu(x, b)", {f32({2, 3}), f32({3})}), "f32[2,3]");
  EXPECT_EQ(sizes("y = com.microsoft.SkipLayerNormalization(x, s, g, b)",
                  {f32({1, 2, 3}), f32({1, 2, 3}), f32({3}), f32({3})}),
            "f32[1,2,3]");
}

TEST(RuntimeOperators, NormalizationsOfTheStandardDomainHaveNoVersion) {
  EXPECT_EQ(sizes("y = SimplifiedLayerNormalization <axis = -1> (x, s)", {f32({1, 2, 3}), f32({3})}), "f32[1,2,3]");
  const auto model = import(
      "<ir_version: 7, opset_import: [\"\" : 11]> "
      "g (float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization <axis = -1> (x, s) }");
  ASSERT_TRUE(model.ok()) << model.error().describe();
  EXPECT_EQ(model->graph.op(NodeId(0)).type, "LayerNormalization");
}

TEST(RuntimeOperators, AMatMulTransposesItsOperands) {
  const std::string node = "y = com.microsoft.FusedMatMul ";
  EXPECT_EQ(sizes(node + "<alpha = 0.5> (a, b)", {f32({7, 2, 3}), f32({7, 3, 5})}), "f32[7,2,5]");
  EXPECT_EQ(sizes(node + "<transA = 1, transB = 1> (a, b)", {f32({7, 3, 2}), f32({5, 3})}), "f32[7,2,5]");
  // a is [2, 7, 3]: its first axis comes after the batch axis 7.
  EXPECT_EQ(sizes(node + "<transBatchA = 1> (a, b)", {f32({2, 7, 3}), f32({7, 3, 5})}), "f32[7,2,5]");
  EXPECT_EQ(sizes(node + "(a, b)", {f32({7}), f32({7})}),
            "invalid: the operands have ranks 1 and 1; expected at least 2; 'a' is f32[7], 'b' is f32[7]");
}

TEST(RuntimeOperators, BlockedOperatorsKeepWholeBlocksOfChannels) {
  const std::string domain = "com.microsoft.nchwc.";
  EXPECT_EQ(sizes("y = " + domain + "Conv <pads = [1, 1, 1, 1]> (x, w)", {f32({1, 3, 8, 8}), f32({32, 3, 3, 3})}),
            "f32[1,32,8,8]");
  EXPECT_EQ(sizes("y = " + domain + "MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)", {f32({1, 32, 8, 8})}),
            "f32[1,32,4,4]");
  EXPECT_EQ(sizes("y = " + domain + "AveragePool <kernel_shape = [2, 2]> (x)", {f32({1, 32, 8, 8})}), "f32[1,32,7,7]");
  EXPECT_EQ(sizes("y = " + domain + "GlobalAveragePool(x)", {f32({1, 32, 8, 8})}), "f32[1,32,1,1]");
  EXPECT_EQ(sizes("y = " + domain + "Upsample <scales = [1, 1, 2, 3]> (x)", {f32({1, 32, 8, 8})}), "f32[1,32,16,24]");
  EXPECT_EQ(sizes("y = " + domain + "ReorderOutput <channels = 20> (x)", {f32({1, 32, 8, 9})}), "f32[1,20,8,9]");
  EXPECT_EQ(sizes("y = " + domain + "ReorderOutput <channels = 20, channels_last = 1> (x)", {f32({1, 32, 8, 9})}),
            "f32[1,8,9,20]");
}

TEST(RuntimeOperators, WrongAttributesAreRefused) {
  const std::string domain = "com.microsoft.nchwc.";
  EXPECT_THAT(sizes("y = " + domain + "Upsample <scales = [2, 2]> (x)", {f32({1, 8, 2, 2})}),
              HasSubstr("attribute scales has 2 numbers, but the input has rank 4"));
  EXPECT_THAT(sizes("y = " + domain + "Upsample <scales = [1, 1, -2, 2]> (x)", {f32({1, 8, 2, 2})}),
              HasSubstr("the scale -2 of axis 2 gives no extent"));
  EXPECT_THAT(sizes("y = " + domain + "ReorderOutput(x)", {f32({1, 8, 2, 2})}),
              HasSubstr("attribute channels is 0; it must be positive"));
  EXPECT_THAT(sizes("y = " + domain + "Conv <strides = [0, 0]> (x, w)", {f32({1, 8, 2, 2}), f32({8, 8, 1, 1})}),
              HasSubstr("attribute 'strides'"));
  EXPECT_THAT(sizes("y = " + domain + "ReorderInput(x)", {f32({1, 8})}), HasSubstr("has rank 2; expected 4"));
}

// The type of a reordered input with 20 channels, for a blocked convolution with this number of filters.
std::string reordered(const std::string& input, const std::string& attributes, std::int64_t filters) {
  onnx::ModelProto model = model_from(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft.nchwc\" : 1]>\n"
      "g (" +
      input + " x) => (float[1,F,4,4] y) { r = com.microsoft.nchwc.ReorderInput" + attributes +
      "(x) y = com.microsoft.nchwc.Conv(r, w) }");
  onnx::TensorProto* weight = model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : {filters, std::int64_t{32}, std::int64_t{1}, std::int64_t{1}}) {
    weight->add_dims(extent);
  }
  weight->set_raw_data(std::string(static_cast<std::size_t>(filters) * 32 * 4, '\0'));
  const auto imported = import(model);
  return imported.ok() ? type_of(imported->graph, "r") : imported.error().describe();
}

// 24 filters are whole blocks of 8 and not of 16.
TEST(RuntimeOperators, TheBlockOfChannelsFollowsFromTheFilters) {
  EXPECT_EQ(reordered("float[1,20,4,4]", "", 32), "f32[1,32,4,4]");
  EXPECT_EQ(reordered("float[1,20,4,4]", "", 24), "f32[1,24,4,4]");
  EXPECT_EQ(reordered("float[1,4,4,20]", " <channels_last = 1> ", 32), "f32[1,32,4,4]");
}

TEST(RuntimeOperators, OthersOfTheDomainAreNotSupported) {
  const auto model = import(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
      "g (float[2] x) => (float[2] y) { y = com.microsoft.Inverse(x) }");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::unsupported);
  EXPECT_THAT(model.error().message, HasSubstr("com.microsoft.Inverse: Lowtide does not know it"));
}

}  // namespace
}  // namespace lowtide::import_internal
