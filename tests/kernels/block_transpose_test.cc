// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/transpose.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::transpose_option;
using testing::ReversedTeam;

// A Transpose of the model that moves the channels of an image to the last axis, or back.
struct TransposeCase {
  std::vector<std::int64_t> image;  // [N, C, ...]
  bool is_into_blocks = false;

  [[nodiscard]] Shape channels_last() const {
    std::vector<std::int64_t> extents = {image[0]};
    extents.insert(extents.end(), image.begin() + 2, image.end());
    extents.push_back(image[1]);
    return Shape(extents);
  }
  [[nodiscard]] std::string perm() const {
    if (image.size() == 3) return "[0, 2, 1]";
    return is_into_blocks ? "[0, 3, 1, 2]" : "[0, 2, 3, 1]";
  }
  [[nodiscard]] Shape source() const { return is_into_blocks ? channels_last() : Shape(image); }
  [[nodiscard]] Shape result() const { return is_into_blocks ? Shape(image) : channels_last(); }
  [[nodiscard]] Graph graph() const {
    return testing::graph_of("graph \"g\" {\n  input x : f32" + to_string(source()) + "\n  y = Transpose(x) {perm = " +
                             perm() + "} : f32" + to_string(result()) + "\n  output y\n}");
  }
  [[nodiscard]] Graph in_blocks(Format format) const {
    const std::string name(to_string(format));
    const Shape blocks = shape_in(format, Shape(image));
    return testing::lowered_graph(
        "Transpose(x) {perm = " + perm() + ", input_format = \"" + (is_into_blocks ? "plain" : name) +
            "\", output_format = \"" + (is_into_blocks ? name : "plain") +
            "\", channels = " + std::to_string(image[1]) + "}",
        {"x : f32" + to_string(is_into_blocks ? source() : blocks)}, is_into_blocks ? blocks : result());
  }
};

// The blocks are those of a Reorder of the plain tensor, with zeros in the lanes without a channel.
TEST(BlockTranspose, HasTheBytesOfThePlainKernel) {
  const std::vector<std::vector<std::int64_t>> images = {{2, 17, 9, 7}, {1, 32, 5, 20}, {3, 96, 1, 4}, {1, 5, 3, 3},
                                                         {2, 40, 37},   {1, 16, 130},   {2, 3, 2, 2}};
  for (const std::vector<std::int64_t>& image : images) {
    for (const Format format : {Format::nchw16c, Format::nchw8c}) {
      for (const bool is_into_blocks : {false, true}) {
        const TransposeCase one{image, is_into_blocks};
        SCOPED_TRACE(testing::text_of(image) + " " + one.perm() + " " + std::string(to_string(format)));
        const auto in_blocks = [&](const testing::TensorData& plain) {
          return testing::run_one(testing::reorder_graph(Format::plain, format, Shape(image)), {plain});
        };
        const auto x = testing::floats(one.source(), testing::numbers(*element_count(one.source()), 3));
        const testing::TensorData moved = testing::run_one(one.graph(), {x});
        for (const int threads : testing::kThreadCounts) {
          ReversedTeam team(threads);
          const auto found =
              testing::run_one(one.in_blocks(format), {is_into_blocks ? x : in_blocks(x)}, threads, &team);
          EXPECT_EQ(found.bytes, (is_into_blocks ? in_blocks(moved) : moved).bytes);
        }
      }
    }
  }
}

TEST(BlockTranspose, IsForChannelsThatBecomeTheLastAxisOrTheSecond) {
  const auto formats_of = [](const std::string& source, const std::string& perm, const std::string& result) {
    const Graph graph = testing::graph_of("graph \"g\" {\n input x : " + source +
                                          "\n y = Transpose(x) {perm = " + perm + "} : " + result + "\n output y }");
    const std::optional<FormatOption> option = transpose_option(graph, NodeId(0), Format::nchw16c);
    if (!option) return std::string("none");
    return std::string(to_string(option->input)) + " to " + std::string(to_string(option->output));
  };
  EXPECT_EQ(formats_of("f32[1,8,4,5]", "[0, 2, 3, 1]", "f32[1,4,5,8]"), "nchw16c to plain");
  EXPECT_EQ(formats_of("f32[1,4,5,8]", "[0, 3, 1, 2]", "f32[1,8,4,5]"), "plain to nchw16c");
  EXPECT_EQ(formats_of("f32[1,8,4,5]", "[0, 3, 2, 1]", "f32[1,5,4,8]"), "none");
  EXPECT_EQ(formats_of("f16[1,8,4,5]", "[0, 2, 3, 1]", "f16[1,4,5,8]"), "none");
  EXPECT_EQ(formats_of("f32[8,4]", "[1, 0]", "f32[4,8]"), "none");
  // No element moves.
  EXPECT_EQ(formats_of("f32[1,8,1,1]", "[0, 2, 3, 1]", "f32[1,1,1,8]"), "none");
}

TEST(BlockTranspose, RefusesAttributesAndShapesThatDisagree) {
  const auto missing = [](const std::string& attributes, const std::string& result) {
    const Graph graph = testing::graph_of("graph \"g\" {\n input x : f32[1,2,4,5,16]\n y = lowtide::Transpose(x) {" +
                                          attributes + "} : f32" + result + "\n output y }");
    const auto found = unsupported(graph);
    return found.empty() ? "" : found.at(0).missing;
  };
  const std::string formats = "input_format = \"nchw16c\", output_format = \"plain\"";
  const auto declared = [](const std::string& result, const std::string& gives) {
    return "result 'y' is declared as f32" + result + ", and the operator gives " + gives;
  };
  EXPECT_EQ(missing("perm = [0, 2, 3, 1], channels = 20, " + formats, "[1,4,5,20]"), "");
  EXPECT_EQ(missing("perm = [0, 2, 3, 1], channels = 21, " + formats, "[1,4,5,20]"),
            declared("[1,4,5,20]", "[1,4,5,21]"));
  EXPECT_EQ(missing("perm = [0, 3, 2, 1], channels = 20, " + formats, "[1,4,5,20]"),
            declared("[1,4,5,20]", "[1,5,4,20]"));
  EXPECT_EQ(missing("perm = [0, 2, 3, 1], channels = 20, " + formats, "[1,5,4,20]"),
            declared("[1,5,4,20]", "[1,4,5,20]"));
  const std::string no_transpose = "its attributes do not describe a transpose";
  EXPECT_EQ(missing("channels = 20, " + formats, "[1,4,5,20]"), no_transpose);
  EXPECT_EQ(missing("perm = [0, 2, 3, 1], channels = 20", "[1,4,5,20]"), no_transpose);
  EXPECT_EQ(
      missing("perm = [0, 2, 3, 1], channels = 20, input_format = \"nhwc\", output_format = \"plain\"", "[1,4,5,20]"),
      "input 'x' is f32[1,2,4,5,16], and has to have the axes of the node");
}

}  // namespace
}  // namespace lowtide
