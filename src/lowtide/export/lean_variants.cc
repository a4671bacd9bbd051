// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/lean_variants.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/export/sum_parts.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/pipeline/swap_budget.h"

namespace lowtide::export_internal {
namespace {

// In a branch, what waits for a node of the other branch never runs.
Result<void> check_branches(const std::vector<DefNode>& nodes, const std::vector<CostedNodeOfRun>& costed) {
  for (const CostedNodeOfRun& one : costed) {
    const DefNode& node = nodes[one.node];
    if (!node.op.ends_with("Switch") && !node.op.ends_with("Merge") && node.op != "_SwitchN") continue;
    return Error{ErrorCode::unsupported,
                 "the graph has branches, and nodes of a branch that is not taken cannot have a place in an order; the "
                 "planner grappler takes such graphs",
                 shown_node(node.name, node.op)};
  }
  return {};
}

Result<void> check_cost(const PlainRun& run) {
  std::int64_t total = 0;
  for (std::int64_t cost : run.costs) {
    const std::optional<std::int64_t> sum = checked_add(total, cost);
    if (!sum || *sum > kMaxTotalCost) {
      return Error{ErrorCode::over_limit,
                   "a run takes more than " + std::to_string(kMaxTotalCost) + " ns (kMaxTotalCost) on this device", ""};
    }
    total = *sum;
  }
  return {};
}

bool is_better(const Variant& a, const Variant& b) {
  const bool a_keeps = a.answer.outcome == BudgetOutcome::found;
  const bool b_keeps = b.answer.outcome == BudgetOutcome::found;
  if (a_keeps != b_keeps) return a_keeps;
  if (!a_keeps) return a.peak + a.plain.resident < b.peak + b.plain.resident;
  return a.answer.cost < b.answer.cost;
}

// By name, where the node last runs in the sequence. What is resident is there first.
std::unordered_map<std::string, std::int64_t> last_runs(const Variant& variant) {
  std::unordered_map<std::string, std::int64_t> all;
  for (std::size_t at = 0; at < variant.sequence.runs.size(); ++at) {
    const auto node = variant.plain.origins[variant.sequence.runs[at]].node;
    if (node) all[variant.nodes[*node].name] = static_cast<std::int64_t>(at) + 1;
  }
  return all;
}

}  // namespace

LeanPlanner::LeanPlanner(const LeanGraphDefOptions& options, std::uint32_t device)
    : options_(options), device_(device), target_(dense_target()) {
  for (Region& region : target_.machine.regions) region.alignment = Bytes(1);
}

std::int64_t LeanPlanner::memory() const { return options_.cluster.devices[device_].memory_bytes; }

Result<Variant> LeanPlanner::plan(std::vector<DefNode> nodes, std::vector<std::string> sums) const {
  const Result<std::vector<DefNode>> shaped = with_shapes(nodes, options_.shapes);
  if (!shaped) return shaped.error();
  Result<std::vector<CostedNodeOfRun>> costed = cost_nodes(*shaped, options_.cluster, options_.ends);
  if (!costed) return costed.error();
  LOWTIDE_RETURN_IF_ERROR(check_branches(nodes, *costed));
  Result<PlainRun> plain = make_plain_run(*costed, device_);
  if (!plain) return plain.error();
  LOWTIDE_RETURN_IF_ERROR(check_cost(*plain));
  Variant variant{.nodes = std::move(nodes),
                  .sums = std::move(sums),
                  .costed = *std::move(costed),
                  .plain = *std::move(plain),
                  .sequence = {},
                  .answer = {},
                  .peak = {},
                  .floor = {}};
  LOWTIDE_RETURN_IF_ERROR(options_.link && memory() > 0 ? swap(variant) : keep(variant));
  return variant;
}

// The memory for what is not resident.
Bytes LeanPlanner::budget_of(const PlainRun& run) const {
  Bytes all;
  for (const Tensor& tensor : run.graph.tensors()) all += tensor.size;
  if (memory() == 0) return all;
  return std::clamp(Bytes(memory()) - run.resident, Bytes(0), std::max(all, Bytes(0)));
}

OrderOptions LeanPlanner::order_options() const {
  OrderOptions options;
  options.effort = options_.effort.value_or(options.effort);
  return options;
}

Result<void> LeanPlanner::keep(Variant& variant) const {
  const PlainRun& run = variant.plain;
  const Result<KeptBudget> kept =
      keep_budget(run.graph, run.costs, target_,
                  {.order = order_options(), .budget = budget_of(run), .effort = options_.effort, .hints = run.hints});
  if (!kept) return kept.error();
  const BudgetAnswer& answer = kept->answer;
  variant.sequence = {.runs = answer.runs, .transfers = {}};
  variant.answer = {
      .outcome = answer.outcome, .cost = answer.cost, .base_cost = answer.base_cost, .cost_bound = answer.cost_bound};
  variant.peak = answer.peak;
  variant.floor = kept->ordered.bound;
  return {};
}

Result<void> LeanPlanner::swap(Variant& variant) const {
  const PlainRun& run = variant.plain;
  SwapOptions options{.order = order_options(), .budget = budget_of(run), .link = *options_.link};
  options.effort = options_.effort.value_or(options.effort);
  options.hints = run.hints;
  const Result<SwappedBudget> swapped = swap_budget(run.graph, run.costs, target_, options);
  if (!swapped) return swapped.error();
  const SwapAnswer& answer = swapped->answer;
  const bool moves_fetched = std::ranges::any_of(answer.transfers, [&](const Transfer& transfer) {
    return swapped->problem.nodes[answer.runs[transfer.run]].is_output;
  });
  // The search with the link spends little on reruns alone.
  LOWTIDE_RETURN_IF_ERROR(keep(variant));
  const bool is_kept = variant.answer.outcome == BudgetOutcome::found;
  const bool is_swapped = answer.outcome == BudgetOutcome::found && !moves_fetched;
  variant.answer.cost_bound = answer.time_bound;
  if (answer.outcome == BudgetOutcome::infeasible) variant.answer.outcome = BudgetOutcome::infeasible;
  if (variant.answer.outcome == BudgetOutcome::infeasible && answer.outcome != BudgetOutcome::infeasible) {
    variant.answer.outcome = BudgetOutcome::not_found;
  }
  if (!is_swapped || (is_kept && variant.answer.cost <= answer.time)) return {};
  variant.sequence = {.runs = answer.runs, .transfers = answer.transfers};
  variant.answer = {
      .outcome = answer.outcome, .cost = answer.time, .base_cost = answer.base_time, .cost_bound = answer.time_bound};
  variant.peak = answer.peak;
  return {};
}

bool has_room(const Variant& variant) {
  return variant.answer.outcome != BudgetOutcome::found || variant.answer.cost > variant.answer.base_cost;
}

Result<Variant> best_variant(const LeanPlanner& planner, Variant whole) {
  std::vector<bool> is_needed(whole.nodes.size(), false);
  for (const CostedNodeOfRun& one : whole.costed) is_needed[one.node] = true;
  const auto made_at = last_runs(whole);
  const auto by_run = [&](const std::string& node) {
    const auto found = made_at.find(node);
    return found == made_at.end() ? 0 : found->second;
  };
  const auto as_listed = [](const std::string& /*node*/) { return 0; };
  const std::vector<DefNode> given = whole.nodes;
  const std::int64_t base_cost = whole.answer.base_cost;
  std::int64_t bound = whole.answer.cost_bound;
  bool is_infeasible = whole.answer.outcome == BudgetOutcome::infeasible;
  Variant best = std::move(whole);
  bool has_parts = false;
  for (const std::function<std::int64_t(const std::string&)>& rank :
       {std::function<std::int64_t(const std::string&)>(as_listed),
        std::function<std::int64_t(const std::string&)>(by_run)}) {
    export_internal::SumParts parts = export_internal::split_sums(given, is_needed, rank);
    if (parts.sums.empty()) break;
    has_parts = true;
    Result<Variant> split = planner.plan(std::move(parts.nodes), std::move(parts.sums));
    if (!split) return split.error();
    const bool cannot = split->answer.outcome == BudgetOutcome::infeasible;
    if (!cannot) bound = is_infeasible ? split->answer.cost_bound : std::min(bound, split->answer.cost_bound);
    is_infeasible = is_infeasible && cannot;
    if (is_better(*split, best)) best = *std::move(split);
  }
  best.answer.base_cost = base_cost;
  best.answer.tries_parts = has_parts;
  best.answer.cost_bound = std::max(bound, base_cost);
  if (best.answer.outcome == BudgetOutcome::infeasible && !is_infeasible) {
    best.answer.outcome = BudgetOutcome::not_found;
  }
  return best;
}

}  // namespace lowtide::export_internal
