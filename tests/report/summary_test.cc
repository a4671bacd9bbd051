// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/explanation.h"
#include "lowtide/report/inspection.h"
#include "lowtide/report/page.h"
#include "lowtide/target/description.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// 256 bytes each, except d. As given, a, b and c live at the Add; in a plan c is written over a.
constexpr const char* kSmall = R"(graph "small" {
  input x : f32[64]
  a = Relu(x) "relu" : f32[64]
  b = Sigmoid(a) "sigmoid" : f32[64]
  c = Add(a, b) "add" : f32[64]
  d = ReduceSum(c) "sum" : f32[1]
  output d
})";

// The branches need 3 x 256 and 2 x 256 bytes; y and z are live in the outer graph while they run.
constexpr const char* kTwoBranches = R"(graph "branches" {
  input condition : bool[]
  input x : f32[64]
  y = Relu(x) : f32[64]
  z = If(condition) "if" {
    then_branch = graph "then" captures (inner = y) {
      captured input inner : f32[64]
      p = Relu(inner) "p" : f32[64]
      q = Sigmoid(inner) "q" : f32[64]
      r = Add(p, q) "r" : f32[64]
      output r
    },
    else_branch = graph "else" captures (inner = y) {
      captured input inner : f32[64]
      s = Relu(inner) "s" : f32[64]
      t = Sigmoid(s) "t" : f32[64]
      output t
    }
  } : f32[64]
  w = Add(y, z) "add" : f32[64]
  output w
})";

// 256 bytes of weights; the arena has 256.
constexpr const char* kWeighted = R"(graph "weighted" {
  input x : f32[64]
  constant w : f32[64]
  a = Add(x, w) : f32[64]
  output a
})";

// Weights in flash, the arena in SRAM.
Target with_flash(std::optional<Bytes> flash, std::optional<Bytes> sram = std::nullopt) {
  Target target = dense_target();
  target.machine.regions = {{.name = "sram", .capacity = sram},
                            {.name = "flash", .capacity = flash, .is_read_only = true}};
  target.machine.constants = RegionId(1);
  return target;
}

PlannedGraph planned(const Graph& graph, std::optional<Bytes> budget = std::nullopt) {
  return plan_graph(graph, dense_target(), {.budget = budget}).value();
}

std::string summary(const Graph& graph, const PlannedGraph& planned, const std::string& name = "small.onnx") {
  const Labels labels = labels_of(graph);
  return plan_summary({.path = name,
                       .format = "onnx",
                       .sha256 = std::string(64, 'a'),
                       .nodes = 4,
                       .planned_nodes = 4,
                       .tensors = 5},
                      {planned.plan, labels}, verdict_of(planned))
      .render(false);
}

// c is written over a and read later, so the buffer has the name of c, also while it holds a.
TEST(PlanSummary, ListsWhatIsLiveAtThePeak) {
  const Graph graph = graph_of(kSmall);
  const std::string text = summary(graph, planned(graph));
  EXPECT_THAT(text, HasSubstr("Peak: 512 B at step 1 of 4 (counted from 0), Sigmoid sigmoid"));
  EXPECT_THAT(text, HasSubstr("c +1    f32[64]  [0,4)  Relu relu -> ReduceSum sum"));
  EXPECT_THAT(text, HasSubstr("b       f32[64]  [1,3)  Sigmoid sigmoid -> Add add"));
}

TEST(PlanSummary, ShowsThePeakInsideABody) {
  const Graph graph = graph_of(kTwoBranches);
  EXPECT_THAT(summary(graph, planned(graph)), HasSubstr("Peak inside then_branch: 512 B at step 2 of 3"));
}

TEST(PlanSummary, HasAnEmptyArenaWithoutNodes) {
  const Graph graph = graph_of("graph \"empty\" {\n  input x : f32[4]\n  output x\n}");
  EXPECT_THAT(summary(graph, planned(graph)), HasSubstr("arena           0 B"));
}

TEST(PlanSummary, NamesTheRegionOfTheWeights) {
  const Graph graph = graph_of(kWeighted);
  const auto text = [&](const Target& target) { return summary(graph, plan_graph(graph, target).value()); };
  EXPECT_THAT(text(dense_target()), Not(HasSubstr(" in flash")));
  EXPECT_THAT(text(with_flash(std::nullopt)), ContainsRegex("weights +256 B +in flash\n"));
  EXPECT_THAT(text(with_flash(Bytes(4096))), ContainsRegex("weights +256 B +256 B of 4.00 KiB in flash\n"));
  // The region has no arena, so only its weights are shown.
  EXPECT_THAT(text(with_flash(Bytes(4096))), Not(HasSubstr("  in flash  ")));
}

TEST(PlanSummary, SaysThatTheWeightsDoNotFit) {
  const Graph graph = graph_of(kWeighted);
  const std::string flash = summary(graph, plan_graph(graph, with_flash(Bytes(250), Bytes(320))).value());
  EXPECT_THAT(flash, HasSubstr("Does not fit: the weights need 256 B in flash, which has 250 B: 6 B too large.\n"
                               "  Proven: every plan without load-time work has these weights in this region.\n"
                               "  Without the weights, it fits 320 B; 64 B to spare.\n"));
  const std::string both = summary(graph, plan_graph(graph, with_flash(Bytes(250), Bytes(192))).value());
  EXPECT_THAT(both, HasSubstr("these weights in this region.\n  Without the weights, it exceeds 192 B by 64 B.\n"));
  EXPECT_THAT(both, Not(HasSubstr("Not proven")));
}

// Without load-time work, a run may read smaller constants.
TEST(PlanSummary, OffersToFitTheWeightsWithoutLoadTimeWork) {
  const Graph graph = graph_of(kWeighted);
  PlannedGraph planned = plan_graph(graph, with_flash(Bytes(250))).value();
  EXPECT_THAT(summary(graph, planned), Not(HasSubstr("--no-load-time")));
  planned.plan.provenance.lowering = {"load_time"};
  EXPECT_THAT(
      summary(graph, planned),
      HasSubstr("Proven: every plan with load-time work has these weights in this region. With --no-load-time, the\n"
                "  weights may need less.\n"));
}

TEST(PlanSummary, CountsWeightsInTheRegionOfTheArena) {
  const Graph graph = graph_of(kWeighted);
  Target target = dense_target();
  target.machine.constants = RegionId(0);
  target.machine.regions[0].capacity = Bytes(520);
  EXPECT_THAT(summary(graph, plan_graph(graph, target).value()),
              HasSubstr("Fits 520 B with the weights; 8 B to spare."));
  target.machine.regions[0].capacity = Bytes(384);
  const std::string missed = summary(graph, plan_graph(graph, target).value());
  EXPECT_THAT(missed, HasSubstr("Does not fit 384 B with the weights: 128 B too large.\n"));
  EXPECT_THAT(missed, HasSubstr("because the lower bound and the weights are\n  together 128 B too large."));
  target.machine.regions[0].capacity = Bytes(250);
  EXPECT_THAT(summary(graph, plan_graph(graph, target).value()),
              HasSubstr("Does not fit: the weights need 256 B in arena, which has 250 B: 6 B too large."));
}

TEST(ExplanationSummary, NamesTheRegionOfTheWeights) {
  const Graph graph = graph_of(kWeighted);
  const Target target = with_flash(Bytes(4096));
  const PlannedGraph planned = plan_graph(graph, target).value();
  const Labels labels = labels_of(graph);
  const std::string text = explanation_summary({}, explain_peak(graph, labels, target, {}, planned.plan),
                                               {.plain = planned.plain, .weights = planned.weights})
                               .render(false);
  EXPECT_THAT(text, HasSubstr("occupy 256 B of 4.00 KiB in flash."));
}

TEST(Inspection, NamesTheRegionOfTheWeights) {
  const Graph graph = graph_of(kWeighted);
  const Inspection inspection = inspect_graph(graph, with_flash(Bytes(4096)));
  EXPECT_THAT(inspection_summary({}, inspection).render(false), HasSubstr("256 B of 4.00 KiB in flash\n"));
}

TEST(Inspection, CountsOperatorsAlsoInsideBodies) {
  const Graph graph = graph_of(kTwoBranches);
  const Inspection inspection = inspect_graph(graph, dense_target());
  // 2 Add, 3 Relu, 2 Sigmoid and the If, of 256 bytes each.
  const std::vector<OperatorTotals>& operators = inspection.figures.operators;
  ASSERT_EQ(operators.size(), 4U);
  EXPECT_EQ(operators[0].op, "Relu");
  EXPECT_EQ(operators[0].totals.nodes, 3);
  EXPECT_EQ(operators[0].totals.written.sum, 3 * 256);
  EXPECT_EQ(operators[3].op, "If");
}

TEST(Inspection, BoundIsThatOfThePlan) {
  const Graph graph = graph_of(kSmall);
  EXPECT_EQ(inspect_graph(graph, dense_target()).bound.bytes, bound_of(planned(graph).plan).bytes);
  // Inside bodies, it is the scratch that no plan of the body avoids. So it never exceeds what the whole plan needs.
  const Graph branches = graph_of(kTwoBranches);
  EXPECT_LE(inspect_graph(branches, dense_target()).bound.bytes, arena_bytes(planned(branches).plan));
}

// A kernel for the Reshape needs 512 bytes of scratch, but the Reshape may be an alias.
TEST(Inspection, BoundHasNoScratchOfViews) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[64]
    a = Relu(x) : f32[64]
    b = Reshape(a) : f32[8,8]
    output a, b
  })");
  const Target target = parse_target(
                            "name = \"t\"\n[[region]]\nname = \"a\"\n[[kernel]]\noperator = \"Reshape\"\nname = \"k\"\n"
                            "scratch = 512\n",
                            "t.toml")
                            .value();
  EXPECT_EQ(inspect_graph(graph, target).bound.bytes, Bytes(256 + 256));  // at the end of the run
}

TEST(PlanSummary, SaysHowMuchIsMissingAndWhetherThatIsProven) {
  const Graph graph = graph_of(kSmall);
  // The arena needs 512 bytes and the input 256.
  EXPECT_THAT(summary(graph, planned(graph, Bytes(768))), HasSubstr("Fits 768 B; 0 B to spare."));
  const std::string missing = summary(graph, planned(graph, Bytes(704)));
  EXPECT_THAT(missing, HasSubstr("Does not fit 704 B: 64 B too large."));
  EXPECT_THAT(missing,
              HasSubstr("Proven for the model as written: no plan fits, because the lower bound and what the caller "
                        "holds\n  are together 64 B too large."));
  // 200 bytes are less than the input alone.
  EXPECT_THAT(summary(graph, planned(graph, Bytes(200))),
              HasSubstr("the lower bound and what the caller holds\n  are together 568 B too large."));
}

TEST(PlanSummary, NamesCannotActOnATerminal) {
  const Graph graph = graph_of(
      "graph \"g\" {\n  input x : f32[64]\n  \"\\x1b[31m\\x0aerror\" = Relu(x) \"\\x07\" : f32[64]\n"
      "  output \"\\x1b[31m\\x0aerror\"\n}");
  const std::string text = summary(graph, planned(graph), "\x1b]0;title\x07.onnx");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\nerror")));
  EXPECT_THAT(text, HasSubstr("'\\x1b[31m\\x0aerror'"));
}

TEST(Gap, IsRelativeToTheBound) {
  EXPECT_EQ(gap_of(Bytes(150), Bytes(100)), 0.5);
  EXPECT_EQ(gap_of(Bytes(0), Bytes(0)), 0);
  EXPECT_EQ(gap_of(Bytes(150), Bytes(0)), std::nullopt);
}

TEST(ShownName, KeepsTheEndOfALongName) {
  EXPECT_EQ(shown_name("/layer1/conv1/Conv", 30), "/layer1/conv1/Conv");
  EXPECT_EQ(shown_name("/layer1/layer1.0/conv1/Conv", 14), ".../conv1/Conv");
  EXPECT_EQ(shown_name("two words", 30), "'two words'");
  EXPECT_EQ(shown_name("", 30), "''");
  EXPECT_EQ(shown_name(std::string(1'000'000, 'a'), 10), "...aaaaaaa");
}

TEST(ShownNames, StayDifferent) {
  const std::string a = "encoder.a/layer/attention/MatMul";
  const std::string b = "encoder.b/layer/attention/MatMul";
  EXPECT_EQ(shown_names({a, b, a, "decoder/layer/Add"}, 16), (std::vector<std::string>{a, b, a, "...der/layer/Add"}));
  // Escaped, each name has more than 4 x 4,000 columns.
  const std::string tail(4'000, '\x01');
  const std::vector<std::string> shown = shown_names({"a" + tail, "b" + tail}, 16);
  EXPECT_NE(shown[0], shown[1]);
}

// Both names end in the same 40 letters, and the tables have 36 columns.
TEST(Inspection, TensorsWithSimilarNamesLookDifferent) {
  const std::string tail(40, 'n');
  const Graph graph =
      graph_of("graph \"g\" {\n  input x : f32[64]\n  left_" + tail + " = Relu(x) : f32[64]\n  right_" + tail +
               " = Neg(x) : f32[64]\n  y = Conv(left_" + tail + ", right_" + tail + ") : f32[64]\n  output y\n}");
  const Labels labels = labels_of(graph);
  const std::string inspected = inspection_summary({}, inspect_graph(graph, dense_target())).render(false);
  const PlannedGraph plan = planned(graph);
  const std::string explained =
      explanation_summary({}, explain_peak(graph, labels, dense_target(), {}, plan.plan), {}).render(false);
  for (const std::string& text : {inspected, summary(graph, plan), explained}) {
    EXPECT_THAT(text, HasSubstr("left_" + tail));
    EXPECT_THAT(text, HasSubstr("right_" + tail));
  }
}

// The table of the peak shortens the name of 50 letters, unless it is wide. The sentences do not.
TEST(Inspection, NamesAreShortenedOnlyInNarrowTables) {
  const std::string name(50, 'n');
  const Graph graph = graph_of("graph \"g\" {\n  input x : f32[64]\n  " + name + " = Conv(x) : f32[64]\n  y = Conv(" +
                               name + ") : f32[64]\n  output y\n}");
  const Inspection inspection = inspect_graph(graph, dense_target());
  EXPECT_THAT(inspection_summary({}, inspection).render(false), Not(HasSubstr(name)));
  EXPECT_THAT(inspection_summary({}, inspection, {.wide = true}).render(false), HasSubstr(name));
  const PlannedGraph plan = planned(graph);
  const Labels labels = labels_of(graph);
  const auto levels = explain_peak(graph, labels, dense_target(), {}, plan.plan);
  const std::string explained = explanation_summary({}, levels, {}).render(false);
  EXPECT_THAT(explained, HasSubstr("reads " + name + " (256 B)"));
  EXPECT_THAT(explained, HasSubstr("  ..." + name.substr(17)));  // the column has 36
}

}  // namespace
}  // namespace lowtide::testing
