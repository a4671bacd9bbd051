// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/entry_facts.h"

#include <algorithm>
#include <optional>

namespace lowtide::verify_internal {
namespace {

void make_ascending(std::vector<NodeId>& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

EntryFacts::EntryFacts(const BudgetProblem& problem)
    : problem_(problem),
      storage_(problem),
      parts_(problem.nodes.size()),
      reads_(problem.nodes.size()),
      readers_(problem.nodes.size()),
      earlier_(problem.nodes.size()),
      writers_after_(problem.nodes.size()),
      agreed_runs_(problem.nodes.size()),
      updates_state_(problem.nodes.size()) {
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    const BudgetNode& node = problem.nodes[id];
    if (node.is_state) states_ += node.size;
    if (node.part_of) parts_[*node.part_of].push_back(id);
    if (node.overwrites && storage_.is_in_state(id)) updates_state_.set(maker(id));
    if (node.is_output && is_made(storage_.of(id))) outputs_.push_back(storage_.of(id));
    for (NodeId read : node.reads) {
      if (is_made(storage_.of(read))) reads_[id].push_back(storage_.of(read));
    }
    make_ascending(reads_[id]);
    for (NodeId read : reads_[id]) readers_[read].push_back(id);
  }
  make_ascending(outputs_);
  find_order();
}

void EntryFacts::find_order() {
  IdVector<NodeId, std::vector<NodeId>> all_readers(problem_.nodes.size());  // also of states
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    for (NodeId read : problem_.nodes[id].reads) all_readers[storage_.of(read)].push_back(id);
  }
  const auto add = [&](NodeId reader, NodeId writer) {
    earlier_[writer].push_back(reader);
    writers_after_[reader].push_back(writer);
  };
  for (NodeId writer : all_ids<NodeId>(problem_.nodes.size())) {
    const std::optional<NodeId> overwritten = problem_.nodes[writer].overwrites;
    if (!overwritten) continue;
    for (NodeId reader : all_readers[storage_.of(*overwritten)]) {
      if (reader != maker(writer)) add(reader, maker(writer));
    }
  }
  for (const BeforeEdge& edge : problem_.before) add(edge.reader, edge.writer);
  for (const std::vector<NodeId>& group : problem_.groups) {
    std::optional<NodeId> last;
    for (NodeId id : group) {
      if (++agreed_runs_[id] > 1) continue;
      if (last) earlier_[id].push_back(*last);
      last = id;
    }
  }
}

bool EntryFacts::happens_once(NodeId run) const {
  return problem_.nodes[run].runs_once || agreed_runs_[run] == 1 || updates_state_.test(run);
}

bool EntryFacts::reads(NodeId run, NodeId entry) const {
  return problem_.nodes.contains(run) && std::binary_search(reads_[run].begin(), reads_[run].end(), entry);
}

bool EntryFacts::is_output(NodeId entry) const { return std::binary_search(outputs_.begin(), outputs_.end(), entry); }

Bytes EntryFacts::taken_by(NodeId run) const {
  Bytes taken = problem_.nodes[run].size + problem_.nodes[run].extra;
  for (NodeId part : parts_[run]) taken += problem_.nodes[part].size;
  return taken;
}

}  // namespace lowtide::verify_internal
