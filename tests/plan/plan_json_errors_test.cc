// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/plan/plan_json.h"
#include "tests/plan/small_plan.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

std::string small_json() {
  const PlanFile file = testing::small_plan_file();
  return write_plan_json(file.plan, file.labels);
}

// The small plan with one piece of its text replaced.
struct Damage {
  std::string piece;
  std::string by;
  ErrorCode code;
  std::string described;  // a part of "place: message"
};

void expect_refused(const std::vector<Damage>& damages) {
  for (const Damage& damage : damages) {
    std::string text = small_json();
    const std::size_t at = text.find(damage.piece);
    ASSERT_NE(at, std::string::npos) << damage.piece;
    text.replace(at, damage.piece.size(), damage.by);
    const Result<PlanFile> file = read_plan_json(text, "p.json");
    ASSERT_FALSE(file.ok()) << damage.by;
    EXPECT_THAT(file.error().describe(), HasSubstr(damage.described)) << damage.by;
    EXPECT_EQ(file.error().code, damage.code) << damage.by;
  }
}

TEST(PlanJsonErrors, VersionsComeFirst) {
  expect_refused({
      {"lowtide.plan", "other", ErrorCode::malformed,
       "not a plan file: the key 'format' is 'other' and should be 'lowtide.plan'"},
      {"\"format\": \"lowtide.plan\",", "", ErrorCode::malformed, "not a plan file: the key 'format' is missing"},
      {"\"schema_version\": 1", "\"schema_version\": 4", ErrorCode::unsupported,
       "schema_version 4 is not understood; this program reads versions 1 to 3"},
      {"\"schema_version\": 1,", "\"schema_version\": 4, \"new\": 1,", ErrorCode::unsupported, "schema_version 4"},
      {"\"schema_version\": 1,", "", ErrorCode::invalid, "the key 'schema_version' is missing"},
      {"\"schema_version\": 1", "\"schema_version\": \"1\"", ErrorCode::malformed, "expected a version, found '\"'"},
      {"\"schema_version\": 1", "\"schema_version\": 1.0", ErrorCode::invalid, "found '1.0'"},
  });
}

TEST(PlanJsonErrors, WhatIsNotJsonIsToldWithLineAndColumn) {
  expect_refused({
      {"{\n\"format\"", "", ErrorCode::malformed, "p.json:1:1: expected an object, found ':'"},
      {"\"schema_version\": 1,", "\"schema_version\": 1", ErrorCode::malformed,
       "p.json:4:1: expected ',' or '}', found '\"'"},
      {"\"dense\"},", "'dense'},", ErrorCode::malformed, "expected a value, found"},
      {"4096", "0x10", ErrorCode::malformed, "expected ',' or '}', found 'x10'"},
      {"4096", "01", ErrorCode::malformed, "expected a value, found '01'"},
      {"4096", "1.", ErrorCode::malformed, "expected a value, found '1.'"},
      {"4096", "NaN", ErrorCode::malformed, "expected a value, found 'NaN'"},
      {"4096", "nul", ErrorCode::malformed, "expected a value, found 'nul'"},
      {"\"as_given\"", "\"as\ngiven\"", ErrorCode::malformed, "a control character stands in a string: '\\x0a'"},
      {"\"as_given\"", "\"\xff\"", ErrorCode::malformed, "a string is not UTF-8"},
      {"\"as_given\"", "\"\\q\"", ErrorCode::malformed, "a string has an escape that JSON does not know: \\'q'"},
      {"\"as_given\"", "\"\\u12g4\"", ErrorCode::malformed, "\\u in a string needs four hexadecimal digits"},
      {"\"as_given\"", "\"\\ud800\"", ErrorCode::malformed, "a string has half of a surrogate pair"},
      {"\"as_given\"", "\"\\udc00\"", ErrorCode::malformed, "a string has half of a surrogate pair"},
      {"4096", "[1, 2,]", ErrorCode::malformed, "expected a value, found ']'"},
      {"4096", std::string(63, '[') + std::string(63, ']'), ErrorCode::over_limit,
       "nested deeper than the limit of 64 (kMaxTextDepth)"},
      {"4096", std::string(100'000, '['), ErrorCode::over_limit, "kMaxTextDepth"},
  });
  const Result<PlanFile> more = read_plan_json(small_json() + "x", "p.json");
  EXPECT_THAT(more.error().describe(), HasSubstr(": expected the end of the text, found 'x'"));
}

TEST(PlanJsonErrors, KeysAreAllKnownAndThereOnce) {
  expect_refused({
      {"\"dims\"", "\"dimensions\"", ErrorCode::invalid,
       "$.provenance: unknown key 'dimensions'; the keys here are tool, model_sha256"},
      {"\"regions\"", "\"Regions\"", ErrorCode::invalid, "p.json:12:1: unknown key 'Regions'"},
      {"\"tool\": \"lowtide 0.1.0\",", "", ErrorCode::invalid, "$.provenance: the key 'tool' is missing"},
      {"\"target\": \"dense\"", "\"target\": \"dense\", \"tool\": \"\"", ErrorCode::invalid,
       "$.provenance: the key 'tool' stands twice"},
      {"\"schema_version\": 1,", "\"schema_version\": 1, \"schema_version\": 1,", ErrorCode::invalid,
       "the key 'schema_version' stands twice"},
      {"\"operator\"]", "\"op\"]", ErrorCode::invalid, "$.columns.nodes.operator: expected 'operator', found 'op'"},
      {"\"body\": \"then_branch\",", "", ErrorCode::invalid, "$.bodies[0]: the key 'body' is missing"},
  });
}

TEST(PlanJsonErrors, TypesAndRangesAreChecked) {
  expect_refused({
      {"4096", "4096.0", ErrorCode::invalid,
       "$.regions[0].capacity: expected a number of bytes (an integer in [0, 36028797018963967]), found '4096.0'"},
      {"4096", "-1", ErrorCode::invalid, "$.regions[0].capacity"},
      {"4096", "1e400", ErrorCode::invalid, "found '1e400'"},
      {"4096", "36028797018963968", ErrorCode::invalid, "$.regions[0].capacity"},
      {"4096", "18446744073709551616", ErrorCode::invalid, "found '18446744073709551616'"},
      {"4096", "1" + std::string(10'000, '0'), ErrorCode::invalid, "(10001 bytes)"},
      {"4096", "\"4096\"", ErrorCode::invalid, "$.regions[0].capacity: expected a number of bytes, found"},
      {"4096", "[]", ErrorCode::invalid, "expected a number of bytes, found '['"},
      {"\"alignment\": 64", "\"alignment\": 0", ErrorCode::invalid, "$.regions[0].alignment"},
      {"\"alignment\": 64", "\"alignment\": 48", ErrorCode::invalid,
       "$.regions[0].alignment: 48 is not a power of two"},
      {"\"alignment\": 64", "\"alignment\": 2147483648", ErrorCode::invalid, "$.regions[0].alignment"},
      {"[192, 0]", "[192]", ErrorCode::invalid, "$.arena: has 1 entries for 2 regions"},
      {"\"schedule_optimal\": false", "\"schedule_optimal\": 0", ErrorCode::invalid,
       "$.claims.schedule_optimal: expected true or false, found '0'"},
      {"[\"scale\", \"Mul\"]", "[\"scale\"]", ErrorCode::invalid,
       "$.nodes[0]: the row has 1 columns instead of 2: name, operator"},
      {"[\"scale\", \"Mul\"]", "[\"scale\", \"Mul\", 1]", ErrorCode::invalid,
       "$.nodes[0]: the row has more than 2 columns"},
      {"[\"scale\", \"Mul\"]", "{}", ErrorCode::invalid, "$.nodes[0]: expected a row, found '{'"},
      {"[\"scale\", \"Mul\"]", "[\"scale\\\\q\", \"Mul\"]", ErrorCode::invalid,
       "$.nodes[0].name: a backslash in a name"},
      {"f32[2,4]", "f32[2,-4]", ErrorCode::invalid,
       "$.tensors[1].type: expected a type such as \"f32[1,3,<=100]\", found 'f32[2,-4]'"},
      {"\"input\", 32", "\"inputs\", 32", ErrorCode::invalid,
       "$.tensors[1].role: expected input, output, constant, state or temporary"},
      {"\"input\", 32", "\"input\", 33", ErrorCode::invalid,
       "$.tensors[1].bytes: expected a number of bytes (an integer in [32, 32]), found '33'"},
      {"[\"temporary\", 64", "[\"temp\", 64", ErrorCode::invalid,
       "$.buffers[3].kind: expected a kind of buffer such as temporary, found 'temp'"},
      {"0, 3, null, null]", "0, 3, null, 0]", ErrorCode::invalid,
       "$.buffers[0].offset: expected null, since the region is null, found '0'"},
      {"0, 3, null, null]", "0, 3, 0, null]", ErrorCode::invalid,
       "$.buffers[0].offset: expected an offset in bytes, found 'null'"},
      {"\"alias\"", "\"view\"", ErrorCode::invalid, "$.steps[1].kind: expected compute or alias, found 'view'"},
      {"[3], [4]", "[3.5], [4]", ErrorCode::invalid,
       "$.steps[1].reads[0]: expected a value (an integer in [0, 4294967295]), found '3.5'"},
      {"[3], [4]", "[-3], [4]", ErrorCode::invalid, "$.steps[1].reads[0]"},
      {"\"nodes\": 3", "\"nodes\": 10000001", ErrorCode::invalid, "$.provenance.nodes"},
  });
}

TEST(PlanJsonErrors, IdsAreInRange) {
  expect_refused({
      {"\"nodes\": 3", "\"nodes\": 4", ErrorCode::invalid,
       "p.json: $.provenance.nodes: says 4, but $.nodes has 3 rows"},
      {"\"tensors\": 6", "\"tensors\": 5", ErrorCode::invalid,
       "p.json: $.provenance.tensors: says 5, but $.tensors has 6 rows"},
      {"0, 3, 0, 0]", "0, 4, 0, 0]", ErrorCode::invalid,
       "p.json: $.buffers[3].end: step 4 is behind the end of the program of 3 steps"},
      {"0, 3, 0, 0]", "3, 3, 0, 0]", ErrorCode::invalid,
       "p.json: $.buffers[3]: lives from step 3 to before step 3, which is no step at all"},
      {"0, 3, 0, 0]", "0, 3, 2, 0]", ErrorCode::invalid,
       "p.json: $.buffers[3].region: region 2 does not exist: there are 2"},
      {"[3, 0, 3, 0]", "[6, 0, 3, 0]", ErrorCode::invalid,
       "p.json: $.values[3].tensor: tensor 6 does not exist: there are 6"},
      {"[3, 0, 3, 0]", "[3, 3, 3, 0]", ErrorCode::invalid, "$.values[3].written: step 3 does not exist: there are 3"},
      {"[3, 0, 3, 0]", "[3, 0, 6, 0]", ErrorCode::invalid, "$.values[3].buffer: buffer 6 does not exist: there are 6"},
      {"[1, \"alias\", [3], [4]", "[3, \"alias\", [3], [4]", ErrorCode::invalid,
       "$.steps[1].node: node 3 does not exist: there are 3"},
      {"[3], [4]", "[6], [4]", ErrorCode::invalid, "p.json: $.steps[1].reads[0]: value 6 does not exist: there are 6"},
      {"[3], [4]", "[3], [4, 4294967295]", ErrorCode::invalid, "$.steps[1].writes[1]: value 4294967295 does not exist"},
      {"[4], null]", "[4], 6]", ErrorCode::invalid, "$.steps[1].scratch: buffer 6 does not exist: there are 6"},
  });
}

TEST(PlanJsonErrors, SizesAddUpWithinTheLimit) {
  std::string text = small_json();
  const std::string row = "[\"temporary\", 64, 0, 3, 0, 0],\n";
  const std::size_t at = text.find(row);
  ASSERT_NE(at, std::string::npos);
  std::string rows;
  // 128 buffers of 2^55 - 1 bytes, and some more, are above 2^62 - 1.
  for (int count = 0; count < 129; ++count) rows += "[\"temporary\", 36028797018963967, 0, 3, 0, 36028797018963967],\n";
  const Result<PlanFile> file = read_plan_json(text.insert(at, rows), "p.json");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().describe(),
              HasSubstr(".bytes: the sizes up to here add up to more than the limit of 4611686018427387903"));
}

TEST(PlanJsonErrors, BodiesBelongToTheirNodesAndSteps) {
  const std::string label = "\"parent\": null,\n\"node\": 2,\n\"body\": \"then_branch\"";
  const std::string plan = "\"parent\": null,\n\"step\": 2,\n\"body\": \"then_branch\"";
  expect_refused({
      {label, "\"parent\": 0,\n\"node\": 2,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "p.json: $.bodies[0].parent: the parent 0 does not stand before its body"},
      {label, "\"parent\": null,\n\"node\": 3,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "$.bodies[0].node: node 3 does not exist"},
      {label, "\"parent\": -1,\n\"node\": 2,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "$.bodies[0].parent: expected an earlier entry, or null"},
      {plan, "\"parent\": 7,\n\"step\": 2,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "$.body_plans[0].parent: the parent 7 does not stand"},
      {plan, "\"parent\": null,\n\"step\": 3,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "$.body_plans[0].step: step 3 does not exist: there are 3"},
      {plan, "\"parent\": null,\n\"step\": 1,\n\"body\": \"then_branch\"", ErrorCode::invalid,
       "$.body_plans[0].body: body 0 of step 1 is called 'then_branch', but $.bodies has no such body for node 1"},
      {plan, "\"parent\": null,\n\"step\": 2,\n\"body\": \"body\"", ErrorCode::invalid,
       "body 0 of step 2 is called 'body', but $.bodies has 'then_branch' for node 2"},
      // The body's own tables are checked in its own graph: it has 2 tensors.
      {"[1, 0, 1, 0]\n],\n\"steps\": [\n[0, \"compute\", [0], [1], null]",
       "[2, 0, 1, 0]\n],\n\"steps\": [\n[0, \"compute\", [0], [1], null]", ErrorCode::invalid,
       "$.body_plans[0].values[1].tensor: tensor 2 does not exist: there are 2"},
  });
}

TEST(PlanJsonErrors, BodiesNestUpToTheLimit) {
  const auto nested = [](int depth) {
    Labels labels;
    labels.nodes.push_back({"leaf", "If"});
    for (int level = 0; level < depth; ++level) {
      Labels around;
      around.nodes.push_back({"", "If"});
      around.bodies.push_back({NodeId(0), "b", std::move(labels)});
      labels = std::move(around);
    }
    Plan plan;
    plan.provenance.nodes = 1;
    return read_plan_json(write_plan_json(plan, labels), "p.json");
  };
  EXPECT_TRUE(nested(32).ok());
  const Result<PlanFile> deeper = nested(33);
  ASSERT_FALSE(deeper.ok());
  EXPECT_EQ(deeper.error().describe(),
            "p.json: $.bodies[32]: bodies are nested deeper than the limit of 32 (kMaxBodyNesting)");
}

}  // namespace
}  // namespace lowtide
