// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "lowtide/base/random.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/copies.h"
#include "lowtide/report/text/figures.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string explanation(const Graph& graph, const PlanOptions& options = {}, const std::string& forbidden = "",
                        const Target& target = dense_target()) {
  const PlannedGraph planned = plan_graph(graph, target, options).value();
  const Labels labels = labels_of(graph);
  const std::vector<PeakExplanation> levels = explain_peak(graph, labels, target, options, planned.plan);
  const ExplanationFacts facts{.plain = planned.plain,
                               .order = options.order,
                               .searched_sets = planned.searched_sets,
                               .is_search_complete = planned.is_search_complete,
                               .is_bound_verified = planned.bound_check.verdict == OrderBoundVerdict::confirmed,
                               .forbidden = forbidden};
  std::string text = explanation_summary({.path = "g.onnx", .format = "onnx"}, levels, facts).render(false);
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    const std::size_t words = text.find_first_not_of(' ', at + 1);
    text.replace(at, words - at, words != std::string::npos && text[words] != '\n' ? " " : "");
  }
  return text;  // one line per section, because these tests do not check where lines break
}

TEST(Explanation, GivesTheProofAsParagraphsWithoutBreaks) {
  const Graph graph = graph_of(R"(graph "g" {
    input x : f32[1]
    y = Conv(x) "only" : f32[16]
    output y
  })");
  const PlannedGraph planned = plan_graph(graph, dense_target()).value();
  const Labels labels = labels_of(graph);
  const std::vector<PeakExplanation> levels = explain_peak(graph, labels, dense_target(), {}, planned.plan);
  const std::vector<std::string> proof = proof_paragraphs(levels.at(0), {.plain = planned.plain});
  ASSERT_EQ(proof.size(), 2U);
  EXPECT_EQ(proof[0], "Proven: no plan needs less than 64 B, no matter how tensors share bytes.");
  EXPECT_THAT(proof[1], HasSubstr("y (64 B)"));
}

// y may share bytes with the slice, so only 5 bytes are proven for it, but they need a unit of 64 bytes.
TEST(Explanation, CountsTensorsAndBodiesInOneUnit) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input c : bool[]
    input x : i8[5]
    w = Neg(x) : i8[5]
    y = If(c) "choose" {
      then_branch = graph "then" captures (w) {
        captured input w : i8[5]
        p = Neg(w) : i8[5]
        output p
      },
      else_branch = graph "else" captures (w) {
        captured input w : i8[5]
        q = Neg(w) : i8[5]
        output q
      }
    } : i8[5]
    s = Slice(y) {starts = [0], ends = [3], axes = [0]} : i8[3]
    output s
  })"));
  EXPECT_THAT(text, HasSubstr("If choose alone needs 192 B: it reads w (64 B), writes y (64 B), and needs 64 B for the "
                              "body that it runs."));
  EXPECT_THAT(text, Not(HasSubstr("rounded up")));
}

// Both outputs of the split may lie in one unit.
TEST(Explanation, SaysWhenOnlyTheSumIsRoundedUp) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : i8[5]
    w = Neg(x) : i8[5]
    s, t = Split(w) {axis = 0, split = [2, 3]} : i8[2], i8[3]
    output s, t
  })"));
  EXPECT_THAT(text, HasSubstr("in every order: t (3 B) and s (2 B)."));
  EXPECT_THAT(text, HasSubstr("so only their sum, 5 B, is rounded up: to 64 B."));
}

// Loads in units of 64 bytes: s 1; s h 11; s h k 16; k s y 7.
TEST(Explanation, NamesWhatIsLiveInEveryOrder) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) "first" : f32[16]
    h = Conv(s) "wide" : f32[160]
    k = Conv(h) "narrow" : f32[80]
    y = Conv(k, s) "last" : f32[16]
    output y
  })"));
  EXPECT_THAT(
      text,
      HasSubstr("1,024 B (1.00 KiB) are live at the same time at 1 of 4 steps (steps are counted from 0): step 2  "
                "Conv narrow"));
  EXPECT_THAT(text, HasSubstr("The highest of the other steps has 704 B at step 1, Conv wide."));
  EXPECT_THAT(text,
              HasSubstr("Proven: no plan without recomputation or extra copies needs less than 1,024 B (1.00 KiB)"));
  EXPECT_THAT(text,
              HasSubstr("While Conv narrow runs, 1,024 B (1.00 KiB) are live in every order: it reads h (640 B), and "
                        "writes k (320 B). In addition, s (64 B) is kept"));
  EXPECT_THAT(text, HasSubstr("s (64 B) is kept for step 3, Conv last. If it were recomputed for that step, or swapped "
                              "out until then, the peak would be 960 B."));
}

TEST(Explanation, SaysWhenOneStepAloneNeedsThePeak) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) "first" : f32[64]
    b = Conv(a) "second" : f32[64]
    y = Conv(b) "third" : f32[16]
    output y
  })"));
  EXPECT_THAT(text, HasSubstr("Conv second alone needs 512 B: it reads a (256 B), and writes b (256 B)."));
  EXPECT_THAT(text, HasSubstr("At step 1, Conv second, every live byte is read or written by the step itself."));
  EXPECT_THAT(text, HasSubstr("The other steps need up to 320 B."));
}

// Each branch writes 4 units of 64 bytes and reduces them to 1. One branch after another needs 4 + 1 + 1.
constexpr const char* kLargeBranches = R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[64]
    b = Conv(x) : f32[64]
    c = Conv(a) : f32[16]
    d = Conv(b) : f32[16]
    y = Conv(c, d) : f32[16]
    output y
  })";

// In the order as given, both branches are live at once.
TEST(Explanation, ShowsTheDifferenceIfNothingIsProven) {
  const std::string text = explanation(graph_of(kLargeBranches), {.order = "as_given"}, "--no-views");
  EXPECT_THAT(text, HasSubstr("Not proven: this order needs 576 B, and every order needs at least 320 B"));
  EXPECT_THAT(text,
              HasSubstr("The difference is 256 B, 80.0 % of the bound. Whether another order needs less than this "
                        "one is not known."));
  EXPECT_THAT(text, HasSubstr("for plans that --no-views rules out. Only --order as_given was tried"));
  EXPECT_THAT(text, HasSubstr("no, could be written later"));
  EXPECT_THAT(text, Not(HasSubstr("Proven")));
}

// Six layers of 16 nodes, each of which reads two nodes of the layer before. The search ends too early for a proof.
TEST(Explanation, NamesAMinimumCut) {
  Random random(1);
  const auto name = [](int layer, std::int64_t at) { return "t" + std::to_string(layer) + "_" + std::to_string(at); };
  std::string text = "graph \"g\" {\n input x : f32[1]\n input z : f32[1]\n";
  std::string last;
  for (int layer = 0; layer < 6; ++layer) {
    for (int at = 0; at < 16; ++at) {
      const auto before = [&] { return name(layer - 1, random.between(0, 15)); };
      const std::string reads = layer == 0 ? "x, z" : before() + ", " + before();
      const std::int64_t size = layer == 5 ? 16 : 16 * random.between(1, 20);
      text += " " + name(layer, at) + " = Conv(" + reads + ") : f32[" + std::to_string(size) + "]\n";
      if (layer == 5) last += (at > 0 ? ", " : "") + name(layer, at);
    }
  }
  text += " y = Conv(" + last + ") : f32[16]\n output y\n}";
  const std::string found = explanation(graph_of(text), {.order_effort = 1'000'000});
  EXPECT_THAT(found, HasSubstr("A minimum cut between the nodes that have run and those that have not shows that every "
                               "order has a step with at least "));
  EXPECT_THAT(found,
              AllOf(HasSubstr("The most that they prove is this: "), Not(HasSubstr("A search over all orders"))));
}

// The search proves 4 + 1 + 1. At any single step, at most 5 units must be live.
TEST(Explanation, SaysWhatASearchHasShown) {
  const std::string text = explanation(graph_of(kLargeBranches));
  EXPECT_THAT(text, HasSubstr("Proven: no plan without recomputation or extra copies needs less than 384 B"));
  EXPECT_THAT(
      text, HasSubstr("shows that every order has a step with at least 384 B live. No single node proves this bound."));
  EXPECT_THAT(text, HasSubstr("alone needs 320 B"));
  EXPECT_THAT(text, HasSubstr("are live only in some orders."));
}

TEST(Explanation, AdvisesALongerSearchOnlyIfItMayHelp) {
  const std::string advice = "A longer search (a larger --order-effort) may find one or prove that there is none.";
  const std::string complete =
      "The search has examined all orders, so a longer one (a larger --order-effort) does not help.";
  const std::string without_search = explanation(graph_of(kLargeBranches), {.order_effort = 0});
  EXPECT_THAT(without_search, AllOf(HasSubstr("Not proven: this order"), HasSubstr(advice), Not(HasSubstr(complete))));
  // There is only one order. The bound counts the halves once, but they change places, so one of them is copied.
  const std::string only_order = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    both = Conv(x) : f32[32]
    left, right = Split(both) {axis = 0} : f32[16], f32[16]
    y = Concat(right, left) {axis = 0} : f32[32]
    output y
  })"));
  EXPECT_THAT(only_order, AllOf(HasSubstr("Not proven: this order"), HasSubstr(complete), Not(HasSubstr(advice))));
}

// `both` holds x: of the 64 + 128 bytes that the last node reads, 128 may be enough.
TEST(Explanation, SaysThatSharedBytesAreCountedOnce) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input a : f32[1]
    x = Conv(a) : f32[16]
    z = Conv(a) : f32[16]
    both = Concat(x, z) {axis = 0} : f32[32]
    y = Conv(both, x) "last" : f32[16]
    output y
  })"));
  EXPECT_THAT(text,
              HasSubstr("Conv last alone needs 192 B: it reads x (64 B) and both (64 of 128 B), and writes y (64 B). "
                        "All of these must be in memory while it runs, in any order. A tensor that can share bytes "
                        "with another one is counted only with the bytes that it adds."));
}

// 98 columns and the two spaces in front are 100. A line never breaks within a size.
TEST(Paragraph, BreaksAtSpacesButNotWithinSizes) {
  const std::string wide(97, 'w');
  EXPECT_EQ(report_internal::paragraph(wide + "w a").render(false), "  " + wide + "w\n  a\n");
  EXPECT_EQ(report_internal::paragraph("a " + wide).render(false), "  a\n  " + wide + "\n");
  EXPECT_EQ(report_internal::paragraph(wide + " 1 B (2 KiB) x", "- ").render(false),
            "  - " + wide + "\n    1 B (2 KiB) x\n");
  EXPECT_EQ(report_internal::paragraph("a Big b").render(false), "  a Big b\n");
}

// p is kept for the caller while k is written. In units of 64 bytes: p 4, h 10, k 5.
TEST(Explanation, SaysWhatIsKeptForTheCaller) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    p = Conv(x) "early" : f32[64]
    h = Conv(p) "wide" : f32[160]
    k = Conv(h) "late" : f32[80]
    output p, k
  })"));
  EXPECT_THAT(text,
              HasSubstr("p (256 B) is kept for the caller. If the caller took it earlier, the peak would be 960 B."));
  EXPECT_THAT(text, Not(HasSubstr("scratch of the kernel")));
}

// Every node except the first needs 640 bytes in addition to its tensors.
class ScratchForAll : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    if (node != NodeId(0)) kernels[0].scratch = Bytes(640);
    return kernels;
  }
};

// Live bytes: a 256; a, b and scratch 256 + 256 + 640; b, c and scratch 256 + 64 + 640. Without the scratch of the
// second step, the last step has the peak.
TEST(Explanation, CountsTheScratchOfAKernel) {
  Target target = dense_target();
  target.catalogue = std::make_shared<ScratchForAll>();
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[64]
    b = Conv(a) : f32[64]
    c = Conv(b) : f32[16]
    output c
  })"),
                                       {}, "", target);
  EXPECT_THAT(text, HasSubstr("and needs 640 B of scratch"));
  EXPECT_THAT(text,
              HasSubstr("640 B are scratch of the kernel, as the target states. Without scratch, the peak would be "
                        "960 B."));
}

TEST(Explanation, HandlesAGraphWithoutNodes) {
  EXPECT_THAT(explanation(graph_of("graph \"g\" {\n input x : f32[4]\n output x\n}")),
              HasSubstr("The arena is empty, because no step runs."));
}

TEST(CopiesText, HasTheSumAndTheReasons) {
  const std::vector<CopyLeft> copies{{"", StepId(4), "Concat", "c", Bytes(2048), CopyReason::outside},
                                     {"if/then", StepId(0), "Transpose", "t", Bytes(1024), CopyReason::reorders},
                                     {"", StepId(9), "copy", "s", Bytes(4), CopyReason::state}};
  const std::string text = copies_text(copies, {.top = 2}).render(false);
  EXPECT_THAT(text, HasSubstr("3 steps only move 3,076 B (3.00 KiB)."));
  EXPECT_THAT(text, HasSubstr("Concat c                the bytes are the caller's or constants"));
  EXPECT_THAT(text, HasSubstr("Transpose t in if/then"));
  EXPECT_THAT(text, HasSubstr("and 1 other step"));
  EXPECT_THAT(text, Not(HasSubstr("copy s")));
  EXPECT_THAT(copies_text({}).render(false), HasSubstr("No step only moves bytes."));
}

TEST(LoweringText, CountsEachKindOfRewrite) {
  const LoweringFacts facts{.rewrites = {{NodeId(0), "a", "Conv", {"c", "a"}},
                                         {NodeId(1), "b", "lowtide::Conv", {"d", "b"}},
                                         {NodeId(2), "q", "QLinearConv", {"e", "q"}},
                                         {NodeId(3), "n", "LayerNormalization", {"m", "s", "n"}},
                                         {NodeId(4), "r", "lowtide::Chain", {"r", "t"}},
                                         {NodeId(5), "z", "lowtide::Gemm", {"g", "u", "z"}, 2},
                                         {NodeId(6), "k", "lowtide::Conv", {"i", "j", "k"}, 1},
                                         {NodeId(7), "w", "AveragePool", {"v", "w"}, 0, true},
                                         {NodeId(8), "y", "Conv", {"o", "p", "y"}, 0, true}}};
  EXPECT_EQ(
      lowering_text(facts),
      "2 Pads folded into the nodes after them, 4 BatchNormalizations folded into a Conv, 3 nodes fused into 1 "
      "LayerNormalization, 1 QuantizeLinear merged into operators on integers, 2 nodes fused into 1 chain and 3 nodes "
      "fused into 2 products.");
}

TEST(RewritesText, NamesTheNodesOfTheModel) {
  const LoweringFacts facts{.rewrites = {{NodeId(3), "bn", "Conv", {"conv", "bn"}},
                                         {NodeId(5), "mul", "lowtide::Chain", {"a", "b", "c", "d", "e", "mul"}}}};
  const std::string text = rewrites_text(facts, 1, false).render(false);
  EXPECT_THAT(text, HasSubstr("lowtide::Chain mul"));
  EXPECT_THAT(text, HasSubstr("a, b, c, d and 2 other nodes"));
  EXPECT_THAT(text, HasSubstr("and 1 other node\n"));
  EXPECT_THAT(text, Not(HasSubstr("conv")));
  EXPECT_EQ(rewrites_text({}, 8, false).render(false), "");
}

}  // namespace
}  // namespace lowtide::testing
