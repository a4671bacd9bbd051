// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/strategies/context.h"

#include <algorithm>
#include <utility>

#include "lowtide/allocate/problem/conflict_graph.h"
#include "lowtide/allocate/tuning.h"

namespace lowtide::allocate_internal {
namespace {

bool is_worth_a_graph(const CompressedProblem& problem, std::int64_t pairs) {
  const std::size_t buffers = problem.movable.size() + problem.fixed.size();
  if (buffers <= tuning::kGraphManyBuffers) return pairs <= tuning::kGraphMostPairs;
  return pairs <= tuning::kGraphMostPairsPerBuffer * static_cast<std::int64_t>(buffers);
}

}  // namespace

void StrategyContext::prepare() {
  pairs = count_overlapping_pairs(problem);
  if (const SearchTask* task = exact_task()) {
    descent.emplace(problem, *task, stopping.bound(), stopping.target(), threads);
  }
}

const ConflictGraph* StrategyContext::graph() {
  if (!facts.graph && is_worth_a_graph(problem, pairs)) facts.graph = conflict_graph(problem, effort);
  return facts.graph ? &*facts.graph : nullptr;
}

const SearchTask* StrategyContext::exact_task() {
  if (!exact) exact.emplace(problem, std::move(facts.cover), effort);
  return exact->task();
}

void StrategyContext::search_target(Descent* with, std::int64_t limit) {
  if (with == nullptr || stopping.is_infeasible()) return;
  const std::int64_t before = with->nodes();
  with->try_target(best, limit, effort);
  stopping.raise(with->bound());
  decisions += with->nodes() - before;
}

void StrategyContext::search_between(Descent* with, std::int64_t limit) {
  if (stopping.has_capacity()) return search_target(with, limit);
  if (with == nullptr) return;
  const std::int64_t before = with->nodes();
  const std::int64_t last = effort.spent + std::min(limit, effort.left());
  while (!is_over() && effort.spent < last) {
    with->step(best, effort);
    stopping.raise(with->bound());
  }
  decisions += with->nodes() - before;
}

}  // namespace lowtide::allocate_internal
