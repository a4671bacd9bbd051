// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/tflite/model_import/check_extents.h"

namespace lowtide::model_import_internal {
namespace {

using testing::HasSubstr;
using Extents = std::vector<std::int64_t>;

// Why the operator cannot have these operands and this result.
std::string obstacle(const std::string& type, const std::vector<Extents>& operands, const Extents& result,
                     std::vector<TfliteOption> options = {}) {
  TfliteSubgraph subgraph;
  TfliteOperator op{.type = type, .options = std::move(options)};
  for (const Extents& operand : operands) {
    op.inputs.push_back(static_cast<std::uint32_t>(subgraph.tensors.size()));
    subgraph.tensors.push_back({.shape = operand});
  }
  op.outputs.push_back(static_cast<std::uint32_t>(subgraph.tensors.size()));
  subgraph.tensors.push_back({.shape = result});
  return extents_obstacle(subgraph, op);
}

std::vector<TfliteOption> window(const std::string& padding, std::int64_t stride, std::int64_t dilation = 1) {
  return {{"padding", padding},
          {"stride_w", stride},
          {"stride_h", stride},
          {"dilation_w_factor", dilation},
          {"dilation_h_factor", dilation}};
}

TEST(Extents, ElementwiseResultsHaveThoseOfTheirOperand) {
  EXPECT_EQ(obstacle("RELU", {{2, 3}}, {2, 3}), "");
  EXPECT_EQ(obstacle("RELU", {{2, 3}}, {3, 2}),
            "its result has the extents [3,2] in the file, and its operands give [2,3]");
  EXPECT_EQ(obstacle("ADD", {{2, 1, 4}, {3, 1}}, {2, 3, 4}), "");
  EXPECT_THAT(obstacle("ADD", {{2, 4}, {2, 4}}, {2, 5}), HasSubstr("give [2,4]"));
  EXPECT_THAT(obstacle("ADD", {{2, 4}, {3, 4}}, {2, 4}), HasSubstr("do not fit together"));
}

TEST(Extents, ReshapesKeepTheNumberOfElements) {
  EXPECT_EQ(obstacle("RESHAPE", {{2, 6}}, {3, 4}), "");
  EXPECT_EQ(obstacle("RESHAPE", {{2, 6}}, {3, 5}), "its operand [2,6] has 12 elements, and its result [3,5] has 15");
}

TEST(Extents, ConvolutionsFollowTheirWindow) {
  // SAME: ceil(5 / 2) = 3. VALID: (5 - 3) / 2 + 1 = 2. With a dilation of 2, a window of 3 spans 5.
  EXPECT_EQ(obstacle("CONV_2D", {{1, 5, 5, 2}, {8, 3, 3, 2}}, {1, 3, 3, 8}, window("SAME", 2)), "");
  EXPECT_EQ(obstacle("CONV_2D", {{1, 5, 5, 2}, {8, 3, 3, 2}}, {1, 2, 2, 8}, window("VALID", 2)), "");
  EXPECT_EQ(obstacle("CONV_2D", {{1, 5, 5, 2}, {8, 3, 3, 2}}, {1, 1, 1, 8}, window("VALID", 1, 2)), "");
  EXPECT_THAT(obstacle("CONV_2D", {{1, 5, 5, 2}, {8, 3, 3, 2}}, {1, 3, 3, 8}, window("VALID", 2)),
              HasSubstr("[1,2,2,8]"));
  EXPECT_THAT(obstacle("CONV_2D", {{1, 2, 2, 2}, {8, 3, 3, 2}}, {1, 1, 1, 8}, window("VALID", 1)),
              HasSubstr("its window of 3 does not fit"));
  EXPECT_THAT(obstacle("CONV_2D", {{1, 5, 5, 2}, {8, 3, 3, 2}}, {1, 3, 3, 8}, window("SAME", 0)),
              HasSubstr("does not fit"));
  EXPECT_EQ(obstacle("DEPTHWISE_CONV_2D", {{1, 4, 4, 2}, {1, 3, 3, 2}}, {1, 4, 4, 2}, window("SAME", 1)), "");
}

TEST(Extents, PoolsHaveTheirWindowInOptions) {
  std::vector<TfliteOption> options = window("VALID", 2);
  options.push_back({"filter_width", std::int64_t{2}});
  options.push_back({"filter_height", std::int64_t{2}});
  EXPECT_EQ(obstacle("MAX_POOL_2D", {{1, 6, 6, 3}}, {1, 3, 3, 3}, options), "");
  EXPECT_THAT(obstacle("AVERAGE_POOL_2D", {{1, 6, 6, 3}}, {1, 3, 3, 4}, options), HasSubstr("[1,3,3,3]"));
}

TEST(Extents, ConcatenationsAddUpAlongTheirAxis) {
  EXPECT_EQ(obstacle("CONCATENATION", {{1, 2, 3}, {1, 2, 4}}, {1, 2, 7}, {{"axis", std::int64_t{-1}}}), "");
  EXPECT_THAT(obstacle("CONCATENATION", {{1, 2, 3}, {1, 2, 4}}, {1, 2, 8}, {{"axis", std::int64_t{2}}}),
              HasSubstr("[1,2,7]"));
}

TEST(Extents, NothingIsSaidOfOtherOperators) { EXPECT_EQ(obstacle("GATHER", {{2, 3}}, {7}), ""); }

}  // namespace
}  // namespace lowtide::model_import_internal
