// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/phase_plan.h"

#include <algorithm>
#include <limits>

#include "lowtide/budget/phases/phase_model.h"
#include "lowtide/budget/phases/phase_search.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/rerun_limits.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostMilestones = 24;
constexpr std::size_t kModelWork = 20;          // per variable and row of a model
constexpr std::size_t kMostVariables = 20'000;  // a linear program with more takes seconds per step

// Makes a sequence run by run. First runs follow an order.
class RunWriter {
 public:
  RunWriter(const RunProblem& problem, const Runs& order)
      : problem_(problem), position_(positions_in(problem, order)), is_there_(problem.count(), 0) {
    if (problem.has_rules()) limits_.emplace(problem, position_, true);
  }

  // Runs a node, and before it all inputs that are not there, and their inputs, and so on.
  void run(Index node) {
    std::vector<std::pair<Index, std::size_t>> open = {{node, 0}};  // node and next input
    while (!open.empty()) {
      auto& [current, next] = open.back();
      const auto inputs = problem_.inputs(current);
      while (next < inputs.size() && is_there_[inputs[next]] != 0) ++next;
      if (next < inputs.size()) {
        open.emplace_back(problem_.owner(inputs[next]), 0);
        continue;
      }
      runs_.push_back(current);
      problem_.for_each_entry(current, [&](Index entry) { is_there_[entry] = 1; });
      for (Index overwritten : problem_.overwritten_by(current)) is_there_[overwritten] = 0;
      open.pop_back();
    }
  }
  [[nodiscard]] bool is_there(Index entry) const { return is_there_[entry] != 0; }
  // Drops what is not kept at a milestone. What could not be made again for its next use stays.
  void drop_all_except(const std::vector<char>& kept, std::uint32_t milestone) {
    std::vector<char> stays = kept;
    for (Index entry = 0; entry < kept.size() && limits_; ++entry) {
      if (is_there_[entry] != 0 && kept[entry] == 0) hold_for(entry, milestone, stays);
    }
    for (Index entry = 0; entry < kept.size(); ++entry) {
      if (is_there_[entry] != 0 && stays[entry] == 0 && problem_.runs_once[problem_.owner(entry)] == 0) {
        is_there_[entry] = 0;
      }
    }
  }
  [[nodiscard]] Runs take() && { return std::move(runs_); }

 private:
  void hold_for(Index entry, std::uint32_t milestone, std::vector<char>& stays) {
    std::uint32_t next_use = problem_.is_output[entry] != 0 ? static_cast<std::uint32_t>(problem_.count()) : kNoUse;
    for (Index reader : problem_.readers(entry)) {
      if (position_[reader] > milestone) next_use = std::min(next_use, position_[reader]);
    }
    if (next_use == kNoUse) return;
    std::vector<Index> held;
    std::int64_t work = 0;
    if (!limits_->find_held(problem_.owner(entry), next_use, is_there_, held, work)) held = {entry};
    for (Index other : held) stays[other] = 1;
  }

  static constexpr std::uint32_t kNoUse = 0xFFFFFFFF;

  const RunProblem& problem_;
  std::vector<std::uint32_t> position_;  // by run: in the order
  std::vector<char> is_there_;           // by entry
  std::optional<RerunLimits> limits_;    // absent without rules
  Runs runs_;
};

// The node whose first run is the first at or after a run.
Index first_run_from(const Runs& runs, std::size_t from, std::size_t nodes) {
  std::vector<char> has_run(nodes, 0);
  for (std::size_t at = 0; at < runs.size(); ++at) {
    if (std::exchange(has_run[runs[at]], char{1}) == 0 && at >= from) return runs[at];
  }
  return runs.back();
}

// The search for the milestones with the highest bound.
class BoundSearch {
 public:
  BoundSearch(const RunProblem& problem, std::int64_t limit, std::int64_t& work, const std::atomic<bool>* stop)
      : problem_(problem), limit_(limit), work_(work), stop_(stop) {}

  // With the ancestors of milestones first, which are most of a network. Then with nodes aside, which take longer.
  void search(const Runs& candidates) {
    search(candidates, false);
    search(candidates, true);
  }

  [[nodiscard]] std::optional<PhaseBound> take() && { return std::move(best_); }

 private:
  static constexpr int kMostTries = 16;

  // Milestones one at a time first, and then the best one with one more after another, as long as the bound rises.
  void search(const Runs& candidates, bool with_aside) {
    std::vector<std::pair<std::int64_t, Index>> single;  // minus the bound
    const auto parts = static_cast<std::int64_t>(std::clamp<std::size_t>(2 * candidates.size(), 4, 16));
    for (Index node : candidates) {
      const std::int64_t bound = consider({node}, with_aside, work_ / parts);
      if (bound > 0) single.emplace_back(-bound, node);
    }
    std::sort(single.begin(), single.end());
    int tries = 0;
    for (const auto& [bound, node] : single) {
      if (!best_ || best_->extra >= limit_ || tries == kMostTries) return;
      const std::optional<Runs> longer = with(best_->proof.milestones, node);
      if (!longer) continue;
      ++tries;
      consider(*longer, with_aside, work_ / 4);
    }
  }

  std::int64_t consider(const Runs& chain, bool with_aside, std::int64_t share) {
    if (share <= 0 || (best_ && best_->extra >= limit_)) return 0;
    work_ -= share;
    const PhaseModel model(problem_, chain, nullptr, with_aside);
    share -= static_cast<std::int64_t>(kModelWork * (model.variables().size() + model.rows().size()));
    if (model.variables().size() > kMostVariables || (with_aside && !model.has_aside())) {
      work_ += std::max<std::int64_t>(share, 0);
      return 0;
    }
    PhaseAnswer answer = PhaseSearch(model, limit_, stop_).search(share);
    work_ += std::max<std::int64_t>(share, 0);
    const std::int64_t bound = answer.bound;
    if (bound > (best_ ? best_->extra : 0)) best_ = PhaseBound{bound, std::move(answer.proof)};
    return bound;
  }

  // The chain with one more node, or nullopt if that is not comparable with all of its nodes.
  [[nodiscard]] std::optional<Runs> with(const std::vector<NodeId>& chain, Index added) const {
    Runs longer;
    bool is_in = false;
    const PhaseModel before_added(problem_, {added}, nullptr);
    for (NodeId id : chain) {
      const Index node = id.value();
      if (node == added) return std::nullopt;
      if (!is_in && PhaseModel(problem_, {node}, nullptr).is_before(0, added)) {
        longer.push_back(added);
        is_in = true;
      }
      if (!is_in && !before_added.is_before(0, node)) return std::nullopt;
      longer.push_back(node);
    }
    if (!is_in) longer.push_back(added);
    return longer;
  }

  const RunProblem& problem_;
  std::int64_t limit_;
  std::int64_t& work_;
  const std::atomic<bool>* stop_;
  std::optional<PhaseBound> best_;
};

}  // namespace

Runs runs_of(const RunProblem& problem, const Runs& order, const Runs& milestones,
             const std::vector<std::vector<char>>& keeps) {
  RunWriter writer(problem, order);
  std::size_t next = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Index node = order[at];
    if (next < milestones.size() && milestones[next] == node) {
      // What is kept from here on must exist before the milestone runs.
      for (Index kept : order) {
        if (kept == node) break;
        problem.for_each_entry(kept, [&](Index entry) {
          if (keeps[next][entry] != 0 && !writer.is_there(entry)) writer.run(kept);
        });
      }
      writer.drop_all_except(keeps[next], static_cast<std::uint32_t>(at));
      ++next;
    }
    writer.run(node);
  }
  for (Index node : order) {
    problem.for_each_entry(node, [&](Index entry) {
      if (problem.is_output[entry] != 0 && !writer.is_there(entry)) writer.run(node);
    });
  }
  return std::move(writer).take();
}

PhasePlans plan_phases(const RunProblem& problem, const Runs& order, std::int64_t& work,
                       const std::atomic<bool>* stop) {
  PhasePlans plans;
  LoadScan scan(problem);
  const std::vector<std::uint32_t> position = positions_in(problem, order);
  const auto is_earlier = [&](Index a, Index b) { return position[a] < position[b]; };
  Runs milestones = {order[scan.scan(order).peak_at]};
  while (work > 0 && milestones.size() <= kMostMilestones) {
    const PhaseModel model(problem, milestones, &order);
    if (model.variables().size() > kMostVariables) break;
    std::int64_t share = std::max<std::int64_t>(work / 4, 1);
    work -= share;
    PhaseAnswer answer = PhaseSearch(model, std::numeric_limits<std::int64_t>::max(), stop).search(share);
    work += share;
    if (!answer.cost) break;
    plans.milestones = milestones;
    Runs runs = runs_of(problem, order, milestones, answer.keeps);
    const Loads loads = scan.scan(runs);
    // With rules, a node may be needed where it must not run again.
    if (!loads.is_valid) break;
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
                                       std::int64_t& work, const std::atomic<bool>* stop) {
  BoundSearch search(problem, limit, work, stop);
  search.search(milestones);
  return std::move(search).take();
}

}  // namespace lowtide::budget_internal
