// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/problem/run_problem.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"

namespace lowtide::budget_internal {

NumberRows::NumberRows(std::size_t rows, std::vector<std::pair<Index, Index>> pairs) : begin_(rows + 1, 0) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  numbers_.reserve(pairs.size());
  for (const auto& [row, number] : pairs) {
    ++begin_[row + 1];
    numbers_.push_back(number);
  }
  for (std::size_t at = 0; at < rows; ++at) begin_[at + 1] += begin_[at];
}

RunProblem::RunProblem(const BudgetProblem& problem) : budget(problem.budget.count()) {
  const EntryBytes facts(problem);
  find_entries(problem, facts);
  find_reads(problem, facts);
  find_rules(problem, facts);
  LOWTIDE_CHECK(base_cost <= kMaxTotalCost, "the costs of all nodes together are within their limit");
}

void RunProblem::find_entries(const BudgetProblem& problem, const EntryBytes& facts) {
  const std::size_t nodes = problem.nodes.size();
  std::vector<std::pair<Index, Index>> parts;
  owner_.assign(nodes, kNone);
  for (std::vector<std::int64_t>* bytes : {&size, &own_load, &cost, &seed}) bytes->assign(nodes, 0);
  is_output.assign(nodes, 0);
  runs_once.assign(nodes, 0);
  for (NodeId id : all_ids<NodeId>(nodes)) {
    const BudgetNode& node = problem.nodes[id];
    if (node.is_output) {
      const NodeId bytes = facts.bytes[id];
      if (!problem.nodes[bytes].is_state) is_output[bytes.index()] = 1;
    }
    if (node.is_state) state_bytes += node.size.count();
    if (node.is_state || node.view_of) continue;
    owner_[id.index()] = node.part_of ? node.part_of->value() : id.value();
    size[id.index()] = node.size.count();
    if (node.part_of) {
      parts.emplace_back(node.part_of->value(), id.value());
      own_load[node.part_of->index()] += node.size.count();
      continue;
    }
    ++run_count_;
    own_load[id.index()] += (node.size + node.extra).count();
    cost[id.index()] = node.cost;
    base_cost = must_add(base_cost, node.cost);
    runs_once[id.index()] = facts.happens_once.test(id) ? 1 : 0;
    seed[id.index()] = node.seed.count();
  }
  LOWTIDE_CHECK(std::all_of(own_load.begin(), own_load.end(), [](std::int64_t bytes) { return bytes >= 0; }),
                "a run takes no fewer than 0 bytes");
  budget -= state_bytes;
  parts_ = NumberRows(nodes, std::move(parts));
  slot_.assign(nodes, 0);
  for (Index run = 0; run < nodes; ++run) {
    std::uint32_t slot = 0;
    for (Index part : parts_.row(run)) slot_[part] = ++slot;
    most_parts_ = std::max<std::size_t>(most_parts_, slot);
  }
}

void RunProblem::find_reads(const BudgetProblem& problem, const EntryBytes& facts) {
  std::vector<std::pair<Index, Index>> reads;
  std::vector<std::pair<Index, Index>> readers;
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId read : problem.nodes[id].reads) {
      const Index entry = facts.bytes[read].value();
      if (owner_[entry] == kNone) continue;
      reads.emplace_back(id.value(), entry);
      readers.emplace_back(entry, id.value());
    }
  }
  inputs_ = NumberRows(problem.nodes.size(), std::move(reads));
  readers_ = NumberRows(problem.nodes.size(), std::move(readers));
}

void RunProblem::find_rules(const BudgetProblem& problem, const EntryBytes& facts) {
  const std::size_t nodes = problem.nodes.size();
  std::vector<std::pair<Index, Index>> before;  // reader and writer
  for (const BeforeEdge& edge : implied_before(problem)) before.emplace_back(edge.reader.value(), edge.writer.value());
  for (const BeforeEdge& edge : problem.before) before.emplace_back(edge.reader.value(), edge.writer.value());
  group_of_.assign(nodes, kNone);
  for (const std::vector<NodeId>& group : problem.groups) {
    const bool has_each_once = std::set<NodeId>(group.begin(), group.end()).size() == group.size();
    for (std::size_t at = 0; at < group.size(); ++at) {
      if (has_each_once) {
        runs_once[group[at].index()] = 1;
        if (at > 0) before.emplace_back(group[at - 1].value(), group[at].value());
      } else {
        group_of_[group[at].index()] = static_cast<Index>(groups_.size());
      }
    }
    if (has_each_once) continue;
    groups_.emplace_back();
    for (NodeId id : group) groups_.back().push_back(id.value());
  }
  overwriter_.assign(nodes, kNone);
  std::vector<std::pair<Index, Index>> overwritten;  // run and entry
  for (NodeId id : all_ids<NodeId>(nodes)) {
    const BudgetNode& node = problem.nodes[id];
    if (!node.overwrites || facts.state[id]) continue;
    const Index entry = facts.bytes[*node.overwrites].value();
    overwritten.emplace_back(owner_[id.index()], entry);
    overwriter_[entry] = owner_[id.index()];
  }
  is_ruled_.assign(nodes, 0);
  for (const auto& [reader, writer] : before) is_ruled_[reader] = is_ruled_[writer] = 1;
  for (const auto& [run, entry] : overwritten) is_ruled_[run] = is_ruled_[owner_[entry]] = 1;
  overwritten_ = NumberRows(nodes, std::move(overwritten));
  for (Index node = 0; node < nodes; ++node) {
    if (group_of_[node] != kNone) is_ruled_[node] = 1;
    if (runs_once[node] != 0) seed[node] = 0;
    has_seeds_ = has_seeds_ || seed[node] != 0;
    has_once_ = has_once_ || runs_once[node] != 0;
  }
  has_rules_ = std::find(is_ruled_.begin(), is_ruled_.end(), 1) != is_ruled_.end();
  std::vector<std::pair<Index, Index>> after;
  for (const auto& [reader, writer] : before) after.emplace_back(writer, reader);
  writers_ = NumberRows(nodes, std::move(before));
  before_ = NumberRows(nodes, std::move(after));
}

std::vector<std::uint32_t> positions_in(const RunProblem& problem, const Runs& order) {
  std::vector<std::uint32_t> position(problem.count(), 0);
  for (std::size_t at = 0; at < order.size(); ++at) position[order[at]] = static_cast<std::uint32_t>(at);
  return position;
}

}  // namespace lowtide::budget_internal
