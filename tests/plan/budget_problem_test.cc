// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/budget_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "lowtide/base/limits.h"

namespace lowtide {
namespace {

constexpr NodeId kWeight{0};
constexpr NodeId kShaped{1};
constexpr NodeId kForward{2};
constexpr NodeId kMean{3};
constexpr NodeId kGradient{4};
constexpr NodeId kUpdate{5};
constexpr NodeId kBatch{6};

// A step of training with one weight. The forward run reads the weight through a view, and has a part.
//
//   state 0 'weight' <- view 1 'shaped'
//   6 'batch' (fetched), 1 -> 2 'forward' with part 3 'mean'        1, 3 -> 4 'gradient'
//   0, 4 -> 5 'update', which overwrites 0
BudgetProblem step() {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(100)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(8), .is_state = true});
  problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = kWeight});
  problem.nodes.push_back({.reads = {kShaped, kBatch}, .size = Bytes(6), .cost = 3, .seed = Bytes(2)});
  problem.nodes.push_back({.reads = {}, .size = Bytes(1), .part_of = kForward});
  problem.nodes.push_back({.reads = {kShaped, kMean}, .size = Bytes(8), .cost = 4});
  problem.nodes.push_back({.reads = {kWeight, kGradient}, .size = Bytes(0), .cost = 1, .overwrites = kWeight});
  problem.nodes.push_back({.reads = {}, .size = Bytes(5), .cost = 2, .fetched_over = 0});
  problem.before = {{.reader = kBatch, .writer = kUpdate}};
  problem.groups = {{kForward, kForward, kGradient}};
  problem.links = {{.name = "disk", .bytes_per_second = 1000, .latency_nanoseconds = 5}};
  return problem;
}

const IdVector<NodeId, std::string> kNames = {"weight", "shaped", "forward", "mean", "gradient", "update", "batch"};

// The message about a step with one change; "accepted" if there is none.
std::string refusal(const std::function<void(BudgetProblem&)>& change) {
  BudgetProblem problem = step();
  change(problem);
  const Result<void> checked = check_budget_problem(problem, kNames);
  return checked.ok() ? "accepted" : checked.error().message;
}

using Problem = BudgetProblem;
using testing::HasSubstr;

TEST(BudgetProblem, AcceptsAStepWithEverything) {
  EXPECT_EQ(refusal([](Problem&) {}), "accepted");
  EXPECT_TRUE(check_budget_problem({.nodes = {}, .budget = Bytes(0)}).ok());
}

TEST(BudgetProblem, NamesTheEntryOrItsNumber) {
  BudgetProblem problem = step();
  problem.nodes[kForward].cost = -1;
  EXPECT_THAT(check_budget_problem(problem, kNames).error().message, HasSubstr("node 'forward' has a cost"));
  EXPECT_THAT(check_budget_problem(problem).error().message, HasSubstr("node 2 has a cost"));
}

TEST(BudgetProblem, RefusesIdsThatDoNotExist) {
  const NodeId none(9);
  EXPECT_THAT(refusal([&](Problem& it) { it.nodes[kShaped].view_of = none; }), HasSubstr("'shaped' names a node"));
  EXPECT_THAT(refusal([&](Problem& it) { it.nodes[kMean].part_of = none; }), HasSubstr("'mean' names a node"));
  EXPECT_THAT(refusal([&](Problem& it) { it.nodes[kUpdate].overwrites = none; }), HasSubstr("'update' names a node"));
  EXPECT_THAT(refusal([&](Problem& it) { it.nodes[kForward].reads.push_back(none); }), HasSubstr("reads a node that"));
  EXPECT_THAT(refusal([&](Problem& it) { it.before[0].writer = none; }), HasSubstr("'before' has a node that does"));
  EXPECT_THAT(refusal([&](Problem& it) { it.groups[0][0] = none; }), HasSubstr("a group has a node that does not"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].fetched_over = 1; }), HasSubstr("a link that does not exist"));
}

TEST(BudgetProblem, RefusesReadsThatAreNotAListOfOthers) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kForward].reads = {kShaped, kForward}; }), HasSubstr("reads itself"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kForward].reads = {kBatch, kShaped}; }), HasSubstr("do not ascend"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kForward].reads = {kShaped, kShaped}; }), HasSubstr("do not ascend"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kShaped].view_of = kShaped; }), HasSubstr("names itself"));
}

TEST(BudgetProblem, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal([](Problem& it) { it.budget = Bytes(-1); }), HasSubstr("budget is negative"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].size = Bytes(-1); }),
              HasSubstr("'batch' has a negative size"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kForward].seed = Bytes(-1); }), HasSubstr("a negative size"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].extra = Bytes(-6); }), HasSubstr("a negative size"));
  EXPECT_EQ(refusal([](Problem& it) { it.nodes[kBatch].extra = Bytes(-5); }), "accepted");
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].cost = kMaxTotalCost + 1; }), HasSubstr("kMaxTotalCost"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].cost = kMaxTotalCost; }), HasSubstr("all costs together"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].extra = Bytes(limits::kMaxTotalBytes - 6); }),
              HasSubstr("all sizes together"));
  EXPECT_THAT(refusal([](Problem& it) { it.links[0].bytes_per_second = 0; }), HasSubstr("link 'disk' needs a rate"));
  EXPECT_THAT(refusal([](Problem& it) { it.links[0].latency_nanoseconds = -1; }),
              HasSubstr("link 'disk' needs a rate"));
}

TEST(BudgetProblem, AnEntryIsOfOneKind) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].is_state = true; }), HasSubstr("more than one of a part"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].view_of = kWeight; }), HasSubstr("more than one of a part"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].part_of = kWeight; }),
              HasSubstr("is a part of node 'weight', which never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kShaped].size = Bytes(3); }),
              HasSubstr("'shaped' is a view, which has no bytes of its own, and its size is 3"));
}

TEST(BudgetProblem, PartsViewsAndStatesNeverRun) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].reads = {kWeight}; }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].cost = 1; }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].extra = Bytes(1); }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].runs_once = true; }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].seed = Bytes(1); }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kMean].fetched_over = 0; }), HasSubstr("'mean' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kShaped].overwrites = kWeight; }), HasSubstr("'shaped' never runs"));
  EXPECT_THAT(refusal([](Problem& it) { it.before[0].reader = kMean; }), HasSubstr("'mean' is in 'before' and never"));
  EXPECT_THAT(refusal([](Problem& it) { it.groups[0][0] = kMean; }), HasSubstr("'mean' is in a group and never runs"));
}

TEST(BudgetProblem, AFetchedCopyReadsNothing) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kBatch].reads = {kWeight}; }),
              HasSubstr("'batch' is fetched from outside, and reads node 'weight'"));
}

TEST(BudgetProblem, ASeedIsForLaterRuns) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kForward].runs_once = true; }),
              HasSubstr("has a seed for later runs, and runs once"));
}

TEST(BudgetProblem, EdgesOfBeforeAreAListOfOthers) {
  EXPECT_THAT(refusal([](Problem& it) { it.before[0].reader = kUpdate; }), HasSubstr("must come before itself"));
  EXPECT_THAT(refusal([](Problem& it) { it.before.push_back(it.before[0]); }), HasSubstr("'before' do not ascend"));
}

TEST(BudgetProblem, AnEntryIsInOneGroupAtMost) {
  EXPECT_THAT(refusal([](Problem& it) { it.groups.push_back({kForward}); }), HasSubstr("'forward' is in two groups"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.groups = {{kUpdate, kUpdate}};
              }),
              HasSubstr("'update' runs once, and a group has it twice"));
}

TEST(BudgetProblem, GroupsHaveReadersBeforeWriters) {
  EXPECT_THAT(refusal([](Problem& it) {
                it.groups = {{kGradient, kUpdate, kGradient}};
              }),
              HasSubstr("'gradient' must come before node 'update', and their group has it after that"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.groups = {{kBatch, kUpdate, kBatch}};
              }),
              HasSubstr("'batch' must come before node 'update'"));
  EXPECT_EQ(refusal([](Problem& it) { it.groups = {{kBatch, kGradient, kBatch, kUpdate}}; }), "accepted");
}

TEST(BudgetProblem, RefusesCyclesOfEveryKind) {
  EXPECT_THAT(refusal([](Problem& it) {
                it.nodes[kForward].reads = {kShaped, kGradient};
              }),
              HasSubstr("must come before itself"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.nodes[kForward].reads = {kShaped, kMean};
              }),  // its own part
              HasSubstr("must come before itself"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.nodes[kBatch] = {.reads = {kWeight, kUpdate}, .size = Bytes(5)};
              }),
              HasSubstr("must come before itself"));  // it reads the old and the new bytes
  EXPECT_THAT(refusal([](Problem& it) { it.before[0] = {.reader = kGradient, .writer = kForward}; }),
              HasSubstr("must come before itself"));
  EXPECT_THAT(refusal([](Problem& it) { it.groups = {{kGradient, kForward}}; }), HasSubstr("must come before itself"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = kShaped});
                it.nodes[kShaped].view_of = NodeId(7);
              }),
              HasSubstr("must come before itself, because of reads, outputs, views, 'before' and groups"));
}

TEST(BudgetProblem, BytesAreOverwrittenOnceAndByAReader) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kUpdate].reads = {kGradient}; }),
              HasSubstr("'update' overwrites node 'weight' and does not read it"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kUpdate].size = Bytes(8); }),
              HasSubstr("'update' overwrites a state, so it has no bytes of its own"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kUpdate].seed = Bytes(1); }),
              HasSubstr("never runs again and needs no seed"));
  EXPECT_THAT(refusal([](Problem& it) {
                it.nodes.push_back({.reads = {kShaped}, .size = Bytes(0), .overwrites = kShaped});  // the same bytes
              }),
              HasSubstr("overwrites the bytes that node 'update' overwrites, too"));
}

TEST(BudgetProblem, OutputsAreNotOverwritten) {
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kWeight].is_output = true; }),
              HasSubstr("'weight' is an output, and node 'update' overwrites its bytes"));
  EXPECT_THAT(refusal([](Problem& it) { it.nodes[kShaped].is_output = true; }),
              HasSubstr("'shaped' is an output, and node 'update' overwrites its bytes"));
  EXPECT_EQ(refusal([](Problem& it) { it.nodes[kUpdate].is_output = true; }), "accepted");
}

TEST(BudgetProblem, FollowsViewsAndUpdatesToTheState) {
  BudgetProblem problem = step();
  const NodeId seen = problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = kUpdate});
  const NodeId again = problem.nodes.push_back({.reads = {seen}, .size = Bytes(0), .overwrites = seen});
  ASSERT_TRUE(check_budget_problem(problem).ok());
  EXPECT_EQ(bytes_of_entry(problem, kShaped), kWeight);
  EXPECT_EQ(bytes_of_entry(problem, seen), kUpdate);
  const EntryBytes facts(problem);
  EXPECT_EQ(facts.bytes[seen], kUpdate);
  EXPECT_EQ(facts.state[again], kWeight);
  EXPECT_EQ(facts.state[kShaped], kWeight);
  EXPECT_EQ(facts.state[kMean], std::nullopt);
  EXPECT_EQ(facts.writer[kUpdate], again);
  EXPECT_TRUE(facts.happens_once.test(again));
  EXPECT_FALSE(facts.happens_once.test(kForward));
}

// A fused update writes over the weight and its moment: 'moved' is the part in the bytes of the moment.
TEST(BudgetProblem, ARunOverwritesSeveralThings) {
  BudgetProblem problem = step();
  const NodeId moment = problem.nodes.push_back({.reads = {}, .size = Bytes(8), .is_state = true});
  problem.nodes[kUpdate].reads = {kWeight, kGradient, moment};
  const NodeId moved =
      problem.nodes.push_back({.reads = {}, .size = Bytes(0), .part_of = kUpdate, .overwrites = moment});
  ASSERT_TRUE(check_budget_problem(problem).ok());
  const EntryBytes facts(problem);
  EXPECT_EQ(facts.state[moved], moment);
  EXPECT_EQ(facts.writer[moment], kUpdate);
  EXPECT_EQ(facts.writer[kWeight], kUpdate);
  EXPECT_TRUE(facts.happens_once.test(kUpdate));

  const auto refused = [&](const std::function<void(BudgetProblem&)>& change) {
    BudgetProblem changed = problem;
    change(changed);
    const Result<void> checked = check_budget_problem(changed);
    return checked.ok() ? "accepted" : checked.error().message;
  };
  EXPECT_THAT(refused([&](Problem& it) { it.nodes[moved].overwrites = kWeight; }),
              HasSubstr("overwrites the bytes that node 5 overwrites, too"));
  EXPECT_THAT(refused([&](Problem& it) { it.nodes[moved].overwrites = kForward; }), HasSubstr("does not read it"));
  EXPECT_THAT(refused([&](Problem& it) { it.nodes[moved].size = Bytes(8); }), HasSubstr("has no bytes of its own"));
  EXPECT_THAT(refused([&](Problem& it) { it.nodes[kUpdate].seed = Bytes(1); }), HasSubstr("needs no seed"));
  // A part over a gradient: at most the bytes of both outputs are written over inputs.
  const auto over_gradient = [&](std::int64_t extra) {
    return refused([&](Problem& it) {
      it.nodes[moved] = {.reads = {}, .size = Bytes(8), .part_of = kUpdate, .overwrites = kGradient};
      it.nodes[kUpdate].extra = Bytes(extra);
    });
  };
  EXPECT_EQ(over_gradient(-8), "accepted");
  EXPECT_THAT(over_gradient(-9), HasSubstr("node 5 has a negative size"));
}

// Chains of a million links take linear time: with a walk from each link, this test takes hours.
TEST(BudgetProblem, FollowsLongChains) {
  constexpr std::uint32_t kLength = 1'000'000;
  BudgetProblem problem{.nodes = {}, .budget = Bytes(0)};
  problem.nodes.push_back({.reads = {}, .size = Bytes(8), .is_state = true});
  for (std::uint32_t at = 0; at < kLength; ++at) {
    problem.nodes.push_back({.reads = {NodeId(at)}, .size = Bytes(0), .overwrites = NodeId(at)});
  }
  for (std::uint32_t at = kLength; at < 2 * kLength; ++at) {
    problem.nodes.push_back({.reads = {}, .size = Bytes(0), .view_of = NodeId(at)});
  }
  EXPECT_TRUE(check_budget_problem(problem).ok());
  const EntryBytes facts(problem);
  EXPECT_EQ(facts.bytes[NodeId(2 * kLength)], NodeId(kLength));
  EXPECT_EQ(facts.state[NodeId(2 * kLength)], NodeId(0));
  EXPECT_TRUE(facts.happens_once.test(NodeId(kLength)));
}

TEST(BudgetProblem, ReadersOfOldBytesComeBeforeTheUpdate) {
  BudgetProblem problem = step();
  EXPECT_EQ(implied_before(problem), (std::vector<BeforeEdge>{{.reader = kForward, .writer = kUpdate},
                                                              {.reader = kGradient, .writer = kUpdate}}));
  // A run that overwrites an output that is not a state, and another reader of that output.
  const NodeId over =
      problem.nodes.push_back({.reads = {kMean}, .size = Bytes(1), .extra = Bytes(-1), .overwrites = kMean});
  EXPECT_TRUE(check_budget_problem(problem).ok());
  EXPECT_EQ(implied_before(problem).at(1), (BeforeEdge{.reader = kGradient, .writer = kUpdate}));
  EXPECT_EQ(implied_before(problem).at(2), (BeforeEdge{.reader = kGradient, .writer = over}));
  EXPECT_FALSE(EntryBytes(problem).happens_once.test(over));
}

}  // namespace
}  // namespace lowtide
