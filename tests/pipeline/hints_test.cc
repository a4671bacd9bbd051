// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/pipeline/resolve_hints.h"
#include "tests/pipeline/planned.h"
#include "tests/testing/graphs.h"
#include "tests/testing/random_graphs.h"

namespace lowtide::testing {
namespace {

std::int64_t runs_of(const PlannedGraph& planned, NodeId node) {
  std::int64_t runs = 0;
  for (const Step& step : planned.plan.program.steps) runs += is_compute(step) && node_of(step) == node ? 1 : 0;
  return runs;
}

std::string refusal(const Graph& graph, const std::string& name, HintKind kind, const HintOptions& options = {}) {
  const ResolvedHints resolved = resolve_hints(graph, {{name, kind}}, options);
  return resolved.refused.empty() ? "" : resolved.refused[0].reason;
}

TEST(Hints, NameNodesOrTheirResults) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) "first" : f32[16]
    b = Conv(a) "twice" : f32[16]
    c = Conv(a, b) "twice" : f32[16]
    r = RandomNormalLike(c) : f32[16]
    s = Add(r, r) : f32[16]
    v = Reshape(a) : f32[4,4]
    d = Conv(v, s) : f32[16]
    e = Conv(v, d, r) : f32[16]
    output e
  })");
  const ResolvedHints resolved = resolve_hints(graph, {{"first", HintKind::keep}, {"b", HintKind::keep}});
  EXPECT_TRUE(resolved.refused.empty());
  EXPECT_EQ(resolved.accepted, (std::vector<NodeHint>{{NodeId(0), HintKind::keep}, {NodeId(1), HintKind::keep}}));
  EXPECT_EQ(refusal(graph, "twice", HintKind::keep), "2 nodes have this name; use the name of a result");
  EXPECT_NE(refusal(graph, "r", HintKind::recompute).find("random"), std::string::npos);
  EXPECT_NE(refusal(graph, "v", HintKind::recompute).find("view"), std::string::npos);
  EXPECT_NE(refusal(graph, "d", HintKind::recompute).find("one reader"), std::string::npos);
  EXPECT_EQ(refusal(graph, "a", HintKind::recompute), "");
  const Graph written = graph_of("graph \"w\" {\n input x : f32[16]\n gone = Conv(x) : f32[16]\n output gone\n}");
  EXPECT_NE(refusal(graph, "gone", HintKind::keep, {.written = &written}).find("lowering"), std::string::npos);
  EXPECT_EQ(refusal(graph, "gone", HintKind::keep), "no node or tensor has this name");
}

// d has one reader, so it cannot run again. That hint is refused, and another one for d counts.
TEST(Hints, OnlyAcceptedHintsForbidAnother) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[16]
    a = Conv(x) : f32[16]
    d = Conv(a) : f32[16]
    e = Conv(a, d) : f32[16]
    output e
  })");
  const ResolvedHints resolved = resolve_hints(graph, {{"d", HintKind::recompute},
                                                       {"d", HintKind::keep},
                                                       {"d", HintKind::keep},
                                                       {"a", HintKind::keep},
                                                       {"a", HintKind::recompute}});
  EXPECT_EQ(resolved.accepted, (std::vector<NodeHint>{{NodeId(1), HintKind::keep}, {NodeId(0), HintKind::keep}}));
  ASSERT_EQ(resolved.refused.size(), 3U);
  EXPECT_EQ(resolved.refused[0].request, (HintRequest{"d", HintKind::recompute}));
  EXPECT_EQ(resolved.refused[1].reason, "an earlier hint for the same node says the same");
  EXPECT_EQ(resolved.refused[2].reason, "an earlier hint for the same node says keep");
}

// Whatever is hinted, a plan that fits honours it, and is verified by must_plan.
TEST(Hints, RandomPlansHonourThem) {
  Random random(5);
  int honoured = 0;
  for (int round = 0; round < 80; ++round) {
    const Graph graph = random_graph(random, static_cast<int>(random.between(5, 16)));
    PlanOptions options{.order_effort = 10'000'000, .allocate_effort = 1'000'000, .recompute_effort = 20'000'000};
    const PlannedGraph plain = must_plan(graph, options);
    std::vector<HintRequest> requests;
    for (const Tensor& tensor : graph.tensors()) {
      if (random.chance(20))
        requests.push_back({tensor.name, random.chance(25) ? HintKind::keep : HintKind::recompute});
    }
    options.hints = resolve_hints(graph, requests).accepted;
    options.budget = plain.caller + Bytes(arena_bytes(plain.plan).count() * random.between(85, 99) / 100);
    const PlannedGraph planned = must_plan(graph, options);
    if (!planned.fits() || !planned.recomputation) continue;
    for (const NodeHint& hint : options.hints) {
      if (hint.kind == HintKind::keep) {
        ASSERT_LE(runs_of(planned, hint.node), 1) << print_graph(graph);
      } else {
        ASSERT_GE(runs_of(planned, hint.node), 2) << print_graph(graph);
        ++honoured;
      }
    }
  }
  EXPECT_GE(honoured, 3);
}

}  // namespace
}  // namespace lowtide::testing
