// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "lowtide/allocate/exact/exact_problem.h"
#include "lowtide/allocate/improve/descent.h"
#include "lowtide/allocate/problem/compressed.h"
#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/problem/effort.h"
#include "lowtide/allocate/problem/goal.h"
#include "lowtide/allocate/problem/incumbent.h"
#include "lowtide/allocate/problem/named_conflicts.h"
#include "lowtide/allocate/strategies/tiers.h"

namespace lowtide {

// The strategies behind the first one, in phases whose efforts double. In each phase: greedy orders that have not been
// tried, as far as they fit in; the exact search, at the target and between target and best; sizes in tiers; ejection.
// What a phase does depends on its own effort and on what came before it, never on where the whole ends.
class Portfolio {
 public:
  enum class Tiering : std::uint8_t { on, off };

  // References must outlive the portfolio.
  Portfolio(const CompressedProblem& problem, NamedConflicts named, Goal& goal, Incumbent& best, Effort& effort,
            int threads, Tiering tiering = Tiering::on);

  // Until the goal is met or the effort ends; if nothing can meet it, one phase.
  void run();

  // The bytes between the bound and the best, where they lie in one unit: the padding of what is on top. Little effort,
  // since nobody misses them but who wants to know the least height.
  void lower_within_unit();

  // Decisions of the exact search.
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }

 private:
  void prepare();
  const SearchTask* task();
  void prepare_sets();
  void search_target(std::optional<Descent>& descent, std::int64_t limit);
  void search_between(std::optional<Descent>& descent, std::int64_t limit);
  void run_phase(std::int64_t limit);
  void try_greedy_orders(std::int64_t limit);
  void try_tiers(std::int64_t limit);
  void eject(std::int64_t limit);
  void search_target(std::int64_t limit);
  void search_between(std::int64_t limit);
  [[nodiscard]] bool is_over() const { return goal_.is_met(best_.height()) || effort_.exhausted(); }

  const CompressedProblem& problem_;
  Goal& goal_;
  Incumbent& best_;
  Effort& effort_;
  int threads_;
  Tiering tiering_;
  std::int64_t pairs_ = 0;
  std::optional<ConflictGraph> graph_;  // where there is room for one
  std::optional<CliqueCover> cover_;    // until `exact_` takes it
  std::optional<ExactProblem> exact_;
  std::optional<Descent> descent_;
  std::unique_ptr<ExactProblem> sets_;  // the same problem for the other search
  std::optional<Descent> sets_descent_;
  std::optional<Tiers> tiers_;
  std::size_t next_order_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace lowtide
