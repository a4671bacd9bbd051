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
