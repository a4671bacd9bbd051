// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/utf8.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/summary.h"
#include "lowtide/report/text/page_text.h"
#include "lowtide/target/target.h"
#include "tests/report/page_json.h"
#include "tests/report/page_plans.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(Page, IsOneHtmlDocument) {
  const std::string html = page_of(small_plan());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_TRUE(is_utf8(html));
  EXPECT_EQ(between(html, "<title>", "</title>"), "small - memory plan");
  EXPECT_EQ(html.find('\0'), std::string::npos);
  for (const char* left_over : {"@TITLE@", "@SHEETS@", "@STYLE@", "@SCRIPT@", "_DIGEST@"}) {
    EXPECT_EQ(html.find(left_over), std::string::npos) << left_over;
  }
}

TEST(Page, RefersToNothingOutsideItself) {
  const std::string html = page_of(small_plan());
  // The only address is the name of SVG's vocabulary, in a picture that the page saves. The page does not fetch it.
  EXPECT_EQ(count_of(html, "http://www.w3.org/2000/svg"), 1U);
  EXPECT_EQ(count_of(html, "http:"), 1U);
  for (const char* reference : {"https:", "url(", "@import", "src=", "srcset", "fetch(", "XMLHttpRequest", "WebSocket",
                                "sendBeacon", "EventSource", "import(", "import ", "<iframe", "<object", "<embed"}) {
    EXPECT_EQ(count_of(html, reference), 0U) << reference;
  }
  EXPECT_EQ(count_of(html, "<link"), 1U);
  EXPECT_THAT(html, HasSubstr(R"(<link rel="icon" href="data:,">)"));
}

TEST(Page, PolicyAllowsOnlyThePagesScriptAndStyle) {
  const std::string policy =
      between(page_of(small_plan()), R"(http-equiv="Content-Security-Policy" content=")", R"(">)");
  EXPECT_THAT(policy, StartsWith("default-src 'none';"));
  EXPECT_THAT(policy, HasSubstr("require-trusted-types-for 'script'"));
  EXPECT_THAT(policy, HasSubstr("base-uri 'none'"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(policy.find('*'), std::string::npos);
  // SHA-256 in base64: 32 bytes are 43 characters and one "=".
  for (const char* directive : {"script-src 'sha256-", "style-src 'sha256-"}) {
    const std::string digest = between(policy, directive, "'");
    EXPECT_EQ(digest.size(), 44U) << directive;
    EXPECT_EQ(digest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"), 43U);
    EXPECT_THAT(digest, EndsWith("="));
  }
}

TEST(Page, NeverParsesTextAsHtml) {
  const std::string html = page_of(small_plan());
  for (const char* sink : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(",
                           "new Function", "createContextualFragment", "srcdoc"}) {
    EXPECT_EQ(count_of(html, sink), 0U) << sink;
  }
}

TEST(Page, HasTheSameBytesForTheSamePlan) {
  EXPECT_EQ(page_of(encoder_decoder_plan(4, true)), page_of(encoder_decoder_plan(4, true)));
  EXPECT_NE(page_of(encoder_decoder_plan(4, true)), page_of(encoder_decoder_plan(4, false)));
}

TEST(Page, HoldsProgramValuesAndBuffers) {
  const PlanSketch sketch = small_plan();
  const Json json = embedded_json(page_of(sketch));
  EXPECT_EQ(json["shown"], 0);
  EXPECT_TRUE(json["against"].is_null());
  EXPECT_EQ(json["kinds"], Json({"input", "constant", "state", "output", "temporary", "scratch"}));
  EXPECT_EQ(json["roles"], Json({"input", "output", "constant", "state", "temporary"}));
  ASSERT_EQ(json["sheets"].size(), 1U);
  const Json& sheet = json["sheets"][0];
  EXPECT_TRUE(sheet["parent"].is_null());
  EXPECT_EQ(sheet["node"]["name"],
            Json({"conv1", "relu1", "conv2", "conv3", "concat", "pool", "flatten", "dense", "softmax"}));
  EXPECT_EQ(sheet["ops"], Json({"Conv", "Relu", "Concat", "MaxPool", "Flatten", "Gemm", "Softmax"}));
  EXPECT_EQ(sheet["node"]["op"], Json({0, 1, 0, 0, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sheet["tensor"]["name"],
            Json({"x", "conv1.weight", "a", "b", "c", "d", "cat", "e", "f", "logits", "probs"}));
  EXPECT_EQ(sheet["types"][0], "f32[1,16384]");  // 64 KiB of 4 bytes
  EXPECT_EQ(sheet["step"]["alias"], Json({0, 0, 0, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(sheet["step"]["scratch"], Json({-1, -1, 4, -1, -1, -1, -1, -1, -1}));
  // conv1 reads x and the weight, relu1 reads a, conv2 reads b and the weight, conv3 reads b, and concat reads c and d.
  // Each later step reads one value.
  EXPECT_EQ(sheet["step"]["read_count"], Json({2, 1, 2, 1, 2, 1, 1, 1, 1}));
  EXPECT_EQ(sheet["step"]["read"], Json({0, 1, 2, 3, 1, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(sheet["value"]["written"], Json({-1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(sheet["value"]["buffer"], Json({0, 1, 2, 2, 3, 3, 3, 5, 5, 6, 7}));
  EXPECT_EQ(sheet["value"]["offset"], Json({0, 0, 0, 0, 0, 131072, 0, 0, 0, 0, 0}));
  EXPECT_EQ(sheet["buffer"]["kind"], Json({0, 1, 4, 4, 5, 4, 3, 3}));
  EXPECT_EQ(sheet["buffer"]["size"], Json({65536, 36864, 262144, 262144, 65536, 65536, 4096, 4096}));
  EXPECT_EQ(sheet["buffer"]["begin"], Json({0, 0, 0, 2, 2, 5, 7, 8}));
  EXPECT_EQ(sheet["buffer"]["end"], Json({9, 9, 4, 6, 3, 8, 9, 9}));
  EXPECT_EQ(sheet["buffer"]["region"], Json({-1, -1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(sheet["buffer"]["offset"], Json({-1, -1, 0, 262144, 524288, 0, 65536, 69632}));
  // b is written over a and read later; cat holds c and d; scratch has no value.
  EXPECT_EQ(sheet["buffer"]["name"], Json({0, 1, 3, 6, -1, 8, 9, 10}));
}

TEST(Page, HoldsThePartsOfBuffers) {
  const PlanSketch sketch = parts_plan();
  const Json sheet = embedded_json(page_of(sketch))["sheets"][0];
  // cat is buffer 1, after the input: 64 KiB in [0,7), 32 in [3,7), 32 in [4,7).
  EXPECT_EQ(sheet["buffer"]["size"][1], 128 * 1024);
  EXPECT_EQ(sheet["part"]["buffer"], Json({1, 1, 1}));
  EXPECT_EQ(sheet["part"]["size"], Json({65536, 32768, 32768}));
  EXPECT_EQ(sheet["part"]["begin"], Json({0, 3, 4}));
  EXPECT_EQ(sheet["part"]["end"], Json({7, 7, 7}));
  EXPECT_EQ(sheet["facts"]["load"], 192 * 1024);
  EXPECT_FALSE(embedded_json(page_of(small_plan()))["sheets"][0].contains("part"));
}

TEST(Page, HoldsPartsOfBothPlansAndOfBodies) {
  PlanSketch outer = small_plan();
  Plan& plan = outer.plan;
  PlanSketch inner = parts_plan();
  plan.layout.steps[StepId(2)].bodies = {{.body = "then_branch", .plan = std::make_shared<Plan>(inner.plan)}};
  outer.labels.bodies = {{*node_of(plan.program.steps[StepId(2)]), "then_branch", inner.labels}};
  const PlanSketch against = parts_plan();
  const Json sheets = embedded_json(page_of(outer, &against))["sheets"];
  ASSERT_EQ(sheets.size(), 3U);
  EXPECT_FALSE(sheets[0].contains("part"));
  EXPECT_EQ(sheets[1]["part"]["begin"], Json({0, 3, 4}));
  EXPECT_EQ(sheets[2]["part"]["begin"], Json({0, 3, 4}));
}

TEST(Page, HoldsSeveralStreams) {
  const Json sheet = embedded_json(page_of(streams_plan()))["sheets"][0];
  EXPECT_EQ(sheet["facts"]["streams"], 2);
  EXPECT_EQ(sheet["facts"]["execution"], "streams");
  EXPECT_EQ(sheet["step"]["stream"], Json({0, 0, 1, 0}));
  const Json of_one = embedded_json(page_of(small_plan()))["sheets"][0];
  EXPECT_FALSE(of_one["facts"].contains("streams"));
  EXPECT_FALSE(of_one["step"].contains("stream"));
}

// The page gets the waits of a plan, and with costs the times of its steps. An alias takes no time.
TEST(Page, HoldsWaitsAndTimes) {
  const PlanSketch sketch = streams_plan();
  const IdVector<NodeId, std::int64_t> costs({4, 6, 3, 1});
  const Json sheet = embedded_json(page({sketch.plan, sketch.labels}, {.costs = &costs}))["sheets"][0];
  EXPECT_EQ(sheet["step"]["after_count"], Json({0, 0, 1, 1}));
  EXPECT_EQ(sheet["step"]["after"], Json({0, 2}));
  EXPECT_EQ(sheet["step"]["picoseconds"], Json({4, 6, 3, 1}));
  EXPECT_FALSE(embedded_json(page_of(sketch))["sheets"][0]["step"].contains("picoseconds"));
}

TEST(Page, HoldsProofsByPlanAndAMissedBudget) {
  PlanSketch outer = bodies_plan();
  outer.plan.claims.shortfall = arena_bytes(outer.plan) - Bytes(100);
  const Plan& inner = *outer.plan.layout.steps[StepId(1)].bodies[0].plan;
  const PageOptions options{.proofs = {{&inner, {"Proven: </script>."}, {"x is read."}}}};
  const Json sheets = embedded_json(page({outer.plan, outer.labels}, options))["sheets"];
  EXPECT_FALSE(sheets[0].contains("proof"));
  EXPECT_EQ(sheets[1]["proof"], Json({"Proven: </script>."}));
  EXPECT_EQ(sheets[1]["not_in_place"], Json({"x is read."}));
  EXPECT_EQ(sheets[0]["facts"]["missed_budget"], 100);
  EXPECT_FALSE(sheets[1]["facts"].contains("missed_budget"));
}

// The page gets the limit as it was asked for, what counts against it, and what is proven.
TEST(Page, HoldsTheVerdictOfAPlanThatDoesNotFit) {
  PlanSketch sketch = small_plan();
  sketch.plan.claims.bounds = {{BoundScope::all_plans, Bytes(576 * 1024), "working_set"}};
  PlanVerdict verdict{.caller = Bytes(64 * 1024),
                      .capacity = Bytes(600 * 1024),
                      .is_budget_the_limit = true,
                      .counted = Bytes(640 * 1024),
                      .shortfall = Bytes(40 * 1024),
                      .proven_infeasible = true};
  const Json facts = embedded_json(page({sketch.plan, sketch.labels}, {.verdict = &verdict}))["sheets"][0]["facts"];
  // 576 KiB of bound and 64 of the input are 40 more than 600.
  const Json expected = Json::parse(R"({"limit":614400,"is_budget":true,"counts_weights":false,"counted":655360,
      "fits":false,"shortfall":40960,"is_proven":true,"words":[
      "Proven for the model as written: no plan fits, because the lower bound and what the caller holds are together )"
                                    R"(40,960 B (40.00 KiB) too large.",
      "Proven optimal for the model as written: no plan needs less."]})");
  EXPECT_EQ(facts["verdict"], expected);
  EXPECT_FALSE(facts.contains("recomputed"));
  verdict.capacity = std::nullopt;
  const Json free = embedded_json(page({sketch.plan, sketch.labels}, {.verdict = &verdict}))["sheets"][0]["facts"];
  EXPECT_FALSE(free.contains("verdict"));
  EXPECT_EQ(free["proven"], Json::array({expected["words"][1]}));
}

TEST(Page, HoldsTheTimeOfAPlanThatRunsNodesAgain) {
  const PlanSketch sketch = transfers_plan();
  const PlanVerdict verdict{.capacity = Bytes(40 * 1024),
                            .counted = Bytes(36 * 1024),
                            .recomputation = Recomputation{.outcome = BudgetOutcome::found,
                                                           .base_picoseconds = 1'000'000'000,
                                                           .picoseconds = 1'053'000'000,
                                                           .bound_picoseconds = 1'021'000'000,
                                                           .bound_kind = CostBoundKind::milestones}};
  const Json facts = embedded_json(page({sketch.plan, sketch.labels}, {.verdict = &verdict}))["sheets"][0]["facts"];
  EXPECT_EQ(facts["verdict"]["fits"], true);
  EXPECT_EQ(facts["verdict"]["words"], Json::array());
  EXPECT_EQ(facts["recomputed"]["picoseconds"], 1'053'000'000);
  EXPECT_EQ(facts["recomputed"]["bound_kind"], "milestones");
  // 1,053 is 5.3 % more than 1,000.
  EXPECT_NE(facts["recomputed"]["words"].get<std::string>().find("5.30 % more"), std::string::npos);
}

TEST(Page, HasTheNameOfTheModelFileAsTitle) {
  PlanSketch sketch = small_plan();
  sketch.plan.provenance.model = "net.onnx";
  EXPECT_EQ(between(page_of(sketch), "<title>", "</title>"), "net.onnx - memory plan");
  EXPECT_EQ(embedded_json(page_of(sketch))["sheets"][0]["facts"]["model"], "net.onnx");
}

// The page gets the destination of each copy, each value of a tensor, and which streams are links.
TEST(Page, HoldsCopiesLinksAndNodesThatRunAgain) {
  const Json sheet = embedded_json(page_of(transfers_plan()))["sheets"][0];
  EXPECT_EQ(sheet["step"]["node"], Json({0, -1, 1, -1, 0, 2}));
  EXPECT_EQ(sheet["step"]["copy"], Json({-1, 1, -1, 0, -1, -1}));
  EXPECT_EQ(sheet["step"]["stream"], Json({0, 1, 0, 2, 0, 0}));
  EXPECT_EQ(sheet["streams"], Json::parse(R"([null, ["sram", "dram"], ["dram", "sram"]])"));
  EXPECT_EQ(sheet["value"]["tensor"], Json({0, 1, 1, 2, 1, 1, 3}));  // x; a, a stored; b; a loaded, a computed; out
  EXPECT_EQ(sheet["outputs"], Json({6}));
  // 8 KiB each way.
  EXPECT_EQ(sheet["facts"]["extra_work"], "1 node runs again, 2 steps copy bytes, 16,384 bytes move over links");
  // A node runs twice, so the bound for plans that run each node once does not apply.
  EXPECT_EQ(sheet["facts"]["bound_scope"], "all_plans");
  EXPECT_EQ(sheet["facts"]["bound"], 24 * 1024);
  const Json plain = embedded_json(page_of(small_plan()))["sheets"][0];
  EXPECT_FALSE(plain["step"].contains("copy"));
  EXPECT_FALSE(plain.contains("streams"));
  EXPECT_FALSE(plain["facts"].contains("extra_work"));
  EXPECT_EQ(plain["facts"]["bound_scope"], "run_once");
}

TEST(Page, HoldsClaimsRegionsAndProvenance) {
  PlanSketch sketch = regions_plan();
  sketch.plan.provenance.dims = {"batch=8", "seq=128"};
  sketch.plan.provenance.model_sha256 = "abc123";
  const Json sheet = embedded_json(page_of(sketch))["sheets"][0];
  // sram: [0, 32 KiB) and [32, 48 KiB); dram: [0, 192 KiB). Load at steps 0 and 1: 32 + 192 = 224 KiB.
  EXPECT_EQ(sheet["regions"], Json::parse(R"([
      {"name":"sram","capacity":65536,"alignment":16,"arena":49152,"peak":0,
       "peak_16_bits":16384,"peak_8_bits":8192},
      {"name":"dram","capacity":null,"alignment":64,"arena":196608,"peak":0,
       "peak_16_bits":98304,"peak_8_bits":49152}])"));
  EXPECT_EQ(sheet["facts"]["load"], 224 * 1024);
  EXPECT_EQ(sheet["facts"]["bound"], 200 * 1024);
  EXPECT_EQ(sheet["facts"]["bound_name"], "live_set");
  EXPECT_EQ(sheet["facts"]["schedule_optimal"], false);
  EXPECT_EQ(sheet["facts"]["dims"], Json({"batch=8", "seq=128"}));
  EXPECT_EQ(sheet["facts"]["model_sha256"], "abc123");
  EXPECT_EQ(sheet["buffer"]["region"], Json({0, 1, 0}));
}

TEST(Page, HoldsPlansOfBodiesAfterThePlansThatRunThem) {
  const Json json = embedded_json(page_of(bodies_plan()));
  const Json& sheets = json["sheets"];
  ASSERT_EQ(sheets.size(), 4U);
  EXPECT_TRUE(sheets[0]["parent"].is_null());
  EXPECT_EQ(sheets[1]["parent"], Json({0, 1, "then_branch", 0}));
  EXPECT_EQ(sheets[2]["parent"], Json({0, 1, "else_branch", 0}));
  EXPECT_EQ(sheets[3]["parent"], Json({1, 0, "body", 0}));
  EXPECT_EQ(sheets[3]["facts"]["graph"], "loop_body");
  EXPECT_EQ(sheets[3]["node"]["name"][4], "statetanh4");
}

TEST(Page, HoldsThePlanToCompareWith) {
  const PlanSketch before = bodies_plan();
  const Json json = embedded_json(page_of(small_plan(), &before));
  EXPECT_EQ(json["shown"], 0);
  EXPECT_EQ(json["against"], 1);
  ASSERT_EQ(json["sheets"].size(), 5U);
  EXPECT_EQ(json["sheets"][0]["facts"]["graph"], "small");
  EXPECT_EQ(json["sheets"][1]["facts"]["graph"], "nested");
  EXPECT_EQ(json["sheets"][4]["parent"], Json({2, 0, "body", 0}));
}

TEST(Page, ShowsAnEmptyPlan) {
  const Json json = embedded_json(page_of(empty_plan()));
  EXPECT_EQ(json["sheets"][0]["step"]["node"], Json::array());
  EXPECT_EQ(json["sheets"][0]["buffer"]["kind"], Json::array());
  // A plan without anything, not even a region or labels.
  const PlanSketch nothing;
  EXPECT_EQ(embedded_json(page_of(nothing))["sheets"][0]["regions"], Json::array());
}

TEST(Page, HostileNamesNeverBecomeElements) {
  const std::string clean = page_of(small_plan());
  const std::string html = page_of(hostile_plan());
  EXPECT_TRUE(is_utf8(html));
  // The page has as many elements as one with harmless names, so no name opened or closed an element.
  for (const char* tag :
       {"<script", "</script", "<!--", "-->", "<img", "</title", "<style", "</style", "\x1b", "\xE2\x80\xA8"}) {
    EXPECT_EQ(count_of(html, tag), count_of(clean, tag)) << tag;
  }
  const std::string json = embedded(html);
  EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
  for (char letter : json) EXPECT_TRUE(static_cast<unsigned char>(letter) >= 0x20 || letter == '\n');
}

TEST(Page, ShowsHostileNamesUnchanged) {
  const Json sheet = embedded_json(page_of(hostile_plan()))["sheets"][0];
  const std::vector<std::string> names = hostile_names();
  const Json& shown = sheet["tensor"]["name"];
  ASSERT_EQ(shown.size(), names.size());
  for (std::size_t at = 0; at < names.size(); ++at)
    EXPECT_EQ(shown[at], report_internal::name_in_page(names[at])) << at;
  EXPECT_EQ(shown[0], names[0]);
  EXPECT_EQ(shown[1], names[1]);
  EXPECT_EQ(sheet["node"]["name"], shown);
  EXPECT_EQ(sheet["ops"], shown);
  EXPECT_EQ(sheet["regions"][0]["name"], names[0]);
  EXPECT_EQ(sheet["facts"]["schedule"], names[1]);
}

TEST(Page, NestedBodiesNeedNoRecursion) {
  PlanSketch sketch = small_plan();
  for (int depth = 0; depth < 2000; ++depth) {
    Plan outer;
    outer.program.steps.push_back({.work = Compute{NodeId(0), KernelId(0)}});
    outer.layout.steps.push_back(
        {.bodies = {{.body = "body", .plan = std::make_shared<Plan>(std::move(sketch.plan))}}});
    Labels labels;
    labels.nodes.push_back({.name = "", .op = "If"});
    labels.bodies.push_back({NodeId(0), "body", std::move(sketch.labels)});
    sketch = {.plan = std::move(outer), .labels = std::move(labels)};
  }
  EXPECT_EQ(embedded_json(page_of(sketch))["sheets"].size(), 2001U);
}

TEST(Page, SizeIsProportionalToThePlan) {
  const std::size_t empty = page_of(empty_plan()).size();
  const std::size_t once = page_of(generated_plan(2000, 1)).size() - empty;
  const std::size_t twice = page_of(generated_plan(4000, 1)).size() - empty;
  // The plan has twice the size. A name or number grows by at most one digit (of about 120 bytes per buffer).
  EXPECT_THAT(twice, AllOf(Gt(once * 2), Lt(once * 22 / 10)));
  EXPECT_THAT(once / 2000, AllOf(Gt(60U), Lt(150U)));
}

}  // namespace
}  // namespace lowtide
