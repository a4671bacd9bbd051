// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/runs/run_problem.h"

#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"

namespace lowtide::rematerialize_internal {

RunProblem::RunProblem(const BudgetProblem& problem) : budget(problem.budget.count()) {
  const std::size_t nodes = problem.nodes.size();
  input_begin_.assign(nodes + 1, 0);
  reader_begin_.assign(nodes + 1, 0);
  for (NodeId id : all_ids<NodeId>(nodes)) {
    const BudgetNode& node = problem.nodes[id];
    size.push_back(node.size.count());
    own_load.push_back((node.size + node.extra).count());
    LOWTIDE_CHECK(own_load.back() >= 0, "a run takes no fewer than 0 bytes");
    cost.push_back(node.cost);
    is_output.push_back(node.is_output ? 1 : 0);
    runs_once.push_back(node.runs_once ? 1 : 0);
    base_cost = must_add(base_cost, node.cost);
    for (NodeId input : node.reads) {
      inputs_.push_back(input.value());
      ++reader_begin_[input.index() + 1];
    }
    input_begin_[id.index() + 1] = inputs_.size();
  }
  LOWTIDE_CHECK(base_cost <= kMaxTotalCost, "the costs of all nodes together are within their limit");
  for (std::size_t at = 0; at < nodes; ++at) reader_begin_[at + 1] += reader_begin_[at];
  readers_.resize(inputs_.size());
  std::vector<std::size_t> next(reader_begin_.begin(), reader_begin_.end() - 1);
  for (Index node = 0; node < nodes; ++node) {
    for (Index input : inputs(node)) readers_[next[input]++] = node;
  }
}

Loads LoadScan::scan(const Runs& runs, std::vector<std::int64_t>* loads) {
  ++number_;
  Loads result;
  if (loads != nullptr) loads->resize(runs.size());
  std::int64_t live = 0;
  std::size_t different = 0;
  std::size_t needed = 0;
  bool is_allowed = true;
  for (RunProblem::Index node = 0; node < problem_.count(); ++node) {
    if (problem_.is_output[node] == 0) continue;
    is_needed_[node] = 1;
    live += problem_.size[node];
    ++needed;
  }
  for (std::size_t at = runs.size(); at-- > 0;) {
    const RunProblem::Index node = runs[at];
    if (is_needed_[node] != 0) {
      is_needed_[node] = 0;
      live -= problem_.size[node];
      --needed;
    }
    if (has_run_[node] != number_) {
      has_run_[node] = number_;
      ++different;
    } else if (problem_.runs_once[node] != 0) {
      is_allowed = false;
    }
    for (RunProblem::Index input : problem_.inputs(node)) {
      if (is_needed_[input] != 0) continue;
      is_needed_[input] = 1;
      live += problem_.size[input];
      ++needed;
    }
    result.cost += problem_.cost[node];
    const std::int64_t load = live + problem_.own_load[node];
    if (loads != nullptr) (*loads)[at] = load;
    if (load >= result.peak) {
      result.peak = load;
      result.peak_at = at;
    }
    if (load > problem_.budget) result.excess += static_cast<double>(load - problem_.budget);
  }
  result.is_valid = is_allowed && needed == 0 && different == problem_.count();
  if (needed != 0) std::fill(is_needed_.begin(), is_needed_.end(), char{0});
  return result;
}

}  // namespace lowtide::rematerialize_internal
