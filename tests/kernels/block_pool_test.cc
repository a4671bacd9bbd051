// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/pool.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "lowtide/kernels/blocks/tile.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::pool_option;
using testing::Floats;
using testing::ReversedTeam;

// A pool of the model over 17 channels, which do not fill their blocks.
struct PoolCase {
  std::string type;
  std::string attributes;
  Shape source = Shape({2, 17, 9, 7});
  Shape result;

  [[nodiscard]] Graph graph() const {
    const std::string words = attributes.empty() ? "" : " {" + attributes + "}";
    return testing::graph_of("graph \"g\" {\n input x : f32" + to_string(source) + "\n y = " + type + "(x)" + words +
                             " : f32" + to_string(result) + "\n output y }");
  }
  [[nodiscard]] Graph in_blocks(Format format) const {
    const std::string separator = attributes.empty() ? "" : ", ";
    return testing::lowered_graph(
        type + "(x) {" + attributes + separator + "format = \"" + std::string(to_string(format)) + "\", channels = 17}",
        {"x : f32" + to_string(shape_in(format, source))}, shape_in(format, result));
  }
};

const std::vector<PoolCase>& pools() {
  static const std::vector<PoolCase> kAll = {
      {.type = "MaxPool",
       .attributes = "kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]",
       .result = Shape({2, 17, 5, 4})},
      {.type = "MaxPool",
       .attributes = "kernel_shape = [2, 3], strides = [2, 2], ceil_mode = 1",
       .result = Shape({2, 17, 5, 3})},
      {.type = "AveragePool",
       .attributes = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]",
       .result = Shape({2, 17, 9, 7})},
      {.type = "AveragePool",
       .attributes = "kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1",
       .result = Shape({2, 17, 9, 7})},
      {.type = "AveragePool",
       .attributes = "kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1",
       .result = Shape({2, 17, 5, 4})},
      {.type = "MaxPool",
       .attributes = "kernel_shape = [3, 3], auto_pad = \"SAME_UPPER\", strides = [2, 2]",
       .result = Shape({2, 17, 5, 4})},
      {.type = "MaxPool", .attributes = "kernel_shape = [2, 3], dilations = [4, 2]", .result = Shape({2, 17, 5, 3})},
      {.type = "GlobalAveragePool", .attributes = "", .result = Shape({2, 17, 1, 1})},
  };
  return kAll;
}

Floats in_model_order(Format format, const Shape& model, const testing::TensorData& data) {
  return testing::values_of<float>(testing::run_one(testing::reorder_graph(format, Format::plain, model), {data}));
}

// The lanes without a channel, of 17 in both images, are zero.
void expect_zeros(const Floats& all, Format format, const Shape& result) {
  const auto lanes = static_cast<std::size_t>(block_of(format));
  const auto places = static_cast<std::size_t>(result[2] * result[3]);
  const std::size_t blocks_of_image = 17 / lanes + 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i / (lanes * places) % blocks_of_image * lanes + i % lanes >= 17) {
      ASSERT_EQ(all[i], 0) << i;
    }
  }
}

TEST(BlockPool, HasTheBitsOfThePlainKernel) {
  for (const PoolCase& pool : pools()) {
    for (const Format format : {Format::nchw16c, Format::nchw8c}) {
      SCOPED_TRACE(pool.type + " " + pool.attributes + " " + std::string(to_string(format)));
      const Graph graph = pool.graph();
      const std::optional<FormatOption> option = pool_option(graph, NodeId(0), format);
      ASSERT_TRUE(option);
      EXPECT_EQ(option->input, format);
      EXPECT_EQ(option->output, format);
      EXPECT_FALSE(option->weights.has_value());
      Floats numbers = testing::numbers(*element_count(pool.source), 5);
      numbers[10] = std::numeric_limits<float>::infinity();
      numbers[200] = -0.0F;
      const auto x = testing::floats(pool.source, numbers);
      const Floats expected = testing::values_of<float>(testing::run_one(graph, {x}));
      const auto blocks = testing::run_one(testing::reorder_graph(Format::plain, format, pool.source), {x});
      for (const int threads : testing::kThreadCounts) {
        ReversedTeam team(threads);
        const auto written = testing::run_one(pool.in_blocks(format), {blocks}, threads, &team);
        EXPECT_EQ(in_model_order(format, pool.result, written), expected);
        expect_zeros(testing::values_of<float>(written), format, pool.result);
      }
    }
  }
}

TEST(BlockPool, KeepsWhatIsNoNumber) {
  const PoolCase pool = pools()[0];
  Floats numbers = testing::numbers(*element_count(pool.source), 5);
  numbers[0] = std::numeric_limits<float>::quiet_NaN();  // in the first window alone
  const auto x = testing::floats(pool.source, numbers);
  const auto blocks = testing::run_one(testing::reorder_graph(Format::plain, Format::nchw16c, pool.source), {x});
  const Floats found =
      in_model_order(Format::nchw16c, pool.result, testing::run_one(pool.in_blocks(Format::nchw16c), {blocks}));
  EXPECT_TRUE(found[0] != found[0]);
  EXPECT_TRUE(std::all_of(found.begin() + 1, found.end(), [](float one) { return one == one; }));
}

TEST(BlockPool, HasNoFormatsForOtherPools) {
  const auto has_option = [](const std::string& node) {
    const Graph graph = testing::graph_of("graph \"g\" {\n input x : f32[1,16,5,5]\n " + node + "\n output y }");
    return pool_option(graph, NodeId(0), Format::nchw16c).has_value();
  };
  EXPECT_TRUE(has_option("y = MaxPool(x) {kernel_shape = [2, 2]} : f32[1,16,4,4]"));
  EXPECT_FALSE(has_option("y, i = MaxPool(x) {kernel_shape = [2, 2]} : f32[1,16,4,4], i64[1,16,4,4]"));
  // Some windows lie in the padding alone, or the operand between two taps.
  EXPECT_FALSE(has_option("y = MaxPool(x) {kernel_shape = [2, 2], pads = [2, 0, 0, 0]} : f32[1,16,6,4]"));
  EXPECT_FALSE(
      has_option("y = MaxPool(x) {kernel_shape = [2, 2], dilations = [7, 1], pads = [1, 0, 2, 0]} : f32[1,16,1,4]"));
}

TEST(BlockPool, RefusesExtentsThatDisagree) {
  const PoolCase pool{.type = "MaxPool", .attributes = "kernel_shape = [2, 2]", .result = Shape({2, 17, 7, 6})};
  EXPECT_EQ(unsupported(pool.in_blocks(Format::nchw16c)).at(0).missing,
            "result 'y' is declared as f32[2,2,7,6,16], and the operator gives [2,2,8,6,16]");
}

}  // namespace
}  // namespace lowtide
