// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "lowtide/budget/linear/dual_simplex.h"
#include "lowtide/budget/phases/phase_model.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

struct PhaseAnswer {
  std::int64_t bound = 0;  // of the cost of reruns, by `proof`
  CostProof proof;
  // The cheapest solution below the limit: its cost, and by milestone which
  // nodes are kept.
  std::optional<std::int64_t> cost;
  std::vector<std::vector<char>> keeps;
};

// Solves a PhaseModel by branch and bound. Rows are added to the linear program
// when they are violated. A case is divided by the sum of interchangeable
// variables, those with equal phase, kind, size and cost, so that equal blocks
// of a network do not multiply the cases. Every leaf gets the multipliers of
// its linear program, so the tree is a proof.
class PhaseSearch {
 public:
  // Solutions that cost `limit` or more are of no interest. `stop`: when set, ends the search; nullptr: never.
  PhaseSearch(const PhaseModel& model, std::int64_t limit, const std::atomic<bool>* stop = nullptr)
      : model_(model), limit_(limit), stop_(stop) {}

  // Subtracts what it does from `work`. If that is spent, the bound is what the
  // cases have proven so far.
  PhaseAnswer search(std::int64_t& work);

  // The solution of the linear program alone: by milestone and entry, how much
  // of the entry is kept, from 0 to 1. Returns nullopt if there is none, or if
  // the work is spent. A search is used for one of the two.
  std::optional<std::vector<std::vector<double>>> relax(std::int64_t& work);

 private:
  struct Program {
    DualSimplex simplex;
    std::vector<std::uint32_t> rows;  // by row of the simplex: a row of the
                                      // model, or kDecision + a case
    std::vector<double> scale;        // by row: what the row was divided by
    std::vector<char> has_row;        // by row of the model
  };
  struct Split {
    std::vector<PhaseVariable> sum;
    std::int64_t at_most = 0;
  };
  // A case that may have a better solution, ordered by its bound, the deeper
  // one first.
  struct Open {
    std::int64_t bound;
    std::int64_t height;  // minus its depth
    std::uint32_t at;     // the case
    friend auto operator<=>(const Open&, const Open&) = default;
  };

  // Solves the linear program of the root. Returns what solve() does.
  bool begin(std::int64_t& work);
  void add_row(Program& program, std::uint32_t name, const PhaseModel::Inequality& inequality) const;
  // Solves the linear program of a case, and takes note of its solution, its
  // bound, and how it would be divided. Returns false if nothing below the
  // limit is left in it, or the work is spent.
  bool solve(Program& program, std::uint32_t at, std::int64_t& work);
  bool add_violated_rows(Program& program);
  // Divides a case, and returns the more promising of the two that are left.
  std::optional<Open> divide(const Open& here, std::int64_t& work);
  void add_decisions(Program& program, std::uint32_t at) const;
  void note_leaf(const Program& program, std::uint32_t at);
  void note_solution(const Program& program);
  [[nodiscard]] std::optional<Split> split_of(const Program& program) const;
  [[nodiscard]] PhaseModel::Inequality decision(std::uint32_t at, bool is_more) const;

  [[nodiscard]] bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  const PhaseModel& model_;
  std::int64_t limit_;
  const std::atomic<bool>* stop_;
  std::optional<Program> root_;  // with the rows that any case has needed so far
  std::set<Open> open_;
  PhaseAnswer answer_;
  std::vector<std::int64_t> bounds_;                     // by case
  std::vector<std::pair<std::uint32_t, bool>> parents_;  // by case: the case above, and its side
  std::vector<Split> splits_;                            // by case: how it is divided
};

}  // namespace lowtide::budget_internal
