// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/plan/plan_json.h"
#include "tests/plan/small_plan.h"

namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

// A plan with one part of its text replaced.
struct Damage {
  std::string piece;
  std::string by;
  std::string described;  // a part of "place: message"
  ErrorCode code = ErrorCode::invalid;
};

void expect_refused(const std::vector<Damage>& damages, const std::string& right = small_json()) {
  ASSERT_TRUE(read_plan_json(right, "p.json").ok());
  for (const Damage& damage : damages) {
    std::string text = right;
    const std::size_t at = text.find(damage.piece);
    ASSERT_NE(at, std::string::npos) << damage.piece;
    text.replace(at, damage.piece.size(), damage.by);
    const Result<PlanFile> file = read_plan_json(text, "p.json");
    ASSERT_FALSE(file.ok()) << damage.by;
    EXPECT_THAT(file.error().describe(), HasSubstr(damage.described)) << damage.by;
    EXPECT_EQ(file.error().code, damage.code) << damage.by;
  }
}

TEST(PlanJsonErrors, VersionIsCheckedFirst) {
  expect_refused({
      {"lowtide.plan", "other", "not a plan file: the key 'format' is 'other' and should be 'lowtide.plan'",
       ErrorCode::malformed},
      {"\"format\": \"lowtide.plan\",", "", "not a plan file: the key 'format' is missing", ErrorCode::malformed},
      {"\"schema_version\": 1", "\"schema_version\": 4",
       "schema_version 4 is not understood; this program reads version 1: plan the model again with it",
       ErrorCode::unsupported},
      {"\"schema_version\": 1,", "\"schema_version\": 4, \"new\": 1,", "schema_version 4", ErrorCode::unsupported},
      {"\"schema_version\": 1,", "", "the key 'schema_version' is missing"},
      {"\"schema_version\": 1", "\"schema_version\": \"1\"", "expected a version, found '\"'", ErrorCode::malformed},
      {"\"schema_version\": 1", "\"schema_version\": 1.0", "found '1.0'"},
  });
}

TEST(PlanJsonErrors, TextsThatAreNotJsonHaveLineAndColumn) {
  expect_refused({
      {"{\n\"format\"", "", "p.json:1:1: not a plan file: expected an object, found ':'", ErrorCode::malformed},
      {"\"schema_version\": 1,", "\"schema_version\": 1", "p.json:4:1: expected ',' or '}', found '\"'",
       ErrorCode::malformed},
      {"\"dense\"},", "'dense'},", "expected a value, found", ErrorCode::malformed},
      {"4096", "0x10", "expected ',' or '}', found 'x10'", ErrorCode::malformed},
      {"4096", "01", "expected a value, found '01'", ErrorCode::malformed},
      {"4096", "1.", "expected a value, found '1.'", ErrorCode::malformed},
      {"4096", "NaN", "expected a value, found 'NaN'", ErrorCode::malformed},
      {"4096", "nul", "expected a value, found 'nul'", ErrorCode::malformed},
      {"\"as_given\"", "\"as\ngiven\"", "a string has an unescaped control character: '\\x0a'", ErrorCode::malformed},
      {"\"as_given\"", "\"\xff\"", "a string is not UTF-8", ErrorCode::malformed},
      {"\"as_given\"", "\"\\q\"", "a string has an escape that JSON does not know: \\'q'", ErrorCode::malformed},
      {"\"as_given\"", "\"\\u12g4\"", "\\u in a string needs four hexadecimal digits", ErrorCode::malformed},
      {"\"as_given\"", "\"\\ud800\"", "a string has half of a surrogate pair", ErrorCode::malformed},
      {"\"as_given\"", "\"\\udc00\"", "a string has half of a surrogate pair", ErrorCode::malformed},
      {"4096", "[1, 2,]", "expected a value, found ']'", ErrorCode::malformed},
      {"4096", std::string(63, '[') + std::string(63, ']'), "nested deeper than the limit of 64 (kMaxTextDepth)",
       ErrorCode::over_limit},
      {"4096", std::string(100'000, '['), "kMaxTextDepth", ErrorCode::over_limit},
  });
  const Result<PlanFile> more = read_plan_json(small_json() + "x", "p.json");
  EXPECT_THAT(more.error().describe(), HasSubstr(": expected the end of the text, found 'x'"));
}

TEST(PlanJsonErrors, EachKeyIsRequiredOnceAndNoOtherIsAllowed) {
  expect_refused({
      {"\"dims\"", "\"dimensions\"",
       "$.provenance: unknown key 'dimensions'; the keys here are tool, model, model_sha256"},
      {"\"regions\"", "\"Regions\"", "$.machine: unknown key 'Regions'; the keys here are regions, links, workers"},
      {"\"machine\"", "\"Machine\"", "p.json:14:1: unknown key 'Machine'"},
      {"\"features\": [],\n", "", ": the key 'features' is missing"},
      {"\"tool\": \"lowtide 0.1.0\",", "", "$.provenance: the key 'tool' is missing"},
      {"\"target\": \"dense\"", "\"target\": \"dense\", \"tool\": \"\"", "$.provenance: the key 'tool' is repeated"},
      {"\"schema_version\": 1,", "\"schema_version\": 1, \"schema_version\": 1,",
       "the key 'schema_version' is repeated"},
      {"\"operator\"]", "\"op\"]", "$.columns.nodes.operator: expected 'operator', found 'op'"},
      {"\"body\": \"then_branch\",", "", "$.bodies[0]: the key 'body' is missing"},
  });
}

TEST(PlanJsonErrors, TypesAndRangesAreChecked) {
  expect_refused({
      {"4096", "4096.0",
       "$.machine.regions[0].capacity: expected a number of bytes (an integer in [0, 36028797018963967]), found "
       "'4096.0'"},
      {"4096", "-1", "$.machine.regions[0].capacity"},
      {"4096", "1e400", "found '1e400'"},
      {"4096", "36028797018963968", "$.machine.regions[0].capacity"},
      {"4096", "18446744073709551616", "found '18446744073709551616'"},
      {"4096", "1" + std::string(10'000, '0'), "(10001 bytes)"},
      {"4096", "\"4096\"", "$.machine.regions[0].capacity: expected a number of bytes, found"},
      {"4096", "[]", "expected a number of bytes, found '['"},
      {"\"alignment\": 64", "\"alignment\": 0", "$.machine.regions[0].alignment"},
      {"\"alignment\": 64", "\"alignment\": 48", "$.machine.regions[0].alignment: 48 is not a power of two"},
      {"\"alignment\": 64", "\"alignment\": 2147483648", "$.machine.regions[0].alignment"},
      {"[192, 0]", "[192]", "$.arena: has length 1; it needs 2, one entry for each of the regions"},
      {"\"schedule_optimal\": false", "\"schedule_optimal\": 0",
       "$.claims.schedule_optimal: expected true or false, found '0'"},
      {"[\"scale\", \"Mul\"]", "[\"scale\"]", "$.nodes[0]: the row has 1 column instead of 2: name, operator"},
      {"[\"scale\", \"Mul\"]", "[\"scale\", \"Mul\", 1]", "$.nodes[0]: the row has more than 2 columns"},
      {"[\"scale\", \"Mul\"]", "{}", "$.nodes[0]: expected a row, found '{'"},
      {"[\"scale\", \"Mul\"]", "[\"scale\\\\q\", \"Mul\"]", "$.nodes[0].name: a backslash in a name"},
      {"f32[2,4]", "f32[2,-4]", "$.tensors[1].type: expected a type such as \"f32[1,3,<=100]\", found 'f32[2,-4]'"},
      {"\"input\", 32", "\"inputs\", 32", "$.tensors[1].role: expected input, output, constant, state or temporary"},
      {"\"input\", 32", "\"input\", 33",
       "$.tensors[1].bytes: expected a number of bytes (an integer in [32, 32]), found '33'"},
      {"[\"temporary\", 64", "[\"temp\", 64",
       "$.buffers[3].kind: expected input, constant, state, output, temporary or scratch, found 'temp'"},
      {"0, 3, null, null, []]", "0, 3, null, 0, []]",
       "$.buffers[0].offset: expected null, since the region is null, found '0'"},
      {"0, 3, null, null, []]", "0, 3, 2, null, []]",
       "$.buffers[0].region: region 2 does not exist; the number of regions is 2"},
      {"\"alias\"", "\"view\"", "$.steps[1].kind: expected compute, alias or copy, found 'view'"},
      {"[3], [4]", "[3.5], [4]", "$.steps[1].reads[0]: expected a value (an integer in [0, 4294967295]), found '3.5'"},
      {"[3], [4]", "[-3], [4]", "$.steps[1].reads[0]"},
      {"\"nodes\": 3", "\"nodes\": 10000001", "$.provenance.nodes"},
  });
}

TEST(PlanJsonErrors, IdsOutOfRangeAreRefused) {
  expect_refused({
      {"\"nodes\": 3", "\"nodes\": 4", "p.json: $.provenance.nodes: says 4, but $.nodes has 3 rows"},
      {"\"tensors\": 6", "\"tensors\": 5", "p.json: $.provenance.tensors: says 5, but $.tensors has 6 rows"},
      {"0, 3, 0, 0, []]", "0, 4, 0, 0, []]",
       "p.json: $.buffers[3].end: is live in steps [0, 4), which is empty or not within the 3 steps of the program"},
      {"0, 3, 0, 0, []]", "3, 3, 0, 0, []]",
       "p.json: $.buffers[3].end: is live in steps [3, 3), which is empty or not within the 3 steps of the program"},
      {"0, 3, 0, 0, []]", "0, 3, 2, 0, []]",
       "p.json: $.buffers[3].region: region 2 does not exist; the number of regions is 2"},
      {"[3, 0, 3, 0]", "[6, 0, 3, 0]",
       "p.json: $.values[3].tensor: tensor 6 does not exist; the number of tensors is 6"},
      {"[3, 0, 3, 0]", "[3, 3, 3, 0]", "$.values[3].written: step 3 does not exist; the number of steps is 3"},
      {"[3, 0, 3, 0]", "[3, 0, 6, 0]", "$.values[3].buffer: buffer 6 does not exist; the number of buffers is 6"},
      {"[\"alias\", 1,", "[\"alias\", 3,", "$.steps[1].node: node 3 does not exist; the number of nodes is 3"},
      {"[3], [4]", "[6], [4]", "p.json: $.steps[1].reads[0]: value 6 does not exist; the number of values is 6"},
      {"[3], [4]", "[3], [4, 4294967295]", "$.steps[1].writes[1]: value 4294967295 does not exist"},
      {"[5], 5, 0, []]", "[5], 5, 1, []]", "$.steps[2].stream: stream 1 does not exist; the number of streams is 1"},
      {"[\"compute\", 2, 0", "[\"compute\", 2, 1",
       "p.json: $.steps[2].kernel: kernel 1 does not exist; the number of kernels is 1"},
      {"\"outputs\": [5]", "\"outputs\": [6]", "$.outputs[0]: value 6 does not exist; the number of values is 6"},
      {"\"outputs\": [5]", "\"outputs\": [5, 4294967295]",
       "$.outputs[1]: value 4294967295 does not exist; the number of values is 6"},
      {"\"updates\": []", "\"updates\": [7]", "$.updates[0]: value 7 does not exist; the number of values is 6"},
      {"[0, null]\n]", "[1, null]\n]", "$.streams[0].worker: worker 1 does not exist; the number of workers is 1"},
      {"[0, null]\n]", "[null, 0]\n]", "$.streams[0].link: link 0 does not exist; the number of links is 0"},
      {"\"addressable\": []", "\"addressable\": [2]",
       "$.machine.workers[0].addressable[0]: region 2 does not exist; the number of regions is 2"},
      {"[4], null, 0", "[4], 6, 0", "$.steps[1].scratch: buffer 6 does not exist; the number of buffers is 6"},
  });
}

TEST(PlanJsonErrors, SizesAddUpWithinTheLimit) {
  std::string text = small_json();
  const std::string row = "[\"temporary\", 64, 0, 3, 0, 0, []],\n";
  const std::size_t at = text.find(row);
  ASSERT_NE(at, std::string::npos);
  std::string rows;
  // The arena has 192 bytes, buffers 0 to 2 have 65. 2^62 - 1 is 128 * (2^55 - 1) + 127, so the 128th one is too much.
  for (int count = 0; count < 129; ++count) {
    rows += "[\"temporary\", 36028797018963967, 0, 3, 0, 36028797018963967, []],\n";
  }
  const Result<PlanFile> file = read_plan_json(text.insert(at, rows), "p.json");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().describe(),
            "p.json: $.buffers[130].bytes: is 36028797018963967 bytes; sizes must not be negative, and all arenas "
            "and buffers must add up to at most 4611686018427387903 (kMaxTotalBytes)");
}

TEST(PlanJsonErrors, MachinesAreChecked) {
  const std::string link =
      "{\"from\": 0, \"to\": 1, \"bytes_per_second\": 25000000000, \"latency_picoseconds\": 2000000}";
  expect_refused(
      {
          {"{\"from\": 0, \"to\": 1,", "{\"from\": 2, \"to\": 1,",
           "p.json: $.machine.links[0].from: region 2 does not exist; the number of regions is 2"},
          {"{\"from\": 0, \"to\": 1,", "{\"from\": 0, \"to\": 3,",
           "p.json: $.machine.links[0].to: region 3 does not exist; the number of regions is 2"},
          {"{\"from\": 0, \"to\": 1,", "{\"from\": 0, \"to\": 0,",
           "p.json: $.machine.links[0]: leads from a region to the same region"},
          {"25000000000", "0",
           "$.machine.links[0].bytes_per_second: expected a bandwidth (an integer in [1, 9223372036854775807]), found "
           "'0'"},
          {"2000000}", "-1}", "$.machine.links[0].latency_picoseconds: expected a latency"},
          {"\"to\": 1, ", "", "$.machine.links[0]: the key 'to' is missing"},
          {link, "[0, 1]", "$.machine.links[0]: expected an object, found '['"},
          {"\"workers\": [", "\"constants\": 2, \"workers\": [",
           "p.json: $.machine.constants: region 2 does not exist; the number of regions is 2"},
          {"\"workers\": [", "\"constants\": null, \"workers\": [", "$.machine.constants: expected a region"},
          {"\"name\": \"host\",", "\"read_only\": 1, \"name\": \"host\",",
           "$.machine.regions[1].read_only: expected true or false"},
          {"{\"name\": \"core\", \"count\": 2, \"addressable\": [0]},\n{\"name\": \"dma\", \"count\": 1, "
           "\"addressable\": []}\n",
           "", "p.json: $.machine.workers: is empty; a machine has at least one worker"},
          {"\"count\": 2", "\"count\": 0", "$.machine.workers[0].count: expected a number of workers"},
          {"\"count\": 2", "\"count\": 2147483648", "expected a number of workers (an integer in [1, 2147483647])"},
          {"\"addressable\": [0]", "\"addressable\": [0, 0]",
           "p.json: $.machine.workers[0].addressable[1]: regions must be listed in ascending order, each once"},
          {"\"addressable\": [0]", "\"addressable\": [1, 0]", "$.machine.workers[0].addressable[1]"},
          {"\"execution\": \"streams\"", "\"execution\": \"stream\"",
           "$.execution: expected sequence, streams, waves or dataflow, found 'stream'"},
      },
      transfer_json());
}

TEST(PlanJsonErrors, StreamsHaveOneWorkerOrOneLink) {
  expect_refused(
      {
          {"[null, 0],", "[0, 0],", "p.json: $.streams[1]: has both a worker and a link; it needs exactly one of them"},
          {"[null, 0],", "[null, null],",
           "p.json: $.streams[1]: has neither a worker nor a link; it needs exactly one of them"},
          {"[null, 1],", "[null, 0],",
           "p.json: $.streams[2].link: link 0 already drives an earlier stream; a link drives at most one"},
          {"[null, 1],", "[null, 2],", "$.streams[2].link: link 2 does not exist; the number of links is 2"},
          {"[1, null]\n", "[2, null]\n", "$.streams[3].worker: worker 2 does not exist; the number of workers is 2"},
          {"[null, 0],", "[null],", "$.streams[1]: the row has 1 column instead of 2: worker, link"},
          {"[null, 0],", "[\"link\", 0],", "$.streams[1].worker: expected a worker, or null"},
      },
      transfer_json());
}

TEST(PlanJsonErrors, CopiesHaveBytesAndNoNode) {
  const std::string copy = "[\"copy\", null, null, [0, 32], [0], [2], null, 2, []]";
  const std::string compute = "[\"compute\", 0, 1, null, [2, 1], [3], null, 0, [0]]";
  expect_refused(
      {
          {copy, "[\"copy\", 0, null, [0, 32], [0], [2], null, 2, []]",
           "$.steps[0].node: expected null, since a copy has no node, found '0'"},
          {copy, "[\"copy\", null, 0, [0, 32], [0], [2], null, 2, []]",
           "$.steps[0].kernel: expected null, since only compute steps have a kernel, found '0'"},
          {copy, "[\"copy\", null, null, null, [0], [2], null, 2, []]",
           "$.steps[0].bytes: expected a row, found 'null'"},
          {copy, "[\"copy\", null, null, [32], [0], [2], null, 2, []]",
           "$.steps[0].bytes: the row has 1 column instead of 2: begin, end"},
          {copy, "[\"copy\", null, null, [-1, 32], [0], [2], null, 2, []]",
           "$.steps[0].bytes.begin: expected a number of bytes"},
          {copy, "[\"copy\", null, null, [33, 32], [0], [2], null, 2, []]",
           "p.json: $.steps[0].bytes: [33, 32) is not a range of bytes"},
          {copy, "[\"copy\", null, null, [0, 36028797018963968], [0], [2], null, 2, []]",
           "$.steps[0].bytes.end: expected a number of bytes"},
          {copy, "[\"copy\", null, null, [0, 32], [0, 1], [2], null, 2, []]",
           "p.json: $.steps[0]: a copy reads one value and writes one, not 2 and 1"},
          {copy, "[\"copy\", null, null, [0, 32], [0], [], null, 2, []]",
           "p.json: $.steps[0]: a copy reads one value and writes one, not 1 and 0"},
          {copy, "[\"copy\", null, null, [0, 32], [0], [2], 2, 2, []]",
           "p.json: $.steps[0].scratch: a copy has no scratch"},
          {compute, "[\"compute\", null, 1, null, [2, 1], [3], null, 0, [0]]", "$.steps[1].node: expected a node"},
          {compute, "[\"compute\", 0, null, null, [2, 1], [3], null, 0, [0]]", "$.steps[1].kernel: expected a kernel"},
          {compute, "[\"compute\", 0, 1, [0, 32], [2, 1], [3], null, 0, [0]]",
           "$.steps[1].bytes: expected null, since only copies have a range of bytes, found '['"},
          {compute, "[\"alias\", 0, 1, null, [2, 1], [3], null, 0, [0]]",
           "$.steps[1].kernel: expected null, since only compute steps have a kernel, found '1'"},
      },
      transfer_json());
}

TEST(PlanJsonErrors, BuffersHaveAPlacementOrAHome) {
  expect_refused(
      {
          {"[\"constant\", 32, 0, 8, 1, null, []]", "[\"constant\", 32, 0, 8, 2, null, []]",
           "p.json: $.buffers[0].region: region 2 does not exist; the number of regions is 2"},
          {"[\"temporary\", 64, 0, 2, 0, 0, []]", "[\"temporary\", 64, 0, 2, 0, null, []]",
           "p.json: $.buffers[2]: a buffer of kind temporary has no placement"},
          {"[\"temporary\", 64, 0, 2, 0, 0, []]", "[\"output\", 64, 0, 2, null, null, []]",
           "p.json: $.buffers[2]: a buffer of kind output has no placement"},
          {"[\"state\", 32, 0, 8, null, null, []]", "[\"state\", 32, 0, 8, null, 0, []]",
           "$.buffers[1].offset: expected null, since the region is null, found '0'"},
          {"[\"state\", 32, 0, 8, null, null, []]", "[\"state\", 32, 0, 8, 0, null, [[16, 0, 8], [16, 0, 8]]]",
           "p.json: $.buffers[1].parts: belongs to a buffer without placement; only placed buffers"},
          {"[\"temporary\", 64, 4, 7, 0, 0, [[", "[\"scratch\", 64, 4, 7, 0, 0, [[",
           "p.json: $.buffers[5].parts: belongs to a buffer of kind scratch; only temporary and output buffers have "
           "parts"},
          {"[16, 4, 7], [48, 5, 7]", "[16, 4, 7], [48, 5]",
           "$.buffers[5].parts[1]: the row has 2 columns instead of 3: bytes, begin, end"},
      },
      transfer_json());
}

TEST(PlanJsonErrors, BoundsHaveAScope) {
  const std::string bound = "{\"scope\": \"run_once\", \"bytes\": 64, \"name\": \"search\"}";
  expect_refused(
      {
          {"\"scope\": \"run_once\"", "\"scope\": \"once\"",
           "$.claims.bounds[0].scope: expected chosen_kernels, run_once or all_plans, found 'once'"},
          {"\"scope\": \"run_once\", ", "", "$.claims.bounds[0]: the key 'scope' is missing"},
          {"\"bytes\": 64, \"name\": \"search\"", "\"bytes\": -1, \"name\": \"search\"",
           "$.claims.bounds[0].bytes: expected a number of bytes"},
          {bound, bound + ", " + bound + ", " + bound, "$.claims.bounds[3]: more rows than the limit of 3",
           ErrorCode::over_limit},
          {bound, "64", "$.claims.bounds[0]: expected an object, found '6"},
      },
      transfer_json());
}

TEST(PlanJsonErrors, BodiesBelongToTheirNodesAndSteps) {
  const std::string label = "\"parent\": null,\n\"node\": 2,\n\"body\": \"then_branch\"";
  const std::string plan = "\"parent\": null,\n\"step\": 2,\n\"body\": \"then_branch\"";
  expect_refused({
      {label, "\"parent\": 0,\n\"node\": 2,\n\"body\": \"then_branch\"",
       "p.json: $.bodies[0].parent: the parent is entry 0, which is not before its body"},
      {label, "\"parent\": null,\n\"node\": 3,\n\"body\": \"then_branch\"", "$.bodies[0].node: node 3 does not exist"},
      {label, "\"parent\": -1,\n\"node\": 2,\n\"body\": \"then_branch\"",
       "$.bodies[0].parent: expected an earlier entry, or null"},
      {plan, "\"parent\": 7,\n\"step\": 2,\n\"body\": \"then_branch\"",
       "$.body_plans[0].parent: the parent is entry 7, which is not before its body"},
      {plan, "\"parent\": null,\n\"step\": 3,\n\"body\": \"then_branch\"",
       "$.body_plans[0].step: step 3 does not exist; the number of steps is 3"},
      {plan, "\"parent\": null,\n\"step\": 0,\n\"body\": \"then_branch\"",
       "$.body_plans[0].body: body 0 of step 0 is named 'then_branch', but $.bodies has no such body for node 0"},
      {plan, "\"parent\": null,\n\"step\": 1,\n\"body\": \"then_branch\"",
       "$.body_plans[0].step: step 1 computes nothing, so it runs no body"},
      {plan, "\"parent\": null,\n\"step\": 2,\n\"body\": \"body\"",
       "body 0 of step 2 is named 'body', but $.bodies has 'then_branch' for node 2"},
      // The body's own tables are checked in its own graph: it has 2 tensors.
      {"[1, 0, 1, 0]\n],\n\"steps\": [\n[\"compute\", 0, 0, null, [0], [1]",
       "[2, 0, 1, 0]\n],\n\"steps\": [\n[\"compute\", 0, 0, null, [0], [1]",
       "p.json: $.body_plans[0].values[1].tensor: tensor 2 does not exist; the number of tensors is 2"},
      {"[1, 0, 1, 0]\n],\n\"steps\": [\n[\"compute\", 0, 0, null, [0], [1]",
       "[1, 0, 1, 0]\n],\n\"steps\": [\n[\"compute\", 0, 0, null, [0], [2]",
       "p.json: $.body_plans[0].steps[0].writes[0]: value 2 does not exist; the number of values is 2"},
      {"\"arena\": [64],", "\"arena\": [64, 0],",
       "p.json: $.body_plans[0].arena: has length 2; it needs 1, one entry for each of the regions"},
      {"{\"name\": \"arena\", \"capacity\": null, \"alignment\": 64}\n],\n\"links\": [],\n\"workers\": "
       "[\n{\"name\": \"cpu\", \"count\": 1, \"addressable\": []}\n]\n},\n\"execution\": \"sequence\",\n\"kernels\": "
       "[\"dense\"],\n\"arena\": [64],",
       "],\n\"links\": [],\n\"workers\": [\n{\"name\": \"cpu\", \"count\": 1, \"addressable\": "
       "[]}\n]\n},\n\"execution\": \"sequence\",\n\"kernels\": [\"dense\"],\n\"arena\": [],",
       "p.json: $.body_plans[0].machine.regions: the plan of a body has 0 regions; it must have one, the scratch "
       "bytes"},
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
    plan.machine.workers = {{.name = "cpu"}};
    plan.program.streams = {{.worker = WorkerId(0)}};
    return read_plan_json(write_plan_json(plan, labels), "p.json");
  };
  EXPECT_TRUE(nested(32).ok());
  const Result<PlanFile> deeper = nested(33);
  ASSERT_FALSE(deeper.ok());
  EXPECT_EQ(deeper.error().describe(),
            "p.json: $.bodies[32]: bodies are nested deeper than the limit of 32 (kMaxBodyNesting)");
}

}  // namespace
}  // namespace lowtide::testing
