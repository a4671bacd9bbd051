// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/knapsack_bound.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "lowtide/base/int128.h"

namespace lowtide::budget_internal {
namespace {

using Index = RunProblem::Index;

constexpr int kMostPriceBits = 54;  // the multiplier of the row `memory`
constexpr int kMostCostBits = 60;   // all other multipliers

class Knapsack {
 public:
  Knapsack(const RunProblem& problem, Index milestone, std::int64_t& work)
      : problem_(problem),
        milestone_(milestone),
        work_(work),
        relation_(problem.count(), 0),
        bytes_(problem.count(), 0) {}

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

  // An entry that is read later, or that the milestone reads.
  struct Item {
    Index node;
    PhaseRow row;  // why it is kept, or made again
  };

  void mark(char relation) {
    std::vector<Index> open = {milestone_};
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      const auto reach = [&](Index next) {
        work_ -= 4;
        if ((relation_[next] & relation) != 0) return;
        relation_[next] = static_cast<char>(relation_[next] | relation);
        open.push_back(next);
      };
      if (relation == kBefore) {
        for (Index input : problem_.inputs(node)) reach(problem_.owner(input));
      } else {
        problem_.for_each_entry(node, [&](Index entry) {
          for (Index reader : problem_.readers(entry)) reach(reader);
        });
      }
    }
  }

  void find_items() {
    for (Index entry = 0; entry < problem_.count(); ++entry) {
      const Index run = problem_.owner(entry);
      if (run == RunProblem::kNone || (relation_[run] & kBefore) == 0 || problem_.size[entry] == 0) continue;
      PhaseRow row{.rule = PhaseRule::result, .phase = 0, .node = NodeId(entry), .reader = {}};
      if ((relation_[entry] & kRead) != 0) {
        row.rule = PhaseRule::read;
      } else {
        const auto readers = problem_.readers(entry);
        const auto later =
            std::find_if(readers.begin(), readers.end(), [&](Index other) { return (relation_[other] & kAfter) != 0; });
        if (later == readers.end() && problem_.is_output[entry] == 0) continue;
        if (later != readers.end())
          row = {.rule = PhaseRule::need, .phase = 0, .node = NodeId(entry), .reader = NodeId(*later)};
      }
      items_.push_back({entry, row});
    }
    work_ -= static_cast<std::int64_t>(10 * problem_.count() + 100 * items_.size());
  }

  [[nodiscard]] bool must_stay(const Item& item) const { return item.row.rule == PhaseRule::read; }

  // The price of a byte: the cost per byte of the item that fills the budget. Returns false if all items fit.
  bool find_price() {
    std::int64_t space = problem_.budget - problem_.own_load[milestone_];
    std::vector<Index> by_worth;  // runs
    std::int64_t most_cost = 1;
    for (const Item& item : items_) {
      if (must_stay(item)) {
        space -= problem_.size[item.node];
        continue;
      }
      const Index run = problem_.owner(item.node);
      if (bytes_[run] == 0) by_worth.push_back(run);
      bytes_[run] += problem_.size[item.node];
      most_cost = std::max(most_cost, problem_.cost[run]);
    }
    std::sort(by_worth.begin(), by_worth.end(), [&](Index a, Index b) {
      const Int128 left = Int128{problem_.cost[a]} * bytes_[b];
      const Int128 right = Int128{problem_.cost[b]} * bytes_[a];
      return left != right ? left > right : a < b;
    });
    for (Index node : by_worth) {
      space -= bytes_[node];
      if (space >= 0) continue;
      shift_ = std::max(kMostCostBits - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_cost))), 0);
      Int128 price = (Int128{problem_.cost[node]} << shift_) / bytes_[node];
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
    std::vector<Int128> left;  // by run: of its cost, which all its entries share
    for (std::int64_t cost : problem_.cost) left.push_back(Int128{cost} << shift_);
    for (const Item& item : items_) {
      Int128 times = std::min<Int128>(Int128{price_} * problem_.size[item.node], kMost);
      if (!must_stay(item)) {
        Int128& of_run = left[problem_.owner(item.node)];
        times = std::min(times, of_run);
        of_run -= times;
      }
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
  std::vector<char> relation_;       // by node
  std::vector<std::int64_t> bytes_;  // by run: of its entries among the items, except those that must stay
  std::vector<Item> items_;          // by node
  std::int64_t price_ = 0;           // of a byte, in units of 2^-shift_ of the cost
  int shift_ = 0;
};

}  // namespace

std::optional<PhaseBound> knapsack_bound(const RunProblem& problem, RunProblem::Index milestone, std::int64_t& work) {
  return Knapsack(problem, milestone, work).bound();
}

}  // namespace lowtide::budget_internal
