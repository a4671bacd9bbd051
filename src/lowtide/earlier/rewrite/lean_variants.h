// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/run_costs.h"
#include "lowtide/earlier/rewrite/lean_answer.h"
#include "lowtide/earlier/rewrite/plain_run.h"
#include "lowtide/earlier/rewrite/written_runs.h"
#include "lowtide/pipeline/order_graph.h"
#include "lowtide/pipeline/swap_budget.h"
#include "lowtide/target/target.h"

namespace lowtide::rewrite_internal {

// A graph with all sums whole or all in parts, and its best sequence.
struct Variant {
  std::vector<DefNode> nodes;
  std::vector<std::string> sums;
  std::vector<CostedNodeOfRun> costed;
  PlainRun plain;
  RunSequence sequence;
  LeanAnswer answer;
  Bytes peak;   // without what is resident
  Bytes floor;  // the same
};

class LeanPlanner {
 public:
  // The memory of `device` counts. `options` must outlive the planner.
  LeanPlanner(const LeanGraphDefOptions& options, std::uint32_t device);

  // The best sequence of nodes; `sums` are the names of those that are in parts. Errors: those of lean_graphdef.
  [[nodiscard]] Result<Variant> plan(std::vector<DefNode> nodes, std::vector<std::string> sums) const;

 private:
  [[nodiscard]] std::int64_t memory() const;
  [[nodiscard]] Bytes budget_of(const PlainRun& run) const;
  [[nodiscard]] Result<void> solve(Variant& variant) const;
  [[nodiscard]] Result<void> solve_without_stale_reruns(Variant& variant) const;
  [[nodiscard]] OrderOptions order_options() const;
  [[nodiscard]] Result<void> keep(Variant& variant) const;
  [[nodiscard]] Result<SwappedBudget> search_with_link(const PlainRun& run) const;
  [[nodiscard]] Result<void> swap(Variant& variant) const;

  const LeanGraphDefOptions& options_;
  std::uint32_t device_;
  Target target_;
};

// Whether parts of sums could make a sequence better.
[[nodiscard]] bool has_room(const Variant& variant);

// The better one of a variant with whole sums, and those with the operands as they are listed, and as its sequence
// makes them. The claims of the answer are those that hold for all that was tried. Errors: those of the planner.
[[nodiscard]] Result<Variant> best_variant(const LeanPlanner& planner, Variant whole);

}  // namespace lowtide::rewrite_internal
