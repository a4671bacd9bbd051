// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_constants.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

// y = Mul(x, w), z = Add(y, v), 20 bytes each. y and z are in an arena of 64 bytes with alignment 16: the constants
// need 32 + 20 = 52 bytes.
struct Weighted {
  TensorId w;
  RegionId flash;
  std::shared_ptr<const Graph> graph;
  Plan plan;
};

Weighted weighted(std::optional<Bytes> capacity) {
  GraphMaker maker;
  const TensorId x = maker.input("x", {20});
  const TensorId w = maker.constant("w", {20});
  const TensorId v = maker.constant("v", {20});
  const TensorId y = maker.result("y", {20}, "Mul", {x, w});
  const TensorId z = maker.result("z", {20}, "Add", {y, v});
  Weighted made{.w = w, .flash = {}, .graph = std::make_shared<const Graph>(maker.make({z})), .plan = {}};
  PlanMaker plan(*made.graph);
  made.flash = plan.region("flash");
  plan.put(y, plan.buffer(BufferKind::temporary, 32, 0, 0, 2));
  plan.put(z, plan.buffer(BufferKind::output, 32, 32, 1, 2));
  plan.run_in_order();
  made.plan = plan.finish();
  made.plan.machine.constants = made.flash;
  made.plan.machine.regions[made.flash.index()].capacity = capacity;
  made.plan.machine.regions[made.flash.index()].is_read_only = true;
  return made;
}

std::string found_in(const Weighted& it) { return messages(verify(*it.graph, it.plan)); }

TEST(VerifyConstants, ConstantsFitTheirRegionToTheByte) {
  EXPECT_EQ(found_in(weighted(std::nullopt)), "");
  EXPECT_EQ(found_in(weighted(Bytes(52))), "");
  const Weighted missed = weighted(Bytes(51));
  EXPECT_EQ(kinds(verify(*missed.graph, missed.plan)), "out_of_region");
  EXPECT_EQ(found_in(missed), "out_of_region: the constants end at byte 52 of region 1 'flash', which has only 51\n");
}

TEST(VerifyConstants, ConstantsFollowTheArenaOfTheirRegion) {
  Weighted it = weighted(std::nullopt);
  it.plan.machine.constants = RegionId(0);
  it.plan.machine.regions[0].capacity = Bytes(64 + 52);
  EXPECT_EQ(found_in(it), "");
  it.plan.machine.regions[0].capacity = Bytes(64 + 51);
  EXPECT_EQ(found_in(it),
            "out_of_region: the constants and an arena of 64 bytes end at byte 116 of region 0 'arena', which has only "
            "115\n");
}

TEST(VerifyConstants, NothingIsWrittenIntoAReadOnlyRegion) {
  Weighted it = weighted(std::nullopt);
  it.plan.machine.regions[0].is_read_only = true;
  EXPECT_EQ(kinds(verify(*it.graph, it.plan)), "read_only; read_only");
  EXPECT_NE(found_in(it).find("buffer 3 (temporary) of 'y' (tensor 3) is in region 0 'arena', which is read-only, so "
                              "step 0 (node 0 '', 'Mul') cannot write it"),
            std::string::npos)
      << found_in(it);
}

TEST(VerifyConstants, StatesAndInputsAreNotInAReadOnlyRegion) {
  GraphMaker maker;
  const TensorId s = maker.state("s", {16});
  const TensorId x = maker.input("x", {16});
  const TensorId y = maker.result("y", {16}, "Add", {s, x});
  const Graph graph = maker.make({y});
  PlanMaker made(graph);
  const RegionId flash = made.region("flash");
  made.home(s, flash);
  made.home(x, flash);
  made.put(y, made.buffer(BufferKind::output, 16, 0, 0, 1));
  made.run_in_order();
  Plan plan = made.finish();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  plan.machine.regions[flash.index()].is_read_only = true;
  EXPECT_EQ(kinds(verify(graph, plan)), "read_only; read_only");
  EXPECT_NE(messages(verify(graph, plan)).find("which is read-only, so only constants can be there"),
            std::string::npos);
}

TEST(VerifyConstants, AConstantIsWhereThePlanSaysThatAllAre) {
  Weighted it = weighted(std::nullopt);
  Buffer& buffer = it.plan.layout.buffers[it.plan.layout.values[ValueId(it.w.value())].buffer];
  ASSERT_EQ(buffer.kind, BufferKind::constant);
  buffer.home = it.flash;
  EXPECT_EQ(found_in(it), "");
  buffer.home = RegionId(0);
  EXPECT_EQ(kinds(verify(*it.graph, it.plan)), "misplaced");
}

TEST(VerifyConstants, KernelsReachTheRegionOfTheConstants) {
  Weighted it = weighted(std::nullopt);
  it.plan.machine.workers[WorkerId(0)].addressable = {RegionId(0)};
  EXPECT_EQ(kinds(verify(*it.graph, it.plan)), "unreachable; unreachable");
}

TEST(VerifyConstants, TheRegionOfTheConstantsExists) {
  Weighted it = weighted(std::nullopt);
  it.plan.machine.constants = RegionId(2);
  EXPECT_EQ(found_in(it), "malformed: machine.constants: region 2 does not exist; the number of regions is 2\n");
}

TEST(VerifyConstants, APlanHasTheConstantsOfItsTarget) {
  const Weighted it = weighted(Bytes(52));
  Machine target = it.plan.machine;
  const auto found = [&] { return verify_constants(*it.graph, it.plan, target); };
  EXPECT_EQ(messages(found()), "");
  target.constants = RegionId(0);
  EXPECT_EQ(messages(found()),
            "misplaced: the target keeps constants in region 0 'arena', but the plan in region 1 'flash': plan the "
            "model again\n");
  target.constants = std::nullopt;
  EXPECT_EQ(kinds(found()), "misplaced");
  target = it.plan.machine;
  target.regions[1].is_read_only = false;
  EXPECT_EQ(messages(found()),
            "read_only: region 1 'flash' is read-only in the plan, but not in the target: plan the model again\n");
  target = it.plan.machine;
  target.regions.push_back({.name = "rom", .is_read_only = true});
  EXPECT_EQ(messages(found()),
            "misplaced: the plan has 2 regions, but the target has 3: plan the model again\n"
            "read_only: region 2 'rom' is read-only in the target, but not in the plan: plan the model again\n");
}

TEST(VerifyConstants, APlanThatClaimsToFitFitsTheRegionOfItsTarget) {
  Weighted it = weighted(std::nullopt);
  Machine target = it.plan.machine;
  target.regions[1].capacity = Bytes(51);
  EXPECT_EQ(kinds(verify_constants(*it.graph, it.plan, target)), "out_of_region");
  it.plan.claims.shortfall = Bytes(1);
  EXPECT_EQ(kinds(verify_constants(*it.graph, it.plan, target)), "");
}

TEST(VerifyConstants, APlanThatClaimsToFitFitsEveryRegionOfItsTarget) {
  Weighted it = weighted(std::nullopt);
  Machine target = it.plan.machine;
  target.regions[0].capacity = Bytes(64);
  EXPECT_EQ(kinds(verify_constants(*it.graph, it.plan, target)), "");
  target.regions[0].capacity = Bytes(63);
  EXPECT_EQ(messages(verify_constants(*it.graph, it.plan, target)),
            "out_of_region: the arena of region 0 'arena' has 64 bytes, but the region of the target only 63\n");
  it.plan.claims.shortfall = Bytes(1);
  EXPECT_EQ(kinds(verify_constants(*it.graph, it.plan, target)), "");
}

TEST(VerifyConstants, APlanHasTheMachineOfItsTarget) {
  const Weighted it = weighted(Bytes(52));
  Machine target = it.plan.machine;
  const auto found = [&] { return messages(verify_constants(*it.graph, it.plan, target)); };
  target.regions[0].capacity = Bytes(1000);
  EXPECT_EQ(found(), "");
  target.regions[0].alignment = Bytes(64);
  EXPECT_EQ(
      found(),
      "misplaced: region 0 is 'arena' with alignment 16 in the plan, but 'arena' with alignment 64 in the target: "
      "plan the model again\n");
  target = it.plan.machine;
  std::swap(target.regions[0].name, target.regions[1].name);
  EXPECT_EQ(kinds(verify_constants(*it.graph, it.plan, target)), "misplaced; misplaced");
  target = it.plan.machine;
  target.workers[WorkerId(0)].addressable = {RegionId(0), RegionId(1)};
  EXPECT_EQ(found(), "unreachable: the workers of the plan are not those of the target: plan the model again\n");
  target = it.plan.machine;
  target.links.push_back({.from = RegionId(0), .to = RegionId(1)});
  EXPECT_EQ(found(), "unreachable: the links of the plan are not those of the target: plan the model again\n");
}

// One branch reads a constant of its own. The plan of the branch does not say where constants are.
TEST(VerifyConstants, KernelsReachTheConstantsOfTheirBodies) {
  for (const bool has_constant : {false, true}) {
    GraphMaker branch("branch");
    const TensorId from = has_constant ? branch.constant("w", {16}) : branch.captured("x", {16});
    const TensorId p = branch.result("p", {16}, "Gemm", {from});
    const auto body = std::make_shared<const Graph>(branch.make({p}));
    GraphMaker maker;
    const TensorId c = maker.input("c", {1}, DType::boolean);
    const TensorId x = maker.input("x", {16});
    const TensorId y = maker.tensor("y", {16});
    std::vector<std::pair<TensorId, TensorId>> captures;
    if (!has_constant) captures.emplace_back(x, from);
    const NodeId node =
        maker.node("If", {c}, {y}, {}, {{"then_branch", body, captures}, {"else_branch", body, captures}});
    const Graph graph = maker.make({y});

    PlanMaker inside(*body, true);
    inside.put(p, inside.buffer(BufferKind::output, 16, 0, 0, 1));
    inside.run_in_order();
    const auto plan_inside = std::make_shared<const Plan>(inside.finish());
    PlanMaker made(graph);
    const RegionId flash = made.region("flash");
    made.put(y, made.buffer(BufferKind::output, 16, 0, 0, 1));
    made.compute(node, made.buffer(BufferKind::scratch, 16, 16, 0, 1),
                 {{"then_branch", Offset(0), plan_inside}, {"else_branch", Offset(0), plan_inside}});
    Plan plan = made.finish();
    plan.machine.constants = flash;
    EXPECT_EQ(messages(verify(graph, plan)), "");
    plan.machine.workers[WorkerId(0)].addressable = {RegionId(0)};
    EXPECT_EQ(kinds(verify(graph, plan)), has_constant ? "unreachable" : "");
  }
}

}  // namespace
}  // namespace lowtide::testing
