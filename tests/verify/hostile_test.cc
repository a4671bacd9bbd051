// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans from anywhere: whatever they say, the answer is a list of violations, soon.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide {
namespace {

using testing::GraphMaker;
using ::testing::HasSubstr;
using testing::kinds;
using testing::messages;
using testing::PlanMaker;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

std::int64_t extreme(Random& random) {
  static constexpr std::int64_t kNumbers[] = {
      0,         -1,           1,  kLowest, kLowest + 1, kHighest,    kHighest - 1, 1LL << 62, (1LL << 62) - 1,
      1LL << 61, -(1LL << 61), 63, 64,      1LL << 32,   -(1LL << 32)};
  return kNumbers[random.below(std::size(kNumbers))];
}

std::uint32_t extreme_id(Random& random) {
  static constexpr std::uint32_t kIds[] = {0, 1, 2, 7, 1U << 31, ~0U, ~0U - 1};
  return kIds[random.below(std::size(kIds))];
}

void smash(Random& random, Plan& plan) {
  Buffer& buffer = plan.buffers[BufferId(static_cast<std::uint32_t>(random.below(plan.buffers.size())))];
  Value& value = plan.values[ValueId(static_cast<std::uint32_t>(random.below(plan.values.size())))];
  Step& step = plan.program[StepId(static_cast<std::uint32_t>(random.below(plan.program.size())))];
  Region& region = plan.regions[random.below(plan.regions.size())];
  switch (random.below(20)) {
    case 0:
      buffer.size = Bytes(extreme(random));
      break;
    case 1:
      buffer.lifespan = {StepId(extreme_id(random)), StepId(extreme_id(random))};
      break;
    case 2:
      buffer.placement = Placement{RegionId(extreme_id(random)), Offset(extreme(random))};
      break;
    case 3:
      buffer.placement = Placement{RegionId(0), Offset(extreme(random))};
      break;
    case 4:
      buffer.kind = static_cast<BufferKind>(random.below(256));
      break;
    case 5:
      value.offset = Offset(extreme(random));
      break;
    case 6:
      value.tensor = TensorId(extreme_id(random));
      break;
    case 7:
      value.written = StepId(extreme_id(random));
      break;
    case 8:
      value.buffer = BufferId(extreme_id(random));
      break;
    case 9:
      step.node = NodeId(extreme_id(random));
      break;
    case 10:
      step.kind = static_cast<StepKind>(random.below(256));
      break;
    case 11:
      step.reads.assign(random.below(5), ValueId(extreme_id(random)));
      break;
    case 12:
      step.writes.assign(random.below(5), ValueId(extreme_id(random)));
      break;
    case 13:
      step.scratch = BufferId(extreme_id(random));
      break;
    case 14:
      step.bodies.push_back({"body", Offset(extreme(random)), nullptr});
      break;
    case 15:
      region.alignment = Bytes(extreme(random));
      break;
    case 16:
      region.capacity = Bytes(extreme(random));
      break;
    case 17:
      plan.arena[random.below(plan.arena.size())] = Bytes(extreme(random));
      break;
    case 18:
      plan.claims.load = plan.claims.bound = Bytes(extreme(random));
      break;
    default:
      plan.claims.load_as_given = Bytes(extreme(random));
      break;
  }
}

TEST(HostilePlan, ExtremeNumbersAnywhereGiveViolationsAndNothingElse) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    const auto graph = testing::random_graph(random);
    if (graph->nodes().empty()) continue;
    Plan plan = testing::random_plan(*graph, random);
    for (std::uint64_t times = random.below(4) + 1; times > 0; --times) smash(random, plan);
    const auto found = verify(*graph, plan, {.most_violations = 5});
    EXPECT_LE(found.size(), 5U);
    for (const Violation& violation : found) EXPECT_FALSE(violation.message.empty());
    refused += found.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 15'000);  // some of the numbers do no harm, such as a larger capacity
}

TEST(HostilePlan, WithoutAnythingIsOnlyMissingSteps) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.tensor("y", {16});
  maker.node("Relu", {x}, {y});
  const Graph graph = maker.make({y});
  EXPECT_EQ(kinds(verify(graph, Plan{})), "wrong_model; missing_step; output_lost; wrong_claim");
  Plan plan;
  plan.arena.resize(3);
  EXPECT_EQ(kinds(verify(graph, plan)), "wrong_model; malformed");
}

TEST(HostilePlan, SizesThatOnlyTogetherOverflow) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.tensor("y", {16});
  maker.node("Relu", {x}, {y});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  planner.put(y, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  for (int more = 0; more < 3; ++more) planner.buffer(BufferKind::temporary, 1, 0, 0, 1);
  planner.compute(NodeId(0));
  Plan plan = planner.finish();
  for (BufferId id : {BufferId(2), BufferId(3), BufferId(4)}) plan.buffers[id].size = Bytes(1LL << 61);
  const auto found = verify(graph, plan);
  EXPECT_EQ(kinds(found), "malformed; malformed");  // the second and the third of them
  EXPECT_THAT(found[0].message, HasSubstr("(kMaxTotalBytes)"));
  plan.buffers.resize(2);
  plan.regions.assign(3, plan.regions[0]);
  plan.arena.assign(3, Bytes(1LL << 61));
  EXPECT_EQ(kinds(verify(graph, plan)), "malformed; malformed");
}

// n values in one place, n buffers in one place, a concat of n parts read n times: linear work, not n * n.
TEST(HostilePlan, ManyOfEverythingInOnePlaceIsNotQuadratic) {
  constexpr int kMany = 20'000;
  GraphMaker maker;
  const TensorId x = maker.input("x", {1});
  std::vector<std::optional<TensorId>> parts;
  for (int at = 0; at < kMany; ++at) {
    parts.emplace_back(maker.tensor("p" + std::to_string(at), {1}));
    maker.node("Gemm", {x}, {parts.back()});
  }
  const TensorId all = maker.tensor("all", {kMany});
  maker.node("Concat", parts, {all}, {testing::integer("axis", 0)});
  std::vector<TensorId> last;
  for (int at = 0; at < kMany; ++at) {
    last.push_back(maker.tensor("r" + std::to_string(at), {1}));
    maker.node("Gemm", {all}, {last.back()});
  }
  const Graph graph = maker.make({last.back()});
  const std::uint32_t steps = 2 * kMany + 1;
  const Lifespan always{StepId(0), StepId(steps)};
  Plan plan;
  plan.provenance = {.graph = graph.name(), .nodes = steps, .tensors = steps + 1};
  plan.regions = {Region{.name = "arena", .alignment = Bytes(1)}};
  const BufferId given = plan.buffers.push_back({BufferKind::input, Bytes(1), always, std::nullopt});
  const BufferId row = plan.buffers.push_back({BufferKind::temporary, Bytes(kMany), always, Placement{}});
  const BufferId one =
      plan.buffers.push_back({BufferKind::output, Bytes(1), always, Placement{RegionId(0), Offset(kMany)}});
  plan.values.push_back({x, std::nullopt, given, Offset(0)});
  for (std::uint32_t at = 0; at < kMany; ++at) {
    plan.values.push_back({*parts[at], StepId(at), row, Offset(at)});
    plan.program.push_back({.node = NodeId(at), .reads = {ValueId(0)}, .writes = {ValueId(at + 1)}});
  }
  const ValueId concat = plan.values.push_back({all, StepId(kMany), row, Offset(0)});
  plan.program.push_back({.node = NodeId(kMany), .kind = StepKind::alias, .writes = {concat}});
  for (TensorId part : graph.reads(NodeId(kMany))) plan.program[StepId(kMany)].reads.emplace_back(part.value());
  for (std::uint32_t at = 0; at < kMany; ++at) {
    const ValueId value = plan.values.push_back({last[at], StepId(kMany + 1 + at), one, Offset(0)});
    plan.program.push_back({.node = NodeId(kMany + 1 + at), .reads = {concat}, .writes = {value}});
  }
  plan.arena = {Bytes(kMany + 1)};
  plan.claims.load = Bytes(kMany + 1);
  // As given: the parts and their concat at once; every result is read by nobody, and the last one is an output.
  plan.claims.load_as_given = Bytes(2 * kMany);
  EXPECT_EQ(messages(verify(graph, plan)), "");

  // Now everybody writes into one byte, and 20,000 empty buffers and 20,000 scratch bytes lie there too.
  for (Value& value : plan.values) value.offset = Offset(0);
  for (int at = 0; at < kMany; ++at) {
    plan.buffers.push_back({BufferKind::temporary, Bytes(0), {StepId(0), StepId(steps)}, Placement{}});
  }
  const auto found = verify(graph, plan);
  EXPECT_EQ(found.size(), 100U);
  for (const Violation& violation : found) EXPECT_EQ(violation.kind, ViolationKind::clobbered);
}

// 100,000 buffers that all overlap have 5 * 10^9 pairs; the first hundred are enough.
TEST(HostilePlan, StopsAtTheFirstHundredOverlaps) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.tensor("y", {16});
  maker.node("Relu", {x}, {y});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  planner.put(y, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  planner.compute(NodeId(0));
  Plan plan = planner.finish();
  for (int at = 0; at < 100'000; ++at) {
    plan.buffers.push_back({BufferKind::temporary, Bytes(16), {StepId(0), StepId(1)}, Placement{}});
  }
  EXPECT_EQ(verify(graph, plan).size(), 100U);
}

}  // namespace
}  // namespace lowtide
