// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "lowtide/budget/phases/knapsack_bound.h"
#include "lowtide/budget/rematerialize.h"
#include "lowtide/budget/runs/anneal.h"
#include "lowtide/budget/runs/evict.h"
#include "lowtide/budget/runs/first_sequence.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/moves.h"
#include "lowtide/budget/runs/retain.h"
#include "lowtide/budget/runs/small_search.h"
#include "lowtide/budget/runs/timeline.h"
#include "lowtide/verify/check_budget.h"
#include "tests/budget/step_replay.h"

namespace lowtide::budget_internal {
namespace {

std::vector<NodeId> ids_of(const Runs& runs) {
  std::vector<NodeId> ids;
  for (RunProblem::Index run : runs) ids.emplace_back(run);
  return ids;
}

Runs start_of(const BudgetProblem& problem, const RunProblem& plain) {
  Runs order;
  for (NodeId run : runs_by_number(problem)) order.push_back(run.value());
  return first_sequence(plain, order);
}

// Any sequence: the scan and the forward replay agree on whether it is valid, and on its peak.
TEST(LoadScan, AgreesWithAForwardReplayOfSteps) {
  Random random(31);
  int valid = 0;
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const BudgetProblem problem = random_step_problem(random, 6);
    const RunProblem plain(problem);
    Runs runs = start_of(problem, plain);
    for (std::int64_t more = random.between(0, 3); more > 0; --more) {
      const std::size_t at = random.below(runs.size() + 1);
      const RunProblem::Index run = runs[random.below(runs.size())];
      runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(at), run);
    }
    const Loads loads = LoadScan(plain).scan(runs);
    const std::optional<std::int64_t> peak = peak_of_steps(problem, ids_of(runs));
    ASSERT_EQ(loads.is_valid, peak.has_value()) << "trial " << trial;
    if (!peak) {
      ++refused;
      continue;
    }
    ++valid;
    std::int64_t at_end = 0;
    for (RunProblem::Index entry = 0; entry < plain.count(); ++entry) {
      at_end += plain.is_output[entry] != 0 ? plain.size[entry] : 0;
    }
    EXPECT_EQ(std::max(loads.peak, at_end) + plain.state_bytes, *peak) << "trial " << trial;
  }
  EXPECT_GT(valid, 1000);
  EXPECT_GT(refused, 300);
}

TEST(SmallSearch, EqualsAllSequencesOfSteps) {
  Random random(32);
  int reruns = 0;
  int impossible = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const BudgetProblem problem = random_step_problem(random, 4);
    const std::optional<std::int64_t> least = least_cost_of_steps(problem, 7);
    const SmallAnswer answer = search_small(RunProblem(problem), 1'000'000);
    ASSERT_TRUE(answer.is_complete);
    ASSERT_EQ(answer.runs.has_value(), least.has_value()) << "trial " << trial;
    if (!least) {
      ++impossible;
      continue;
    }
    const std::vector<NodeId> runs = ids_of(*answer.runs);
    EXPECT_EQ(cost_of_runs(problem, runs), *least) << "trial " << trial;
    const std::optional<std::int64_t> peak = peak_of_steps(problem, runs);
    ASSERT_TRUE(peak) << "trial " << trial;
    EXPECT_LE(*peak, problem.budget.count());
    reruns += runs.size() > runs_by_number(problem).size() ? 1 : 0;
  }
  EXPECT_GT(reruns, 10);
  EXPECT_GT(impossible, 50);
}

// Random moves: the timeline knows which of them break a rule, and counts as the scan does.
TEST(Moves, KeepTheRulesOfSteps) {
  Random random(33);
  int changed = 0;
  int refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const BudgetProblem problem = random_step_problem(random, 12);
    const RunProblem plain(problem);
    LoadScan scan(plain);
    const Runs start = start_of(problem, plain);
    if (!scan.scan(start).is_valid) continue;
    Timeline timeline(plain);
    timeline.begin(start);
    Moves moves(plain, random.next(), timeline);
    for (int step = 0; step < 150; ++step) {
      const Runs before = timeline.runs();
      bool is_change = moves.change(1e9, random.chance(50));
      if (is_change) timeline.prune();
      std::vector<std::int64_t> loads;
      const Loads counted = scan.scan(timeline.runs(), &loads);
      if (is_change) {
        ASSERT_EQ(timeline.is_allowed(), counted.is_valid) << "trial " << trial;
        refused += counted.is_valid ? 0 : 1;
      }
      is_change = is_change && counted.is_valid;
      if (is_change) {
        EXPECT_EQ(timeline.cost(), counted.cost);
        for (std::size_t at = 0; at < loads.size(); ++at) {
          ASSERT_EQ(timeline.load_at(at), static_cast<double>(loads[at])) << "trial " << trial << " run " << at;
        }
      }
      if (is_change && timeline.length() < 3 * plain.run_count() && random.chance(60)) {
        timeline.commit();
        ++changed;
        continue;
      }
      timeline.undo();
      ASSERT_EQ(timeline.runs(), before);
    }
  }
  EXPECT_GT(changed, 8000);
  EXPECT_GT(refused, 100);
}

TEST(Evict, HonoursTheRulesOfSteps) {
  Random random(34);
  int found = 0;
  int possible = 0;
  int broken = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    BudgetProblem problem = random_step_problem(random, 7);
    const RunProblem plain(problem);
    const SmallAnswer least = search_small(plain, 1'000'000);
    ASSERT_TRUE(least.is_complete);
    const Runs order = start_of(problem, plain);
    if (!plain.groups().empty()) continue;
    std::int64_t work = 100'000'000;
    const FloorSearch floor(plain, order, work);
    if (least.runs) {
      EXPECT_LE(floor.bound(), plain.budget) << "trial " << trial;
      ++possible;
    }
    LoadScan scan(plain);
    bool is_found = false;
    for (bool keeps_once : {true, false}) {
      const auto runs = evict_along(plain, order, {.keeps_once = keeps_once}, floor, work);
      if (!runs) continue;
      const Loads loads = scan.scan(*runs);
      broken += loads.is_valid ? 0 : 1;
      if (!loads.is_valid) continue;
      EXPECT_LE(loads.peak, plain.budget) << "trial " << trial;
      ASSERT_TRUE(least.runs) << "trial " << trial;
      EXPECT_TRUE(scan.scan(retain_outputs(plain, *runs, work)).is_valid) << "trial " << trial;
      is_found = true;
    }
    found += is_found ? 1 : 0;
  }
  EXPECT_GT(found, possible * 8 / 10);
  EXPECT_LT(broken, possible / 50);
}

TEST(Rematerialize, EqualsTheSmallSearchOnSteps) {
  Random random(35);
  int found = 0;
  int proven = 0;
  int undecided = 0;
  int bounds = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const BudgetProblem problem = random_step_problem(random, 8);
    const RunProblem plain(problem);
    const SmallAnswer least = search_small(plain, 10'000'000);
    ASSERT_TRUE(least.is_complete);
    const BudgetAnswer answer = rematerialize(problem, runs_by_number(problem), {.effort = 20'000'000});
    const std::optional<std::int64_t> peak = peak_of_steps(problem, answer.runs);
    if (peak) {
      EXPECT_EQ(Bytes(*peak), answer.peak) << "trial " << trial;
      EXPECT_EQ(cost_of_runs(problem, answer.runs), answer.cost) << "trial " << trial;
    }
    if (peak) {
      for (const Violation& violation : check_budget_runs(problem, answer)) ADD_FAILURE() << violation.message;
    }
    if (answer.obstruction) {
      EXPECT_TRUE(check_infeasible(problem, *answer.obstruction)) << "trial " << trial;
    }
    if (!least.runs) {
      ASSERT_NE(answer.outcome, BudgetOutcome::found) << "trial " << trial;
      ++(answer.outcome == BudgetOutcome::infeasible ? proven : undecided);
      continue;
    }
    ASSERT_EQ(answer.outcome, BudgetOutcome::found) << "trial " << trial;
    ASSERT_TRUE(peak);
    EXPECT_EQ(answer.cost, cost_of_runs(problem, ids_of(*least.runs))) << "trial " << trial;
    EXPECT_TRUE(answer.is_optimal()) << "trial " << trial;
    for (RunProblem::Index node = 0; node < plain.count(); ++node) {
      std::int64_t work = 1'000'000;
      if (!plain.is_run(node)) continue;
      for (const auto& bound : {knapsack_bound(plain, node, work), bound_phases(plain, {node}, kMaxTotalCost, work)}) {
        if (!bound) continue;
        EXPECT_LE(answer.base_cost + bound->extra, answer.cost) << "trial " << trial;
        const CostBoundCheck check = check_cost_bound(problem, bound->proof);
        EXPECT_FALSE(check.problem) << "trial " << trial << ": " << *check.problem;
        EXPECT_GE(check.proven, answer.base_cost + bound->extra) << "trial " << trial;
        ++bounds;
      }
    }
    ++found;
  }
  EXPECT_GT(found, 300);
  EXPECT_GT(proven, 300);
  EXPECT_LT(undecided, found);
  EXPECT_GT(bounds, 20);
}

// A chain of training with its weights, which are updated as soon as their gradients exist:
//
//   w0 -> f0 -> f1 -> f2            f of size 2 and cost 3, and b of size 1 and cost 4, as in training_chain()
//          |     |     |            b(k) reads f(k) and w(k), and its part g(k), of size 1, is what u(k) reads
//         b0 <- b1 <- b2            u(k) overwrites w(k), of size 1
BudgetProblem updated_chain(std::uint32_t depth, std::int64_t budget) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(budget)};
  const auto add = [&](BudgetNode node) {
    std::sort(node.reads.begin(), node.reads.end());
    problem.nodes.push_back(std::move(node));
    return NodeId(static_cast<std::uint32_t>(problem.nodes.size() - 1));
  };
  std::vector<NodeId> weights;
  std::vector<NodeId> forward;
  for (std::uint32_t at = 0; at < depth; ++at) weights.push_back(add({.size = Bytes(1), .is_state = true}));
  for (std::uint32_t at = 0; at < depth; ++at) {
    BudgetNode node{.reads = {weights[at]}, .size = Bytes(2), .cost = 3};
    if (at > 0) node.reads.push_back(forward[at - 1]);
    forward.push_back(add(node));
  }
  std::optional<NodeId> later;
  for (std::uint32_t at = depth; at-- > 0;) {
    BudgetNode node{.reads = {weights[at], forward[at]}, .size = Bytes(1), .cost = 4};
    if (later) node.reads.push_back(*later);
    later = add(node);
    const NodeId gradient = add({.size = Bytes(1), .part_of = later});
    add({.reads = {weights[at], gradient}, .cost = 1, .overwrites = weights[at]});
  }
  return problem;
}

TEST(Rematerialize, RerunsOnlyBeforeTheUpdate) {
  // 40 weights are always live. Without reruns, the peak is at b39: 40 * 2, and 2 of its own. With 60 bytes instead of
  // 82, 11 of 40 forward nodes run again, before the updates of their weights.
  const BudgetProblem problem = updated_chain(40, 40 + 60);
  const BudgetAnswer answer = rematerialize(problem, runs_by_number(problem), {.effort = 100'000'000});
  ASSERT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(answer.cost, 40 * 3 + 40 * 4 + 40 + 11 * 3);
  EXPECT_TRUE(answer.is_optimal());
  ASSERT_TRUE(answer.proof);
  EXPECT_GE(check_cost_bound(problem, *answer.proof).proven, answer.cost);
  for (const Violation& violation : check_budget_runs(problem, answer)) ADD_FAILURE() << violation.message;
}

// The updates come first in the order wherever they can: the first sequence moves what must come before them.
TEST(FirstSequence, MovesUpdatesBehindTheirReaders) {
  const BudgetProblem problem = updated_chain(3, 100);
  const RunProblem plain(problem);
  Runs order;
  for (NodeId run : runs_by_number(problem)) order.insert(order.begin(), run.value());
  const Runs first = first_sequence(plain, order);
  EXPECT_TRUE(LoadScan(plain).scan(first).is_valid);
  EXPECT_EQ(first.size(), 9U);
}

// A collective that runs twice, in the order that all ranks agreed on: a c a.
TEST(FirstSequence, RepeatsWhatAGroupRepeats) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(10)};
  problem.nodes.push_back({.size = Bytes(1), .cost = 1});
  problem.nodes.push_back({.reads = {NodeId(0)}, .size = Bytes(1), .cost = 1});
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(1), .cost = 1});
  problem.nodes.push_back({.reads = {NodeId(0), NodeId(2)}, .size = Bytes(1), .cost = 1});
  problem.groups = {{NodeId(0), NodeId(2), NodeId(0)}};
  ASSERT_TRUE(check_budget_problem(problem));
  EXPECT_EQ(first_sequence(RunProblem(problem), {0, 1, 2, 3}), (Runs{0, 1, 2, 3, 0}));
  const BudgetAnswer answer = rematerialize(problem, runs_by_number(problem), {});
  EXPECT_EQ(answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(answer.cost, 5);
  EXPECT_TRUE(check_budget_runs(problem, answer).empty());
}

// f makes what g writes over, and the agreed sequence has g twice: g h g. Before g runs again, f must run again, too,
// and that must come before u, which writes over the weight that f reads. u reads h, which comes after the first g.
TEST(FirstSequence, MakesAgainWhatAGroupOverwrites) {
  BudgetProblem problem{.nodes = {}, .budget = Bytes(10)};
  const NodeId weight(0);
  const NodeId f(1);
  const NodeId g(2);
  const NodeId h(3);
  const NodeId u(4);
  problem.nodes.push_back({.size = Bytes(1), .is_state = true});
  problem.nodes.push_back({.reads = {weight}, .size = Bytes(1), .cost = 1});
  problem.nodes.push_back({.reads = {f}, .size = Bytes(1), .cost = 1, .extra = Bytes(-1), .overwrites = f});
  problem.nodes.push_back({.reads = {g}, .size = Bytes(1), .cost = 1});
  problem.nodes.push_back({.reads = {weight, h}, .cost = 1, .overwrites = weight});
  problem.groups = {{g, h, g}};
  ASSERT_TRUE(check_budget_problem(problem));
  const Runs first = first_sequence(RunProblem(problem), {1, 2, 3, 4});
  EXPECT_EQ(first, (Runs{1, 2, 3, 1, 4, 2}));  // not 1 2 3 4 1 2
  EXPECT_TRUE(LoadScan(RunProblem(problem)).scan(first).is_valid);
}

// A first sequence is known for almost all random problems that have one and whose group repeats an entry.
TEST(FirstSequence, IsKnownForMostGroupsThatRepeat) {
  Random random(37);
  int possible = 0;
  int known = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    BudgetProblem problem = random_step_problem(random, 7);
    problem.groups.clear();
    const std::vector<NodeId> runs = runs_by_number(problem);
    problem.groups = {{}};
    const auto members = static_cast<std::size_t>(random.between(2, 3));
    for (std::int64_t left = random.between(3, 5); left > 0; --left) {
      problem.groups[0].push_back(runs[random.below(std::min(runs.size(), members))]);
    }
    problem.budget = Bytes(10'000);
    if (!check_budget_problem(problem)) continue;
    const RunProblem plain(problem);
    const SmallAnswer least = search_small(plain, 1'000'000);
    if (!least.is_complete || !least.runs) continue;
    ++possible;
    known += LoadScan(plain).scan(start_of(problem, plain)).is_valid ? 1 : 0;
  }
  EXPECT_GT(possible, 300);
  EXPECT_GE(known * 100, possible * 99) << known << " of " << possible;
}

// The states and u leave too little for any sequence, and more effort never gives a higher peak.
TEST(Rematerialize, FindsLowerPeaksWithMoreEffort) {
  BudgetProblem problem = updated_chain(30, 0);
  problem.budget = Bytes(30 + 3);  // f(k - 1), f(k) and b(k + 1) need 5
  Bytes last(1 << 20);
  for (std::int64_t effort : {100, 100'000, 10'000'000, 1'000'000'000}) {
    const BudgetAnswer answer = rematerialize(problem, runs_by_number(problem), {.effort = effort});
    EXPECT_NE(answer.outcome, BudgetOutcome::found);
    EXPECT_LE(answer.peak, last) << effort;
    last = answer.peak;
  }
  EXPECT_LT(last, Bytes(30 + 12));
}

// Without the exact search: annealing keeps all rules, and comes near the least cost.
TEST(Annealing, KeepsTheRulesOfSteps) {
  Random random(36);
  int found = 0;
  int optimal = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const BudgetProblem problem = random_step_problem(random, 8);
    const RunProblem plain(problem);
    const SmallAnswer least = search_small(plain, 10'000'000);
    const Runs start = start_of(problem, plain);
    if (!least.runs || !LoadScan(plain).scan(start).is_valid) continue;
    Annealing annealing(plain, 1);
    std::int64_t work = 3'000'000;
    annealing.cool(start, {}, work);
    const Annealed& answer = annealing.found();
    if (!answer.best) continue;
    EXPECT_TRUE(LoadScan(plain).scan(*answer.best).is_valid);
    ++found;
    optimal += answer.best_cost == cost_of_runs(problem, ids_of(*least.runs)) ? 1 : 0;
  }
  EXPECT_GT(found, 30);
  EXPECT_GE(optimal, found * 9 / 10);
}

// d makes 8 and 9 bytes while the 4 of a are live to the end: 16 + 4 + 17. So nothing keeps 36, and no proof is known.
// Without a limit to its effort, a search for what does not exist would go on for centuries.
TEST(Rematerialize, EndsIfASmallProblemHasNoSequence) {
  const NodeId state(4);
  BudgetProblem problem{.nodes = {}, .budget = Bytes(36)};
  problem.nodes.push_back({.reads = {state}, .size = Bytes(4), .cost = 2, .is_output = true});  // a
  problem.nodes.push_back({.reads = {}, .cost = 1, .overwrites = state});                       // b
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(8), .is_output = true});         // d, and its part
  problem.nodes.push_back({.reads = {NodeId(1)}, .size = Bytes(1), .cost = 3});
  problem.nodes.push_back({.reads = {}, .size = Bytes(16), .is_state = true});
  problem.nodes.push_back({.reads = {}, .size = Bytes(9), .part_of = NodeId(2)});
  const std::vector<NodeId> order = {NodeId(0), NodeId(1), NodeId(2), NodeId(3)};
  const BudgetAnswer answer = rematerialize(problem, order, {.effort = std::int64_t{1} << 60});
  EXPECT_NE(answer.outcome, BudgetOutcome::found);
  EXPECT_EQ(answer.peak, Bytes(37));
  problem.budget = Bytes(37);
  EXPECT_EQ(rematerialize(problem, order, {.effort = std::int64_t{1} << 60}).outcome, BudgetOutcome::found);
}

}  // namespace
}  // namespace lowtide::budget_internal
