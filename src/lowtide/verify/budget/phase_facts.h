// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/plan/budget_problem.h"
#include "lowtide/verify/budget/entry_facts.h"

namespace lowtide::verify_internal {

// An inequality: the sum of the terms is at least `least`.
struct PhaseInequality {
  std::vector<std::pair<PhaseVariable, std::int64_t>> terms;
  std::int64_t least = 0;
};

// What must run before and after each milestone, and the inequalities that follow (plan/cost_proof.h). Each entry with
// bytes has `keep`, and each run has `rerun` and `ran`, also for its parts.
class PhaseFacts {
 public:
  // At most 64 milestones. Otherwise, or if one need not run before the next, `problem()` says so.
  PhaseFacts(const BudgetProblem& problem, const std::vector<NodeId>& milestones);

  [[nodiscard]] const std::optional<std::string>& problem() const { return fault_; }
  [[nodiscard]] std::size_t phases() const { return milestones_.size(); }
  // Whether a sequence has a value for this variable.
  [[nodiscard]] bool has(const PhaseVariable& variable) const;
  // The value of a variable in all sequences, if it is known. What must run before or after a milestone follows not
  // only from what runs read, but also from `overwrites`, `before` and groups.
  [[nodiscard]] std::optional<std::int64_t> known(const PhaseVariable& variable) const;
  // Returns nullopt if the row does not hold for all sequences.
  [[nodiscard]] std::optional<PhaseInequality> inequality(const PhaseRow& row) const;

 private:
  // Whether a run does not happen again in this phase.
  [[nodiscard]] bool never_again(std::uint32_t phase, NodeId run) const;
  // The last phase in which the first run of a node can be. Requires: it is after milestone `phase`.
  [[nodiscard]] std::size_t last_phase_of(NodeId node, std::size_t phase) const;
  // Whether a node need not run before or after a milestone.
  [[nodiscard]] bool is_aside(std::uint32_t phase, NodeId node) const;
  // Adds factor * ran(phase, node) to the left side of an inequality. It is a number unless the node is aside.
  void add_ran(PhaseInequality& inequality, std::uint32_t phase, NodeId node, std::int64_t factor) const;
  [[nodiscard]] PhaseInequality memory(std::uint32_t phase) const;
  [[nodiscard]] std::optional<PhaseInequality> need(const PhaseRow& row) const;
  [[nodiscard]] std::optional<PhaseInequality> carry(const PhaseRow& row) const;
  [[nodiscard]] std::optional<PhaseInequality> between_ran(const PhaseRow& row) const;
  [[nodiscard]] PhaseInequality kept_or_rerun(const PhaseRow& row, std::size_t last) const;

  const BudgetProblem& problem_;
  const std::vector<NodeId>& milestones_;
  const EntryFacts facts_;
  std::vector<Flags<NodeId>> before_;   // by milestone: its ancestors
  std::vector<Flags<NodeId>> after_;    // by milestone: its descendants
  std::vector<Flags<NodeId>> earlier_;  // by milestone: all runs that must run before it
  std::vector<Flags<NodeId>> later_;    // by milestone: all runs that must run after it
  std::optional<std::string> fault_;
};

}  // namespace lowtide::verify_internal
