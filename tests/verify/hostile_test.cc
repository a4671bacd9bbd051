// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Plans from untrusted sources. Whatever they contain, the answer is a list of violations, without a long wait.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/verify/random_graphs.h"
#include "tests/verify/random_plans.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

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

template <typename IdType, typename T>
IdType some(Random& random, const IdVector<IdType, T>& list) {
  return IdType(static_cast<std::uint32_t>(random.below(list.size())));
}

void smash_buffer(Random& random, Plan& plan, Buffer& buffer) {
  switch (random.below(7)) {
    case 0: buffer.size = Bytes(extreme(random)); break;
    case 1: buffer.lifespan = {StepId(extreme_id(random)), StepId(extreme_id(random))}; break;
    case 2: buffer.placement = Placement{RegionId(extreme_id(random)), Offset(extreme(random))}; break;
    case 3: buffer.placement = Placement{RegionId(0), Offset(extreme(random))}; break;
    case 4: buffer.kind = static_cast<BufferKind>(random.below(256)); break;
    case 5: buffer.home = RegionId(extreme_id(random)); break;
    default: plan.layout.buffers.push_back(Buffer(buffer)); break;
  }
}

void smash_value(Random& random, Plan& plan, ValueId id) {
  switch (random.below(6)) {
    case 0: plan.layout.values[id].offset = Offset(extreme(random)); break;
    case 1: plan.program.values[id].tensor = TensorId(extreme_id(random)); break;
    case 2: plan.program.values[id].written = StepId(extreme_id(random)); break;
    case 3: plan.layout.values[id].buffer = BufferId(extreme_id(random)); break;
    case 4: plan.program.outputs.assign(random.below(4), ValueId(extreme_id(random))); break;
    default: plan.program.updates.assign(random.below(3), ValueId(extreme_id(random))); break;
  }
}

void smash_step(Random& random, Plan& plan, StepId id) {
  Step& step = plan.program.steps[id];
  switch (random.below(11)) {
    case 0: step.work = Compute{NodeId(extreme_id(random)), KernelId(0)}; break;
    case 1: step.work = Alias{NodeId(extreme_id(random))}; break;
    case 2: step.work = Copy{{extreme(random), extreme(random)}}; break;
    case 3:
      step.work = Copy{{0, extreme(random)}};
      step.reads = {ValueId(extreme_id(random))};
      step.writes = {some(random, plan.program.values)};
      break;
    case 4: step.reads.assign(random.below(5), ValueId(extreme_id(random))); break;
    case 5: step.writes.assign(random.below(5), ValueId(extreme_id(random))); break;
    case 6: plan.layout.steps[id].scratch = BufferId(extreme_id(random)); break;
    case 7: plan.layout.steps[id].bodies.push_back({"body", Offset(extreme(random)), nullptr}); break;
    case 8: step.stream = StreamId(extreme_id(random)); break;
    case 9: step.after.assign(random.below(3), StepId(extreme_id(random))); break;
    default: step.work = Compute{node_of(step).value_or(NodeId(0)), KernelId(extreme_id(random))}; break;
  }
}

void smash_machine(Random& random, Plan& plan) {
  Region& region = plan.machine.regions[random.below(plan.machine.regions.size())];
  switch (random.below(8)) {
    case 0: region.alignment = Bytes(extreme(random)); break;
    case 1: region.capacity = Bytes(extreme(random)); break;
    case 2:
      plan.machine.links.push_back({RegionId(extreme_id(random)), RegionId(extreme_id(random)), extreme(random), 0});
      break;
    case 3: plan.machine.links.push_back({RegionId(0), RegionId(1), 1, extreme(random)}); break;
    case 4: plan.machine.workers[WorkerId(0)].addressable.assign(random.below(3), RegionId(extreme_id(random))); break;
    case 5: plan.machine.workers[WorkerId(0)].count = static_cast<int>(extreme_id(random)); break;
    case 6: plan.program.streams.push_back({.worker = WorkerId(extreme_id(random))}); break;
    default: plan.program.streams.push_back({.link = LinkId(extreme_id(random))}); break;
  }
}

void smash_claims(Random& random, Plan& plan) {
  switch (random.below(6)) {
    case 0: plan.layout.arena[random.below(plan.layout.arena.size())] = Bytes(extreme(random)); break;
    case 1: plan.claims.load = Bytes(extreme(random)); break;
    case 2: plan.claims.bounds.push_back({.bytes = Bytes(extreme(random))}); break;
    case 3: plan.claims.bounds.push_back({.scope = static_cast<BoundScope>(random.below(256))}); break;
    case 4: plan.execution = static_cast<ExecutionModel>(random.below(256)); break;
    default: plan.claims.load_as_given = Bytes(extreme(random)); break;
  }
}

// Each kind of number is equally likely, whatever it belongs to.
void smash(Random& random, Plan& plan) {
  const std::uint64_t choice = random.below(38);
  if (choice < 7) return smash_buffer(random, plan, plan.layout.buffers[some(random, plan.layout.buffers)]);
  if (choice < 13) return smash_value(random, plan, some(random, plan.program.values));
  if (choice < 24) return smash_step(random, plan, some(random, plan.program.steps));
  if (choice < 32) return smash_machine(random, plan);
  smash_claims(random, plan);
}

TEST(HostilePlan, ExtremeNumbersAnywhereGiveViolationsAndNothingElse) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    const auto graph = random_graph(random);
    if (graph->nodes().empty()) continue;
    Plan plan = random_plan(*graph, random);
    for (std::uint64_t times = random.below(4) + 1; times > 0; --times) smash(random, plan);
    const auto found = verify(*graph, plan, {.most_violations = 5});
    EXPECT_LE(found.size(), 5U);
    for (const Violation& violation : found) EXPECT_FALSE(violation.message.empty());
    refused += found.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 15'000);  // some of the numbers do no harm, such as a larger capacity
}

// The bodies of all steps, each of which runs at least one step of its own.
std::vector<BodyPlan*> bodies_with_steps(Plan& plan) {
  std::vector<BodyPlan*> bodies;
  for (StepSpace& space : plan.layout.steps) {
    for (BodyPlan& body : space.bodies) {
      if (!body.plan->program.steps.empty()) bodies.push_back(&body);
    }
  }
  return bodies;
}

// The checks of the outer plan look into the plans of its bodies before these are verified.
TEST(HostilePlan, ExtremeNumbersInABodyGiveViolationsOfTheBody) {
  int damaged = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    const auto graph = testing::random_graph(random);
    if (graph->nodes().empty()) continue;
    Plan plan = testing::random_plan(*graph, random);
    const std::vector<BodyPlan*> bodies = bodies_with_steps(plan);
    if (bodies.empty()) continue;
    BodyPlan& body = *bodies[random.below(bodies.size())];
    Plan wrong = *body.plan;
    for (std::uint64_t times = random.below(4) + 1; times > 0; --times) smash(random, wrong);
    body.plan = std::make_shared<const Plan>(std::move(wrong));
    const auto found = verify(*graph, plan);
    damaged += 1;
    refused += std::any_of(found.begin(), found.end(), [](const Violation& one) { return !one.body.empty(); }) ? 1 : 0;
  }
  EXPECT_GT(damaged, 1'000);
  EXPECT_GT(refused, damaged * 3 / 4);
}

TEST(HostilePlan, WithoutContentIsRefused) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.result("y", {16}, "Relu", {x});
  const Graph graph = maker.make({y});
  EXPECT_EQ(
      messages(verify(graph, Plan{})),
      "wrong_model: the plan was made for graph '' with 0 nodes and 0 tensors; this is 'small' with 1 and 2: plan it "
      "again\n"
      "malformed: machine.workers: is empty; a machine has at least one worker\n"
      "malformed: streams: the plan has 0 streams; it must have 1 to 1024 (kMaxStreams)\n");
  // With one stream that does nothing, only the step and the value of the output are missing.
  Plan plan;
  plan.machine.workers.push_back({.name = "cpu"});
  plan.program.streams.push_back({.worker = WorkerId(0)});
  EXPECT_EQ(kinds(verify(graph, plan)), "wrong_model; malformed");
  plan.program.values.push_back({.tensor = x});
  plan.layout.buffers.push_back({.kind = BufferKind::input, .size = Bytes(16)});
  plan.layout.values.push_back({.buffer = BufferId(0)});
  plan.program.outputs = {ValueId(0)};
  EXPECT_EQ(kinds(verify(graph, plan)), "wrong_model; missing_step; output_lost; wrong_claim");
  plan.layout.arena.resize(3);
  EXPECT_EQ(kinds(verify(graph, plan)), "wrong_model; malformed");
}

TEST(HostilePlan, SizesWhoseSumOverflowsAreMalformed) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.result("y", {16}, "Relu", {x});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  planner.put(y, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  for (int more = 0; more < 3; ++more) planner.buffer(BufferKind::temporary, 1, 0, 0, 1);
  planner.compute(NodeId(0));
  Plan plan = planner.finish();
  for (BufferId id : {BufferId(2), BufferId(3), BufferId(4)}) plan.layout.buffers[id].size = Bytes(1LL << 61);
  const auto found = verify(graph, plan);
  EXPECT_EQ(kinds(found), "malformed; malformed");  // the second and the third of them
  EXPECT_THAT(found[0].message, HasSubstr("(kMaxTotalBytes)"));
  plan.layout.buffers.resize(2);
  plan.machine.regions.assign(3, plan.machine.regions[0]);
  plan.layout.arena.assign(3, Bytes(1LL << 61));
  EXPECT_EQ(kinds(verify(graph, plan)), "malformed; malformed");
}

constexpr int kMany = 20'000;

// kMany nodes whose results a concat joins, and kMany nodes that read the concat.
struct ManyParts {
  GraphMaker maker;
  TensorId x = maker.input("x", {1});
  std::vector<std::optional<TensorId>> parts;
  TensorId all;
  std::vector<TensorId> last;
};

Graph graph_of_parts(ManyParts& many) {
  for (int at = 0; at < kMany; ++at) {
    many.parts.emplace_back(many.maker.tensor("p" + std::to_string(at), {1}));
    many.maker.node("Gemm", {many.x}, {many.parts.back()});
  }
  many.all = many.maker.tensor("all", {kMany});
  many.maker.node("Concat", many.parts, {many.all}, {integer("axis", 0)});
  for (int at = 0; at < kMany; ++at) {
    many.last.push_back(many.maker.tensor("r" + std::to_string(at), {1}));
    many.maker.node("Gemm", {many.all}, {many.last.back()});
  }
  return many.maker.make({many.last.back()});
}

// All parts lie one after another, and all results lie in one byte.
Plan plan_of(const Graph& graph, const ManyParts& many) {
  const std::uint32_t steps = 2 * kMany + 1;
  const Lifespan always{StepId(0), StepId(steps)};
  Plan plan;
  plan.provenance = {.graph = graph.name(), .nodes = steps, .tensors = steps + 1};
  plan.machine.regions = {Region{.name = "arena", .alignment = Bytes(1)}};
  plan.machine.workers = {Worker{.name = "cpu"}};
  plan.kernels = {{"dense"}};
  plan.program.streams = {{.worker = WorkerId(0)}};
  const BufferId given = plan.layout.buffers.push_back({BufferKind::input, Bytes(1), always, std::nullopt});
  const BufferId row = plan.layout.buffers.push_back({BufferKind::temporary, Bytes(kMany), always, Placement{}});
  const BufferId one =
      plan.layout.buffers.push_back({BufferKind::output, Bytes(1), always, Placement{RegionId(0), Offset(kMany)}});
  const auto add_value = [&](TensorId tensor, std::optional<StepId> written, BufferId buffer, std::int64_t offset) {
    plan.layout.values.push_back({buffer, Offset(offset)});
    return plan.program.values.push_back({tensor, written});
  };
  const auto add_step = [&](Work work, std::vector<ValueId> reads, ValueId write) {
    plan.program.steps.push_back({.work = work, .reads = std::move(reads), .writes = {write}});
    plan.layout.steps.push_back({});
  };
  const ValueId first = add_value(many.x, std::nullopt, given, 0);
  std::vector<ValueId> row_of_parts;
  for (std::uint32_t at = 0; at < kMany; ++at) {
    row_of_parts.push_back(add_value(*many.parts[at], StepId(at), row, at));
    add_step(Compute{NodeId(at), KernelId(0)}, {first}, row_of_parts.back());
  }
  const ValueId concat = add_value(many.all, StepId(kMany), row, 0);
  add_step(Alias{NodeId(kMany)}, row_of_parts, concat);
  for (std::uint32_t at = 0; at < kMany; ++at) {
    const ValueId value = add_value(many.last[at], StepId(kMany + 1 + at), one, 0);
    add_step(Compute{NodeId(kMany + 1 + at), KernelId(0)}, {concat}, value);
    plan.program.outputs = {value};
  }
  plan.layout.arena = {Bytes(kMany + 1)};
  plan.claims.load = Bytes(kMany + 1);
  // The peak as given: the parts and their concat at once; no result has readers, and the last one is an output.
  plan.claims.load_as_given = Bytes(2 * kMany);
  return plan;
}

// n values in one place, n buffers in one place, a concat of n parts read n times: linear work, not n * n.
TEST(HostilePlan, ManyBuffersInOnePlaceTakeNoQuadraticTime) {
  ManyParts many;
  const Graph graph = graph_of_parts(many);
  Plan plan = plan_of(graph, many);
  EXPECT_EQ(messages(verify(graph, plan)), "");

  // Now all steps write into one byte, where 20,000 empty buffers are as well.
  for (ValuePlace& place : plan.layout.values) place.offset = Offset(0);
  for (int at = 0; at < kMany; ++at) {
    plan.layout.buffers.push_back({BufferKind::temporary, Bytes(0), {StepId(0), StepId(2 * kMany + 1)}, Placement{}});
  }
  const auto found = verify(graph, plan);
  EXPECT_EQ(found.size(), 100U);
  for (const Violation& violation : found) EXPECT_EQ(violation.kind, ViolationKind::clobbered);
}

// 100,000 buffers that all overlap have 5 * 10^9 pairs; the first hundred are enough.
TEST(HostilePlan, StopsAtTheFirstHundredOverlaps) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.result("y", {16}, "Relu", {x});
  const Graph graph = maker.make({y});
  PlanMaker planner(graph);
  planner.put(y, planner.buffer(BufferKind::output, 16, 0, 0, 1));
  planner.compute(NodeId(0));
  Plan plan = planner.finish();
  for (int at = 0; at < 100'000; ++at) {
    plan.layout.buffers.push_back({BufferKind::temporary, Bytes(16), {StepId(0), StepId(1)}, Placement{}});
  }
  EXPECT_EQ(verify(graph, plan).size(), 100U);
}

}  // namespace
}  // namespace lowtide::testing
