// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>

#include "tests/verify/byte_oracle.h"
#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

std::string first(const std::vector<std::string>& faults) { return faults.empty() ? "" : faults[0]; }

// What the plans have in them: a test of right plans means little if none shares bytes.
struct Census {
  int steps = 0, aliases = 0, concats = 0, scratch = 0, in_place = 0, bodies = 0, empties = 0, shared_addresses = 0;

  void count(const Graph& graph, const Plan& plan) {
    for (const Step& step : plan.program) {
      ++steps;
      if (step.kind == StepKind::alias) ++(graph.op(step.node).type == "Concat" ? concats : aliases);
      scratch += step.scratch.has_value() ? 1 : 0;
      bodies += static_cast<int>(step.bodies.size());
      for (ValueId read : step.reads) {
        for (ValueId write : step.writes) {
          const Value& from = plan.values[read];
          const Value& to = plan.values[write];
          in_place += step.kind == StepKind::compute && from.buffer == to.buffer && from.offset == to.offset ? 1 : 0;
        }
      }
    }
    std::map<std::pair<std::uint32_t, std::int64_t>, int> at;
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.size == Bytes(0)) {
        ++empties;
      } else if (buffer.placement &&
                 ++at[{buffer.placement->region.value(), buffer.placement->offset.position()}] > 1) {
        ++shared_addresses;
      }
    }
  }
};

// The verifier refuses no right plan; and the generator makes none that is wrong.
TEST(ValidPlans, AreAccepted) {
  Census census;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
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
      "buffers that share an address %d\n",
      census.steps, census.aliases, census.concats, census.in_place, census.scratch, census.bodies, census.empties,
      census.shared_addresses);
  EXPECT_GT(census.steps, 100'000);
  for (int count : {census.aliases, census.concats, census.in_place, census.scratch, census.bodies, census.empties,
                    census.shared_addresses}) {
    EXPECT_GT(count, 1'000);
  }
}

}  // namespace
}  // namespace lowtide::testing
