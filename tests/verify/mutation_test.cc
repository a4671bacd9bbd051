// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/campaign.h"
#include "tests/verify/byte_oracle.h"
#include "tests/verify/mutations.h"
#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

constexpr int kWrongOfEachKind = 1'000;  // in a campaign
constexpr int kMostTries = 20'000;       // of one kind; a kind that needs more is wrong too rarely to be useful

// Correct plans to damage; each is used many times.
const std::vector<Mutant>& right_plans() {
  static const std::vector<Mutant> kPlans = [] {
    std::vector<Mutant> plans;
    for (std::uint64_t seed = 1'000'000; plans.size() < 4'000; ++seed) {
      Random random(seed);
      const auto graph = random_graph(random);
      if (!graph->nodes().empty()) plans.push_back({graph, random_plan(*graph, random)});
    }
    return plans;
  }();
  return kPlans;
}

bool is_near(const Plan& plan) {
  return std::all_of(plan.layout.buffers.begin(), plan.layout.buffers.end(), [](const Buffer& buffer) {
    return !buffer.placement || std::abs(buffer.placement->offset.position()) < (1 << 20);
  });
}

// Whether more damage can be applied without tripping over the damage so far.
bool has_numbers_in_range(const Plan& plan) {
  const bool has_steps = std::all_of(plan.program.values.begin(), plan.program.values.end(), [&](const Value& value) {
    return !value.written || plan.program.steps.contains(*value.written);
  });
  return has_steps && is_near(plan) &&
         std::all_of(plan.machine.regions.begin(), plan.machine.regions.end(),
                     [](const Region& region) { return is_power_of_two(region.alignment.count()); }) &&
         std::all_of(plan.layout.buffers.begin(), plan.layout.buffers.end(), [](const Buffer& buffer) {
           return buffer.size >= Bytes(0) && buffer.size < Bytes(1 << 20) &&
                  buffer.lifespan.begin <= buffer.lifespan.end;
         });
}

bool has_regions(const Plan& plan) {
  return std::all_of(plan.layout.buffers.begin(), plan.layout.buffers.end(), [&](const Buffer& buffer) {
    return !buffer.placement || buffer.placement->region.index() < plan.machine.regions.size();
  });
}

// Makes arena and claims true if they can be computed.
void cover_up(Mutant& mutant) {
  if (!is_near(mutant.plan) || !has_regions(mutant.plan)) return;
  make_honest(*mutant.graph, mutant.plan);
  for (std::size_t at = 0; at < mutant.plan.machine.regions.size(); ++at) {
    std::optional<Bytes>& capacity = mutant.plan.machine.regions[at].capacity;
    if (capacity) capacity = std::max(*capacity, mutant.plan.layout.arena[at]);
  }
}

// Prints the name alone instead of the bytes of pointers.
[[maybe_unused]] void PrintTo(const MutationKind& kind, std::ostream* out) { *out << kind.name; }

class Mutations : public ::testing::TestWithParam<MutationKind> {};

// The two oracles alone decide whether a mutant is right. The verifier must agree with them on every mutant:
//   wrong bytes, or a broken rule  ->  refused
//   neither                        ->  accepted: the damage did no harm
TEST_P(Mutations, AreRefusedExactlyWhereTheyAreWrong) {
  const MutationKind& kind = GetParam();
  Random random(0xC0FFEE);
  const int wanted = testing::sampled(kWrongOfEachKind);
  int applied = 0, wrong_bytes = 0, wrong_rules_only = 0, harmless = 0;
  for (int tries = 0; tries < kMostTries && wrong_bytes + wrong_rules_only < wanted; ++tries) {
    Mutant mutant = right_plans()[random.below(right_plans().size())];
    if (!kind.apply(random, mutant)) continue;
    ++applied;
    if (kind.covers_up) cover_up(mutant);
    const std::vector<std::string> bytes = byte_faults(*mutant.graph, mutant.plan);
    const std::vector<std::string> rules = rule_faults(*mutant.graph, mutant.plan);
    const std::vector<Violation> found = verify(*mutant.graph, mutant.plan);
    if (!bytes.empty()) {
      ++wrong_bytes;
      ASSERT_FALSE(found.empty()) << "try " << tries << " is accepted, but " << bytes[0];
    } else if (!rules.empty()) {
      ++wrong_rules_only;
      ASSERT_FALSE(found.empty()) << "try " << tries << " is accepted, but it breaks the rule: " << rules[0];
    } else {
      ++harmless;
      ASSERT_EQ(messages(found), "") << "try " << tries << " is refused, but nothing is wrong with it";
    }
  }
  std::printf("%-34s applied %6d  wrong bytes %6d  only wrong rules %6d  harmless and accepted %6d\n", kind.name,
              applied, wrong_bytes, wrong_rules_only, harmless);
  EXPECT_GE(applied, wanted);
  EXPECT_GE(wrong_bytes + wrong_rules_only, wanted) << "this kind of damage is almost always harmless";
}

std::vector<MutationKind> all_mutations() {
  std::vector<MutationKind> all;
  for (const auto& more :
       {placement_mutations(), sharing_mutations(), program_mutations(), claim_mutations(), copy_mutations()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, Mutations, ::testing::ValuesIn(all_mutations()),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(MutationKinds, AreAtLeastForty) { EXPECT_GE(all_mutations().size(), 40U); }

// Applies one kind of damage on top of another. Neither may hide the other.
TEST(MutationKinds, AreRefusedInCombination) {
  const std::vector<MutationKind> kinds = all_mutations();
  Random random(2);
  int wrong = 0;
  for (int tries = 0; tries < testing::sampled(10'000); ++tries) {
    Mutant mutant = right_plans()[random.below(right_plans().size())];
    for (std::uint64_t times = random.between(2, 4); times > 0; --times) {
      const MutationKind& kind = kinds[random.below(kinds.size())];
      if (!has_numbers_in_range(mutant.plan) || !byte_faults(*mutant.graph, mutant.plan).empty()) break;
      if (mutant.plan.program.steps.empty() || mutant.plan.layout.arena.size() != mutant.plan.machine.regions.size())
        break;
      static_cast<void>(kind.apply(random, mutant));
    }
    cover_up(mutant);
    const bool is_wrong =
        !byte_faults(*mutant.graph, mutant.plan).empty() || !rule_faults(*mutant.graph, mutant.plan).empty();
    ASSERT_EQ(is_wrong, !verify(*mutant.graph, mutant.plan).empty()) << "try " << tries;
    wrong += is_wrong ? 1 : 0;
  }
  EXPECT_GT(wrong, testing::sampled(5'000));
}

}  // namespace
}  // namespace lowtide::testing
