// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/first_sequence.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostRemade = 4;  // runs per run that happens in any case

// The runs that happen in any case, and which of them come before others.
class ForcedRuns {
 public:
  ForcedRuns(const RunProblem& problem, const Runs& order) : problem_(problem), runs_of_(problem.count()) {
    for (Index node : order) add(node, runs_.size());
    const std::size_t last = order.size();
    std::vector<char> is_met(problem.count(), 0);  // a node is in one group
    for (const Runs& group : problem.groups()) add_group(group, last, is_met);
    // A remade run may write over something itself, so this goes on for what it adds. A node that needs more runs than
    // there are in total needs itself.
    const std::size_t most = (runs_.size() + 1) * kMostRemade;
    for (std::size_t run = last; run < runs_.size() && runs_.size() <= most; ++run) remake_overwritten(run, last);
    later_.resize(runs_.size());
    missing_.assign(runs_.size(), 0);
    for (const auto& [earlier, later] : pairs_) order_by(earlier, later);
    for (Index node : order) add_edges(node);
  }

  // Empty if there is no sequence: a further run of a group may have to be before and after others.
  Runs in_order() {
    using Ready = std::pair<std::size_t, std::size_t>;  // place in the order, and run
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (missing_[run] == 0) ready.emplace(place_[run], run);
    }
    Runs result;
    std::size_t done = 0;
    while (!ready.empty()) {
      const std::size_t run = ready.top().second;
      ready.pop();
      ++done;
      result.push_back(runs_[run]);
      for (std::size_t later : later_[run]) {
        if (--missing_[later] == 0) ready.emplace(place_[later], later);
      }
    }
    return done == runs_.size() ? result : Runs();
  }

 private:
  void add(Index node, std::size_t place) {
    runs_of_[node].push_back(runs_.size());
    runs_.push_back(node);
    place_.push_back(place);
  }

  void add_group(const Runs& group, std::size_t last, std::vector<char>& is_met) {
    std::size_t previous = 0;
    for (std::size_t at = 0; at < group.size(); ++at) {
      std::size_t run = runs_of_[group[at]].front();
      if (std::exchange(is_met[group[at]], char{1}) != 0) {
        run = runs_.size();
        add(group[at], last);
      }
      if (at > 0) pairs_.emplace_back(previous, run);
      previous = run;
    }
  }

  // What a further run writes over is made again between it and the run before it of the same node.
  void remake_overwritten(std::size_t run, std::size_t last) {
    const Index node = runs_[run];
    const std::vector<std::size_t>& all = runs_of_[node];
    const auto at = std::find(all.begin(), all.end(), run);
    const std::size_t previous = *(at - 1);
    std::vector<Index> makers;
    for (Index entry : problem_.overwritten_by(node)) makers.push_back(problem_.owner(entry));
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    for (Index made : makers) {
      const std::size_t remade = runs_.size();
      add(made, last);
      pairs_.emplace_back(previous, remade);
      pairs_.emplace_back(remade, run);
    }
  }

  void order_by(std::size_t earlier, std::size_t later) {
    later_[earlier].push_back(later);
    ++missing_[later];
  }

  void add_edges(Index node) {
    for (std::size_t run : runs_of_[node]) {
      for (Index input : problem_.inputs(node)) order_by(runs_of_[problem_.owner(input)].front(), run);
      for (Index writer : problem_.writers_after(node)) order_by(run, runs_of_[writer].front());
    }
  }

  const RunProblem& problem_;
  Runs runs_;                       // first those of the order, then further ones of groups and remade ones
  std::vector<std::size_t> place_;  // by run: where it would be
  std::vector<std::vector<std::size_t>> runs_of_;           // by node
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;  // neighbors in groups
  std::vector<std::vector<std::size_t>> later_;             // by run: runs that must come after it
  std::vector<std::size_t> missing_;
};

}  // namespace

Runs first_sequence(const RunProblem& problem, const Runs& order) {
  Runs sequence = ForcedRuns(problem, order).in_order();
  return sequence.empty() ? order : sequence;
}

Runs first_runs(const RunProblem& problem, const Runs& runs) {
  std::vector<char> has_run(problem.count(), 0);
  Runs first;
  for (RunProblem::Index node : runs) {
    if (std::exchange(has_run[node], char{1}) == 0) first.push_back(node);
  }
  return first;
}

}  // namespace lowtide::budget_internal
