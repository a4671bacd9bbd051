// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/concat.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/reversed_team.h"

namespace lowtide {
namespace {

using kernels_internal::concat_option;
using testing::Floats;
using testing::ReversedTeam;

// A Concat of the model along the channels of images.
struct ConcatCase {
  std::vector<std::int64_t> channels;
  std::vector<std::int64_t> spatial = {9, 11};  // 99 places, more than are copied in one turn
  std::int64_t images = 2;

  [[nodiscard]] Shape shape(std::int64_t all) const {
    std::vector<std::int64_t> extents = {images, all};
    extents.insert(extents.end(), spatial.begin(), spatial.end());
    return Shape(extents);
  }
  [[nodiscard]] Shape result() const {
    std::int64_t all = 0;
    for (std::int64_t one : channels) all += one;
    return shape(all);
  }
  [[nodiscard]] std::string operands() const {
    std::string names;
    for (std::size_t at = 0; at < channels.size(); ++at) names += (at == 0 ? "x" : ", x") + std::to_string(at);
    return names;
  }
  [[nodiscard]] Graph graph(const std::string& axis = "1") const {
    std::string text = "graph \"g\" {\n";
    for (std::size_t at = 0; at < channels.size(); ++at) {
      text += "  input x" + std::to_string(at) + " : f32" + to_string(shape(channels[at])) + "\n";
    }
    return testing::graph_of(text + "  y = Concat(" + operands() + ") {axis = " + axis + "} : f32" +
                             to_string(result()) + "\n  output y\n}");
  }
  [[nodiscard]] Graph in_blocks(Format format) const {
    std::vector<std::string> inputs;
    for (std::size_t at = 0; at < channels.size(); ++at) {
      inputs.push_back("x" + std::to_string(at) + " : f32" + to_string(shape_in(format, shape(channels[at]))));
    }
    return testing::lowered_graph("Concat(" + operands() + ") {format = \"" + std::string(to_string(format)) +
                                      "\", channels = " + testing::text_of(channels) + "}",
                                  inputs, shape_in(format, result()));
  }
};

// The result of a Reorder of the plain result also has zeros in the lanes without a channel.
TEST(BlockConcat, HasTheBytesOfThePlainKernelInBlocks) {
  const std::vector<ConcatCase> cases = {{.channels = {36, 36, 36, 36, 36}}, {.channels = {20, 20}},
                                         {.channels = {1, 17, 3, 30, 8}},    {.channels = {5}},
                                         {.channels = {16, 4, 32, 9}},       {.channels = {3, 1, 1, 2}, .spatial = {7}},
                                         {.channels = {12, 20}, .images = 1}};
  for (const ConcatCase& one : cases) {
    for (const Format format : {Format::nchw16c, Format::nchw8c}) {
      SCOPED_TRACE(testing::text_of(one.channels) + " " + std::string(to_string(format)));
      std::vector<testing::TensorData> plain;
      std::vector<testing::TensorData> blocks;
      for (std::size_t at = 0; at < one.channels.size(); ++at) {
        const Shape shape = one.shape(one.channels[at]);
        plain.push_back(testing::floats(shape, testing::numbers(*element_count(shape), at + 1)));
        blocks.push_back(testing::run_one(testing::reorder_graph(Format::plain, format, shape), {plain.back()}));
      }
      const testing::TensorData joined = testing::run_one(one.graph(), plain);
      const testing::TensorData expected =
          testing::run_one(testing::reorder_graph(Format::plain, format, one.result()), {joined});
      for (const int threads : testing::kThreadCounts) {
        ReversedTeam team(threads);
        EXPECT_EQ(testing::run_one(one.in_blocks(format), blocks, threads, &team).bytes, expected.bytes);
      }
    }
  }
}

TEST(BlockConcat, IsForChannelsThatDoNotFillTheirBlocks) {
  const auto has_option = [](const std::vector<std::int64_t>& channels, Format format, const std::string& axis = "1") {
    return concat_option(ConcatCase{.channels = channels}.graph(axis), NodeId(0), format).has_value();
  };
  EXPECT_TRUE(has_option({36, 36}, Format::nchw16c));
  EXPECT_TRUE(has_option({16, 4}, Format::nchw16c, "-3"));
  EXPECT_TRUE(has_option({24, 24}, Format::nchw16c));
  EXPECT_FALSE(has_option({24, 24}, Format::nchw8c));
  EXPECT_FALSE(has_option({16, 32}, Format::nchw16c));
  const Graph rows = testing::graph_of(
      "graph \"g\" {\n input x : f32[1,5,4,4]\n y = Concat(x, x) {axis = 2} : f32[1,5,8,4]\n output y }");
  EXPECT_FALSE(concat_option(rows, NodeId(0), Format::nchw16c));
}

TEST(BlockConcat, RefusesAttributesAndShapesThatDisagree) {
  const auto missing = [](const std::string& attributes, const std::string& second, const Shape& result) {
    const Graph graph = testing::lowered_graph("Concat(x, z) {" + attributes + "}",
                                               {"x : f32[1,2,4,4,16]", "z : f32" + second}, result);
    const auto found = unsupported(graph);
    return found.empty() ? "" : found.at(0).missing;
  };
  const std::string good = "format = \"nchw16c\", channels = [20, 20]";
  const Shape result({1, 3, 4, 4, 16});
  const std::string no_concat = "its attributes do not describe a concat";
  EXPECT_EQ(missing(good, "[1,2,4,4,16]", result), "");
  EXPECT_EQ(missing("format = \"nchw16c\", channels = [20, 20, 20]", "[1,2,4,4,16]", result), no_concat);
  EXPECT_EQ(missing("format = \"nchw16c\", channels = 20", "[1,2,4,4,16]", result), no_concat);
  EXPECT_EQ(missing("channels = [20, 20]", "[1,2,4,4,16]", result), no_concat);
  EXPECT_EQ(missing("format = \"nchw16c\", channels = [20, 40]", "[1,2,4,4,16]", result),
            "operand 1 is not in its format");
  EXPECT_EQ(missing("format = \"nchw8c\", channels = [20, 20]", "[1,2,4,4,16]", result),
            "operand 0 is not in its format");
  const std::string differs = ", and has to have the extents of the other operands except in the channels";
  EXPECT_EQ(missing(good, "[1,2,4,5,16]", result), "input 'z' is f32[1,2,4,5,16]" + differs);
  EXPECT_EQ(missing(good, "[2,2,4,4,16]", result), "input 'z' is f32[2,2,4,4,16]" + differs);
  const std::string gives = ", and the operator gives [1,3,4,4,16]";
  EXPECT_EQ(missing(good, "[1,2,4,4,16]", Shape({1, 4, 4, 4, 16})),
            "result 'y' is declared as f32[1,4,4,4,16]" + gives);
  EXPECT_EQ(missing(good, "[1,2,4,4,16]", Shape()), "result 'y' is declared as f32[]" + gives);
}

}  // namespace
}  // namespace lowtide
