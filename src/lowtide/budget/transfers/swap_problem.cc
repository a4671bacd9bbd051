// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/transfers/swap_problem.h"

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"

namespace lowtide::budget_internal {
namespace {

// What is empty saves nothing elsewhere.
std::int64_t transfer_time(std::int64_t bytes, const TransferLink& link) {
  if (bytes == 0) return kForever;
  const Int128 whole = nanoseconds_to_move(bytes, link.bytes_per_second) + link.latency_nanoseconds;
  return whole > kMaxTime ? kForever : static_cast<std::int64_t>(whole);
}

}  // namespace

SwapProblem::SwapProblem(const BudgetProblem& problem, const TransferLink& link) : budget(problem.budget.count()) {
  const std::size_t nodes = problem.nodes.size() + 1;
  input_begin_.assign(nodes + 1, 0);
  reader_begin_.assign(nodes + 1, 0);
  const auto add_input = [&](NodeId input) {
    inputs_.push_back(input.value());
    ++reader_begin_[input.index() + 1];
  };
  std::vector<NodeId> outputs;
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    size.push_back(node.size.count());
    own_load.push_back((node.size + node.extra).count());
    runs_once.push_back(node.runs_once ? 1 : 0);
    time.push_back(must_multiply(node.cost, link.nanoseconds_per_cost));
    transfer.push_back(transfer_time(node.size.count(), link));
    base_time = must_add(base_time, time.back());
    for (NodeId input : node.reads) add_input(input);
    input_begin_[id.index() + 1] = inputs_.size();
    if (node.is_output) outputs.push_back(id);
  }
  LOWTIDE_CHECK(base_time <= kMaxTime, "the time of one run of each node is within its limit");
  for (NodeId id : outputs) add_input(id);
  input_begin_[nodes] = inputs_.size();
  size.push_back(0);
  own_load.push_back(0);
  runs_once.push_back(1);
  time.push_back(0);
  transfer.push_back(kForever);
  for (std::size_t at = 0; at < nodes; ++at) reader_begin_[at + 1] += reader_begin_[at];
  readers_.resize(inputs_.size());
  std::vector<std::size_t> next(reader_begin_.begin(), reader_begin_.end() - 1);
  for (Index node = 0; node < nodes; ++node) {
    for (Index input : inputs(node)) readers_[next[input]++] = node;
  }
}

}  // namespace lowtide::budget_internal
