// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/plan_graph.h"

#include <gtest/gtest.h>

#include "lowtide/target/description.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::graph_of;
using testing::must_plan;
using testing::tensor_named;

// x -> a(256) -> b(256, in place) -> c(64) -> out; floats are 4 bytes, alignment 64.
constexpr const char* kChain = R"(graph "g" {
  input x : f32[16]
  a = Conv(x) : f32[64]
  b = Relu(a) : f32[64]
  c = Conv(b) : f32[16]
  output c
})";

TEST(PlanGraph, AChainNeedsTwoNeighbours) {
  const PlannedGraph planned = must_plan(graph_of(kChain));
  EXPECT_EQ(planned.plan.claims.load, Bytes(256 + 64));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256 + 64));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(256 + 64));
  EXPECT_TRUE(planned.plan.claims.schedule_optimal);
  EXPECT_TRUE(planned.plan.claims.allocate_optimal);
  EXPECT_EQ(planned.plain.load_as_given, Bytes(512));  // a and b apart
  EXPECT_EQ(planned.plain.temporaries_sum, Bytes(256 + 256 + 64));
}

// What the program says of the graph, besides bytes.
TEST(PlanGraph, ProgramNamesOutputsKernelsAndOperands) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Add(x, x) : f32[16]
    b = Conv(a) : f32[16]
    output b, x, b
  })");
  const Plan plan = must_plan(graph).plan;
  const Program& program = plan.program;
  EXPECT_EQ(program.outputs, (std::vector<ValueId>{ValueId(2), ValueId(0), ValueId(2)}));
  EXPECT_TRUE(program.updates.empty());
  EXPECT_EQ(program.steps[StepId(0)].reads, (std::vector<ValueId>{ValueId(0), ValueId(0)}));  // an operand each
  EXPECT_EQ(program.steps[StepId(0)].work, Work(Compute{NodeId(0), KernelId(0)}));
  EXPECT_EQ(plan.kernels, (IdVector<KernelId, PlannedKernel>{{"dense"}}));
  EXPECT_EQ(program.streams, (IdVector<StreamId, Stream>{{.worker = WorkerId(0), .link = std::nullopt}}));
  EXPECT_EQ(plan.execution, ExecutionModel::sequence);
  // Conv reads 64 bytes and writes 64, in every plan.
  EXPECT_EQ(plan.claims.bounds, (std::vector<Bound>{{BoundScope::run_once, Bytes(128), "must_be_live"},
                                                    {BoundScope::all_plans, Bytes(128), "largest_step"}}));
}

TEST(PlanGraph, WithoutInPlaceTheReluNeedsItsOwn) {
  EXPECT_EQ(arena_bytes(must_plan(graph_of(kChain), {.in_place = false}).plan), Bytes(512));
}

// Every kernel wants 100 bytes, rounded up to 128. A Reshape that is an alias runs none: 256 of a and 128 at the Conv,
// then 256 and 64 of c, and 128.
TEST(PlanGraph, AnAliasNeedsNoScratch) {
  const Target target = parse_target(R"(name = "t"
[[region]]
name = "arena"
[[kernel]]
operator = "*"
name = "any"
scratch = 100
)",
                                     "t.toml")
                            .value();
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[64]
    b = Reshape(a) : f32[8,8]
    c = Conv(b) : f32[16]
    output c
  })");
  const PlannedGraph planned = must_plan(graph, {}, target);
  EXPECT_FALSE(planned.plan.layout.steps[StepId(1)].scratch.has_value());
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(256 + 64 + 128));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(256 + 64 + 128));
  EXPECT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed);
  // A Reshape that copies runs a kernel: 256 of each and 128. The options forbid plans without it, so the bound counts that.
  const PlannedGraph copied = must_plan(graph, {.views = false}, target);
  EXPECT_EQ(arena_bytes(copied.plan), Bytes(256 + 256 + 128));
  EXPECT_EQ(bound_of(copied.plan).bytes, Bytes(256 + 256 + 128));
  must_plan(graph, {.streams = 2}, target);
}

TEST(PlanGraph, ABudgetThatIsMetIsKeptInThePlan) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {.budget = Bytes(320)});
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.machine.regions[0].capacity, Bytes(320));
}

TEST(PlanGraph, ABudgetThatCannotBeMetSaysByHowMuchAndThatNoOrderHelps) {
  const PlannedGraph planned = must_plan(graph_of(kChain), {.budget = Bytes(319)});
  EXPECT_FALSE(planned.fits());
  EXPECT_EQ(planned.shortfall, Bytes(1));
  EXPECT_TRUE(planned.proven_infeasible);
}

TEST(PlanGraph, TheSmallerOfBudgetAndCapacityCounts) {
  Target target = dense_target();
  target.machine.regions[0].capacity = Bytes(100);
  EXPECT_EQ(must_plan(graph_of(kChain), {.budget = Bytes(1000)}, target).capacity, Bytes(100));
  EXPECT_EQ(must_plan(graph_of(kChain), {.budget = Bytes(50)}, target).capacity, Bytes(50));
}

// 256 + 64 live at once, and 128 bytes of fast memory: the small buffer stays there, the large one goes on.
TEST(PlanGraph, WhatDoesNotFitTheFirstRegionGoesToTheNext) {
  Target target = dense_target();
  target.machine.regions = {Region{.name = "sram", .capacity = Bytes(128)},
                            Region{.name = "dram", .alignment = Bytes(16)}};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(64), Bytes(256)}));
}

// The first region is for the host alone: nothing goes there, and alignments are those of the others.
TEST(PlanGraph, BuffersLieInRegionsThatTheWorkerAddresses) {
  Target target = dense_target();
  target.machine.regions = {
      Region{.name = "host", .alignment = Bytes(256)}, Region{.name = "sram", .capacity = Bytes(128)},
      Region{.name = "dram", .capacity = Bytes(256)}, Region{.name = "disk", .capacity = Bytes(1)}};
  target.machine.workers[WorkerId(0)].addressable = {RegionId(1), RegionId(2)};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_TRUE(planned.fits());
  EXPECT_EQ(planned.plan.layout.arena, (std::vector<Bytes>{Bytes(0), Bytes(64), Bytes(256), Bytes(0)}));
  EXPECT_EQ(planned.plan.machine, target.machine);
  EXPECT_EQ(planned.capacity, Bytes(128 + 256));
  const PlannedGraph tight = must_plan(graph_of(kChain), {.budget = Bytes(300)}, target);
  EXPECT_EQ(tight.shortfall, Bytes(20));
}

TEST(PlanGraph, WhenNoRegionHasRoomTheLastOneSaysHowMuchIsMissing) {
  Target target = dense_target();
  target.machine.regions = {Region{.name = "sram", .capacity = Bytes(128)},
                            Region{.name = "dram", .capacity = Bytes(200)}};
  const PlannedGraph planned = must_plan(graph_of(kChain), {}, target);
  EXPECT_EQ(planned.shortfall, Bytes(56));
  EXPECT_EQ(planned.capacity, Bytes(328));
  EXPECT_FALSE(planned.proven_infeasible);  // 320 would fit in 328, were it one region
}

TEST(PlanGraph, AnUnknownOrderIsAnError) {
  Result<PlannedGraph> planned = plan_graph(graph_of(kChain), dense_target(), {.order = "fastest"});
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code, ErrorCode::invalid);
}

TEST(PlanGraph, AnOutputThatIsAnInputNeedsNothing) {
  const PlannedGraph planned = must_plan(graph_of("graph \"g\" {\n input x : f32[4]\n output x\n}"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(0));
}

TEST(PlanGraph, TensorsWithoutElementsArePlannedToo) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input x : f32[0,4]
    a = Conv(x) : f32[0,4]
    b = Relu(a) : f32[0,4]
    c = Concat(a, b) {axis = 0} : f32[0,4]
    output c
  })"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(0));
}

// then: p(640) and q(64) live together; else: r(64). The If needs 704 bytes of scratch, and y beside it.
constexpr const char* kIf = R"(graph "g" {
  input c : bool[]
  input x : f32[16]
  y = If(c) "choose" {
    then_branch = graph "then" captures (x) {
      captured input x : f32[16]
      p = Conv(x) : f32[160]
      q = Conv(p) : f32[16]
      output q
    },
    else_branch = graph "else" captures (x) {
      captured input x : f32[16]
      r = Conv(x) : f32[16]
      output r
    }
  } : f32[16]
  z = Conv(y) : f32[16]
  output z
})";

TEST(PlanGraph, BranchesOfAnIfShareTheScratchOfTheirNode) {
  const PlannedGraph planned = must_plan(graph_of(kIf));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 + 640 + 64));
  const StepSpace& step = planned.plan.layout.steps[StepId(0)];
  ASSERT_TRUE(step.scratch.has_value());
  EXPECT_EQ(planned.plan.layout.buffers[*step.scratch].size, Bytes(704));
  ASSERT_EQ(step.bodies.size(), 2U);
  EXPECT_EQ(step.bodies[0].plan->layout.arena[0], Bytes(704));
  EXPECT_EQ(step.bodies[1].plan->layout.arena[0], Bytes(64));
}

// The inputs of a loop body are kept throughout: i and c (8 and 1 -> 64 each), s (64), beside p (640) and the results.
TEST(PlanGraph, LoopBodiesHoldTheirInputs) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input n : i64[]
    input c : bool[]
    input x : f32[16]
    y = Loop(n, c, x) {
      body = graph "body" {
        input i : i64[]
        input go : bool[]
        input s : f32[16]
        p = Conv(s) : f32[160]
        t = Conv(p) : f32[16]
        on = Conv(go) : bool[]
        output on, t
      }
    } : f32[16]
    output y
  })"));
  const Plan& body = *planned.plan.layout.steps[StepId(0)].bodies[0].plan;
  EXPECT_EQ(body.layout.arena[0], Bytes(3 * 64 + 640 + 64));
  for (const Buffer& buffer : body.layout.buffers) {
    if (buffer.kind == BufferKind::input) {
      EXPECT_TRUE(buffer.placement.has_value());
      EXPECT_EQ(buffer.lifespan, (Lifespan{StepId(0), StepId(3)}));
    }
  }
}

// What a loop body reads of the graph around it lies there, and takes no second room: s (64), beside p (640) and t
// (64).
TEST(PlanGraph, LoopBodiesDoNotHoldWhatTheyCapture) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input n : i64[]
    input c : bool[]
    input x : f32[16]
    w = Conv(x) : f32[1600]
    y = Loop(n, c, x) {
      body = graph "body" captures (w, x) {
        captured input w : f32[1600]
        captured input x : f32[16]
        input s : f32[16]
        p = Conv(s, w, x) : f32[160]
        t = Conv(p) : f32[16]
        output t
      }
    } : f32[16]
    output y
  })"));
  const Plan& body = *planned.plan.layout.steps[StepId(1)].bodies[0].plan;
  EXPECT_EQ(body.layout.arena[0], Bytes(64 + 640 + 64));
  EXPECT_EQ(body.claims.load, Bytes(64 + 640 + 64));
  EXPECT_FALSE(body.layout.buffers[BufferId(0)].placement.has_value());
  EXPECT_FALSE(body.layout.buffers[BufferId(1)].placement.has_value());
  EXPECT_TRUE(body.layout.buffers[BufferId(2)].placement.has_value());
}

// Inside `then`, a can lie in one of two concats only, so e and f (1280 each) and g (64) live at once. The bound counts
// what e and f hold, a, u and v (640 each), and g. What is not proven inside is not proven outside: y (64) beside it.
TEST(PlanGraph, ABodyCountsInTheBoundWithWhatIsProvenOfIt) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[16]
    y = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[16]
        a = Conv(x) : f32[1,160]
        u = Conv(x) : f32[1,160]
        v = Conv(x) : f32[1,160]
        e = Concat(a, u) {axis = 1} : f32[1,320]
        f = Concat(a, v) {axis = 1} : f32[1,320]
        g = Conv(e, f) : f32[16]
        output g
      },
      else_branch = graph "else" captures (x) {
        captured input x : f32[16]
        r = Conv(x) : f32[16]
        output r
      }
    } : f32[16]
    output y
  })"));
  const Plan& body = *planned.plan.layout.steps[StepId(0)].bodies[0].plan;
  EXPECT_EQ(bound_of(body).bytes, Bytes(1984));
  EXPECT_EQ(body.layout.arena[0], Bytes(2624));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(64 + 1984));
  EXPECT_EQ(planned.largest_step, Bytes(64 + 1984));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 + 2624));
  EXPECT_FALSE(planned.plan.claims.schedule_optimal);
}

// A branch that hands out what it captures, and one that hands out a constant: neither has a step.
TEST(PlanGraph, BranchesWithoutNodesArePlanned) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input c : bool[]
    input x : f32[16]
    y = If(c) {
      then_branch = graph "then" captures (x) {
        captured input x : f32[16]
        output x
      },
      else_branch = graph "else" {
        constant k : f32[16]
        output k
      }
    } : f32[16]
    output y
  })"));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(64));
}

// The states a and b (64 and 128) keep bytes of their own though no node of the body touches them; so do the results.
TEST(PlanGraph, ALoopBodyWithoutNodesHoldsItsInputsApart) {
  const PlannedGraph planned = must_plan(graph_of(R"(graph "g" {
    input n : i64[]
    input a0 : f32[16]
    input b0 : f32[20]
    y, z = Loop(n, _, a0, b0) {
      body = graph "body" {
        input i : i64[]
        input go : bool[]
        input a : f32[16]
        input b : f32[20]
        output go, a, b
      }
    } : f32[16], f32[20]
    output y, z
  })"));
  const Plan& body = *planned.plan.layout.steps[StepId(0)].bodies[0].plan;
  EXPECT_EQ(body.layout.arena[0], Bytes(64 + 64 + 64 + 128));
  EXPECT_EQ(body.claims.load, Bytes(64 + 64 + 64 + 128));
  EXPECT_EQ(bound_of(body).bytes, Bytes(64 + 64 + 64 + 128));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(320 + 64 + 128));
}

// A node of this operator with the graph as its body, its input captured or given.
std::string around(const Graph& inner, bool is_loop) {
  std::string text = print_graph(inner);
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
  };
  if (!is_loop) {
    replace("graph \"random\" {", "graph \"random\" captures (t0) {");
    replace("input t0", "captured input t0");
  }
  return "graph \"g\" {\n input n : i64[]\n input t0 : " +
         print_tensor_type(inner.tensor(TensorId(0)).dtype, inner.tensor(TensorId(0)).shape) +
         "\n y = " + (is_loop ? "Loop(n, _, t0) {body = " : "If(n) {then_branch = ") + text +
         "} : f32[4]\n output y\n}";
}

// Whatever order is chosen, inside and outside: none needs less than what the plan of another calls the bound.
TEST(PlanGraph, NoOrderOfABodyGoesBelowTheBoundOfAnother) {
  Random random(7);
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    const Graph inner = testing::random_graph(random, static_cast<int>(random.between(1, 14)));
    const Graph graph = graph_of(around(inner, random.chance(50)));
    Bytes most_bound;
    std::vector<Bytes> arenas;
    for (const char* order : {"as_given", "depth_first", "greedy_by_freed_bytes", "auto"}) {
      const PlannedGraph planned = must_plan(graph, {.order = order});
      most_bound = std::max(most_bound, bound_of(planned.plan).bytes);
      arenas.push_back(arena_bytes(planned.plan));
    }
    const auto [least, most] = std::minmax_element(arenas.begin(), arenas.end());
    ASSERT_LE(most_bound, *least) << print_graph(graph);
    differ += *least < *most ? 1 : 0;
  }
  EXPECT_GT(differ, 40);  // else nothing was tried
}

// Only of an If of ONNX is it known that one body runs. Others lie one after the other: 100 -> 128, then 64.
TEST(PlanGraph, BodiesOfAnotherOperatorShareNoBytes) {
  for (const std::string type : {"com.example::If", "com.example::Both"}) {
    const Graph graph = graph_of(R"(graph "g" {
      input x : f32[16]
      y = )" + type + R"((x) {
        first = graph "first" captures (x) {
          captured input x : f32[16]
          a = Conv(x) : f32[25]
          output a
        },
        second = graph "second" captures (x) {
          captured input x : f32[16]
          b = Conv(x) : f32[16]
          output b
        }
      } : f32[16]
      output y
    })");
    PlannedGraph planned = must_plan(graph);
    StepSpace& step = planned.plan.layout.steps[StepId(0)];
    ASSERT_EQ(step.bodies.size(), 2U);
    EXPECT_EQ(step.bodies[0].offset, Offset(0));
    EXPECT_EQ(step.bodies[1].offset, Offset(128));
    ASSERT_TRUE(step.scratch.has_value());
    EXPECT_EQ(planned.plan.layout.buffers[*step.scratch].size, Bytes(192));
    step.bodies[1].offset = Offset(0);
    const std::vector<Violation> violations = verify(graph, planned.plan);
    ASSERT_EQ(violations.size(), 1U) << type;
    EXPECT_EQ(violations[0].kind, ViolationKind::overlap);
  }
}

// Every plan of a random graph is right, between its bound and no reuse at all, and the same when made again.
TEST(PlanGraph, RandomGraphsAreVerifiedAndBounded) {
  Random random(99);
  int without_fragmentation = 0;
  int optimal = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(1, 30)));
    Target target = dense_target();
    target.machine.regions[0].alignment = Bytes(std::int64_t{1} << random.below(9));
    const PlannedGraph planned = must_plan(graph, {.in_place = random.chance(80)}, target);
    const Claims& claims = planned.plan.claims;
    const Bytes arena = arena_bytes(planned.plan);
    ASSERT_LE(bound_of(planned.plan).bytes, claims.load);
    ASSERT_LE(best_bound(claims, BoundScope::all_plans)->bytes, bound_of(planned.plan).bytes);
    ASSERT_LE(claims.load, arena);
    Bytes no_reuse;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.producer) no_reuse += round_up(tensor.size, target.machine.regions[0].alignment);
    }
    ASSERT_LE(arena, no_reuse);
    without_fragmentation += claims.load == arena ? 1 : 0;
    optimal += bound_of(planned.plan).bytes == arena ? 1 : 0;
    if (round % 50 == 0) {
      const PlannedGraph again = must_plan(graph, {}, target);
      const PlannedGraph twice = must_plan(graph, {}, target);
      EXPECT_EQ(again.plan.layout.buffers, twice.plan.layout.buffers);
      EXPECT_EQ(again.plan.program.values, twice.plan.program.values);
    }
  }
  EXPECT_GE(without_fragmentation, kRounds * 97 / 100);
  EXPECT_GE(optimal,
            kRounds * 48 / 100);  // 1,003 measured: where slices and concats cannot all share, nothing else is proven
}

Target two_regions(Bytes first, Bytes second, std::optional<Bytes> capacity) {
  Target target = dense_target();
  target.machine.regions = {{.name = "a", .capacity = capacity, .alignment = first},
                            {.name = "b", .alignment = second}};
  return target;
}

// Regions with any alignments: parts, bodies and bounds keep to those that they may come to lie in.
TEST(PlanGraph, RegionsOfAnyAlignmentHoldPartsAndBodies) {
  Random random(97);
  for (int round = 0; round < 400; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(4, 30)));
    const Target target = two_regions(Bytes(std::int64_t{1} << random.below(9)),
                                      Bytes(std::int64_t{1} << random.below(9)), Bytes(random.between(0, 400)));
    const PlannedGraph planned =
        must_plan(graph, {.streams = static_cast<std::uint32_t>(random.between(1, 2))}, target);
    ASSERT_LE(bound_of(planned.plan).bytes, arena_bytes(planned.plan));
  }
  const Graph branches = graph_of(kIf);
  for (const auto& [first, second] : {std::pair(64, 16), std::pair(16, 64), std::pair(256, 64)}) {
    const PlannedGraph planned = must_plan(branches, {}, two_regions(Bytes(first), Bytes(second), Bytes(100)));
    ASSERT_FALSE(planned.plan.program.steps.empty());
  }
}

// 16 bytes of 4 floats: rounded to 64 in the first region, which is too small for it, but not in the second.
TEST(PlanGraph, ABoundKnowsTheFinestRegion) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[4]
    output a
  })");
  const PlannedGraph planned = must_plan(graph, {}, two_regions(Bytes(64), Bytes(4), Bytes(8)));
  EXPECT_EQ(bound_of(planned.plan).bytes, Bytes(16));
}

// All regions together must keep to a budget: 320 are needed, wherever they lie.
TEST(PlanGraph, ABudgetCountsAllRegions) {
  const Target target = two_regions(Bytes(64), Bytes(64), Bytes(128));
  const PlannedGraph met = must_plan(graph_of(kChain), {.budget = Bytes(320)}, target);
  EXPECT_TRUE(met.fits());
  EXPECT_EQ(arena_bytes(met.plan), Bytes(320));
  const PlannedGraph missed = must_plan(graph_of(kChain), {.budget = Bytes(300)}, target);
  EXPECT_FALSE(missed.fits());
  EXPECT_EQ(missed.shortfall, Bytes(20));
  EXPECT_TRUE(missed.proven_infeasible);
}

// The search and the checker of its bound count bytes with code of their own. What the first proves the second must
// confirm, and almost always they count alike.
TEST(PlanGraphBounds, AreConfirmedOnAllSmallGraphs) {
  Random random(83);
  int alike = 0;
  constexpr int kRounds = 1'500;
  for (int round = 0; round < kRounds; ++round) {
    const Graph graph = testing::random_graph(random, static_cast<int>(random.between(2, 9)));
    const PlannedGraph planned = must_plan(graph, {.bound_check_effort = 10'000'000});
    const Bytes bound = bound_of(planned.plan).bytes;
    ASSERT_EQ(planned.bound_check.verdict, OrderBoundVerdict::confirmed) << "round " << round << print_graph(graph);
    OrderFacts facts{.alignment = Bytes(64)};
    const ChosenKernels kernels = testing::dense_kernels(graph);
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      facts.scratch.push_back(kernels[id].scratch);
      std::vector<std::pair<TensorId, TensorId>> pairs;
      for (const auto& [input, output] : kernels[id].in_place) {
        pairs.emplace_back(*graph.node(id).inputs[static_cast<std::size_t>(input)],
                           *graph.node(id).outputs[static_cast<std::size_t>(output)]);
      }
      facts.in_place.push_back(std::move(pairs));
    }
    const OrderBoundCheck above = check_order_bound(graph, facts, bound + Bytes(1), std::nullopt, 10'000'000);
    alike += above.verdict == OrderBoundVerdict::refuted ? 1 : 0;
  }
  EXPECT_GE(alike, kRounds * 97 / 100);  // 1,477 measured
}

}  // namespace
}  // namespace lowtide
