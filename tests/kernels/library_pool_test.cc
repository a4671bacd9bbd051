// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>

#include "tests/kernels/library_convolutions.h"

namespace lowtide {
namespace {

using testing::Floats;
using ::testing::IsEmpty;

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
      {.type = "GlobalAveragePool", .attributes = "", .result = Shape({2, 17, 1, 1})},
  };
  return kAll;
}

TEST(LibraryPool, EqualsThePlainKernel) {
  for (const PoolCase& pool : pools()) {
    SCOPED_TRACE(pool.type + " " + pool.attributes);
    const Graph graph = pool.graph();
    const std::vector<FormatOption> options = kernels_internal::library_formats()->options(graph, NodeId(0));
    ASSERT_EQ(options.size(), 1U);
    const Format format = options[0].input;
    EXPECT_EQ(options[0].output, format);
    EXPECT_FALSE(options[0].weights.has_value());
    const auto x = testing::floats(pool.source, testing::numbers(*element_count(pool.source), 5));
    const Floats expected = testing::values_of<float>(testing::run_one(graph, {x}));
    const auto blocks = testing::run_one(testing::reorder_graph(Format::plain, format, pool.source), {x});
    const auto written = testing::run_one(pool.in_blocks(format), {blocks});
    const Floats result = testing::values_of<float>(
        testing::run_one(testing::reorder_graph(format, Format::plain, pool.result), {written}));
    ASSERT_EQ(result.size(), expected.size());
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], expected[i], 1e-6) << i;
    // The lanes without a channel stay zero.
    const Floats all = testing::values_of<float>(written);
    const auto lanes = static_cast<std::size_t>(format == Format::nchw16c ? 16 : 8);
    const std::size_t blocks_of_image = 17 / lanes + 1;
    const std::size_t places = expected.size() / (2 * 17);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t channel = i / (lanes * places) % blocks_of_image * lanes + i % lanes;
      if (channel >= 17) {
        ASSERT_EQ(all[i], 0) << i;
      }
    }
  }
}

TEST(LibraryPool, HasNoFormatsForOtherPools) {
  const auto options = [](const std::string& node) {
    const Graph graph = testing::graph_of("graph \"g\" {\n input x : f32[1,16,5,5]\n " + node + "\n output y }");
    return kernels_internal::library_formats()->options(graph, NodeId(0));
  };
  EXPECT_THAT(options("y = MaxPool(x) {kernel_shape = [2, 2], auto_pad = \"SAME_UPPER\"} : f32[1,16,5,5]"), IsEmpty());
  EXPECT_THAT(options("y, i = MaxPool(x) {kernel_shape = [2, 2]} : f32[1,16,4,4], i64[1,16,4,4]"), IsEmpty());
  EXPECT_THAT(options("y = LpPool(x) {kernel_shape = [2, 2]} : f32[1,16,4,4]"), IsEmpty());
  // The library has no fast kernel with gaps between taps.
  EXPECT_THAT(options("y = MaxPool(x) {kernel_shape = [2, 2], dilations = [2, 2]} : f32[1,16,3,3]"), IsEmpty());
  // The average would count a tap beyond the padding.
  EXPECT_THAT(options("y = AveragePool(x) {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, "
                      "count_include_pad = 1} : f32[1,16,3,3]"),
              IsEmpty());
}

TEST(LibraryPool, RefusesExtentsThatDisagree) {
  const PoolCase pool{.type = "MaxPool", .attributes = "kernel_shape = [2, 2]", .result = Shape({2, 17, 7, 6})};
  EXPECT_EQ(unsupported(pool.in_blocks(Format::nchw16c)).at(0).missing,
            "its attributes do not describe a pool of its tensors");
}

}  // namespace
}  // namespace lowtide
