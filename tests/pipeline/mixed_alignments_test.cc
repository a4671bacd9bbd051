// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Targets whose regions have different alignments.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/graph/builder.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

Target mixed(Bytes first, Bytes second) {
  Target target = two_regions(Bytes(64), Bytes(8), first);
  target.machine.regions[1].capacity = second;
  return target;
}

// a and b have 40 bytes each. The first region rounds up to 64 bytes, and the second one does not.
TEST(MixedAlignments, ABufferIsRoundedForItsOwnRegion) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[10]
    a = Conv(x) : f32[10]
    b = Conv(a) : f32[10]
    output b
  })");
  for (ExecutionModel run : {ExecutionModel::sequence, ExecutionModel::streams, ExecutionModel::dataflow}) {
    const PlanOptions options{.streams = 2, .run = run};
    EXPECT_TRUE(must_plan(graph, options, mixed(Bytes(64), Bytes(40))).fits()) << to_string(run);
    EXPECT_FALSE(must_plan(graph, options, mixed(Bytes(64), Bytes(39))).fits()) << to_string(run);
  }
}

// Where all buffers fit, sizes stay rounded up for the first region, so that its sums of sizes are exact.
TEST(MixedAlignments, APlanThatFitsIsRoundedForTheFirstRegion) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, mixed(Bytes(320), Bytes(40)));
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(320), Bytes(0)}));
  EXPECT_TRUE(planned.plan.claims.allocate_optimal);
}

struct Part {
  std::int64_t alignment = 1;
  std::int64_t capacity = 0;
};

std::int64_t up(std::int64_t size, std::int64_t unit) { return (size + unit - 1) / unit * unit; }

// Whether tensors of a chain fit these regions, where each tensor is live with the next one. `choice` has two bits per
// tensor: its region, and whether it lies at the bottom or at the top of it.
bool fits(const std::vector<std::int64_t>& sizes, const std::vector<Part>& regions, std::size_t choice) {
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const std::size_t own = choice >> (2 * at) & 3;
    const Part& region = regions[own & 1];
    if (sizes[at] > region.capacity) return false;
    if (at + 1 == sizes.size()) break;
    const std::size_t next = choice >> (2 * at + 2) & 3;
    if ((own & 1) != (next & 1)) continue;
    if (own == next) return false;
    const std::int64_t bottom = own < next ? sizes[at] : sizes[at + 1];
    const std::int64_t top = own < next ? sizes[at + 1] : sizes[at];
    if (up(bottom, region.alignment) + top > region.capacity) return false;
  }
  return true;
}

Graph chain_of(const std::vector<std::int64_t>& sizes) {
  GraphBuilder builder("chain");
  TensorId last = builder.add_tensor({.name = "x", .shape = Shape({4})}, Role::input);
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const TensorId next = builder.add_tensor({.name = "t" + std::to_string(at), .shape = Shape({sizes[at] / 4})});
    builder.add_node({.type = "Conv", .inputs = {last}, .outputs = {next}});
    last = next;
  }
  builder.set_outputs({last});
  return *std::move(builder).build();
}

// A chain has one order, and its tensors have fixed places in the best plan. Sizes are whole units of 8 bytes.
TEST(MixedAlignments, ChainsFitWhereBruteForceFindsAPlan) {
  constexpr std::size_t kTensors = 5;
  int only_finer = 0;
  int fitting = 0;
  for (int round = 0; round < 400; ++round) {
    Random random(static_cast<std::uint64_t>(round));
    std::vector<std::int64_t> sizes;
    for (std::size_t at = 0; at < kTensors; ++at) sizes.push_back(random.between(1, 16) * 8);
    const std::vector<Part> regions = {{64, random.between(1, 3) * 64}, {8, random.between(1, 16) * 8}};
    std::vector<std::int64_t> coarse;
    for (std::int64_t size : sizes) coarse.push_back(up(size, 64));
    bool is_possible = false;
    bool is_possible_coarsely = false;
    for (std::size_t choice = 0; choice < std::size_t{1} << (2 * kTensors); ++choice) {
      is_possible = is_possible || fits(sizes, regions, choice);
      is_possible_coarsely = is_possible_coarsely || fits(coarse, regions, choice);
    }
    const Target target = mixed(Bytes(regions[0].capacity), Bytes(regions[1].capacity));
    ASSERT_EQ(must_plan(chain_of(sizes), {}, target).fits(), is_possible) << "round " << round;
    fitting += is_possible ? 1 : 0;
    only_finer += is_possible && !is_possible_coarsely ? 1 : 0;
  }
  EXPECT_GT(fitting, 100);
  EXPECT_GT(only_finer, 30);
}

}  // namespace
}  // namespace lowtide::testing
