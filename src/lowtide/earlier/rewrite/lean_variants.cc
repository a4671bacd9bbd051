// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/lean_variants.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/rewrite/sum_parts.h"
#include "lowtide/pipeline/keep_budget.h"
#include "lowtide/pipeline/swap_budget.h"

namespace lowtide::rewrite_internal {
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

// By index of the node.
std::unordered_map<std::uint32_t, const CostedNodeOfRun*> costed_by_node(const Variant& variant) {
  std::unordered_map<std::uint32_t, const CostedNodeOfRun*> all;
  for (const CostedNodeOfRun& one : variant.costed) all[one.node] = &one;
  return all;
}

// Nodes that run again after a variable that they read was written.
std::set<NodeId> stale_reruns(const Variant& variant) {
  const auto costed = costed_by_node(variant);
  std::unordered_map<std::uint32_t, std::int64_t> versions;  // by variable, how often it was written
  std::map<NodeId, std::vector<std::int64_t>> first_versions;
  std::set<NodeId> stale;
  for (NodeId run : variant.sequence.runs) {
    const std::optional<std::uint32_t> node = variant.plain.origins[run].node;
    if (!node) continue;
    const CostedNodeOfRun& one = *costed.at(*node);
    std::vector<std::int64_t> now;
    for (std::uint32_t variable : one.contents) now.push_back(versions[variable]);
    const auto [found, is_first] = first_versions.try_emplace(run, now);
    if (!is_first && found->second != now) stale.insert(run);
    for (std::uint32_t variable : one.writes) ++versions[variable];
  }
  return stale;
}

std::set<NodeId> readers_of_variables(const Variant& variant) {
  const auto costed = costed_by_node(variant);
  std::set<NodeId> readers;
  for (NodeId id : all_ids<NodeId>(variant.plain.origins.size())) {
    const std::optional<std::uint32_t> node = variant.plain.origins[id].node;
    if (node && !costed.at(*node)->contents.empty()) readers.insert(id);
  }
  return readers;
}

bool moves_fetched(const SwappedBudget& swapped) {
  return std::ranges::any_of(swapped.answer.transfers, [&](const Transfer& transfer) {
    const BudgetNode& node = swapped.problem.nodes[swapped.answer.runs[transfer.run]];
    return node.is_output;
  });
}

}  // namespace

LeanPlanner::LeanPlanner(const LeanGraphDefOptions& options, std::uint32_t device)
    : options_(options), device_(device), target_(dense_target()) {
  for (Region& region : target_.machine.regions) region.alignment = Bytes(1);
}

std::int64_t LeanPlanner::memory() const { return options_.cluster.devices[device_].memory_bytes; }

Result<Variant> LeanPlanner::plan(std::vector<DefNode> nodes, std::vector<std::string> sums) const {
  LOWTIDE_TRY(const std::vector<DefNode> shaped, with_shapes(nodes, options_.shapes));
  LOWTIDE_TRY(std::vector<CostedNodeOfRun> costed, cost_nodes(shaped, options_.cluster, options_.ends));
  LOWTIDE_RETURN_IF_ERROR(check_branches(nodes, costed));
  LOWTIDE_TRY(PlainRun plain, make_plain_run(costed, device_));
  LOWTIDE_RETURN_IF_ERROR(check_cost(plain));
  Variant variant{.nodes = std::move(nodes),
                  .sums = std::move(sums),
                  .costed = std::move(costed),
                  .plain = std::move(plain),
                  .sequence = {},
                  .answer = {},
                  .peak = {},
                  .floor = {}};
  LOWTIDE_RETURN_IF_ERROR(solve_without_stale_reruns(variant));
  return variant;
}

Result<void> LeanPlanner::solve(Variant& variant) const {
  return options_.link && memory() > 0 ? swap(variant) : keep(variant);
}

// The first search lets nodes run again that then may read a variable after it was written. So its claims hold for all
// sequences. Nodes that do so run once in the next search.
Result<void> LeanPlanner::solve_without_stale_reruns(Variant& variant) const {
  constexpr int kMostRounds = 8;
  LOWTIDE_RETURN_IF_ERROR(solve(variant));
  const LeanAnswer first = variant.answer;
  std::set<NodeId> stale = stale_reruns(variant);
  for (int round = 1; !stale.empty(); ++round) {
    if (round == kMostRounds) stale = readers_of_variables(variant);  // then no rerun is left that could be stale
    for (NodeId id : stale) variant.plain.hints.push_back({.node = id, .kind = HintKind::keep});
    LOWTIDE_RETURN_IF_ERROR(solve(variant));
    if (variant.answer.outcome == BudgetOutcome::infeasible) variant.answer.outcome = first.outcome;
    if (variant.answer.outcome != BudgetOutcome::found && first.outcome == BudgetOutcome::found) {
      variant.answer.outcome = BudgetOutcome::not_found;
    }
    variant.answer.cost_bound = first.cost_bound;
    stale = stale_reruns(variant);
  }
  return {};
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
  LOWTIDE_TRY(
      const KeptBudget kept,
      keep_budget(run.graph, run.costs, target_,
                  {.order = order_options(), .budget = budget_of(run), .effort = options_.effort, .hints = run.hints}));
  const BudgetAnswer& answer = kept.answer;
  variant.sequence = {.runs = answer.runs, .transfers = {}};
  variant.answer = {
      .outcome = answer.outcome, .cost = answer.cost, .base_cost = answer.base_cost, .cost_bound = answer.cost_bound};
  variant.peak = answer.peak;
  variant.floor = kept.ordered.bound;
  return {};
}

Result<SwappedBudget> LeanPlanner::search_with_link(const PlainRun& run) const {
  SwapOptions options{.order = order_options(), .budget = budget_of(run), .link = *options_.link};
  options.effort = options_.effort.value_or(options.effort);
  options.hints = run.hints;
  return swap_budget(run.graph, run.costs, target_, options);
}

// The claims are those of the first search, which may also move fetched outputs.
Result<void> LeanPlanner::swap(Variant& variant) const {
  Result<SwappedBudget> swapped = search_with_link(variant.plain);
  if (!swapped) return swapped.error();
  const std::int64_t bound = swapped->answer.time_bound;
  const bool is_infeasible = swapped->answer.outcome == BudgetOutcome::infeasible;
  // The search with the link spends little on reruns alone.
  LOWTIDE_RETURN_IF_ERROR(keep(variant));
  const bool is_kept = variant.answer.outcome == BudgetOutcome::found;
  if (!is_kept) variant.answer.outcome = is_infeasible ? BudgetOutcome::infeasible : BudgetOutcome::not_found;
  variant.answer.cost_bound = bound;
  Bytes held;
  if (moves_fetched(*swapped)) {
    LOWTIDE_TRY(PlainRun holding, make_plain_run(variant.costed, device_, true));
    holding.hints = variant.plain.hints;
    swapped = search_with_link(holding);
    if (!swapped) return swapped.error();
    held = holding.resident - variant.plain.resident;
  }
  const SwapAnswer& answer = swapped->answer;
  const bool is_swapped = answer.outcome == BudgetOutcome::found && !moves_fetched(*swapped);
  if (!is_swapped || (is_kept && variant.answer.cost <= answer.time)) return {};
  variant.sequence = {.runs = answer.runs, .transfers = answer.transfers};
  variant.answer = {.outcome = answer.outcome, .cost = answer.time, .base_cost = answer.base_time, .cost_bound = bound};
  variant.peak = answer.peak + held;
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
    rewrite_internal::SumParts parts = rewrite_internal::split_sums(given, is_needed, rank);
    if (parts.sums.empty()) break;
    has_parts = true;
    LOWTIDE_TRY(Variant split, planner.plan(std::move(parts.nodes), std::move(parts.sums)));
    const bool cannot = split.answer.outcome == BudgetOutcome::infeasible;
    if (!cannot) bound = is_infeasible ? split.answer.cost_bound : std::min(bound, split.answer.cost_bound);
    is_infeasible = is_infeasible && cannot;
    if (is_better(split, best)) best = std::move(split);
  }
  best.answer.base_cost = base_cost;
  best.answer.tries_parts = has_parts;
  best.answer.cost_bound = std::max(bound, base_cost);
  if (best.answer.outcome == BudgetOutcome::infeasible && !is_infeasible) {
    best.answer.outcome = BudgetOutcome::not_found;
  }
  return best;
}

}  // namespace lowtide::rewrite_internal
