// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "lowtide/graph/text.h"
#include "lowtide/target/target.h"

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// The in-place pairs of the only kernel of the last node.
std::vector<std::pair<int, int>> in_place(const std::string& lines) {
  const Result<Graph> graph = parse_graph("graph \"g\" {\n" + lines + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << graph.error().describe();
  const NodeId last(static_cast<std::uint32_t>(graph->nodes().size() - 1));
  const std::vector<Kernel> kernels = dense_catalogue()->kernels(*graph, last);
  EXPECT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "dense");
  EXPECT_EQ(kernels[0].scratch, Bytes(0));
  return kernels[0].in_place;
}

TEST(DenseTarget, HasOneRegionWithoutALimitAndOneWorker) {
  const Target target = dense_target();
  ASSERT_EQ(target.machine.regions.size(), 1U);
  EXPECT_EQ(target.machine.regions[0].capacity, std::nullopt);
  EXPECT_EQ(target.machine.regions[0].alignment, Bytes(64));
  EXPECT_TRUE(target.machine.links.empty());
  ASSERT_EQ(target.machine.workers.size(), 1U);
  EXPECT_TRUE(can_address(target.machine.workers[WorkerId(0)], RegionId(0)));
  EXPECT_NE(target.catalogue, nullptr);
}

TEST(DenseCatalogue, InPlaceFollowsTheOperator) {
  EXPECT_THAT(in_place("input x : f32[4]\ny = Relu(x) : f32[4]"), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(in_place("input x : f32[4]\ninput z : f32[4]\ny = Add(x, z) : f32[4]"),
              ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_THAT(in_place("input x : f32[4]\ninput z : f32[4]\ny = PRelu(x, z) : f32[4]"), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(in_place("input x : f32[4]\ny = Conv(x) : f32[4]"), IsEmpty());
  EXPECT_THAT(in_place("input x : f32[4]\ny = com.example::Relu(x) : f32[4]"), IsEmpty());
}

TEST(DenseCatalogue, InPlaceNeedsTheSameShapeAndElementSize) {
  // The broadcast input of 1 element cannot hold the output.
  EXPECT_THAT(in_place("input x : f32[4]\ninput z : f32[1]\ny = Add(x, z) : f32[4]"), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(in_place("input x : f32[4]\ny = Cast(x) : i32[4]"), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(in_place("input x : f32[4]\ny = Cast(x) : f16[4]"), IsEmpty());
  EXPECT_THAT(in_place("input x : f32[4]\ny = Relu(_) : f32[4]"), IsEmpty());
  EXPECT_THAT(in_place("input x : f32[4]\n_ = Relu(x)"), IsEmpty());
  EXPECT_THAT(in_place("Relu()"), IsEmpty());
}

// Element i of the result is at byte 4 * i, as element i of each operand.
TEST(DenseCatalogue, LeadingExtentsOfOneDoNotPreventInPlace) {
  const std::string inputs = "input x : f32[4]\ninput z : f32[1,4]\n";
  EXPECT_THAT(in_place(inputs + "y = Add(x, z) : f32[1,4]"), ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_THAT(in_place(inputs + "y = PRelu(x, z) : f32[1,4]"), IsEmpty());
  EXPECT_THAT(in_place("input x : f32[4]\ninput z : f32[4,1]\ny = Add(x, z) : f32[4,4]"), IsEmpty());
}

// At run time x may have one element, which the kernel then combines with every element of z. z has 4 in every run.
TEST(DenseCatalogue, InputsThatMayBeBroadcastAreNotOverwritten) {
  const std::string bounded = "input x : f32[<=4]\ninput z : f32[4]\n";
  EXPECT_THAT(in_place(bounded + "y = Add(x, z) : f32[<=4]"), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(in_place("input x : f32[1,<=4]\ninput z : f32[4]\ny = Add(x, z) : f32[1,4]"), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(in_place(bounded + "y = Relu(x) : f32[<=4]"), ElementsAre(Pair(0, 0)));
}

}  // namespace
}  // namespace lowtide
