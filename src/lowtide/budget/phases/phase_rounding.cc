// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/phase_rounding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/budget/phases/phase_model.h"
#include "lowtide/budget/phases/phase_plan.h"
#include "lowtide/budget/phases/phase_search.h"
#include "lowtide/budget/runs/load_scan.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr std::size_t kMostRoundings = 12;
constexpr std::int64_t kNearReserve = 500;      // part of the budget: reserves this close are not distinguished
constexpr std::size_t kRoundingModelWork = 20;  // per variable and row
constexpr std::size_t kWritingWork = 60;        // per run
constexpr double kWholeShare = 1e-6;            // how far from 0 or 1 a share may be

class PhaseRounding {
 public:
  PhaseRounding(const RunProblem& problem, Index milestone, std::int64_t& work, const std::atomic<bool>* stop)
      : problem_(problem), milestone_(milestone), work_(work), stop_(stop) {}

  // The sequence that leaves `reserved` bytes free at the milestone, or nullopt if there is none.
  std::optional<Runs> plan(const Runs& order, std::int64_t reserved) {
    const PhaseModel model(problem_, {milestone_}, &order, false, {reserved});
    work_ -= static_cast<std::int64_t>(kRoundingModelWork * (model.variables().size() + model.rows().size()));
    if (work_ < 0) return std::nullopt;
    const auto shares = PhaseSearch(model, kMaxTotalCost, stop_).relax(work_);
    if (!shares) return std::nullopt;
    Runs runs = runs_of(problem_, order, {milestone_}, {rounded(shares->front(), reserved)});
    work_ -= static_cast<std::int64_t>(kWritingWork * runs.size());
    return runs;
  }

 private:
  // What is kept: all that has a whole share, and then the largest shares first.
  [[nodiscard]] std::vector<char> rounded(const std::vector<double>& shares, std::int64_t reserved) const {
    std::vector<char> kept(problem_.count(), 0);
    std::int64_t left = problem_.budget - reserved - problem_.own_load[milestone_];
    std::vector<std::pair<double, Index>> partly;  // minus the share
    for (Index entry = 0; entry < problem_.count(); ++entry) {
      if (shares[entry] > 1 - kWholeShare) {
        kept[entry] = 1;
        left -= problem_.size[entry];
      } else if (shares[entry] > kWholeShare) {
        partly.emplace_back(-shares[entry], entry);
      }
    }
    std::sort(partly.begin(), partly.end());
    for (const auto& [share, entry] : partly) {
      if (problem_.size[entry] > left) continue;
      kept[entry] = 1;
      left -= problem_.size[entry];
    }
    return kept;
  }

  const RunProblem& problem_;
  Index milestone_;
  std::int64_t& work_;
  const std::atomic<bool>* stop_;
};

}  // namespace

std::vector<Runs> round_phases(const RunProblem& problem, const Runs& order, std::int64_t& work,
                               const std::atomic<bool>* stop) {
  LoadScan scan(problem);
  const Index milestone = order[scan.scan(order).peak_at];
  PhaseRounding rounding(problem, milestone, work, stop);
  std::vector<Runs> plans;
  std::int64_t low = 0;              // the largest reserve that is too small
  std::optional<std::int64_t> high;  // the smallest one that suffices
  std::int64_t reserved = 0;
  while (plans.size() < kMostRoundings && work > 0 && reserved + problem.own_load[milestone] <= problem.budget) {
    std::optional<Runs> runs = rounding.plan(order, reserved);
    if (!runs) break;
    const Loads loads = scan.scan(*runs);
    // With rules, a node may be needed where it must not run again.
    if (!loads.is_valid) break;
    plans.push_back(*std::move(runs));
    if (loads.peak <= problem.budget) {
      high = reserved;
    } else {
      low = reserved;
    }
    if (high && *high - low < problem.budget / kNearReserve + 1) break;
    reserved = high ? low + (*high - low) / 2 : reserved + (loads.peak - problem.budget);
  }
  return plans;
}

}  // namespace lowtide::budget_internal
