// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lowtide/pipeline/planned_graph.h"
#include "tests/campaign.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

TEST(Bodies, BranchesOfAnIfShareTheScratchOfTheirNode) {
  const PlannedGraph planned = must_plan(graph_of(kIf));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 + 640 + 64));
  const StepSpace& step = planned.plan.layout.steps[StepId(0)];
  ASSERT_TRUE(step.scratch.has_value());
  EXPECT_EQ(planned.plan.layout.buffers[*step.scratch].size, Bytes(704));
  ASSERT_EQ(step.bodies.size(), 2U);
  EXPECT_EQ(step.bodies[0].plan->layout.arena[0], Bytes(704));
  EXPECT_EQ(step.bodies[1].plan->layout.arena[0], Bytes(64));
}

// The inputs of a loop body live throughout: i and c (8 and 1 -> 64 each) and s (64), beside p (640) and the results.
TEST(Bodies, LoopBodiesHoldTheirInputs) {
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

// What a loop body captures is in the outer graph and takes no bytes of the body: s (64) lives beside p (640) and t
// (64).
TEST(Bodies, LoopBodiesDoNotHoldWhatTheyCapture) {
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
// a, u and v (640 each), which e and f hold, and g. The node counts with that bound, and y (64) counts in addition.
TEST(Bodies, ABodyCountsInTheBoundWithItsOwnBound) {
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
  EXPECT_EQ(planned.working_set, Bytes(64 + 1984));
  EXPECT_EQ(arena_bytes(planned.plan), Bytes(64 + 2624));
  EXPECT_FALSE(planned.plan.claims.schedule_optimal);
}

// One branch returns what it captures and the other a constant, so neither has a step.
TEST(Bodies, BranchesWithoutNodesArePlanned) {
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

// The inputs a and b (64 and 128) need bytes of their own although no node touches them, and so do the results.
TEST(Bodies, ALoopBodyWithoutNodesKeepsItsInputsSeparate) {
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

// A node with the graph as its body. A Loop passes the input in; an If captures it.
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

// No order, inside or outside the body, needs less than the bound that the plan of another order claims.
TEST(Bodies, NoOrderOfABodyGoesBelowTheBoundOfAnother) {
  Random random(7);
  int differ = 0;
  for (int round = 0; round < testing::sampled(400); ++round) {
    const Graph inner = random_graph(random, static_cast<int>(random.between(1, 14)));
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
  EXPECT_GT(differ, testing::sampled(40));  // otherwise the orders would be too alike
}

// Only an If of ONNX is known to run one of its bodies. Bodies of other operators lie one after another: 100 -> 128,
// then 64.
TEST(Bodies, BodiesOfAnotherOperatorShareNoBytes) {
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

}  // namespace
}  // namespace lowtide::testing
