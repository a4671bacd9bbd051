// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "tests/campaign.h"
#include "tests/verify/byte_oracle.h"
#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

std::string first(const std::vector<std::string>& faults) { return faults.empty() ? "" : faults[0]; }

// Counts what the plans contain. A test of valid plans means little if none of them shares bytes.
struct Census {
  int steps = 0, aliases = 0, concats = 0, scratch = 0, in_place = 0, bodies = 0, empties = 0, shared_addresses = 0;
  int recomputed = 0, copies_whole = 0, copies_in_pieces = 0, swaps = 0, brought_in = 0, states_in_place = 0,
      states_copied = 0, chains = 0;

  void count(const Graph& graph, const Plan& plan) {
    std::set<NodeId> ran;
    for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
      const Step& step = plan.program.steps[id];
      ++steps;
      scratch += plan.layout.steps[id].scratch.has_value() ? 1 : 0;
      bodies += static_cast<int>(plan.layout.steps[id].bodies.size());
      chains += step.after.empty() ? 0 : 1;
      if (is_copy(step)) count_copy(graph, plan, step);
      if (is_alias(step)) ++(graph.op(*node_of(step)).type == "Concat" ? concats : aliases);
      if (!is_compute(step)) continue;
      recomputed += ran.insert(*node_of(step)).second ? 0 : 1;
      for (ValueId read : step.reads) {
        for (ValueId write : step.writes) in_place += plan.layout.values[read] == plan.layout.values[write] ? 1 : 0;
      }
    }
    count_updates(plan);
    count_buffers(plan);
  }

  // A swap copies a value out and back in. Only the copy back counts as a swap.
  void count_copy(const Graph& graph, const Plan& plan, const Step& step) {
    const Interval<std::int64_t>& bytes = std::get<Copy>(step.work).bytes;
    const Value& from = plan.program.values[step.reads[0]];
    const bool is_whole = bytes.end - bytes.begin == graph.tensor(from.tensor).size.count();
    ++(is_whole ? copies_whole : copies_in_pieces);
    if (!plan.program.streams[step.stream].link) return;
    const Buffer& source = plan.layout.buffers[plan.layout.values[step.reads[0]].buffer];
    if (!source.placement) ++brought_in;
    if (source.placement && source.placement->region == RegionId(1)) ++swaps;
  }

  void count_updates(const Plan& plan) {
    for (ValueId next : plan.program.updates) {
      const std::optional<StepId>& written = plan.program.values[next].written;
      if (written && is_copy(plan.program.steps[*written])) ++states_copied;
      if (written && is_compute(plan.program.steps[*written])) ++states_in_place;
    }
  }

  void count_buffers(const Plan& plan) {
    std::map<std::pair<std::uint32_t, std::int64_t>, int> at;
    for (const Buffer& buffer : plan.layout.buffers) {
      if (buffer.size == Bytes(0)) {
        ++empties;
      } else if (buffer.placement &&
                 ++at[{buffer.placement->region.value(), buffer.placement->offset.position()}] > 1) {
        ++shared_addresses;
      }
    }
  }
};

// The verifier accepts every valid plan, and the generator makes only valid plans.
TEST(ValidPlans, AreAccepted) {
  Census census;
  for (int seed = 0; seed < testing::sampled(20'000); ++seed) {
    Random random(seed);
    const auto graph = random_graph(random);
    const Plan plan = random_plan(*graph, random);
    ASSERT_EQ(first(byte_faults(*graph, plan)), "") << "seed " << seed;
    ASSERT_EQ(first(rule_faults(*graph, plan)), "") << "seed " << seed;
    ASSERT_EQ(messages(verify(*graph, plan)), "") << "seed " << seed;
    census.count(*graph, plan);
  }
  std::printf(
      "steps %d, aliases %d, concats in place %d, kernels in place %d, scratch %d, bodies %d, empty buffers %d, "
      "buffers that share an address %d\nnodes that run again %d, whole copies %d, pieces %d, swaps %d, brought in %d, "
      "states written in place %d, states copied %d, steps that wait %d\n",
      census.steps, census.aliases, census.concats, census.in_place, census.scratch, census.bodies, census.empties,
      census.shared_addresses, census.recomputed, census.copies_whole, census.copies_in_pieces, census.swaps,
      census.brought_in, census.states_in_place, census.states_copied, census.chains);
  EXPECT_GT(census.steps, testing::sampled(100'000));
  for (int count : {census.aliases, census.concats, census.in_place, census.scratch, census.bodies, census.empties,
                    census.shared_addresses, census.recomputed, census.copies_whole, census.copies_in_pieces,
                    census.swaps, census.brought_in, census.states_in_place, census.states_copied, census.chains}) {
    EXPECT_GT(count, testing::sampled(1'000));
  }
}

}  // namespace
}  // namespace lowtide::testing
