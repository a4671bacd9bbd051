// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/chain_of_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide::testing {
namespace {

using rewrite_internal::chain_of_runs;
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

}  // namespace
}  // namespace lowtide::testing
