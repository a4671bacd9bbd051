// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/phases/knapsack_bound.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "lowtide/base/int128.h"

namespace lowtide::rematerialize_internal {
namespace {

using Index = RunProblem::Index;

constexpr int kMostPriceBits = 54;  // the multiplier of the row `memory`
constexpr int kMostCostBits = 60;   // all other multipliers

class Knapsack {
 public:
  Knapsack(const RunProblem& problem, Index milestone, std::int64_t& work)
      : problem_(problem), milestone_(milestone), work_(work), relation_(problem.count(), 0) {}

  std::optional<PhaseBound> bound() {
    mark(kBefore);
    mark(kAfter);
    for (Index input : problem_.inputs(milestone_)) relation_[input] |= kRead;
    find_items();
    if (!find_price()) return std::nullopt;
    return add_up();
  }

 private:
  static constexpr char kBefore = 1;
  static constexpr char kAfter = 2;
  static constexpr char kRead = 4;  // by the milestone

  // An output that is read later, or that the milestone reads.
  struct Item {
    Index node;
    PhaseRow row;  // why it is kept, or runs again
  };

  void mark(char relation) {
    std::vector<Index> open = {milestone_};
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      for (Index next : relation == kBefore ? problem_.inputs(node) : problem_.readers(node)) {
        work_ -= 4;
        if ((relation_[next] & relation) != 0) continue;
        relation_[next] = static_cast<char>(relation_[next] | relation);
        open.push_back(next);
      }
    }
  }

  void find_items() {
    for (Index node = 0; node < problem_.count(); ++node) {
      if ((relation_[node] & kBefore) == 0 || problem_.size[node] == 0) continue;
      PhaseRow row{.rule = PhaseRule::result, .phase = 0, .node = NodeId(node), .reader = {}};
      if ((relation_[node] & kRead) != 0) {
        row.rule = PhaseRule::read;
      } else {
        const auto readers = problem_.readers(node);
        const auto later =
            std::find_if(readers.begin(), readers.end(), [&](Index other) { return (relation_[other] & kAfter) != 0; });
        if (later == readers.end() && problem_.is_output[node] == 0) continue;
        if (later != readers.end())
          row = {.rule = PhaseRule::need, .phase = 0, .node = NodeId(node), .reader = NodeId(*later)};
      }
      items_.push_back({node, row});
    }
    work_ -= static_cast<std::int64_t>(10 * problem_.count() + 100 * items_.size());
  }

  [[nodiscard]] bool must_stay(const Item& item) const { return item.row.rule == PhaseRule::read; }

  // The price of a byte: the cost per byte of the item that fills the budget. Returns false if all items fit.
  bool find_price() {
    std::int64_t space = problem_.budget - problem_.own_load[milestone_];
    std::vector<Index> by_worth;
    std::int64_t most_cost = 1;
    for (const Item& item : items_) {
      if (must_stay(item)) {
        space -= problem_.size[item.node];
      } else {
        by_worth.push_back(item.node);
        most_cost = std::max(most_cost, problem_.cost[item.node]);
      }
    }
    std::sort(by_worth.begin(), by_worth.end(), [&](Index a, Index b) {
      const Int128 left = Int128{problem_.cost[a]} * problem_.size[b];
      const Int128 right = Int128{problem_.cost[b]} * problem_.size[a];
      return left != right ? left > right : a < b;
    });
    for (Index node : by_worth) {
      space -= problem_.size[node];
      if (space >= 0) continue;
      shift_ = std::max(kMostCostBits - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_cost))), 0);
      Int128 price = (Int128{problem_.cost[node]} << shift_) / problem_.size[node];
      while (price >> kMostPriceBits != 0 && shift_ > 0) {
        price >>= 1;
        --shift_;
      }
      price_ = static_cast<std::int64_t>(price);
      return price_ > 0 && price_ >> kMostPriceBits == 0;
    }
    return false;
  }

  std::optional<PhaseBound> add_up() {
    constexpr std::int64_t kMost = std::int64_t{1} << kMostCostBits;
    ProofCase leaf;
    leaf.rows.push_back({{.rule = PhaseRule::memory, .phase = 0, .node = {}, .reader = {}}, price_});
    Int128 sum = Int128{price_} * (problem_.own_load[milestone_] - problem_.budget);
    for (const Item& item : items_) {
      Int128 times = std::min<Int128>(Int128{price_} * problem_.size[item.node], kMost);
      if (!must_stay(item)) times = std::min(times, Int128{problem_.cost[item.node]} << shift_);
      if (times == 0) continue;
      leaf.rows.emplace_back(item.row, static_cast<std::int64_t>(times));
      sum += times;
    }
    if (sum <= 0) return std::nullopt;
    std::sort(leaf.rows.begin(), leaf.rows.end());
    std::int64_t divisor = 0;
    for (std::int64_t cost : problem_.cost) divisor = std::gcd(divisor, cost);
    const Int128 unit = Int128{std::max<std::int64_t>(divisor, 1)} << shift_;
    PhaseBound bound{.extra = static_cast<std::int64_t>((sum + unit - 1) / unit) * divisor, .proof = {}};
    bound.proof.milestones = {NodeId(milestone_)};
    bound.proof.shift = shift_;
    bound.proof.cases = {std::move(leaf)};
    return bound;
  }

  const RunProblem& problem_;
  Index milestone_;
  std::int64_t& work_;
  std::vector<char> relation_;  // by node
  std::vector<Item> items_;     // by node
  std::int64_t price_ = 0;      // of a byte, in units of 2^-shift_ of the cost
  int shift_ = 0;
};

}  // namespace

std::optional<PhaseBound> knapsack_bound(const RunProblem& problem, RunProblem::Index milestone, std::int64_t& work) {
  return Knapsack(problem, milestone, work).bound();
}

}  // namespace lowtide::rematerialize_internal
