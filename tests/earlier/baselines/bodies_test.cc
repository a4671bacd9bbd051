// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "lowtide/earlier/baselines/baselines.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/testing/graphs.h"

// Nodes that run a graph. What the body reads is used until the node ends, like an input of the node.
namespace lowtide::testing {
namespace {

// Whether the two tensors have a byte in common. For baselines without an order of their own.
bool shares_bytes(const Net& net, const BaselineOutcome& outcome, const std::string& one, const std::string& other) {
  const std::optional<SharingPlace>& first = outcome.sharing.places[last_of(net, one)];
  const std::optional<SharingPlace>& second = outcome.sharing.places[last_of(net, other)];
  if (!first || !second || first->block != second->block) return false;
  const Bytes first_size = net.graph.tensor(last_of(net, one)).size;
  const Bytes second_size = net.graph.tensor(last_of(net, other)).size;
  return first->offset < second->offset + second_size && second->offset < first->offset + first_size;
}

// d is written before the body reads a. If the body reads x instead, a is not needed any more, and d takes its place.
TEST(BaselinesOfBodies, WhatABodyReadsIsLiveUntilTheNodeEnds) {
  const std::string text = "F x -> a; F a -> e; F e -> d; If c captures ";
  for (const char* baseline : {"caffe2_simple", "caffe2_dag", "caffe2_dag_sized", "caffe2_interference_greedy",
                               "caffe2_interference_exact", "static_runtime_groups", "aitemplate_greedy_by_size"}) {
    const Net held = net_of(text + "a -> r; F r -> o", {.outputs = {"o"}});
    const BaselineOutcome outcome = outcome_of(held, baseline);
    EXPECT_FALSE(shares_bytes(held, outcome, "a", "d")) << baseline;
    EXPECT_FALSE(shares_bytes(held, outcome, "a", "e")) << baseline;
    EXPECT_FALSE(shares_bytes(held, outcome, "a", "r")) << baseline;  // written while the body runs
  }
  for (const char* baseline : {"caffe2_simple", "caffe2_dag", "static_runtime_groups"}) {
    const Net done = net_of(text + "x -> r; F r -> o", {.outputs = {"o"}});
    EXPECT_TRUE(shares_bytes(done, outcome_of(done, baseline), "a", "d")) << baseline;
  }
}

// The original returns such a net unchanged.
TEST(BaselinesOfBodies, TensorsOutsideABodyAreShared) {
  const Net net =
      net_of("F x -> a; F a -> b; Loop b captures a -> c; F c -> d; F d -> e; F e -> o", {.outputs = {"o"}});
  const BaselineOutcome outcome = outcome_of(net, "caffe2_simple");
  EXPECT_EQ(outcome.blobs_left, 5);        // x, o, and what is live at the loop: a, b, c
  EXPECT_EQ(own_arena(net), 3 * 64 + 64);  // these, and what the body computes
}

}  // namespace
}  // namespace lowtide::testing
