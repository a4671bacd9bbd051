// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/use_winograd.h"

#include <gmock/gmock.h>

#include "lowtide/graph/lowered.h"
#include "lowtide/lower/lower.h"
#include "tests/testing/block_formats.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A window of 3 x 3, one of 1 x 1, and a window of 3 x 3 with an epilogue.
constexpr const char* kConvolution = R"g(graph "g" {
  input x : f32[1,16,8,8]
  constant v : f32[16,16,3,3]
  constant w : f32[16,16,1,1]
  a = Conv(x, v) {pads = [1,1,1,1]} : f32[1,16,8,8]
  b = Conv(a, w) : f32[1,16,8,8]
  c = Conv(b, v) {pads = [1,1,1,1]} : f32[1,16,8,8]
  y = Relu(c) : f32[1,16,8,8]
  output y
})g";

Lowered lowered_with(bool winograd) {
  PassSet passes = {PassId::load_time, PassId::formats, PassId::epilogues};
  if (winograd) passes.insert(PassId::winograd);
  return lower(testing::graph_of(kConvolution), {.passes = passes, .machine = testing::block_formats()}).value();
}

// The nodes with an algorithm.
std::vector<std::string> changed_nodes(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    const auto* algorithm = find_attribute<std::string>(node.attributes, kAlgorithmAttribute);
    if (algorithm == nullptr) continue;
    EXPECT_EQ(*algorithm, kWinogradAlgorithm);
    names.push_back(node.name);
  }
  return names;
}

TEST(UseWinograd, MarksTheConvolutionsOfTheMachine) {
  const Lowered with = lowered_with(true);
  const Lowered without = lowered_with(false);
  EXPECT_THAT(with.passes, ElementsAre("load_time", "formats", "epilogues", "winograd"));
  EXPECT_THAT(without.passes, ElementsAre("load_time", "formats", "epilogues"));
  EXPECT_THAT(changed_nodes(without.graph), IsEmpty());
  ASSERT_EQ(with.graph.nodes().size(), without.graph.nodes().size());
  std::vector<std::string> windows;
  for (NodeId id : all_ids<NodeId>(with.graph.nodes().size())) {
    const auto* weights =
        find_attribute<std::vector<std::int64_t>>(without.graph.node(id).attributes, kWeightsAttribute);
    if (weights != nullptr && (*weights)[2] == 3) windows.push_back(without.graph.node(id).name);
  }
  EXPECT_EQ(windows.size(), 2U);
  EXPECT_EQ(changed_nodes(with.graph), windows);
  EXPECT_EQ(with.origins->nodes.size(), with.graph.nodes().size());
}

TEST(UseWinograd, IsListedOnlyIfItChangesANode) {
  const Graph relu = testing::graph_of("graph \"g\" {\n  input x : f32[2]\n  y = Relu(x) : f32[2]\n  output y\n}");
  EXPECT_FALSE(use_winograd(relu, *testing::block_formats()).value());
  EXPECT_THAT(
      lower(relu, {.passes = {PassId::load_time, PassId::winograd}, .machine = testing::block_formats()})->passes,
      IsEmpty());
  EXPECT_THAT(lower(testing::graph_of(kConvolution),
                    {.passes = {PassId::load_time, PassId::winograd}, .machine = testing::block_formats()})
                  ->passes,
              ElementsAre())
      << "without formats there is no lowtide::Conv";
}

}  // namespace
}  // namespace lowtide
