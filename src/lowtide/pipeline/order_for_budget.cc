// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/order_for_budget.h"

#include <algorithm>
#include <utility>

namespace lowtide::pipeline_internal {
namespace {

constexpr std::int64_t kFirstEffort = 1'000'000'000;  // about a second

}  // namespace

Result<OrderedGraph> order_for_budget(const Graph& graph, const Target& target, const BudgetOrderOptions& options) {
  OrderOptions first = options.order;
  first.effort = std::min(first.effort, kFirstEffort);
  first.enough = options.budget;
  first.near_share = kNearShare;
  Result<OrderedGraph> ordered = order_graph(graph, target, first);
  if (!ordered || ordered->load <= options.budget || options.budget < ordered->bound) return ordered;
  OrderOptions longer = options.order;
  longer.effort = std::min(longer.effort, options.effort);
  if (longer.effort <= first.effort) return ordered;
  longer.enough = options.budget;
  Result<OrderedGraph> better = order_graph(graph, target, longer);
  if (!better) return better;
  if (better->load <= options.budget) return better;
  if (better->bound > ordered->bound) {
    ordered->bound = better->bound;
    ordered->bound_name = std::move(better->bound_name);
  }
  return ordered;
}

}  // namespace lowtide::pipeline_internal
