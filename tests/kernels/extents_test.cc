// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lowtide/kernels/extents/rules.h"
#include "lowtide/kernels/families.h"
#include "lowtide/kernels/kernel.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

// Why a graph with this node alone is refused: "" if its extents agree.
std::string fault_of(const std::string& tensors, const std::string& node, const ConstantBytes& constant = {}) {
  const Graph graph = testing::graph_of("graph \"g\" {\n" + tensors + "\n " + node + "\n output y }");
  const Result<void> checked = check_extents(graph, NodeId(0), constant);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  EXPECT_THAT(checked.error().place, HasSubstr("graph 'g': node 0"));
  return checked.error().message;
}

TEST(Extents, EveryOperatorWithAKernelHasARule) {
  for (const kernels_internal::Family& family : kernels_internal::families()) {
    for (const SupportedOperator& row : family.operators) {
      const Operator op{std::string(row.domain), std::string(row.type), {}};
      EXPECT_NE(kernels_internal::rule_of(op), nullptr) << full_name(op);
    }
  }
  EXPECT_EQ(kernels_internal::rule_of({"", "Foo", {}}), nullptr);
  EXPECT_EQ(kernels_internal::rule_of({"own", "Relu", {}}), nullptr);
  EXPECT_NE(kernels_internal::rule_of({"ai.onnx", "Relu", {}}), nullptr);
}

TEST(Extents, NameTheResultAndBothShapes) {
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = Relu(x) : f32[2,3]"), "");
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = Relu(x) : f32[2,4]"),
            "result 'y' is declared as f32[2,4], and the operator gives [2,3]");
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = Relu(x) : f32[6]"),
            "result 'y' is declared as f32[6], and the operator gives [2,3]");
  EXPECT_EQ(fault_of("input x : f32[2,3]\n input z : f32[4]", "y = Add(x, z) : f32[2,3]"),
            "input 'z' is f32[4], and has to have extents that are broadcast to [2,3]");
  EXPECT_EQ(fault_of("input x : f32[2]", "y = Cast(x) {to = 7} : i32[2]"),
            "result 'y' is declared as i32[2], and the operator gives i64");
}

// The data decide the extents of NonZero, and what is computed from them.
TEST(Extents, LeaveToARunWhatOnlyItKnows) {
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = NonZero(x) : i64[2,<=6]"), "");
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = NonZero(x) : i64[2,<=9]"), "");
  EXPECT_EQ(fault_of("input x : f32[2,3]", "y = NonZero(x) : i64[3,<=6]"),
            "result 'y' is declared as i64[3,<=6], and the operator gives [2,?]");
  EXPECT_EQ(fault_of("input x : f32[<=4,3]", "y = Relu(x) : f32[<=9,3]"), "");
  EXPECT_EQ(fault_of("input x : f32[<=4,3]", "y = Relu(x) : f32[<=4,2]"),
            "result 'y' is declared as f32[<=4,2], and the operator gives [?,3]");
  EXPECT_EQ(fault_of("input x : f32[4]", "y = Relu(x) : f32[<=3]"),
            "result 'y' is declared as f32[<=3], and the operator gives [4]");
  EXPECT_EQ(fault_of("input x : f32[2,3]\n input s : i64[1]", "y = Reshape(x, s) : f32[6]"), "");
  EXPECT_EQ(fault_of("input x : f32[2,3]\n input s : i64[1]", "y = Reshape(x, s) : f32[7]"),
            "result 'y' is declared as f32[7], and the operator gives 6 elements");
}

TEST(Extents, ReadConstantsBeforeListedContent) {
  const std::string tensors = "input x : f32[6]\n constant s : i64[2] data 0 = [2, 3]";
  EXPECT_EQ(fault_of(tensors, "y = Reshape(x, s) : f32[2,3]"), "");
  const std::array<std::int64_t, 2> other{3, 2};
  const auto constant = [&](TensorId) { return std::as_bytes(std::span(other)); };
  EXPECT_EQ(fault_of(tensors, "y = Reshape(x, s) : f32[3,2]", constant), "");
  EXPECT_EQ(fault_of(tensors, "y = Reshape(x, s) : f32[2,3]", constant),
            "result 'y' is declared as f32[2,3], and the operator gives [3,2]");
  // Bytes that are not those of the tensor say nothing.
  const auto shorter = [&](TensorId) { return std::as_bytes(std::span(other).first(1)); };
  EXPECT_EQ(fault_of(tensors, "y = Reshape(x, s) : f32[2,3]", shorter), "");
}

TEST(Extents, OfWindowsFollowFromAllAttributes) {
  const std::string conv = "input x : f32[1,4,9,9]\n input w : f32[6,2,3,3]\n input b : f32[6]";
  EXPECT_EQ(fault_of(conv, "y = Conv(x, w, b) {group = 2, strides = [2, 2], pads = [1, 1, 1, 1]} : f32[1,6,5,5]"), "");
  EXPECT_THAT(fault_of(conv, "y = Conv(x, w, b) {group = 2, strides = [2, 2]} : f32[1,6,5,5]"),
              HasSubstr("the operator gives [1,6,4,4]"));
  EXPECT_THAT(fault_of(conv, "y = Conv(x, w, b) : f32[1,6,7,7]"), HasSubstr("input 'w' is f32[6,2,3,3]"));
  EXPECT_THAT(fault_of("input x : f32[1,2,5]",
                       "y = MaxPool(x) {kernel_shape = [2], strides = [2], ceil_mode = 1} : f32[1,2,2]"),
              HasSubstr("the operator gives [1,2,3]"));
  // (4 - 1) * 2 + 3 - 1 - 1 = 7
  EXPECT_EQ(fault_of("input x : f32[1,2,4]\n input w : f32[2,5,3]",
                     "y = ConvTranspose(x, w) {strides = [2], pads = [1, 1]} : f32[1,5,7]"),
            "");
}

// 5 elements with stride 2 have 10 results, and not one more for the output_padding.
TEST(Extents, OfTransposedWindowsAreStridesOrWhatIsGiven) {
  const std::string operands = "input x : f32[1,2,5]\n input w : f32[2,5,3]";
  const std::string same =
      "y = ConvTranspose(x, w) {auto_pad = \"SAME_UPPER\", output_padding = [1], strides = [2]} : ";
  EXPECT_EQ(fault_of(operands, same + "f32[1,5,10]"), "");
  EXPECT_THAT(fault_of(operands, same + "f32[1,5,11]"), HasSubstr("the operator gives [1,5,10]"));
  const std::string given = "y = ConvTranspose(x, w) {output_shape = [6]} : ";
  EXPECT_EQ(fault_of(operands, given + "f32[1,5,6]"), "");
  EXPECT_THAT(fault_of("input x : f32[1,2,<=5]\n input w : f32[2,5,3]", given + "f32[1,5,7]"),
              HasSubstr("the operator gives [1,5,6]"));
}

// Tensors without elements may have large extents, and attributes may have any numbers. No result has 64 bits.
TEST(Extents, OfLargeNumbersDoNotWrap) {
  // 2^42 elements with stride 2^31 are 2^73.
  EXPECT_THAT(fault_of("input x : f32[0,2,4398046511104]\n input w : f32[2,5,3]",
                       "y = ConvTranspose(x, w) {strides = [2147483648]} : f32[0,5,3]"),
              HasSubstr("more elements than its padding takes away"));
  EXPECT_THAT(fault_of("input x : f32[0,2,4398046511104]\n input i : i64[0,2,4398046511104]",
                       "y = MaxUnpool(x, i) {kernel_shape = [3], strides = [2147483648]} : f32[0,2,3]"),
              HasSubstr("more elements than its padding takes away"));
  const std::string least = "-9223372036854775808";
  EXPECT_THAT(fault_of("input x : f32[1,2,5]",
                       "y = MaxPool(x) {kernel_shape = [2], pads = [" + least + ", " + least + "]} : f32[1,2,4]"),
              HasSubstr("extents for the window"));
  // One scale of 2^60 for both axes gives the second one 2^63.
  EXPECT_THAT(fault_of("input x : f32[1,8]\n constant s : i64[2] data 0 = [1152921504606846976, 8]",
                       "y = Resize(x, _, _, s) {keep_aspect_ratio_policy = \"not_smaller\"} : f32[1,8]"),
              HasSubstr("extents for the scales or sizes"));
  EXPECT_THAT(fault_of("input x : f32[0,4398046511104]", "y = Concat(x, x) {axis = 1} : f32[0,4398046511104]"),
              HasSubstr("the operator gives [0,8796093022208]"));
  EXPECT_EQ(fault_of("constant a : i64[] data 0 = [" + least + "]\n input b : i64[]", "y = Range(a, b, b) : i64[<=9]"),
            "");
}

// A list of 2^40 axes would be a shape of that many numbers.
TEST(Extents, OfListsBeyondTheLargestRankStayOpen) {
  EXPECT_EQ(fault_of("input x : f32[6]\n input a : i64[1099511627776]", "y = Unsqueeze(x, a) : f32[6,1]"), "");
  EXPECT_EQ(fault_of("input x : f32[6]\n input s : i64[1099511627776]", "y = Reshape(x, s) : f32[6,1]"), "");
}

// A kernel writes scores of f32, so a result of fewer bytes would be too small.
TEST(Extents, OfScoresComeWithTheirType) {
  const std::string node = "y = ai.onnx.ml::LinearRegressor(x) {coefficients = [1.0, 2.0], targets = 1} : ";
  EXPECT_EQ(fault_of("input x : f32[4,2]", node + "f32[4,1]"), "");
  EXPECT_EQ(fault_of("input x : f32[4,2]", node + "i8[4,1]"),
            "result 'y' is declared as i8[4,1], and the operator gives f32");
  EXPECT_EQ(fault_of("input x : f32[4,2]", node + "f32[5,1]"),
            "result 'y' is declared as f32[5,1], and the operator gives [4,?]");
  EXPECT_EQ(fault_of("input x : f32[4,2]", "l, y = ai.onnx.ml::LinearClassifier(x) : i64[4], u8[4,2]"),
            "result 'y' is declared as u8[4,2], and the operator gives f32");
}

TEST(Extents, OfLoweredNodesHaveFloats) {
  const std::string operands = "input w : f32[2,3]\n input s : f32[2]\n input v : ";
  const std::string node = "y = lowtide::ScaledWeights(w, s, v) : ";
  EXPECT_EQ(fault_of(operands + "f32[2]", node + "f32[2,3]"), "");
  EXPECT_EQ(fault_of(operands + "i8[2]", node + "f32[2,3]"), "input 'v' is i8[2], and has to have elements of f32");
  EXPECT_EQ(fault_of(operands + "f32[2]", node + "i8[2,3]"),
            "result 'y' is declared as i8[2,3], and the operator gives f32");
}

}  // namespace
}  // namespace lowtide
