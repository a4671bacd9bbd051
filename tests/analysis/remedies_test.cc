// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/remedies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lowtide/analysis/as_given.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;

ModelRemedies remedies(const std::string& text) {
  const Graph graph = graph_of(text);
  return model_remedies(plan_as_given(graph), labels_of(graph));
}

// a has 64 bytes, b and c have 256, and y has 4. The loads are 64, 320, 512 and 260. If one operator replaced Add and
// Relu, a would be live until it has run: 64, 64, 64 + 256 and 260.
TEST(ModelRemedies, OneOperatorNeedsNoBufferInside) {
  const ModelRemedies found = remedies(R"(graph "g" {
    input x : f32[16]
    a = Softmax(x) : f32[16]
    b = Add(a, a) : f32[64]
    c = Relu(b) : f32[64]
    y = ReduceSum(c) : f32[1]
    output y
  })");
  ASSERT_TRUE(found.fusion);
  EXPECT_THAT(found.fusion->chains, ElementsAre(ElementsAre(StepId(1), StepId(2))));
  EXPECT_EQ(found.fusion->peak, Bytes(320));
  EXPECT_EQ(found.fusion->all_chains, 1U);
  EXPECT_EQ(found.fusion->peak_of_all, Bytes(320));
  ASSERT_TRUE(found.type);
  EXPECT_EQ(found.type->peak_16_bits, Bytes(256));
  EXPECT_EQ(found.type->peak_8_bits, Bytes(128));
}

// Without b, a would be live at step 2 instead of it: 256 + 256 as before.
TEST(ModelRemedies, FusionSavesNothingIfAnEqualInputStays) {
  EXPECT_FALSE(remedies(R"(graph "g" {
    input x : f32[64]
    a = Softmax(x) : f32[64]
    b = Relu(a) : f32[64]
    c = Sigmoid(b) : f32[64]
    y = ReduceSum(c) : f32[1]
    output y
  })")
                   .fusion);
}

// The graph of the first test, but with another reader of b, or with b as an output.
bool has_fusion(const std::string& reader, const std::string& outputs) {
  return remedies(R"(graph "g" {
    input x : f32[16]
    a = Softmax(x) : f32[16]
    b = Add(a, a) : f32[64]
    c = )" + reader +
                  R"((b) : f32[64]
    y = ReduceSum(c) : f32[1]
    output )" + outputs +
                  "\n}")
      .fusion.has_value();
}

TEST(ModelRemedies, OnlyElementWiseOperatorsAreFused) {
  EXPECT_TRUE(has_fusion("Relu", "y"));
  EXPECT_FALSE(has_fusion("Softmax", "y"));  // it reads a whole row
}

// The caller gets b, so it cannot vanish.
TEST(ModelRemedies, OutputsAreNeverFusedAway) { EXPECT_FALSE(has_fusion("Relu", "y, b")); }

// Integers keep their bytes: 512 + 512 at the Add. Floats at other steps do not matter.
TEST(ModelRemedies, OnlyFloatingPointValuesGetSmaller) {
  EXPECT_FALSE(remedies(R"(graph "g" {
    input x : i64[64]
    a = Relu(x) : i64[64]
    b = Add(a, a) : i64[64]
    y = Cast(b) : f32[64]
    output y
  })")
                   .type);
}

TEST(ModelRemedies, AGraphWithoutNodesHasNoRemedies) {
  const ModelRemedies found = remedies("graph \"g\" {\n  input x : f32[4]\n  output x\n}");
  EXPECT_FALSE(found.fusion);
  EXPECT_FALSE(found.type);
}

}  // namespace
}  // namespace lowtide::testing
