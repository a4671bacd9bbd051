// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// What a page shows of a model beyond its plan.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/target.h"
#include "tests/report/page_json.h"
#include "tests/report/page_plans.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

TEST(Page, HoldsMultiplyAccumulatesOfAKnownGraph) {
  const PlanSketch small = small_plan();
  const Graph graph = small_plan_graph();
  const Json sheet = embedded_json(
      page({small.plan, small.labels}, {.graph = &graph, .quantized = "2 operators are quantized."}))["sheets"][0];
  EXPECT_EQ(sheet["node"]["macs"], Json({9'437'184, 0, 2'097'152, -1, 0, 0, 0, 16'777'216, 0}));
  EXPECT_EQ(sheet["quantized"], "2 operators are quantized.");
  const Json without = embedded_json(page_of(small))["sheets"][0];
  EXPECT_FALSE(without["node"].contains("macs"));
  EXPECT_FALSE(without.contains("quantized"));
}

TEST(Page, HoldsWhatLoweringChangedAndTheCopies) {
  const PlanSketch small = small_plan();
  const LoweringFacts lowering{.at_load = 2,
                               .rewrites = {{NodeId(1), "relu1", "lowtide::Chain", {"add", "</script>"}}}};
  const std::vector<CopyLeft> copies{{"", StepId(4), "Concat", "c", Bytes(128), CopyReason::output},
                                     {"if/then", StepId(0), "Transpose", "t", Bytes(64), CopyReason::reorders}};
  const Json sheet =
      embedded_json(page({small.plan, small.labels}, {.lowering = &lowering, .copies = &copies}))["sheets"][0];
  EXPECT_EQ(sheet["lowered"], "2 nodes computed when the model is loaded and 2 nodes fused into 1 chain.");
  EXPECT_EQ(sheet["rewrites"], Json::parse(R"([[1, ["add", "</script>"]]])"));
  EXPECT_EQ(sheet["copies"],
            Json::parse(R"([[4, 128, "both tensors are needed at the end"]])"));  // not those of bodies
  const Json without = embedded_json(page_of(small))["sheets"][0];
  EXPECT_FALSE(without.contains("lowered") || without.contains("rewrites") || without.contains("copies"));
}

TEST(Page, HoldsWhyTensorsStay) {
  const PlanSketch small = small_plan();
  const std::vector<KeptTensor> kept{
      {.tensor = TensorId(2), .step = StepId(4), .reason = KeptReason::hint},
      {.tensor = TensorId(3), .step = StepId(4), .picoseconds = 12'000'000, .absent = {TensorId(2)}}};
  const Json sheet = embedded_json(page({small.plan, small.labels}, {.kept = &kept}))["sheets"][0];
  const std::string absent = small.labels.tensors[TensorId(2)].name;
  EXPECT_EQ(sheet["kept"],
            Json({{4, 2, "a hint keeps it"},
                  {4, 3, "its node would take 12.00 us again, and needs " + absent + ", which is not there"}}));
  EXPECT_FALSE(embedded_json(page_of(small))["sheets"][0].contains("kept"));
}

// 256 bytes of w, and 128 of v in a branch. A capture is not counted again.
TEST(Page, HoldsTheWeightsOfAModelWithBodies) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input c : bool[]
    constant w : f32[64]
    y = If(c) {
      then_branch = graph "then" captures (outer = w) {
        captured constant outer : f32[64]
        constant v : f32[32]
        p = Relu(outer) : f32[64]
        q = Sum(p, v) : f32[64]
        output q
      },
      else_branch = graph "else" captures (outer = w) {
        captured constant outer : f32[64]
        e = Relu(outer) : f32[64]
        output e
      }
    } : f32[64]
    output y
  })");
  Target target = dense_target();
  target.machine.constants = RegionId(0);
  const Plan plan = plan_graph(graph, target).value().plan;
  const Labels labels = labels_of(graph);
  const Json sheets = embedded_json(page({plan, labels}, {.graph = &graph}))["sheets"];
  EXPECT_EQ(sheets[0]["facts"]["weights"], 256 + 128);
  EXPECT_FALSE(embedded_json(page({plan, labels}))["sheets"][0]["facts"].contains("weights"));
}

}  // namespace
}  // namespace lowtide
