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
