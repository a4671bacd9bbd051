// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/base/int128.h"
#include "lowtide/budget/linear/dual_simplex.h"
#include "lowtide/budget/problem/run_problem.h"
#include "lowtide/plan/cost_proof.h"

namespace lowtide::budget_internal {

// The inequalities between milestones (plan/cost_proof.h) as an integer
// program: which outputs are kept at each milestone, and which nodes run again
// after it, at the least cost of reruns.
//
// If an order is given, first runs follow it, so everything before a milestone
// in the order counts as its ancestor. Then the solution is a plan for that
// order. Without an order, the program is a relaxation of all sequences.
class PhaseModel {
 public:
  using Index = RunProblem::Index;

  // Requires: each milestone is an ancestor of the next one, or before it in
  // the order. `with_aside`: nodes that need not run before or after a
  // milestone have variables, too. Without an order only. `reserved`: bytes
  // that a plan leaves free at each milestone; empty: none. A proof has none.
  PhaseModel(const RunProblem& problem, std::vector<Index> milestones, const std::vector<Index>* order,
             bool with_aside = false, std::vector<std::int64_t> reserved = {});

  [[nodiscard]] const RunProblem& problem() const { return problem_; }
  [[nodiscard]] const std::vector<Index>& milestones() const { return milestones_; }
  [[nodiscard]] const std::vector<PhaseVariable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<PhaseRow>& rows() const { return rows_; }
  [[nodiscard]] std::int64_t cost(std::size_t variable) const;

  struct Inequality {
    std::vector<std::pair<std::size_t, std::int64_t>> terms;  // variable and factor
    std::int64_t least = 0;
  };
  [[nodiscard]] Inequality inequality(const PhaseRow& row) const;
  // The number of a variable. Requires: the node has it in this phase. A part has only `keep`.
  [[nodiscard]] std::size_t number(const PhaseVariable& variable) const {
    return number_[variable.phase][variable.node.index()] + static_cast<std::size_t>(variable.kind);
  }
  [[nodiscard]] bool is_before(std::size_t phase, Index run) const { return side_[phase][run] == Side::before; }

  // Whether some node aside has variables.
  [[nodiscard]] bool has_aside() const { return has_aside_; }

  // The number of bits of a multiplier after the point.
  [[nodiscard]] int shift() const { return shift_; }
  // What a leaf of a proof gives, rounded up to a multiple of what divides all
  // costs; `extra` are the decisions above it.
  [[nodiscard]] std::int64_t bound_of(const ProofCase& leaf,
                                      const std::vector<std::pair<Inequality, std::int64_t>>& extra) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Where the first run of a node is, seen from the first run of a milestone.
  enum class Side : std::uint8_t { aside, before, at, after };

  void find_sides(std::size_t phase, const std::vector<Index>* order);
  void find_variables(std::uint32_t phase);
  void find_rows(std::uint32_t phase);
  void find_read_rows(std::uint32_t phase, Index entry, Index reader);
  // Whether a run does not happen again from a milestone on, because something that comes after all its runs has run.
  [[nodiscard]] bool never_again(std::uint32_t phase, Index run) const;
  [[nodiscard]] bool has_variables(std::size_t phase, Index node) const { return number_[phase][node] != kNone; }
  [[nodiscard]] bool has_ran(std::size_t phase, Index run) const {
    return has_variables(phase, run) && side_[phase][run] == Side::aside;
  }
  [[nodiscard]] NodeId owner(NodeId entry) const { return NodeId(problem_.owner(entry.value())); }
  // Adds factor * ran(phase, node) to the left side.
  void add_ran(Inequality& inequality, std::uint32_t phase, NodeId node, std::int64_t factor) const;
  [[nodiscard]] std::size_t last_phase_of(Index node, std::size_t phase) const;
  [[nodiscard]] Inequality memory(std::uint32_t phase) const;
  [[nodiscard]] Inequality kept_or_rerun(const PhaseRow& row, std::size_t last) const;
  [[nodiscard]] Inequality between_ran(const PhaseRow& row) const;

  const RunProblem& problem_;
  std::vector<Index> milestones_;
  bool with_aside_;
  std::vector<std::int64_t> reserved_;
  bool has_aside_ = false;
  std::vector<PhaseVariable> variables_;          // those of a node and phase are neighbors, in the order of PhaseKind
  std::vector<std::vector<std::size_t>> number_;  // by phase and node: the number of its keep variable, or kNone
  std::vector<std::vector<Side>> side_;           // by phase and run
  std::vector<PhaseRow> rows_;
  int shift_ = 0;
  std::int64_t unit_ = 0;  // every cost is a multiple of it
};

}  // namespace lowtide::budget_internal
