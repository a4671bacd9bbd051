// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/runs/anneal.h"

#include <algorithm>

#include "lowtide/base/annealing.h"
#include "lowtide/budget/problem/excess_price.h"
#include "lowtide/budget/runs/excess_weights.h"
#include "lowtide/budget/runs/load_scan.h"
#include "lowtide/budget/runs/moves.h"
#include "lowtide/budget/runs/timeline.h"

namespace lowtide::budget_internal {
namespace {

constexpr double kPriceStep = 1.01;
constexpr std::int64_t kMoveWork = 50;  // of a move, beside what it changes

}  // namespace

class Annealing::State {
 public:
  State(const RunProblem& problem, std::uint64_t seed, const std::atomic<bool>* stop)
      : problem_(problem),
        stop_(stop),
        scan_(problem),
        timeline_(problem),
        moves_(problem, seed, timeline_),
        price_(usual_price(problem), kPriceStep),
        weights_(problem.count(), usual_price(problem)),
        is_over_(problem.count(), 0) {}

  void cool(const Runs& start, const Cooling& cooling, std::int64_t& work) {
    if (!scan_.scan(start).is_valid) return;
    timeline_.begin(start);
    weighs_ = cooling.weighs;
    height_ = timeline_.height();
    note();
    price_.reset();
    const std::int64_t limit = std::min(work, cooling.length);
    const std::int64_t begin = done();
    const double base = static_cast<double>(problem_.base_cost) / static_cast<double>(problem_.run_count());
    const double hottest = cooling.hottest * base + 1e-3;
    const double coldest = cooling.coldest * base + 1e-4;
    std::int64_t spent = 0;
    while (spent < limit && !(found_.best && found_.best_cost <= cooling.goal) && !is_stopped()) {
      const double share = static_cast<double>(spent) / static_cast<double>(cooling.length);
      if (weighs_) adapt_weights();
      price_.adapt(make_moves(cooled(hottest, coldest, share)));
      spent = done() - begin;
    }
    work -= spent;
  }

  [[nodiscard]] const Annealed& found() const { return found_; }

 private:
  [[nodiscard]] std::int64_t done() const { return timeline_.work() + moves_.work() + kMoveWork * made_ + scanned_; }

  [[nodiscard]] bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  void adapt_weights() {
    std::fill(is_over_.begin(), is_over_.end(), char{0});
    const auto budget = static_cast<double>(problem_.budget);
    for (std::size_t at = 0; at < timeline_.length(); ++at) {
      if (timeline_.load_at(at) > budget) is_over_[timeline_.node_at(at)] = 1;
    }
    weights_.adapt(is_over_);
    timeline_.weigh(weights_.by_node());
    height_ = timeline_.height();
    scanned_ += static_cast<std::int64_t>(3 * timeline_.length() + problem_.count());
  }

  // Makes some moves at one temperature and price. Returns after how many of them the sequence exceeds the budget.
  int make_moves(double temperature) {
    const auto budget = static_cast<double>(problem_.budget);
    double energy = energy_of(height_);
    int over = 0;
    for (int move = 0; move < ExcessPrice::kRound; ++move) {
      // What the energy may rise by is drawn first. Most reruns cost more than that and all excess, and are not tried.
      const double rise = temperature * exponential(moves_.random());
      const double excess = energy - static_cast<double>(timeline_.cost());
      const bool is_changed = moves_.change(rise + excess, height_.peak > budget);
      if (is_changed) timeline_.prune();
      if (is_changed && timeline_.is_allowed()) {
        const Timeline::Height changed = timeline_.height();
        scanned_ += static_cast<std::int64_t>(timeline_.length());
        const double changed_energy = energy_of(changed);
        if (changed_energy - energy <= rise) {
          timeline_.commit();
          energy = changed_energy;
          height_ = changed;
          note();
        }
      }
      timeline_.undo();
      over += height_.peak > budget ? 1 : 0;
    }
    made_ += ExcessPrice::kRound;
    return over;
  }

  [[nodiscard]] static double usual_price(const RunProblem& problem) {
    std::int64_t total = 0;
    for (std::int64_t size : problem.size) total += size;
    const auto runs = static_cast<double>(std::max<std::size_t>(problem.run_count(), 1));
    return (static_cast<double>(problem.base_cost) / runs + 1e-3) / (static_cast<double>(total) / runs + 1);
  }

  [[nodiscard]] double energy_of(const Timeline::Height& height) const {
    const double over = std::max(height.peak - static_cast<double>(problem_.budget), 0.0);
    return static_cast<double>(timeline_.cost()) + price_.of(over, height.excess) + (weighs_ ? height.weighed : 0);
  }

  void note() {
    const bool fits = height_.peak <= static_cast<double>(problem_.budget);
    const bool is_better = fits && (!found_.best || timeline_.cost() < found_.best_cost);
    const bool is_lower = found_.lowest.empty() || height_.peak < static_cast<double>(found_.lowest_peak);
    if (!is_better && !(is_lower && !found_.best)) return;
    Runs runs = timeline_.runs();
    const Loads loads = scan_.scan(runs);  // doubles may round sums above 2^53
    if (found_.lowest.empty() || loads.peak < found_.lowest_peak) {
      found_.lowest = runs;
      found_.lowest_peak = loads.peak;
    }
    if (!is_better || loads.peak > problem_.budget) return;
    found_.best = std::move(runs);
    found_.best_cost = loads.cost;
  }

  const RunProblem& problem_;
  const std::atomic<bool>* stop_;
  LoadScan scan_;
  Timeline timeline_;
  Moves moves_;
  Timeline::Height height_;
  std::int64_t made_ = 0;     // moves
  std::int64_t scanned_ = 0;  // runs whose live bytes were compared
  ExcessPrice price_;
  ExcessWeights weights_;
  bool weighs_ = false;
  std::vector<char> is_over_;  // by node
  Annealed found_;
};

Annealing::Annealing(const RunProblem& problem, std::uint64_t seed, const std::atomic<bool>* stop)
    : state_(std::make_unique<State>(problem, seed, stop)) {}
Annealing::~Annealing() = default;
void Annealing::cool(const Runs& start, const Cooling& cooling, std::int64_t& work) {
  state_->cool(start, cooling, work);
}
const Annealed& Annealing::found() const { return state_->found(); }

}  // namespace lowtide::budget_internal
