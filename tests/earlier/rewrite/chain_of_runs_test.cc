// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/chain_of_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace lowtide::testing {
namespace {

using rewrite_internal::chain_of_runs;
using rewrite_internal::ChainedRun;
using rewrite_internal::OperandRead;
using rewrite_internal::RunChain;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ChainOfRuns, LetsAReadOfABiasBeginBeforeItsConv) {
  // 0 Relu, 1 Conv2D of 0, 2 the read of the bias, 3 BiasAdd of 1 and 2
  const RunChain chain = chain_of_runs({{0, "Relu"}, {1, "Conv2D"}, {2, "ReadVariableOp"}, {3, "BiasAdd"}},
                                       {{1, 0, 0}, {3, 0, 1}, {3, 1, 2}});
  EXPECT_THAT(chain.waits, UnorderedElementsAre(Pair(1, 0), Pair(2, 0), Pair(3, 1), Pair(3, 2)));
  EXPECT_THAT(chain.links, ElementsAre(0, 1, 3));
}

TEST(ChainOfRuns, KeepsAReadThatWaitsForAWrite) {
  const RunChain chain =
      chain_of_runs({{0, "Conv2D"}, {1, "ReadVariableOp", true}, {2, "BiasAdd"}}, {{2, 0, 0}, {2, 1, 1}});
  EXPECT_THAT(chain.waits, UnorderedElementsAre(Pair(1, 0), Pair(2, 1)));
}

TEST(ChainOfRuns, LetsNothingWaitForAShape) {
  const RunChain chain = chain_of_runs({{0, "Relu"}, {1, "ShapeN"}, {2, "Tanh"}}, {{1, 0, 0}});
  EXPECT_THAT(chain.waits, UnorderedElementsAre(Pair(2, 0)));
  EXPECT_THAT(chain.links, ElementsAre(0, 2));
}

TEST(ChainOfRuns, LetsNothingBetweenTheGradientsOfAConvWait) {
  // 0 the gradient, 1 an Identity of it, 2 BiasAddGrad, 3 its update, 4 Relu, 5 Conv2DBackpropFilter of 1 and 4, 6 Tanh
  const RunChain chain = chain_of_runs({{0, "ReluGrad"},
                                        {1, "Identity"},
                                        {2, "BiasAddGrad"},
                                        {3, "ApplyAdam"},
                                        {4, "Relu"},
                                        {5, "Conv2DBackpropFilter"},
                                        {6, "Tanh"}},
                                       {{1, 0, 0}, {2, 0, 0}, {3, 9, 2}, {5, 0, 4}, {5, 2, 1}});
  EXPECT_THAT(chain.links, ElementsAre(0, 1, 4, 5, 6));
  EXPECT_THAT(chain.waits, UnorderedElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 1), Pair(4, 1), Pair(5, 4), Pair(6, 5),
                                                Pair(6, 2), Pair(6, 3)));
}

// In each of these graphs, a step per pair of nodes would be billions of them.
TEST(ChainOfRuns, FollowsALongRowOfIdentitiesOnce) {
  constexpr std::uint32_t kCount = 200'000;
  std::vector<ChainedRun> runs = {{0, "ReluGrad"}};
  std::vector<OperandRead> reads;
  for (std::uint32_t at = 1; at <= kCount; ++at) {
    runs.push_back({at, "Identity"});
    reads.push_back({at, 0, at - 1});
  }
  runs.insert(runs.end(), {{kCount + 1, "BiasAddGrad"}, {kCount + 2, "Conv2DBackpropFilter"}});
  reads.insert(reads.end(), {{kCount + 1, 0, kCount}, {kCount + 2, 2, kCount}});
  const RunChain chain = chain_of_runs(runs, reads);
  EXPECT_EQ(chain.links.size(), kCount + 2);
  EXPECT_EQ(chain.waits.size(), kCount + 2);
  EXPECT_EQ(chain.waits.back(), std::pair(kCount + 2, kCount));
}

TEST(ChainOfRuns, TakesManyReadsOfOneNode) {
  constexpr std::uint32_t kCount = 100'000;
  std::vector<ChainedRun> runs = {{0, "Relu"}};
  std::vector<OperandRead> reads = {{kCount + 1, 0, 0}};
  for (std::uint32_t at = 1; at <= kCount; ++at) {
    runs.push_back({at, "ReadVariableOp"});
    reads.push_back({kCount + 1, at, at});
  }
  runs.push_back({kCount + 1, "AddN"});
  const RunChain chain = chain_of_runs(runs, reads);
  EXPECT_THAT(chain.links, ElementsAre(0, kCount + 1));
  EXPECT_EQ(chain.waits.size(), kCount + 1);  // none of the reads waits, and the sum waits for all runs
}

TEST(ChainOfRuns, KeepsManyGradientsOfBiasesOpen) {
  constexpr std::uint32_t kCount = 100'000;
  std::vector<ChainedRun> runs = {{0, "ReluGrad"}};
  std::vector<OperandRead> reads;
  for (std::uint32_t at = 1; at <= kCount; ++at) {
    runs.push_back({at, at % 2 == 0 ? "Relu" : "BiasAddGrad"});
    if (at % 2 != 0) reads.push_back({at, 0, 0});
  }
  runs.insert(runs.end(), {{kCount + 1, "Conv2DBackpropFilter"}, {kCount + 2, "Tanh"}});
  reads.push_back({kCount + 1, 2, 0});
  const RunChain chain = chain_of_runs(runs, reads);
  EXPECT_EQ(chain.links.size(), kCount / 2 + 3);
  // One for each link and each gradient behind the first run, and the last run waits for all gradients.
  EXPECT_EQ(chain.waits.size(), kCount + 2 + kCount / 2);
}

}  // namespace
}  // namespace lowtide::testing
