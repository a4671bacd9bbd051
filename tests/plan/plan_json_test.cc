// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_json.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "lowtide/base/utf8.h"
#include "lowtide/plan/plans_json.h"
#include "tests/plan/random_plan.h"
#include "tests/plan/small_plan.h"

namespace lowtide::testing {
namespace {

TEST(PlanJson, WritesTheGoldenFile) {
  const std::filesystem::path path = std::filesystem::path(LOWTIDE_TEST_FILES) / "plans/small.json";
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(small_json(), golden.str());
}

TEST(PlanJson, ReadsBackWhatItWrites) {
  const PlanFile file = small_plan_file();
  const Result<PlanFile> again = read_plan_json(small_json(), "small.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(difference(file, again.value()), "");
  EXPECT_EQ(again->labels.tensors[TensorId(2)].name, "scale \xff");
}

TEST(PlansJson, ReadsBackSeveralPlansOrOne) {
  const PlanFile file = small_plan_file();
  const std::vector<std::string> texts(2, small_json());
  const Result<std::vector<PlanFile>> two = read_plans_json(write_plans_json(texts), "two.json");
  ASSERT_TRUE(two.ok()) << two.error().describe();
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ(difference(file, (*two)[1]), "");
  const Result<std::vector<PlanFile>> one = read_plans_json(small_json(), "one.json");
  ASSERT_TRUE(one.ok()) << one.error().describe();
  EXPECT_EQ(one->size(), 1U);
}

TEST(PlansJson, RefusesOtherFiles) {
  const auto fault = [](const std::string& text) {
    const Result<std::vector<PlanFile>> read = read_plans_json(text, "p.json");
    return read.ok() ? "" : read.error().describe();
  };
  EXPECT_EQ(fault(R"({"format": "lowtide.plans", "schema_version": 1, "plans": []})"), "p.json: the file has no plan");
  EXPECT_THAT(fault(R"({"format": "lowtide.plans", "schema_version": 2, "plans": [1]})"),
              ::testing::HasSubstr("schema_version"));
  EXPECT_THAT(fault(R"({"format": "lowtide.plans", "plans": [1]})"), ::testing::HasSubstr("schema_version"));
  EXPECT_THAT(fault(R"({"format": "lowtide.plans", "schema_version": 1, "plans": [1]})"),
              ::testing::HasSubstr("p.json: plan 0"));
  EXPECT_THAT(fault(R"({"format": "other"})"), ::testing::HasSubstr("'other' and should be 'lowtide.plan'"));
  EXPECT_THAT(fault("[1]"), ::testing::HasSubstr("not a plan file"));
  const std::vector<std::string> texts(17, "{}");
  EXPECT_THAT(fault(write_plans_json(texts)), ::testing::HasSubstr("more than 16 plans"));
}

TEST(PlanJson, BoundsOfEveryScopeAreReadBack) {
  PlanFile file = small_plan_file();
  file.plan.claims.bounds = {{BoundScope::chosen_kernels, Bytes(128), "live_set"},
                             {BoundScope::run_once, Bytes(96), "search"},
                             {BoundScope::all_plans, Bytes(64), "working_set"}};
  const Result<PlanFile> again = read_plan_json(write_plan_json(file.plan, file.labels), "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(again->plan.claims.bounds, file.plan.claims.bounds);
}

// A plan without these facts has the form that it had before they existed.
TEST(PlanJson, TheRegionOfConstantsIsReadBack) {
  EXPECT_EQ(small_json().find("read_only"), std::string::npos);
  EXPECT_EQ(small_json().find("\"constants\""), std::string::npos);
  PlanFile file = small_plan_file();
  file.plan.machine.constants = RegionId(1);
  file.plan.machine.regions[1].is_read_only = true;
  const Result<PlanFile> again = read_plan_json(write_plan_json(file.plan, file.labels), "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(again->plan.machine, file.plan.machine);
}

TEST(PlanJson, OnlyThePlanOfAModelStatesTheRegionOfConstants) {
  PlanFile file = small_plan_file();
  for (StepSpace& space : file.plan.layout.steps) {
    for (BodyPlan& body : space.bodies) {
      Plan inner = *body.plan;
      inner.machine.constants = RegionId(0);
      body.plan = std::make_shared<const Plan>(std::move(inner));
    }
  }
  const Result<PlanFile> again = read_plan_json(write_plan_json(file.plan, file.labels), "again.json");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().describe(),
            "again.json: $.body_plans[0].machine.constants: belongs to the plan of a body; only the plan of a model "
            "has it");
}

// A graph without nodes, such as a branch that only returns a constant, has a program without steps. The program still
// has buffers.
TEST(PlanJson, PlansWithoutStepsAreReadBack) {
  PlanFile file;
  file.labels.tensors.push_back({.name = "x", .role = Role::input, .shape = Shape({4}), .size = Bytes(16)});
  file.plan.provenance.tensors = 1;
  file.plan.machine = {.regions = {Region{.name = "arena"}}, .workers = {Worker{.name = "cpu"}}};
  file.plan.program.streams = {{.worker = WorkerId(0)}};
  file.plan.layout.arena = {Bytes(0)};
  file.plan.layout.buffers.push_back({.kind = BufferKind::input, .size = Bytes(16)});
  file.plan.program.values.push_back({.tensor = TensorId(0)});
  file.plan.layout.values.push_back({.buffer = BufferId(0)});
  file.plan.program.outputs = {ValueId(0)};
  const std::string text = write_plan_json(file.plan, file.labels);
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(difference(file, again.value()), "");
  // No buffer may be live after the end of the program.
  std::string beyond = text;
  const std::size_t at = beyond.find("[\"input\", 16, 0, 0,");
  ASSERT_NE(at, std::string::npos);
  beyond.replace(at, 20, "[\"input\", 16, 1, 1,");
  EXPECT_FALSE(read_plan_json(beyond, "beyond.json").ok());
}

std::string with(std::string text, const std::string& piece, const std::string& by) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece << " is not in\n" << text;
  return at == std::string::npos ? text : text.replace(at, piece.size(), by);
}

// Returns why a text is refused, or "" if it is not.
std::string refusal(const std::string& text) {
  const Result<PlanFile> read = read_plan_json(text, "p.json");
  return read.ok() ? "" : read.error().describe();
}

TEST(PlanJson, PlanWithEveryFeatureIsReadBack) {
  const PlanFile file = transfer_plan_file();
  const Result<PlanFile> again = read_plan_json(transfer_json(), "transfers.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(difference(file, again.value()), "");
  EXPECT_EQ(write_plan_json(again->plan, again->labels), transfer_json());
}

TEST(PlanJson, WritesEveryFeatureInItsRow) {
  const std::string text = transfer_json();
  for (const char* line : {
           "\"features\": [\"buffer_parts\", \"copies\", \"links\", \"recompute\", \"state_updates\", \"streams\"],",
           "{\"from\": 0, \"to\": 1, \"bytes_per_second\": 25000000000, \"latency_picoseconds\": 2000000},",
           "{\"name\": \"core\", \"count\": 2, \"addressable\": [0]},",
           "\"execution\": \"streams\",",
           "\"kernels\": [\"dense\", \"other\"],",
           "\"streams\": [\n[0, null],\n[null, 0],\n[null, 1],\n[1, null]\n],",  // worker, link
           "[\"constant\", 32, 0, 8, 1, null, []],",                             // at home in region 1
           "[\"state\", 32, 0, 8, null, null, []],",                             // in memory that all workers address
           "[\"temporary\", 64, 4, 7, 0, 0, [[16, 4, 7], [48, 5, 7]]],",
           "[\"copy\", null, null, [0, 32], [0], [2], null, 2, []],",  // copies w over link 1
           "[\"compute\", 0, 1, null, [2, 1], [3], null, 0, [0]],",    // kernel 1
           "[\"copy\", null, null, [16, 32], [4], [6], null, 2, []],",
           "\"outputs\": [7],",
           "\"updates\": [8],",
       }) {
    EXPECT_NE(text.find("\n" + std::string(line) + "\n"), std::string::npos) << line << " is not in\n" << text;
  }
}

TEST(PlanJson, FeaturesMustMatchThePlan) {
  const std::string none = "\"features\": [],";
  EXPECT_EQ(refusal(with(small_json(), none, "\"features\": [\"streams\"],")),
            "p.json: $.features: the plan uses no feature, so the list must be empty");
  const std::string all = "[\"buffer_parts\", \"copies\", \"links\", \"recompute\", \"state_updates\", \"streams\"]";
  const std::string refused =
      "p.json: $.features: the plan uses buffer_parts, copies, links, recompute, state_updates, streams; the list must "
      "name exactly these, in this order";
  EXPECT_EQ(refusal(with(transfer_json(), all, "[]")), refused);
  EXPECT_EQ(refusal(with(transfer_json(), "\"links\", \"recompute\"", "\"recompute\", \"links\"")), refused);
  EXPECT_EQ(refusal(with(transfer_json(), "\"links\",", "\"links\", \"links\",")), refused);
  EXPECT_EQ(refusal(with(transfer_json(), "\"recompute\", ", "")), refused);
  // Lowtide cannot use a plan with a feature of a later version.
  const Result<PlanFile> read = read_plan_json(with(small_json(), none, "\"features\": [\"compressed\"],"), "p.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::unsupported);
  EXPECT_NE(read.error().describe().find("the plan needs 'compressed', which this program does not understand"),
            std::string::npos)
      << read.error().describe();
}

// A reader of the file must also understand the features of bodies.
TEST(PlanJson, FeaturesIncludeThoseOfBodies) {
  PlanFile file = small_plan_file();
  BodyPlan& then = file.plan.layout.steps[StepId(2)].bodies[0];
  Plan inner = *then.plan;
  inner.program.streams.push_back({.worker = WorkerId(0)});
  then.plan = std::make_shared<const Plan>(inner);
  const std::string text = write_plan_json(file.plan, file.labels);
  EXPECT_NE(text.find("\"features\": [\"streams\"],"), std::string::npos);
  EXPECT_EQ(refusal(text), "");
  EXPECT_NE(refusal(with(text, "\"features\": [\"streams\"],", "\"features\": [],")), "");
}

TEST(PlanJson, StreamsAndWaitsAreReadBack) {
  PlanFile file = small_plan_file();
  file.plan.program.streams.push_back({.worker = WorkerId(0)});
  file.plan.program.steps[StepId(2)].stream = StreamId(1);
  file.plan.program.steps[StepId(2)].after = {StepId(0), StepId(1)};
  const std::string text = write_plan_json(file.plan, file.labels);
  EXPECT_NE(text.find("[\"compute\", 2, 0, null, [0, 4], [5], 5, 1, [0, 1]]"), std::string::npos) << text;
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(difference(file, again.value()), "");
  EXPECT_EQ(refusal(with(text, "5, 1, [0, 1]]", "5, 2, [0, 1]]")),
            "p.json: $.steps[2].stream: stream 2 does not exist; the number of streams is 2");
  EXPECT_EQ(refusal(with(text, "5, 1, [0, 1]]", "5, 1, [0, 2]]")),
            "p.json: $.steps[2].after[1]: step 2 does not come before step 2, which waits for it");
  EXPECT_EQ(
      refusal(with(text, "5, 1, [0, 1]]", "5, 1, [1, 0]]")),
      "p.json: $.steps[2].after[1]: step 0 does not follow step 1; waits must be listed in ascending order, each once");
  EXPECT_EQ(refusal(with(text, "5, 1, [0, 1]]", "5, 0, [0, 1]]")),
            "p.json: $.steps[2].after[0]: step 0 is in the same stream, whose steps run in order anyway");
  std::string rows;
  for (int more = 0; more < 1023; ++more) rows += "[0, null],\n";
  EXPECT_NE(refusal(with(text, "[0, null],\n", rows + "[0, null],\n")).find("more rows than the limit of 1024"),
            std::string::npos);
}

// Buffer 3 has 64 bytes and is live in steps 0 to 2. Its first 16 bytes are live only in step 0.
TEST(PlanJson, PartsAreReadBack) {
  PlanFile file = small_plan_file();
  Buffer& buffer = file.plan.layout.buffers[BufferId(3)];
  ASSERT_EQ(buffer.size, Bytes(64));
  ASSERT_EQ(buffer.lifespan, (Lifespan{StepId(0), StepId(3)}));
  buffer.parts = {{Bytes(16), {StepId(0), StepId(1)}}, {Bytes(48), {StepId(0), StepId(3)}}};
  const std::string text = write_plan_json(file.plan, file.labels);
  const std::string written = "[[16, 0, 1], [48, 0, 3]]]";
  ASSERT_NE(text.find(written), std::string::npos) << text;
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(difference(file, again.value()), "");
  const auto refused = [&](const std::string& by) { return refusal(with(text, written, by)); };
  EXPECT_EQ(refused("[[64, 0, 3]]]"), "p.json: $.buffers[3].parts: has one part; a buffer has none, or at least two");
  EXPECT_EQ(refused("[[16, 0, 1], [49, 0, 3]]]"),
            "p.json: $.buffers[3].parts[1].bytes: is 49, but 48 bytes of the buffer are left");
  EXPECT_EQ(refused("[[16, 0, 1], [47, 0, 3]]]"),
            "p.json: $.buffers[3].parts: do not cover the last 1 byte of the buffer");
  EXPECT_EQ(refused("[[16, 1, 1], [48, 0, 3]]]"),
            "p.json: $.buffers[3].parts[0]: is live in steps [1, 1), which is empty");
  EXPECT_EQ(refused("[[16, 0, 1], [48, 0, 2]]]"),
            "p.json: $.buffers[3].parts: are live in steps [0, 2), but the buffer is live in [0, 3)");
  EXPECT_EQ(refused("[]]"), "p.json: $.features: the plan uses no feature, so the list must be empty");
  EXPECT_NE(refused("[[0, 0, 1], [64, 0, 3]]]").find("a number of bytes (an integer in [1, "), std::string::npos);
}

TEST(PlanJson, RandomPlansAreReadBack) {
  Random random(11);
  int with_bodies = 0;
  std::map<std::string, int> with_feature;
  for (int run = 0; run < 1500; ++run) {
    const PlanFile file = random_plan_file(random);
    const std::string text = write_plan_json(file.plan, file.labels);
    const Result<PlanFile> again = read_plan_json(text, "again.json");
    ASSERT_TRUE(again.ok()) << again.error().describe() << "\n" << text;
    ASSERT_EQ(difference(file, again.value()), "") << text;
    ASSERT_EQ(write_plan_json(again->plan, again->labels), text);
    ASSERT_TRUE(is_utf8(text));
    for (const StepSpace& space : file.plan.layout.steps) with_bodies += space.bodies.empty() ? 0 : 1;
    for (std::string_view feature : features_of(file.plan)) ++with_feature[std::string(feature)];
  }
  EXPECT_GT(with_bodies, 100);
  EXPECT_EQ(with_feature.size(), 6U);
  for (const auto& [feature, times] : with_feature) EXPECT_GT(times, 100) << feature;
}

// Members may come in any order: other programs sort them or write everything on one line.
TEST(PlanJson, FilesThatOtherProgramsRewroteAreRead) {
  Random random(12);
  for (int run = 0; run < 200; ++run) {
    const PlanFile file = random_plan_file(random);
    const auto tree = nlohmann::json::parse(write_plan_json(file.plan, file.labels));
    for (const std::string& text : {tree.dump(), tree.dump(4), tree.dump(-1, ' ', true)}) {
      const Result<PlanFile> again = read_plan_json(text, "again.json");
      ASSERT_TRUE(again.ok()) << again.error().describe() << "\n" << text;
      ASSERT_EQ(difference(file, again.value()), "");
    }
  }
}

TEST(PlanJson, EachRowHasItsOwnLine) {
  const std::string text = small_json();
  EXPECT_NE(text.find("\n[\"scale\", \"Mul\"],\n"), std::string::npos);
  EXPECT_NE(text.find("\n[\"x\", \"f32[2,4]\", \"input\", 32],\n"), std::string::npos);
  EXPECT_NE(text.find("\n[\"alias\", 1, null, null, [3], [4], null, 0, []],\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(PlanJson, EscapesBytesThatAreNotUtf8) {
  const auto tree = nlohmann::json::parse(small_json());
  EXPECT_EQ(tree["tensors"][2][0], "scale \\xff");
}

}  // namespace
}  // namespace lowtide::testing
