// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/base/limits.h"
#include "tests/verify/small_plans.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// if (c) then u = Gemm(x), v = Gemm(u) else v = Gemm(x). Both branches capture x[16]; u and v have 16 bytes.
//
//   scratch of the step: [ then: u 0..16, v 16..32 ]
//                        [ else: v 0..16           ]   the same bytes: one branch runs
class IfBodies : public ::testing::Test {
 protected:
  static std::shared_ptr<const Graph> branch(const std::string& name, int gemms) {
    GraphMaker maker(name);
    TensorId last = maker.captured("x", {16});
    for (int at = 0; at < gemms; ++at) {
      const TensorId next = maker.tensor("t" + std::to_string(at), {16});
      maker.node("Gemm", {last}, {next});
      last = next;
    }
    return std::make_shared<const Graph>(maker.make({last}));
  }
  static std::shared_ptr<const Plan> plan_of(const Graph& graph) {
    PlanMaker planner(graph, true);
    const auto steps = static_cast<std::uint32_t>(graph.nodes().size());
    for (std::uint32_t at = 0; at < steps; ++at) {
      const BufferKind kind = at + 1 == steps ? BufferKind::output : BufferKind::temporary;
      planner.put(TensorId(at + 1), planner.buffer(kind, 16, 16 * at, at, std::min(at + 2, steps)));
    }
    for (std::uint32_t at = 0; at < steps; ++at) planner.compute(NodeId(at));
    return std::make_shared<const Plan>(planner.finish());
  }
  static Graph make_graph(const std::shared_ptr<const Graph>& then_graph,
                          const std::shared_ptr<const Graph>& else_graph, const std::string& type = "If") {
    GraphMaker maker("outer");
    const TensorId c = maker.input("c", {1}, DType::boolean);
    const TensorId x = maker.tensor("x", {16});
    const TensorId y = maker.tensor("y", {16});
    maker.node("Cast", {c}, {x});
    maker.node(type, {c}, {y}, {},
               {{"then_branch", then_graph, {{x, TensorId(0)}}}, {"else_branch", else_graph, {{x, TensorId(0)}}}});
    return maker.make({y});
  }
  // x at 0, y at 16, scratch of 32 at 32.
  Plan make_plan(std::int64_t scratch_size = 32, std::int64_t else_offset = 0) const {
    PlanMaker planner(graph);
    planner.put(TensorId(1), planner.buffer(BufferKind::temporary, 16, 0, 0, 2));
    planner.put(TensorId(2), planner.buffer(BufferKind::output, 16, 16, 1, 2));
    planner.compute(NodeId(0));
    planner.compute(NodeId(1), planner.buffer(BufferKind::scratch, scratch_size, 32, 1, 2),
                    {{"then_branch", Offset(0), then_plan}, {"else_branch", Offset(else_offset), else_plan}});
    return planner.finish();
  }

  std::shared_ptr<const Graph> then_graph = branch("then", 2);
  std::shared_ptr<const Graph> else_graph = branch("else", 1);
  std::shared_ptr<const Plan> then_plan = plan_of(*then_graph);
  std::shared_ptr<const Plan> else_plan = plan_of(*else_graph);
  Graph graph = make_graph(then_graph, else_graph);
};

TEST_F(IfBodies, BranchesMayShareBytes) {
  const Plan plan = make_plan();
  EXPECT_EQ(messages(verify(graph, plan)), "");
  // Step 1: x 16 + y 16 + the larger branch, which holds 32 at once.
  EXPECT_EQ(plan.claims.load_as_given, Bytes(64));
  EXPECT_EQ(plan.claims.load, Bytes(64));
}

TEST_F(IfBodies, OfAnotherOperatorMayNotShareBytes) {
  graph = make_graph(then_graph, else_graph, "BothAtOnce");
  EXPECT_EQ(kinds(verify(graph, make_plan(64, 16))), "overlap");
  EXPECT_EQ(messages(verify(graph, make_plan(64, 32))), "");
}

TEST_F(IfBodies, ArenaOfABodyMustLieInsideTheScratch) {
  EXPECT_EQ(kinds(verify(graph, make_plan(31))), "out_of_buffer");
  EXPECT_EQ(kinds(verify(graph, make_plan(32, 32))), "out_of_buffer");
  EXPECT_EQ(kinds(verify(graph, make_plan(32, -16))), "out_of_buffer");
  EXPECT_EQ(messages(verify(graph, make_plan(32, 16))), "");
}

TEST_F(IfBodies, NeedScratch) {
  Plan plan = make_plan();
  plan.layout.steps[StepId(1)].scratch.reset();
  EXPECT_EQ(kinds(verify(graph, plan)), "out_of_buffer; out_of_buffer");
}

TEST_F(IfBodies, BodiesMustLieAtTheAlignmentOfTheirRegion) {
  EXPECT_EQ(kinds(verify(graph, make_plan(40, 8))), "misaligned");
  // The outer region promises less: its start is only a multiple of 16.
  Plan wide = *else_plan;
  wide.machine.regions[0].alignment = Bytes(32);
  else_plan = std::make_shared<const Plan>(wide);
  EXPECT_EQ(kinds(verify(graph, make_plan())), "misaligned");
}

// x, y and the scratch live at the If: a load of 16 + 16 + 32. Scratch that is not proven for `then` is not proven for
// the whole plan either. `else` alone has an arena of 16.
TEST_F(IfBodies, BoundOfTheWholeCountsBodiesAtTheirOwnBound) {
  const auto check_bounds = [&](std::int64_t then_bound, std::int64_t else_bound, std::int64_t bound) {
    const auto bounded = [](const Plan& plan, std::int64_t bytes) {
      Plan copy = plan;
      copy.claims.bounds = {{.bytes = Bytes(bytes)}};
      return std::make_shared<const Plan>(std::move(copy));
    };
    Plan plan = make_plan();
    plan.layout.steps[StepId(1)].bodies[0].plan = bounded(*then_plan, then_bound);
    plan.layout.steps[StepId(1)].bodies[1].plan = bounded(*else_plan, else_bound);
    plan.claims.bounds = {{.bytes = Bytes(bound)}};
    return messages(verify(graph, plan));
  };
  EXPECT_EQ(check_bounds(32, 0, 16 + 16 + 32), "");
  EXPECT_EQ(check_bounds(20, 16, 16 + 16 + 20), "");
  EXPECT_THAT(check_bounds(20, 16, 16 + 16 + 21), HasSubstr("wrong_claim: bound 53 for run_once is above 52 bytes"));
  EXPECT_EQ(check_bounds(0, 16, 16 + 16 + 16), "");
  EXPECT_THAT(check_bounds(0, 0, 16 + 16 + 1), HasSubstr("wrong_claim: bound 33 for run_once is above 32 bytes"));
}

// `then` computes u twice. A bound for plans that run each node once says nothing about this body or about the plan
// around it.
TEST_F(IfBodies, ABodyThatRecomputesIsInTheLargerScope) {
  PlanMaker planner(*then_graph, true);
  planner.put(TensorId(1), planner.buffer(BufferKind::temporary, 16, 0, 0, 1));
  planner.compute(NodeId(0));
  planner.put(TensorId(1), planner.buffer(BufferKind::temporary, 16, 0, 1, 3));
  planner.compute(NodeId(0));
  planner.put(TensorId(2), planner.buffer(BufferKind::output, 16, 16, 2, 3));
  planner.compute(NodeId(1));
  const std::shared_ptr<const Plan> twice = std::make_shared<const Plan>(planner.finish());
  const auto check_bound = [&](const std::shared_ptr<const Plan>& body, BoundScope scope) {
    Plan plan = make_plan();
    plan.layout.steps[StepId(1)].bodies[0].plan = body;
    plan.claims.bounds = {{.scope = scope, .bytes = plan.claims.load + Bytes(1)}};
    return kinds(verify(graph, plan));
  };
  EXPECT_EQ(check_bound(then_plan, BoundScope::run_once), "wrong_claim");
  EXPECT_EQ(check_bound(twice, BoundScope::run_once), "");
  EXPECT_EQ(check_bound(twice, BoundScope::all_plans), "wrong_claim");
}

TEST_F(IfBodies, ViolationInsideABodyNamesIt) {
  Plan wrong = *then_plan;
  wrong.layout.buffers[BufferId(2)].placement->offset = Offset(0);  // v over u
  make_honest(*then_graph, wrong);
  then_plan = std::make_shared<const Plan>(wrong);
  const auto found = verify(graph, make_plan());
  EXPECT_EQ(kinds(found), "overlap; bad_in_place");
  EXPECT_EQ(found[1].body, "node 1 '': 'then_branch'");
  EXPECT_EQ(found[1].step, StepId(1));
}

TEST_F(IfBodies, PlansOfBodiesFollowTheOrderOfTheNode) {
  Plan plan = make_plan();
  std::swap(plan.layout.steps[StepId(1)].bodies[0], plan.layout.steps[StepId(1)].bodies[1]);
  EXPECT_EQ(kinds(verify(graph, plan)), "malformed; malformed");
  plan = make_plan();
  plan.layout.steps[StepId(1)].bodies.pop_back();
  EXPECT_EQ(kinds(verify(graph, plan)), "malformed");
  plan = make_plan();
  plan.layout.steps[StepId(1)].bodies[1].plan = nullptr;
  EXPECT_EQ(kinds(verify(graph, plan)), "malformed");
  plan = make_plan();
  plan.layout.steps[StepId(1)].bodies[1].plan = then_plan;  // the plan of the other branch
  const auto found = verify(graph, plan);
  EXPECT_EQ(found[0].kind, ViolationKind::wrong_model);
  EXPECT_EQ(found[0].body, "node 1 '': 'else_branch'");
}

TEST_F(IfBodies, HaveTheProvenanceOfTheOuterPlan) {
  const auto found_after = [&](void (*change)(Provenance&), bool also_around) {
    Plan inner = *else_plan;
    change(inner.provenance);
    Plan plan = make_plan();
    plan.layout.steps[StepId(1)].bodies[1].plan = std::make_shared<const Plan>(std::move(inner));
    if (also_around) {
      change(plan.provenance);
      Plan other = *then_plan;
      change(other.provenance);
      plan.layout.steps[StepId(1)].bodies[0].plan = std::make_shared<const Plan>(std::move(other));
    }
    return verify(graph, plan);
  };
  const std::pair<const char*, void (*)(Provenance&)> kChanges[] = {
      {"(model)", [](Provenance& from) { from.model = "another.onnx"; }},
      {"(model_sha256)", [](Provenance& from) { from.model_sha256 = "00"; }},
      {"(tool)", [](Provenance& from) { from.tool = "another 1.0"; }},
      {"(lowering)", [](Provenance& from) { from.lowering = {"load_time"}; }},
      {"(dims)", [](Provenance& from) { from.dims = {"batch=8"}; }},
      {"(target)", [](Provenance& from) { from.target = "phone"; }},
      {"(model_sha256, dims)",
       [](Provenance& from) {
         from.model_sha256 = "00";
         from.dims = {"batch=8"};
       }},
  };
  for (const auto& [named, change] : kChanges) {
    const auto found = found_after(change, false);
    ASSERT_EQ(kinds(found), "wrong_model") << named;
    EXPECT_THAT(found[0].message, HasSubstr(named));
    EXPECT_EQ(found[0].body, "node 1 '': 'else_branch'");
    EXPECT_EQ(messages(found_after(change, true)), "") << named;
  }
}

TEST_F(IfBodies, PlansOfBodiesHaveOneRegion) {
  Plan two = *else_plan;
  two.machine.regions.push_back({.name = "second"});
  two.layout.arena.emplace_back(0);
  else_plan = std::make_shared<const Plan>(two);
  EXPECT_EQ(kinds(verify(graph, make_plan())), "malformed");
}

TEST_F(IfBodies, BodiesReadCapturedTensors) {
  // The step lists x as read because a body captures it; y may not take its bytes, and x must be intact.
  Plan plan = make_plan();
  plan.program.steps[StepId(1)].reads.pop_back();
  EXPECT_EQ(kinds(verify(graph, plan)), "data_flow");
  plan = make_plan();
  plan.layout.values[ValueId(2)].buffer = BufferId(1);
  plan.layout.buffers[BufferId(1)].kind = BufferKind::output;
  plan.layout.buffers[BufferId(2)].kind = BufferKind::temporary;
  EXPECT_EQ(kinds(verify(graph, plan)), "bad_in_place");
}

// Loop body: next = Gemm(state), with the iteration number unused. Inputs: i 8 bytes, state 16 bytes.
class LoopBody : public ::testing::Test {
 protected:
  static std::shared_ptr<const Graph> make_body() {
    GraphMaker maker("body");
    maker.input("i", {1}, DType::i64);
    const TensorId state = maker.input("state", {16});
    const TensorId next = maker.result("next", {16}, "Gemm", {state});
    return std::make_shared<const Graph>(maker.make({next}));
  }
  std::shared_ptr<const Graph> body = make_body();

  PlanMaker planned(std::int64_t next_offset) const {
    PlanMaker planner(*body, true);
    planner.input_at(TensorId(0), 0, 1);
    planner.input_at(TensorId(1), 16, 1);
    planner.put(TensorId(2), planner.buffer(BufferKind::output, 16, next_offset, 0, 1));
    planner.compute(NodeId(0));
    return planner;
  }
  std::string check(const Plan& inner) const {
    GraphMaker maker("outer");
    const TensorId x = maker.input("x", {16});
    const TensorId y = maker.tensor("y", {16});
    maker.node("Loop", {std::nullopt, std::nullopt, x}, {y}, {}, {{"body", body, {}}});
    const Graph graph = maker.make({y});
    PlanMaker planner(graph);
    planner.put(y, planner.buffer(BufferKind::output, 16, 0, 0, 1));
    planner.compute(NodeId(0), planner.buffer(BufferKind::scratch, 64, 16, 0, 1),
                    {{"body", Offset(0), std::make_shared<const Plan>(inner)}});
    const Plan outer = planner.finish();
    load_as_given = outer.claims.load_as_given;
    return kinds(verify(graph, outer));
  }
  mutable Bytes load_as_given;  // of the outer graph
};

TEST_F(LoopBody, KeepsItsInputsLiveThroughout) {
  const Plan inner = planned(32).finish();
  EXPECT_EQ(check(inner), "");
  EXPECT_EQ(inner.claims.load_as_given, Bytes(16));  // next; i and state are counted where the body is run:
  EXPECT_EQ(load_as_given, Bytes(56));               // y 16 + i 8 + state 16 + next 16
  EXPECT_EQ(check(planned(16).finish()), "overlap; bad_in_place");
}

TEST_F(LoopBody, InputThatIsNotPlacedIsWrong) {
  Plan inner = planned(32).finish();
  inner.layout.buffers[BufferId(0)].placement.reset();
  make_honest(*body, inner);
  EXPECT_EQ(check(inner), "role");
}

TEST_F(LoopBody, InputThatHasNoPlaceIsWrong) {
  Plan inner = planned(32).finish();
  inner.program.values[ValueId(0)].tensor = TensorId(1);  // i has no place, and state has two
  EXPECT_THAT(check(inner), HasSubstr("role"));
}

TEST_F(LoopBody, InputThatEndsEarlyIsWrong) {
  GraphMaker maker("body");
  const TensorId state = maker.input("state", {16});
  const TensorId a = maker.result("a", {16}, "Gemm", {state});
  const TensorId b = maker.result("b", {16}, "Gemm", {a});
  body = std::make_shared<const Graph>(maker.make({b}));
  const auto plan_with = [&](std::uint32_t end) {
    PlanMaker planner(*body, true);
    planner.input_at(state, 0, end);
    planner.put(a, planner.buffer(BufferKind::temporary, 16, 16, 0, 2));
    planner.put(b, planner.buffer(BufferKind::output, 16, 32, 1, 2));
    planner.run_in_order();
    return planner.finish();
  };
  EXPECT_EQ(check(plan_with(2)), "");
  EXPECT_EQ(check(plan_with(1)), "dead_access");
}

TEST_F(LoopBody, WithoutNodesReturnsItsInputs) {
  GraphMaker maker("body");
  const TensorId a = maker.input("a", {16});
  const TensorId b = maker.input("b", {16});
  body = std::make_shared<const Graph>(maker.make({b, a}));
  const auto plan_with_b_at = [&](std::int64_t offset) {
    PlanMaker planner(*body, true);
    planner.input_at(a, 0, 0);
    planner.input_at(b, offset, 0);
    return planner.finish();
  };
  EXPECT_EQ(plan_with_b_at(16).claims.load, Bytes(32));  // there is no step, but one moment in which both are live
  EXPECT_EQ(plan_with_b_at(16).layout.arena[0], Bytes(32));
  EXPECT_EQ(check(plan_with_b_at(16)), "");
  EXPECT_EQ(check(plan_with_b_at(0)), "overlap; overlap");  // as buffers, and as outputs
}

// A body in a body in a body: as deep as a graph may be.
TEST(Nesting, BodiesNestAsDeepAsGraphsPermit) {
  const auto verify_nested = [](int depth, std::int64_t innermost_bytes) {
    GraphMaker innermost("innermost");
    const TensorId a = depth == 0 ? innermost.constant("a", {16}) : innermost.captured("a", {16}, Role::constant);
    const TensorId z = innermost.tensor("z", {16});
    innermost.node("Gemm", {a}, {z});
    auto graph = std::make_shared<const Graph>(innermost.make({z}));
    PlanMaker planner(*graph, true);  // none of them has an input, so it does not matter whether this is a body
    planner.put(z, planner.buffer(BufferKind::output, innermost_bytes, 0, 0, 1));
    planner.compute(NodeId(0));
    auto plan = std::make_shared<const Plan>(planner.finish());
    for (int level = 0; level < depth; ++level) {
      GraphMaker maker("level");
      const TensorId outer_a =
          level + 1 == depth ? maker.constant("a", {16}) : maker.captured("a", {16}, Role::constant);
      const TensorId outer_z = maker.tensor("z", {16});
      maker.node("If", {}, {outer_z}, {}, {{"then_branch", graph, {{outer_a, TensorId(0)}}}});
      auto outer = std::make_shared<const Graph>(maker.make({outer_z}));
      PlanMaker outer_planner(*outer, true);
      outer_planner.put(outer_z, outer_planner.buffer(BufferKind::output, 16, 0, 0, 1));
      outer_planner.compute(NodeId(0), outer_planner.buffer(BufferKind::scratch, 16 * (level + 1), 16, 0, 1),
                            {{"then_branch", Offset(0), plan}});
      graph = outer;
      plan = std::make_shared<const Plan>(outer_planner.finish());
    }
    return verify(*graph, *plan);
  };
  EXPECT_EQ(messages(verify_nested(0, 16)), "");
  EXPECT_EQ(messages(verify_nested(limits::kMaxBodyNesting, 16)), "");
  // Too large for its buffer, 32 bodies down.
  const auto found = verify_nested(limits::kMaxBodyNesting, 15);
  EXPECT_EQ(kinds(found), "out_of_buffer");
  EXPECT_EQ(found[0].body.substr(0, 40), "node 0 '': 'then_branch': node 0 '': 'th");
  EXPECT_EQ(static_cast<int>(std::count(found[0].body.begin(), found[0].body.end(), 'h')), 2 * limits::kMaxBodyNesting);
}

}  // namespace
}  // namespace lowtide::testing
