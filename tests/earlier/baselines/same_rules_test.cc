// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"
#include "tests/earlier/baselines/nets.h"
#include "tests/earlier/baselines/plain_rules.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using baselines_internal::BlobId;
using baselines_internal::BlobNet;
using baselines_internal::BlockChoice;
using baselines_internal::DagRule;

// Uses few sizes and few times, so that there are many ties. Some buffers have 0 bytes, and some are never live.
PackingProblem random_problem(Random& random) {
  PackingProblem problem;
  const std::int64_t count = random.between(0, 60);
  const std::int64_t moments = random.between(1, 40);
  const std::int64_t sizes = random.chance(50) ? 4 : 1000;
  const std::int64_t longest = random.chance(50) ? 4 : moments;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t begin = random.between(0, moments - 1);
    const std::int64_t end = random.chance(3) ? begin : std::min(moments, begin + random.between(1, longest));
    problem.buffers.push_back({.lifespan = {begin, end}, .size = Bytes(random.between(0, sizes))});
  }
  return problem;
}

TEST(SameRules, NearestSizeAgreesWithAScan) {
  Random random(21);
  std::size_t most_slots = 0;
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = random_problem(random);
    const IdVector<PackingId, std::uint32_t> slots = baselines_internal::nearest_size_slots(problem);
    EXPECT_EQ(slots, plain_nearest_size_slots(problem)) << round;
    for (std::uint32_t slot : slots) most_slots = std::max<std::size_t>(most_slots, slot + 1);
  }
  EXPECT_GT(most_slots, 20U);
}

TEST(SameRules, LargestFirstAgreesWithAScan) {
  Random random(22);
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = random_problem(random);
    const Result<IdVector<PackingId, Offset>> offsets = baselines_internal::largest_first_offsets(problem);
    ASSERT_TRUE(offsets);
    EXPECT_EQ(*offsets, plain_largest_first_offsets(problem)) << round;
  }
}

std::vector<PackingId> by_size(const PackingProblem& problem) {
  std::vector<PackingId> order;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) order.push_back(id);
  std::stable_sort(order.begin(), order.end(),
                   [&](PackingId a, PackingId b) { return problem.buffers[a].size > problem.buffers[b].size; });
  return order;
}

TEST(SameRules, LowestFreeRangeAgreesWithAScan) {
  Random random(25);
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = random_problem(random);
    const std::vector<PackingId> order = by_size(problem);
    const Result<IdVector<PackingId, Offset>> offsets = baselines_internal::lowest_free_offsets(problem, order);
    ASSERT_TRUE(offsets);
    EXPECT_EQ(*offsets, plain_lowest_free_offsets(problem, order)) << round;
  }
}

TEST(SameRules, BucketsAgreeWithAScan) {
  Random random(26);
  std::size_t inside = 0;  // buffers above others of their bucket
  for (int round = 0; round < 3000; ++round) {
    const PackingProblem problem = random_problem(random);
    const std::vector<PackingId> order = by_size(problem);
    const Result<baselines_internal::BucketChoice> choice = baselines_internal::bucket_offsets(problem, order);
    const baselines_internal::BucketChoice plain = plain_bucket_offsets(problem, order);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->bucket, plain.bucket) << round;
    EXPECT_EQ(choice->offset, plain.offset) << round;
    EXPECT_EQ(choice->sizes, plain.sizes) << round;
    for (Offset offset : plain.offset) inside += offset > Offset(0) ? 1 : 0;
  }
  EXPECT_GT(inside, 3000U);
}

// 300 buffers with at most 10 lifespans, [0, 1) to [0, 4): far more pairs than lifespans, so free ranges are kept by
// lifespan.
TEST(SameRules, LargestFirstOfFewLifespansAgreesWithAScan) {
  Random random(24);
  for (int round = 0; round < 300; ++round) {
    PackingProblem problem;
    const std::int64_t sizes = random.chance(50) ? 4 : 1000;
    for (int at = 0; at < 300; ++at) {
      const std::int64_t begin = random.between(0, 3);
      const std::int64_t end = random.chance(3) ? begin : random.between(begin + 1, 4);
      problem.buffers.push_back({.lifespan = {begin, end}, .size = Bytes(random.between(0, sizes))});
    }
    std::int64_t work = 0;
    const Result<IdVector<PackingId, Offset>> offsets = baselines_internal::largest_first_offsets(problem, &work);
    ASSERT_TRUE(offsets);
    EXPECT_LE(work, 4 * 10 * 300);  // far below the 30,000 pairs
    EXPECT_EQ(*offsets, plain_largest_first_offsets(problem)) << round;
  }
}

// Branches that start and end at random, and names of few sizes.
Net random_branches(Random& random) {
  std::string text;
  const int nodes = static_cast<int>(random.between(1, 60));
  const std::int64_t reach = random.chance(50) ? 4 : nodes;
  NetFacts facts{.outputs = {"b" + std::to_string(nodes - 1)}};
  const auto any = [&](int at) {
    const std::int64_t back = random.between(1, reach);
    return back > at ? std::string("data") : "b" + std::to_string(at - back);
  };
  for (int at = 0; at < nodes; ++at) {
    const std::string name = "b" + std::to_string(at);
    text += "F " + any(at) + (random.chance(50) ? "," + any(at) : "") + " -> " + name + "\n";
    facts.bytes[name] = 8 * random.between(1, 5);
  }
  return net_of(text, facts);
}

DagRule random_rule(Random& random, const BlobNet& net) {
  DagRule rule{.by_size = random.chance(50),
               .may_move = Flags<BlobId>(net.blobs.size()),
               .may_host = Flags<BlobId>(net.blobs.size()),
               .takes_part = Flags<std::uint32_t>(net.ops.size())};
  const bool all_take_part = random.chance(50);
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    if (!net.blobs[id].is_kept && random.chance(90)) rule.may_move.set(id);
    if (!net.blobs[id].is_kept && random.chance(20)) rule.may_host.set(id);
  }
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    if (all_take_part || random.chance(80)) rule.takes_part.set(at);
  }
  return rule;
}

TEST(SameRules, RecyclingInADagAgreesWithAScan) {
  Random random(23);
  int shared = 0;
  for (int round = 0; round < 2000; ++round) {
    Net net = random_branches(random);
    if (random.chance(30)) {
      for (std::size_t at = 0; at < net.graph.tensors().size(); ++at) {
        net.options.devices.push_back(static_cast<std::uint32_t>(random.below(2)));
      }
    }
    const Result<BlobNet> blobs = baselines_internal::blob_net(net.graph, given_order(net.graph), net.options, Bytes(1),
                                                               baselines_internal::ViewRule::none);
    ASSERT_TRUE(blobs) << blobs.error().message;
    const DagRule rule = random_rule(random, *blobs);
    const Result<BlockChoice> choice = baselines_internal::recycle_in_dag(*blobs, rule);
    const Result<BlockChoice> plain = plain_recycle_in_dag(*blobs, rule);
    ASSERT_TRUE(choice);
    ASSERT_TRUE(plain);
    EXPECT_EQ(choice->block, plain->block) << round;
    EXPECT_EQ(choice->names, plain->names) << round;
    shared += static_cast<int>(choice->names.size());
  }
  EXPECT_GT(shared, 4000);  // 2 blocks per net, and more
}

// What a rule has examined, for a chain or for branches.
struct Work {
  std::int64_t slots = 0;
  std::int64_t offsets = 0;
  std::int64_t lowest_offsets = 0;
  std::int64_t buckets = 0;
  std::int64_t dag = 0;
  std::int64_t sized_dag = 0;
};

Work work_of(const std::string& text, const std::string& output) {
  const Net net = net_of(text, {.outputs = {output}});
  const Result<BlobNet> blobs = baselines_internal::blob_net(net.graph, given_order(net.graph), net.options, Bytes(1),
                                                             baselines_internal::ViewRule::none);
  EXPECT_TRUE(blobs);
  PackingProblem problem;
  for (const baselines_internal::Blob& blob : blobs->blobs) {
    problem.buffers.push_back({.lifespan = {blob.first, blob.last + 1}, .size = blob.size});
  }
  DagRule rule{.may_move = Flags<BlobId>(blobs->blobs.size(), true),
               .may_host = Flags<BlobId>(blobs->blobs.size()),
               .takes_part = Flags<std::uint32_t>(blobs->ops.size(), true)};
  Work work;
  EXPECT_EQ(baselines_internal::nearest_size_slots(problem, {}, &work.slots).size(), problem.buffers.size());
  EXPECT_TRUE(baselines_internal::largest_first_offsets(problem, &work.offsets));
  EXPECT_TRUE(baselines_internal::lowest_free_offsets(problem, by_size(problem), &work.lowest_offsets));
  EXPECT_TRUE(baselines_internal::bucket_offsets(problem, by_size(problem), &work.buckets));
  EXPECT_TRUE(baselines_internal::recycle_in_dag(*blobs, rule, &work.dag));
  rule.by_size = true;
  EXPECT_TRUE(baselines_internal::recycle_in_dag(*blobs, rule, &work.sized_dag));
  return work;
}

// Ten times the nodes need at most 10 x log(20,000) / log(2,000) = 13 times the work, plus 20% for the shape of the
// tree. A scan would need 100 times the work.
void expect_near_linear(const Work& small, const Work& large) {
  EXPECT_LT(large.slots, 16 * small.slots);
  EXPECT_LT(large.offsets, 11 * small.offsets);
  EXPECT_LT(large.lowest_offsets, 11 * small.lowest_offsets);
  EXPECT_LT(large.buckets, 11 * small.buckets);
  EXPECT_LT(large.dag, 11 * small.dag);
  EXPECT_LT(large.sized_dag, 11 * small.sized_dag);
}

TEST(WorkOfRules, IsNearLinearInAChain) {
  const Work small = work_of(chain(2'000), "x2000");
  const Work large = work_of(chain(20'000), "x20000");
  expect_near_linear(small, large);
  EXPECT_GT(large.dag, 19'000);  // one look per node
}

TEST(WorkOfRules, IsNearLinearInBranches) {
  expect_near_linear(work_of(wide(5, 400), "out"), work_of(wide(5, 4'000), "out"));
}

// 20,000 buffers that are all live at the same time, with different lifespans, have 200 million pairs. The limit is
// 100 million.
TEST(WorkOfRules, TooManyPairsAreRefused) {
  PackingProblem problem;
  for (int at = 0; at < 20'000; ++at) problem.buffers.push_back({.lifespan = {at, 20'000}, .size = Bytes(1)});
  const Result<IdVector<PackingId, Offset>> offsets = baselines_internal::largest_first_offsets(problem);
  ASSERT_FALSE(offsets);
  EXPECT_FALSE(baselines_internal::lowest_free_offsets(problem, by_size(problem)));
  EXPECT_FALSE(baselines_internal::bucket_offsets(problem, by_size(problem)));
  EXPECT_EQ(offsets.error().code, ErrorCode::over_limit);
  EXPECT_EQ(offsets.error().message,
            "not computed, because the graph is too large: the rule would examine more than 100000000 pairs of tensors "
            "that are live at the same time (kMostPairs)");
}

}  // namespace
}  // namespace lowtide::testing
