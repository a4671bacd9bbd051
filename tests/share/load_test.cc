// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/load.h"

#include <gtest/gtest.h>

#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

TEST(LoadProfile, CountsScratchAndRoundsUp) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[1]
    b = Conv(a) : f32[17]
    output b
  })");
  ChosenKernels kernels = dense_kernels(graph);
  kernels[NodeId(0)].scratch = Bytes(100);
  const AliasOptions options{.alignment = Bytes(64)};
  const std::vector<Bytes> profile =
      load_profile(alias_classes(graph, kernels, given_order(graph), options), kernels, given_order(graph), options);
  // a: 4 -> 64, scratch 100 -> 128; then a 64 and b 68 -> 128.
  EXPECT_EQ(profile, (std::vector<Bytes>{Bytes(64 + 128), Bytes(64 + 128)}));
}

// A body without nodes that returns its inputs. It has one moment, with 8 and 20 floats, each rounded up.
TEST(LoadProfile, OfAnOrderWithoutNodesHasOneMoment) {
  const Graph graph = graph_of("graph \"g\" {\n input a : f32[8]\n input b : f32[20]\n output b, a\n}");
  const AliasOptions body{.alignment = Bytes(64), .inputs_live_throughout = true};
  EXPECT_EQ(load_profile(alias_classes(graph, {}, {}, body), {}, {}, body), std::vector{Bytes(64 + 128)});
  EXPECT_EQ(load_profile(alias_classes(graph, {}, {}), {}, {}), std::vector{Bytes(0)});
}

}  // namespace
}  // namespace lowtide::testing
