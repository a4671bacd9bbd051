// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/plan_json.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "lowtide/base/quote.h"
#include "tests/plan/random_plan.h"
#include "tests/plan/small_plan.h"

namespace lowtide {
namespace {

std::string small_json() {
  const PlanFile file = testing::small_plan_file();
  return write_plan_json(file.plan, file.labels);
}

TEST(PlanJson, GoldenFileIsWhatIsWritten) {
  const std::filesystem::path path = std::filesystem::path(LOWTIDE_TEST_FILES) / "plans/small.json";
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(small_json(), golden.str());
}

TEST(PlanJson, WhatIsWrittenIsReadBack) {
  const PlanFile file = testing::small_plan_file();
  const Result<PlanFile> again = read_plan_json(small_json(), "small.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(testing::difference(file, again.value()), "");
  EXPECT_EQ(again->labels.tensors[TensorId(2)].name, "scale \xff");
}

// A graph without nodes, or a branch that only hands out a constant: a program without steps, its buffers there all the
// same.
TEST(PlanJson, PlansWithoutStepsAreReadBack) {
  PlanFile file;
  file.labels.tensors.push_back({.name = "x", .role = Role::input, .shape = Shape({4}), .size = Bytes(16)});
  file.plan.provenance.tensors = 1;
  file.plan.regions = {Region{.name = "arena"}};
  file.plan.arena = {Bytes(0)};
  file.plan.buffers.push_back({.kind = BufferKind::input, .size = Bytes(16)});
  file.plan.values.push_back({.tensor = TensorId(0), .buffer = BufferId(0)});
  const std::string text = write_plan_json(file.plan, file.labels);
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(testing::difference(file, again.value()), "");
  // Still, no buffer lives where the program does not go.
  std::string beyond = text;
  const std::size_t at = beyond.find("[\"input\", 16, 0, 0,");
  ASSERT_NE(at, std::string::npos);
  beyond.replace(at, 20, "[\"input\", 16, 1, 1,");
  EXPECT_FALSE(read_plan_json(beyond, "beyond.json").ok());
}

// Only such a file has another version and more columns: older programs read all others.
TEST(PlanJson, StreamsMakeAnotherVersion) {
  PlanFile file = testing::small_plan_file();
  file.plan.streams = 2;
  file.plan.program[StepId(2)].stream = 1;
  file.plan.program[StepId(2)].after = {StepId(0), StepId(1)};
  const std::string text = write_plan_json(file.plan, file.labels);
  EXPECT_NE(text.find("\"schema_version\": 2,"), std::string::npos);
  EXPECT_NE(text.find("\n\"streams\": 2,\n"), std::string::npos);
  EXPECT_NE(text.find("[2, \"compute\", [0, 4], [5], 5, 1, [0, 1]]"), std::string::npos) << text;
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(testing::difference(file, again.value()), "");
  const auto refused = [&](const std::string& piece, const std::string& by) {
    std::string wrong = text;
    wrong.replace(wrong.find(piece), piece.size(), by);
    const Result<PlanFile> read = read_plan_json(wrong, "p.json");
    return read.ok() ? "" : read.error().describe();
  };
  EXPECT_EQ(refused("5, 1, [0, 1]]", "5, 2, [0, 1]]"),
            "p.json: $.steps[2].stream: stream 2 does not exist: there are 2");
  EXPECT_EQ(refused("5, 1, [0, 1]]", "5, 1, [0, 2]]"),
            "p.json: $.steps[2].after[1]: step 2 does not come before this step, 2, so it cannot be waited for");
  EXPECT_NE(refused("\"streams\": 2", "\"streams\": 1025").find("a number of streams (an integer in [1, 1024])"),
            std::string::npos);
  EXPECT_NE(refused("\"schema_version\": 2", "\"schema_version\": 1").find("column"), std::string::npos);
  file.plan.streams = 1;
  EXPECT_EQ(read_plan_json(text.substr(0, text.find("\"streams\": 2")) + "\"streams\": 1" +
                               text.substr(text.find("\"streams\": 2") + 12),
                           "p.json")
                .ok(),
            false);
}

// Buffer 3 has 64 bytes and lives in steps 0 to 2, its first 16 in step 0 only.
TEST(PlanJson, PartsMakeAnotherVersion) {
  PlanFile file = testing::small_plan_file();
  Buffer& buffer = file.plan.buffers[BufferId(3)];
  ASSERT_EQ(buffer.size, Bytes(64));
  ASSERT_EQ(buffer.lifespan, (Lifespan{StepId(0), StepId(3)}));
  buffer.parts = {{Bytes(16), {StepId(0), StepId(1)}}, {Bytes(48), {StepId(0), StepId(3)}}};
  const std::string text = write_plan_json(file.plan, file.labels);
  EXPECT_NE(text.find("\"schema_version\": 3,"), std::string::npos);
  EXPECT_NE(text.find("\n\"streams\": 1,\n"), std::string::npos);
  const std::string written = "[[16, 0, 1], [48, 0, 3]]]";
  ASSERT_NE(text.find(written), std::string::npos) << text;
  const Result<PlanFile> again = read_plan_json(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(testing::difference(file, again.value()), "");
  const auto refused = [&](const std::string& by) {
    std::string wrong = text;
    wrong.replace(wrong.find(written), written.size(), by);
    const Result<PlanFile> read = read_plan_json(wrong, "p.json");
    return read.ok() ? "" : read.error().describe();
  };
  EXPECT_EQ(refused("[[64, 0, 3]]]"), "p.json: $.buffers[3].parts: has one part; a buffer has none, or at least two");
  EXPECT_EQ(refused("[[16, 0, 1], [49, 0, 3]]]"),
            "p.json: $.buffers[3].parts[1]: ends behind the end of the buffer, which has 64 bytes");
  EXPECT_EQ(refused("[[16, 0, 1], [47, 0, 3]]]"),
            "p.json: $.buffers[3].parts: have 63 bytes together, the buffer has 64");
  EXPECT_EQ(refused("[[16, 1, 1], [48, 0, 3]]]"), "p.json: $.buffers[3].parts[0]: lives in no step at all");
  EXPECT_EQ(refused("[[16, 0, 1], [48, 0, 2]]]"),
            "p.json: $.buffers[3].parts: live from step 0 to before step 2 together, which is not when the buffer "
            "lives");
  EXPECT_EQ(refused("[]]"), "p.json: $.schema_version: is for plans whose buffers have parts, and here is none");
  EXPECT_NE(refused("[[0, 0, 1], [64, 0, 3]]]").find("a number of bytes (an integer in [1, "), std::string::npos);
}

TEST(PlanJson, RandomPlansAreReadBackAsTheyWere) {
  Random random(11);
  int with_bodies = 0;
  for (int run = 0; run < 1500; ++run) {
    const PlanFile file = testing::random_plan_file(random);
    const std::string text = write_plan_json(file.plan, file.labels);
    const Result<PlanFile> again = read_plan_json(text, "again.json");
    ASSERT_TRUE(again.ok()) << again.error().describe() << "\n" << text;
    ASSERT_EQ(testing::difference(file, again.value()), "") << text;
    ASSERT_EQ(write_plan_json(again->plan, again->labels), text);
    ASSERT_TRUE(is_utf8(text));
    for (const Step& step : file.plan.program) with_bodies += step.bodies.empty() ? 0 : 1;
  }
  EXPECT_GT(with_bodies, 100);
}

// Members may come in any order: other programs sort them or write everything on one line.
TEST(PlanJson, FilesThatOtherProgramsWroteAnewAreRead) {
  Random random(12);
  for (int run = 0; run < 200; ++run) {
    const PlanFile file = testing::random_plan_file(random);
    const auto tree = nlohmann::json::parse(write_plan_json(file.plan, file.labels));
    for (const std::string& text : {tree.dump(), tree.dump(4), tree.dump(-1, ' ', true)}) {
      const Result<PlanFile> again = read_plan_json(text, "again.json");
      ASSERT_TRUE(again.ok()) << again.error().describe() << "\n" << text;
      ASSERT_EQ(testing::difference(file, again.value()), "");
    }
  }
}

TEST(PlanJson, RowsStandOnLinesOfTheirOwn) {
  const std::string text = small_json();
  EXPECT_NE(text.find("\n[\"scale\", \"Mul\"],\n"), std::string::npos);
  EXPECT_NE(text.find("\n[\"x\", \"f32[2,4]\", \"input\", 32],\n"), std::string::npos);
  EXPECT_NE(text.find("\n[1, \"alias\", [3], [4], null],\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(PlanJson, NamesOfAnyBytesAreReadableJson) {
  const auto tree = nlohmann::json::parse(small_json());
  EXPECT_EQ(tree["tensors"][2][0], "scale \\xff");
}

}  // namespace
}  // namespace lowtide
