// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lowtide/base/limits.h"
#include "lowtide/base/random.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/target/description.h"
#include "tests/campaign.h"
#include "tests/testing/graphs.h"

// Planning refuses sizes that a plan file cannot hold, so that the reader accepts every file that is written.
namespace lowtide::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMost = limits::kMaxArenaBytes;                // 2^55 - 1
constexpr std::int64_t kLargest = limits::kMaxTensorBytes / 64 * 64;  // 2^47 - 64, a multiple of the alignment

// Graph outputs of `bytes` each, all of one node.
std::string outputs_of(int count, std::int64_t bytes) {
  std::string names;
  std::string types;
  for (int at = 0; at < count; ++at) {
    names += (at > 0 ? ", o" : "o") + std::to_string(at);
    types += (at > 0 ? ", u8[" : "u8[") + std::to_string(bytes) + "]";
  }
  return "graph \"g\" {\n  input x : u8[1]\n  " + names + " = F(x) : " + types + "\n  output " + names + "\n}";
}

void expect_readable(const Graph& graph, const PlannedGraph& planned) {
  for (const Violation& violation : planned.violations) ADD_FAILURE() << violation.message;
  const std::string text = write_plan_json(planned.plan, labels_of(graph));
  const Result<PlanFile> read = read_plan_json(text, "plan.json");
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(write_plan_json(read->plan, read->labels), text);
}

// 256 x (2^47 - 64) = 2^55 - 16,384 fits; 257 x (2^47 - 64) does not.
TEST(PlanLimits, AnArenaIsBounded) {
  const Graph fits = graph_of(outputs_of(256, kLargest));
  const Result<PlannedGraph> planned = plan_graph(fits, dense_target());
  ASSERT_TRUE(planned) << planned.error().describe();
  EXPECT_EQ(arena_bytes(planned->plan), Bytes((std::int64_t{1} << 55) - 16'384));
  expect_readable(fits, *planned);

  const Result<PlannedGraph> refused = plan_graph(graph_of(outputs_of(257, kLargest)), dense_target());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::over_limit);
  EXPECT_EQ(refused.error().message, "the arena of region 'arena' has " + std::to_string(257 * kLargest) +
                                         " bytes, above the limit of 36028797018963967 (kMaxArenaBytes); plan smaller "
                                         "shapes");
}

// Inputs are in no arena, but in the sum: 2^15 x (2^47 - 64) = 2^62 - 2^21. The result counts twice, as a buffer and as
// the arena: 2 x (2^20 - 64) stays below 2^62, 2 x 2^20 reaches it.
TEST(PlanLimits, TheSumOfAllBuffersIsBounded) {
  const auto text = [](std::int64_t result) {
    std::string names;
    std::string inputs;
    for (int at = 0; at < (1 << 15); ++at) {
      inputs += "  input i" + std::to_string(at) + " : u8[" + std::to_string(kLargest) + "]\n";
      names += (at > 0 ? ", i" : "i") + std::to_string(at);
    }
    return "graph \"g\" {\n" + inputs + "  y = F(" + names + ") : u8[" + std::to_string(result) + "]\n  output y\n}";
  };
  const Graph fits = graph_of(text((1 << 20) - 64));
  const Result<PlannedGraph> planned = plan_graph(fits, dense_target());
  ASSERT_TRUE(planned) << planned.error().describe();
  expect_readable(fits, *planned);
  const Result<PlannedGraph> refused = plan_graph(graph_of(text(1 << 20)), dense_target());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::over_limit);
  EXPECT_THAT(refused.error().message,
              HasSubstr("add up to 4611686018427387904 bytes or more, above the limit of 4611686018427387903 "
                        "(kMaxTotalBytes)"));
}

// Bodies of one node that are not branches of an If share no bytes: 2 x 200 x 2^47 is above 2^55 = 256 x 2^47.
TEST(PlanLimits, BodiesTogetherAreBounded) {
  const std::string body = outputs_of(200, kLargest);
  const std::string inside = body.substr(body.find('{'));
  std::string text = "graph \"g\" {\n  input x : u8[1]\n  y = F(x) {\n";
  text += "    one = graph \"one\" " + inside + ",\n    two = graph \"two\" " + inside + "\n";
  const Result<PlannedGraph> refused = plan_graph(graph_of(text + "  } : u8[1]\n  output y\n}"), dense_target());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::over_limit);
  EXPECT_THAT(refused.error().message, HasSubstr("the bodies of node 0 need "));
  EXPECT_THAT(refused.error().message, HasSubstr("above the limit of 36028797018963967 (kMaxArenaBytes)"));
}

TEST(PlanLimits, ABudgetIsAtMostTheLargestArena) {
  const Graph graph = graph_of(outputs_of(2, 64));
  const Result<PlannedGraph> planned = plan_graph(graph, dense_target(), {.budget = Bytes(kMost)});
  ASSERT_TRUE(planned) << planned.error().describe();
  EXPECT_EQ(planned->capacity, Bytes(kMost));
  expect_readable(graph, *planned);
  const Result<PlannedGraph> refused = plan_graph(graph, dense_target(), {.budget = Bytes(kMost + 1)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(
      refused.error().message,
      "a budget of 36028797018963968 bytes is above the limit of 36028797018963967 (kMaxArenaBytes); omit the budget "
      "for no limit");
}

// Sizes, capacities and budgets at, below and above powers of two up to the limits.
std::int64_t near_limit(Random& random, std::int64_t most) {
  const std::int64_t whole = most >> random.below(4);
  return std::clamp<std::int64_t>(whole + random.between(-70, 70), 1, most);
}

std::string random_target_text(Random& random) {
  std::string text = "name = \"t\"\n";
  const std::int64_t regions = random.between(1, 3);
  for (std::int64_t at = 0; at < regions; ++at) {
    text += "[[region]]\nname = \"r" + std::to_string(at) +
            "\"\nalignment = " + std::to_string(std::int64_t{1} << random.below(31)) + "\n";
    if (at + 1 < regions || random.chance(50)) text += "capacity = " + std::to_string(near_limit(random, kMost)) + "\n";
  }
  return text;
}

// A few nodes with many huge results, which the next node reads. Some of them are outputs.
Graph random_huge_graph(Random& random) {
  std::string text = "graph \"g\" {\n  input x : u8[" + std::to_string(near_limit(random, kLargest)) + "]\n";
  std::string outputs;
  std::string last = "x";
  for (std::int64_t node = 0, nodes = random.between(1, 4); node < nodes; ++node) {
    std::string names;
    std::string types;
    for (std::int64_t at = 0, count = random.chance(50) ? random.between(1, 3) : random.between(60, 600); at < count;
         ++at) {
      const std::string name = "t" + std::to_string(node) + "_" + std::to_string(at);
      names += (at > 0 ? ", " : "") + name;
      types += (at > 0 ? ", u8[" : "u8[") + std::to_string(near_limit(random, limits::kMaxTensorBytes)) + "]";
      if (random.chance(60) || (at == 0 && node + 1 == nodes)) outputs += (outputs.empty() ? "" : ", ") + name;
    }
    text += "  " + names + " = F(" + last + ") : " + types + "\n";
    last = names;
  }
  return graph_of(text + "  output " + outputs + "\n}");
}

TEST(PlanLimits, WhatIsPlannedCanBeReadBack) {
  Random random(41);
  int planned_ones = 0;
  int refused = 0;
  for (int round = 0; round < testing::sampled(150); ++round) {
    const Graph graph = random_huge_graph(random);
    const Result<Target> target = parse_target(random_target_text(random), "t.toml");
    ASSERT_TRUE(target) << target.error().describe();
    PlanOptions options{.allocate_effort = 200'000};
    options.order_effort = 20'000;
    if (random.chance(50)) options.budget = Bytes(near_limit(random, kMost));
    if (random.chance(30)) options.streams = 2;
    const Result<PlannedGraph> planned = plan_graph(graph, *target, options);
    if (planned) {
      ++planned_ones;
      expect_readable(graph, *planned);
    } else {
      ++refused;
      EXPECT_EQ(planned.error().code, ErrorCode::over_limit) << planned.error().describe();
      EXPECT_THAT(planned.error().message, HasSubstr("(kMax"));
    }
  }
  EXPECT_GT(planned_ones, testing::sampled(40));
  EXPECT_GT(refused, testing::sampled(20));
}

}  // namespace
}  // namespace lowtide::testing
