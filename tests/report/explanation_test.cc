// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/figures.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;
using ::testing::Not;

std::string explanation(const Graph& graph, const PlanOptions& options = {}, const std::string& forbidden = "",
                        const Target& target = dense_target()) {
  const PlannedGraph planned = plan_graph(graph, target, options).value();
  const std::vector<PeakExplanation> levels = explain_peak(graph, target, options, planned.plan);
  const ExplanationFacts facts{.plain = planned.plain,
                               .order = options.order,
                               .searched_sets = planned.searched_sets,
                               .is_bound_verified = planned.bound_check.verdict == OrderBoundVerdict::confirmed,
                               .forbidden = forbidden};
  std::string text = explanation_summary({.path = "g.onnx", .format = "onnx"}, levels, facts).render(false);
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    const std::size_t words = text.find_first_not_of(' ', at + 1);
    text.replace(at, words - at, words != std::string::npos && text[words] != '\n' ? " " : "");
  }
  return text;  // a section a line: how sentences are broken is not what these tests are about
}

// Loads in units of 64 bytes: s 1; s h 11; s h k 16; k s y 7.
TEST(Explanation, NamesWhatEveryOrderHolds) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    s = Conv(x) "first" : f32[16]
    h = Conv(s) "wide" : f32[160]
    k = Conv(h) "narrow" : f32[80]
    y = Conv(k, s) "last" : f32[16]
    output y
  })"));
  EXPECT_THAT(text, HasSubstr("1,024 B (1.00 KiB) live at once at 1 of 4 steps, counted from 0: step 2  Conv narrow"));
  EXPECT_THAT(text, HasSubstr("The highest of the other steps: 704 B at step 1, Conv wide."));
  EXPECT_THAT(text, HasSubstr("Proven: no plan that runs each node once needs less than 1,024 B (1.00 KiB)"));
  EXPECT_THAT(text, HasSubstr("While Conv narrow runs, 1,024 B (1.00 KiB) live in every order: it reads h (640 B), and "
                              "writes k (320 B). Meanwhile s (64 B) is kept"));
  EXPECT_THAT(text, HasSubstr("s (64 B) is kept here for step 3, Conv last. If it were computed again for that, or "
                              "swapped out meanwhile, the load would be 960 B."));
}

TEST(Explanation, SaysWhenOneStepAloneNeedsIt) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    a = Conv(x) "first" : f32[64]
    b = Conv(a) "second" : f32[64]
    y = Conv(b) "third" : f32[16]
    output y
  })"));
  EXPECT_THAT(text, HasSubstr("Conv second alone needs 512 B: it reads a (256 B), and writes b (256 B)."));
  EXPECT_THAT(text, HasSubstr("Nothing is only kept at step 1, Conv second"));
  EXPECT_THAT(text, HasSubstr("At best down to the 320 B of the other steps."));
}

// Each branch makes 4 x 64 bytes of which 1 is left, so one after the other takes 4 + 1 + 1.
constexpr const char* kTwoBranches = R"(graph "g" {
    input x : f32[1]
    a = Conv(x) : f32[64]
    b = Conv(x) : f32[64]
    c = Conv(a) : f32[16]
    d = Conv(b) : f32[16]
    y = Conv(c, d) : f32[16]
    output y
  })";

// As given, both branches at once.
TEST(Explanation, SaysWhatIsOpenWhereNothingIsProven) {
  const std::string text = explanation(graph_of(kTwoBranches), {.order = "as_given"}, "--no-views");
  EXPECT_THAT(text, HasSubstr("Not proven: this order needs 576 B, and every order at least 320 B"));
  EXPECT_THAT(text, HasSubstr("Between the two lie 256 B, 80.0 % of the bound: it is open whether another order needs "
                              "less"));
  EXPECT_THAT(text, HasSubstr("for plans, too, that --no-views rules out. Only --order as_given was asked for"));
  EXPECT_THAT(text, HasSubstr("no, may be written later"));
  EXPECT_THAT(text, Not(HasSubstr("Proven")));
}

// Searched: 4 + 1 + 1 at b, and 5 is the most that must live at one step.
TEST(Explanation, SaysWhatASearchHasShown) {
  const std::string text = explanation(graph_of(kTwoBranches));
  EXPECT_THAT(text, HasSubstr("Proven: no plan that runs each node once needs less than 384 B"));
  EXPECT_THAT(text, HasSubstr("shows that each has a step that needs 384 B or more. No single step shows as much"));
  EXPECT_THAT(text, HasSubstr("alone needs 320 B"));
  EXPECT_THAT(text, HasSubstr("live by choice of this order (no above)"));
}

// `both` holds x: of the 64 + 128 bytes that the last node reads, 128 may be enough.
TEST(Explanation, SaysWhatOfATensorIsCountedWithAnother) {
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
                        "In any order all of that is there while it runs. Of what can share bytes with another "
                        "tensor, only the part that it adds is counted."));
}

// 98 columns and the blanks in front are 100; a size stays whole, whatever it takes.
TEST(Paragraph, BreaksAtBlanksButNotWithinSizes) {
  const std::string wide(97, 'w');
  EXPECT_EQ(detail::paragraph(wide + "w a").render(false), "  " + wide + "w\n  a\n");
  EXPECT_EQ(detail::paragraph("a " + wide).render(false), "  a\n  " + wide + "\n");
  EXPECT_EQ(detail::paragraph(wide + " 1 B (2 KiB) x", "- ").render(false), "  - " + wide + "\n    1 B (2 KiB) x\n");
  EXPECT_EQ(detail::paragraph("a Big b").render(false), "  a Big b\n");
}

// p waits for the caller while k is made: p 4 units, h 10, k 5 of 64 bytes each.
TEST(Explanation, SaysWhatIsKeptForTheCaller) {
  const std::string text = explanation(graph_of(R"(graph "g" {
    input x : f32[1]
    p = Conv(x) "early" : f32[64]
    h = Conv(p) "wide" : f32[160]
    k = Conv(h) "late" : f32[80]
    output p, k
  })"));
  EXPECT_THAT(text, HasSubstr("p (256 B) is kept here for the caller. Handed over before, the load would be 960 B."));
  EXPECT_THAT(text, Not(HasSubstr("scratch of the kernel")));
}

// Every node but the first takes 640 bytes besides its tensors.
class ScratchForAll : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId node) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, node);
    if (node != NodeId(0)) kernels[0].scratch = Bytes(640);
    return kernels;
  }
};

// a 256, then a b and scratch 256 + 256 + 640, then b c and scratch 256 + 64 + 640: without scratch at b, the last is left.
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
  EXPECT_THAT(text, HasSubstr("and takes 640 B of scratch"));
  EXPECT_THAT(text,
              HasSubstr("640 B are scratch of the kernel, as the target describes it. Without any, the load would "
                        "be 960 B."));
}

TEST(Explanation, HasWordsWhereNothingRuns) {
  EXPECT_THAT(explanation(graph_of("graph \"g\" {\n input x : f32[4]\n output x\n}")),
              HasSubstr("Nothing lives in the arena: nothing runs."));
}

}  // namespace
}  // namespace lowtide
