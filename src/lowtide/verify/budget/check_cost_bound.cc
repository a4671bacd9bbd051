// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <numeric>

#include "lowtide/base/checked.h"
#include "lowtide/base/int128.h"
#include "lowtide/verify/budget/phase_facts.h"
#include "lowtide/verify/check_budget.h"

namespace lowtide {
namespace verify_internal {
namespace {

constexpr std::int64_t kMostMultiplier = std::int64_t{1} << 62;
constexpr std::int64_t kMostMemoryMultiplier = std::int64_t{1} << 55;
constexpr int kMostShift = 60;
constexpr std::size_t kKinds = 3;  // of PhaseKind
// What an impossible case proves. No sequence of interest costs as much.
constexpr std::int64_t kImpossible = std::int64_t{1} << 61;

// Adds up the rows of each leaf. All sums fit 128 bits: a multiplier of sizes has 55 bits, all sizes together 62, and
// at most 64 rows have sizes. The factors of other rows are 1, and each row and decision counts once.
class CaseSums {
 public:
  CaseSums(const BudgetProblem& problem, const CostProof& proof)
      : problem_(problem), proof_(proof), facts_(problem, proof.milestones), parents_(proof.cases.size()) {}

  // Returns what all sequences pay for reruns, or nullopt if the proof is malformed.
  std::optional<std::int64_t> least_extra() {
    fault_ = facts_.problem();
    if (fault_) return std::nullopt;
    if (proof_.shift < 0 || proof_.shift > kMostShift) return fail("the shift is not in [0, 60]");
    if (proof_.cases.empty()) return fail("the proof has no cases");
    if (!find_parents()) return std::nullopt;
    std::int64_t least = kImpossible;
    for (std::size_t at = 0; at < proof_.cases.size(); ++at) {
      if (!proof_.cases[at].sum.empty()) continue;
      const std::optional<std::int64_t> extra = extra_of_leaf(at);
      if (!extra) return std::nullopt;
      least = std::min(least, *extra);
    }
    return least;
  }

  [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }

 private:
  struct Parent {
    std::optional<std::size_t> vertex;
    bool is_more = false;  // the sum is above `at_most` here
  };

  std::nullopt_t fail(const std::string& message) {
    fault_ = message;
    return std::nullopt;
  }

  bool refuse(const std::string& message) {
    fault_ = message;
    return false;
  }

  // Every case except the first must have exactly one parent, or some case of a decision would be without a bound.
  bool find_parents() {
    for (std::size_t at = 0; at < proof_.cases.size(); ++at) {
      const ProofCase& here = proof_.cases[at];
      if (at > 0 && !parents_[at].vertex) return refuse("case " + std::to_string(at) + " has no parent");
      if (here.sum.empty()) continue;
      if (here.at_most < 0 || here.at_most > static_cast<std::int64_t>(here.sum.size())) {
        return refuse("case " + std::to_string(at) + " has a wrong limit");
      }
      for (std::size_t side = 0; side < 2; ++side) {
        const std::size_t child = here.cases[side];
        if (child <= at || child >= proof_.cases.size() || parents_[child].vertex) {
          return refuse("case " + std::to_string(at) + " has a wrong child");
        }
        parents_[child] = {at, side == 1};
      }
      for (const PhaseVariable& variable : here.sum) {
        if (!facts_.has(variable)) return refuse("case " + std::to_string(at) + " has a wrong variable");
      }
      if (std::adjacent_find(here.sum.begin(), here.sum.end(), std::greater_equal<>()) != here.sum.end()) {
        return refuse("case " + std::to_string(at) + " has variables that do not ascend");
      }
    }
    return true;
  }

  std::size_t index_of(const PhaseVariable& variable) const {
    return (std::size_t{variable.phase} * kKinds + static_cast<std::size_t>(variable.kind)) * problem_.nodes.size() +
           variable.node.index();
  }

  static bool is_multiplier(std::int64_t number, std::int64_t most = kMostMultiplier) {
    return number >= 0 && number <= most;
  }

  void add(const std::vector<std::pair<PhaseVariable, std::int64_t>>& terms, std::int64_t times) {
    for (const auto& [variable, factor] : terms) sums_[index_of(variable)] += Int128{factor} * times;
  }

  std::optional<std::int64_t> extra_of_leaf(std::size_t leaf) {
    const ProofCase& here = proof_.cases[leaf];
    const std::string name = "case " + std::to_string(leaf);
    sums_.assign(kKinds * facts_.phases() * problem_.nodes.size(), 0);
    least_ = 0;
    const PhaseRow* last = nullptr;
    for (const auto& [row, times] : here.rows) {
      const std::optional<PhaseInequality> inequality = facts_.inequality(row);
      const std::int64_t most = row.rule == PhaseRule::memory ? kMostMemoryMultiplier : kMostMultiplier;
      if (!inequality || !is_multiplier(times, most)) return fail(name + " has a row that does not hold");
      if (last != nullptr && !(*last < row)) return fail(name + " has rows that do not ascend");
      last = &row;
      add(inequality->terms, times);
      least_ += Int128{inequality->least} * times;
    }
    if (!add_decisions(leaf)) return fail(name + " has a decision that is not above it");
    return rounded_extra();
  }

  bool add_decisions(std::size_t leaf) {
    std::vector<std::optional<bool>> side(proof_.cases.size());
    for (std::size_t at = leaf; at > 0; at = *parents_[at].vertex) side[*parents_[at].vertex] = parents_[at].is_more;
    for (const auto& [vertex, times] : proof_.cases[leaf].decisions) {
      if (vertex >= side.size() || !side[vertex] || !is_multiplier(times)) return false;
      const bool is_more = *side[vertex];
      side[vertex].reset();  // each decision counts once
      const ProofCase& decision = proof_.cases[vertex];
      for (const PhaseVariable& variable : decision.sum) {
        sums_[index_of(variable)] += is_more ? Int128{times} : -Int128{times};
      }
      least_ += Int128{times} * (is_more ? Int128{decision.at_most} + 1 : -Int128{decision.at_most});
    }
    return true;
  }

  // What a variable adds at least to the cost of reruns minus the weighted rows, if its value is 0 or 1, or known.
  Int128 least_of(const PhaseVariable& variable) const {
    const Int128 factor = sums_[index_of(variable)];
    if (factor == 0) return 0;  // and a cost is not negative
    const Int128 cost =
        variable.kind == PhaseKind::rerun ? Int128{problem_.nodes[variable.node].cost} << proof_.shift : Int128{0};
    const std::optional<std::int64_t> known = facts_.known(variable);
    return known ? (cost - factor) * *known : std::min<Int128>(0, cost - factor);
  }

  // The cost of reruns minus the weighted rows is least if each variable with a negative factor is 1.
  std::int64_t rounded_extra() const {
    Int128 least = least_;
    for (std::uint32_t phase = 0; phase < facts_.phases(); ++phase) {
      for (NodeId node : all_ids<NodeId>(problem_.nodes.size())) {
        for (PhaseKind kind : {PhaseKind::keep, PhaseKind::rerun, PhaseKind::ran}) {
          least += least_of({.phase = phase, .kind = kind, .node = node});
        }
      }
    }
    if (least <= 0) return 0;
    // Every cost is a multiple of what divides all of them.
    std::int64_t divisor = 0;
    for (const BudgetNode& node : problem_.nodes) divisor = std::gcd(divisor, node.cost);
    divisor = std::max<std::int64_t>(divisor, 1);
    const Int128 unit = Int128{divisor} << proof_.shift;
    return static_cast<std::int64_t>(std::min<Int128>((least + unit - 1) / unit * divisor, kImpossible));
  }

  const BudgetProblem& problem_;
  const CostProof& proof_;
  PhaseFacts facts_;
  std::vector<Parent> parents_;
  std::vector<Int128> sums_;  // by variable: its factor in the sum of the rows
  Int128 least_ = 0;          // the sum of the rows is at least this
  std::optional<std::string> fault_;
};

}  // namespace
}  // namespace verify_internal

CostBoundCheck check_cost_bound(const BudgetProblem& problem, const CostProof& proof) {
  verify_internal::CaseSums sums(problem, proof);
  const std::optional<std::int64_t> extra = sums.least_extra();
  if (!extra) return {.proven = 0, .problem = sums.fault()};
  std::int64_t base = 0;
  for (const BudgetNode& node : problem.nodes) base = must_add(base, node.cost);
  return {.proven = must_add(base, *extra), .problem = std::nullopt};
}

}  // namespace lowtide
