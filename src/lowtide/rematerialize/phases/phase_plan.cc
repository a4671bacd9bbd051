// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/phases/phase_plan.h"

#include <algorithm>
#include <limits>

#include "lowtide/rematerialize/phases/phase_model.h"
#include "lowtide/rematerialize/phases/phase_search.h"

namespace lowtide::rematerialize_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostMilestones = 24;
constexpr std::size_t kMostVariables = 20'000;  // a linear program with more takes seconds per step

// Makes a sequence run by run.
class RunWriter {
 public:
  explicit RunWriter(const RunProblem& problem) : problem_(problem), is_there_(problem.count(), 0) {}

  // Runs a node, and before it all inputs that are not there, and their inputs, and so on.
  void run(Index node) {
    std::vector<std::pair<Index, std::size_t>> open = {{node, 0}};  // node and next input
    while (!open.empty()) {
      auto& [current, next] = open.back();
      const auto inputs = problem_.inputs(current);
      while (next < inputs.size() && is_there_[inputs[next]] != 0) ++next;
      if (next < inputs.size()) {
        open.emplace_back(inputs[next], 0);
        continue;
      }
      runs_.push_back(current);
      is_there_[current] = 1;
      open.pop_back();
    }
  }
  [[nodiscard]] bool is_there(Index node) const { return is_there_[node] != 0; }
  void drop_all_except(const std::vector<char>& kept) {
    for (std::size_t node = 0; node < kept.size(); ++node) {
      if (kept[node] == 0) is_there_[node] = 0;
    }
  }
  [[nodiscard]] Runs take() && { return std::move(runs_); }

 private:
  const RunProblem& problem_;
  std::vector<char> is_there_;
  Runs runs_;
};

std::vector<std::size_t> positions_in(const Runs& order, std::size_t nodes) {
  std::vector<std::size_t> position(nodes);
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = at;
  return position;
}

// The node whose first run is the first at or after a run.
Index first_run_from(const Runs& runs, std::size_t from, std::size_t nodes) {
  std::vector<char> has_run(nodes, 0);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    if (std::exchange(has_run[runs[at]], char{1}) == 0 && at >= from) return runs[at];
  }
  return runs.back();
}

// Nodes of `candidates` each of which is an ancestor of the next.
Runs chain_of(const RunProblem& problem, const Runs& candidates) {
  Runs chain;
  for (Index node : candidates) {
    if (chain.empty()) {
      chain.push_back(node);
      continue;
    }
    const PhaseModel relation(problem, {node}, nullptr);
    if (relation.is_before(0, chain.back())) chain.push_back(node);
  }
  return chain;
}

}  // namespace

Runs runs_of(const RunProblem& problem, const Runs& order, const Runs& milestones,
             const std::vector<std::vector<char>>& keeps) {
  RunWriter writer(problem);
  std::size_t next = 0;
  for (Index node : order) {
    if (next < milestones.size() && milestones[next] == node) {
      // What is kept from here on must exist before the milestone runs.
      for (Index kept : order) {
        if (kept == node) break;
        if (keeps[next][kept] != 0 && !writer.is_there(kept)) writer.run(kept);
      }
      writer.drop_all_except(keeps[next]);
      ++next;
    }
    writer.run(node);
  }
  for (Index node : order) {
    if (problem.is_output[node] != 0 && !writer.is_there(node)) writer.run(node);
  }
  return std::move(writer).take();
}

PhasePlans plan_phases(const RunProblem& problem, const Runs& order, std::int64_t& work) {
  PhasePlans plans;
  LoadScan scan(problem);
  const std::vector<std::size_t> position = positions_in(order, problem.count());
  const auto is_earlier = [&](Index a, Index b) { return position[a] < position[b]; };
  Runs milestones = {order[scan.scan(order).peak_at]};
  while (work > 0 && milestones.size() <= kMostMilestones) {
    const PhaseModel model(problem, milestones, &order);
    if (model.variables().size() > kMostVariables) break;
    std::int64_t share = std::max<std::int64_t>(work / 4, 1);
    work -= share;
    PhaseAnswer answer = PhaseSearch(model, std::numeric_limits<std::int64_t>::max()).search(share);
    work += share;
    if (!answer.cost) break;
    plans.milestones = milestones;
    Runs runs = runs_of(problem, order, milestones, answer.keeps);
    const Loads loads = scan.scan(runs);
    plans.tried.insert(plans.tried.begin(), runs);
    if (loads.peak <= problem.budget) {
      plans.best = std::move(runs);
      break;
    }
    const Index added = first_run_from(runs, loads.peak_at, problem.count());
    if (std::find(milestones.begin(), milestones.end(), added) != milestones.end()) break;
    milestones.insert(std::upper_bound(milestones.begin(), milestones.end(), added, is_earlier), added);
  }
  return plans;
}

std::optional<PhaseBound> bound_phases(const RunProblem& problem, const Runs& milestones, std::int64_t limit,
                                       std::int64_t& work) {
  std::optional<PhaseBound> best;
  const auto consider = [&](const Runs& chain) {
    if (chain.empty() || work <= 0 || (best && best->extra >= limit)) return;
    const PhaseModel model(problem, chain, nullptr);
    if (model.variables().size() > kMostVariables) return;
    std::int64_t share = std::max<std::int64_t>(work / 4, 1);
    work -= share;
    PhaseAnswer answer = PhaseSearch(model, limit).search(share);
    work += share;
    if (answer.bound <= (best ? best->extra : 0)) return;
    best = PhaseBound{answer.bound, std::move(answer.proof)};
  };
  for (Index node : milestones) consider({node});
  for (std::size_t first = 0; first < milestones.size(); ++first) {
    consider(chain_of(problem, {milestones.begin() + static_cast<std::ptrdiff_t>(first), milestones.end()}));
  }
  return best;
}

}  // namespace lowtide::rematerialize_internal
