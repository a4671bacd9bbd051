// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/budget/run_replay.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/checked.h"

namespace lowtide::verify_internal {
namespace {

std::string number_of(NodeId node) { return std::to_string(node.value()); }

std::string listed_numbers(const std::vector<NodeId>& nodes) {
  constexpr std::size_t kMostShown = 20;
  std::string text;
  for (std::size_t at = 0; at < nodes.size() && at < kMostShown; ++at)
    text += (at == 0 ? "" : " ") + number_of(nodes[at]);
  if (nodes.empty()) return "none";
  return text + (nodes.size() > kMostShown ? " ..." : "");
}

}  // namespace

RunReplay::RunReplay(const BudgetProblem& problem, const std::vector<NodeId>& runs, Findings& findings, Fetched fetched)
    : problem_(problem),
      runs_(runs),
      findings_(findings),
      fetched_(fetched),
      storage_(problem),
      writer_(problem.nodes.size()),
      parts_(problem.nodes.size()),
      later_writers_(problem.nodes.size()),
      first_(problem.nodes.size()),
      latest_(problem.nodes.size()),
      content_(problem.nodes.size()),
      needs_(runs.size() + 1),
      fetched_needs_(runs.size() + 1) {}

bool RunReplay::report(ViolationKind kind, std::string message) {
  findings_.add(kind, std::move(message));
  return false;
}

std::string RunReplay::run_name(std::size_t at) const {
  return "run " + std::to_string(at) + " of node " + number_of(runs_[at]);
}

bool RunReplay::is_copied(NodeId entry) const {
  return fetched_ == Fetched::copies && problem_.nodes[entry].fetched_over.has_value();
}

void RunReplay::find_writers() {
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    const BudgetNode& node = problem_.nodes[id];
    if (node.overwrites) writer_[storage_.of(*node.overwrites)] = node.part_of.value_or(id);
    if (node.part_of) parts_[*node.part_of].push_back(id);
    if (node.is_state) make(0, id);
  }
  for (const BeforeEdge& edge : problem_.before) later_writers_[edge.reader].push_back(edge.writer);
}

bool RunReplay::replay() {
  find_writers();
  for (std::size_t at = 0; at < runs_.size(); ++at) {
    if (!check_kind(at)) return false;
    const BudgetNode& node = problem_.nodes[runs_[at]];
    for (NodeId entry : node.reads) {
      if (!read_bytes(at, entry)) return false;
    }
    if (!check_order(at)) return false;
    write(at);
    cost_ = must_add(cost_, node.cost);
  }
  return check_end() && check_groups();
}

bool RunReplay::check_kind(std::size_t at) {
  const std::string run = "run " + std::to_string(at);
  if (!problem_.nodes.contains(runs_[at])) {
    return report(ViolationKind::malformed, run + " is of a node that does not exist");
  }
  const BudgetNode& node = problem_.nodes[runs_[at]];
  if (node.part_of) {
    return report(ViolationKind::malformed, run + " is of node " + number_of(runs_[at]) + ", which is a part of node " +
                                                number_of(*node.part_of) + " and never made alone");
  }
  if (node.view_of) {
    return report(ViolationKind::malformed, run + " is of node " + number_of(runs_[at]) + ", which is a view of node " +
                                                number_of(*node.view_of) + " and never runs");
  }
  if (node.is_state) {
    return report(ViolationKind::malformed,
                  run + " is of node " + number_of(runs_[at]) + ", which is a state and never runs");
  }
  if (is_copied(runs_[at])) {
    return report(ViolationKind::malformed,
                  run + " is of node " + number_of(runs_[at]) + ", which is fetched by copies beside the runs");
  }
  if (node.runs_once && latest_[runs_[at]]) {
    return report(ViolationKind::repeated_step, run_name(at) + " is the second one, and it must run only once");
  }
  return true;
}

bool RunReplay::read_bytes(std::size_t at, NodeId entry) {
  const NodeId storage = storage_.of(entry);
  const std::optional<NodeId> writer = writer_[storage];
  if (is_copied(storage)) {
    fetched_needs_[at].push_back(storage);
  } else if (!content_[storage]) {
    return report(ViolationKind::data_flow,
                  run_name(at) + " reads node " + number_of(entry) + ", which has not run yet");
  } else {
    Content& content = contents_[*content_[storage]];
    if (content.overwritten) {
      return report(ViolationKind::clobbered, run_name(at) + " reads node " + number_of(entry) + ", whose bytes " +
                                                  run_name(*content.overwritten) + " has overwritten");
    }
    content.last_use = at;
    needs_[at].push_back(*content_[storage]);
  }
  // The bytes may have been made again since then, but only for the writer.
  if (writer && *writer != runs_[at] && first_[*writer]) {
    return report(ViolationKind::data_flow, run_name(at) + " reads node " + number_of(entry) +
                                                ", and must come before " + run_name(*first_[*writer]) +
                                                ", which overwrites it");
  }
  return true;
}

bool RunReplay::check_order(std::size_t at) {
  for (NodeId writer : later_writers_[runs_[at]]) {
    if (!first_[writer]) continue;
    return report(ViolationKind::data_flow, run_name(at) + " must come before " + run_name(*first_[writer]));
  }
  return true;
}

void RunReplay::write(std::size_t at) {
  const NodeId run = runs_[at];
  spoil(at, run);
  for (NodeId part : parts_[run]) spoil(at, part);
  make(at, run);
  for (NodeId part : parts_[run]) make(at, part);
  if (!first_[run]) first_[run] = at;
  latest_[run] = at;
}

// The bytes over which an output is written have lost their content.
void RunReplay::spoil(std::size_t at, NodeId entry) {
  if (!problem_.nodes[entry].overwrites) return;
  const std::optional<std::size_t> old = content_[storage_.of(*problem_.nodes[entry].overwrites)];
  if (old) contents_[*old].overwritten = at;
}

void RunReplay::make(std::size_t at, NodeId entry) {
  content_[entry] = contents_.size();
  contents_.push_back({.entry = entry, .made = at, .last_use = at});
}

bool RunReplay::check_end() {
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    if (problem_.nodes[id].is_run() && !is_copied(id) && !latest_[id]) {
      return report(ViolationKind::missing_step, "node " + number_of(id) + " never runs");
    }
  }
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    if (!problem_.nodes[id].is_output) continue;
    const NodeId storage = storage_.of(id);
    if (is_copied(storage)) {
      fetched_needs_.back().push_back(storage);
      continue;
    }
    Content& content = contents_[*content_[storage]];
    if (content.overwritten) {
      return report(ViolationKind::output_lost, run_name(*content.overwritten) + " has overwritten the bytes of node " +
                                                    number_of(id) + ", which is an output");
    }
    content.last_use = runs_.size();
    needs_.back().push_back(*content_[storage]);
  }
  return true;
}

bool RunReplay::check_groups() {
  IdVector<NodeId, std::optional<std::size_t>> group_of(problem_.nodes.size());
  for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
    for (NodeId id : problem_.groups[group]) group_of[id] = group;
  }
  std::vector<std::vector<NodeId>> runs_of(problem_.groups.size());
  for (NodeId run : runs_) {
    if (group_of[run]) runs_of[*group_of[run]].push_back(run);
  }
  for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
    const std::vector<NodeId>& agreed = problem_.groups[group];
    const std::vector<NodeId>& found = runs_of[group];
    if (found == agreed) continue;
    const auto [here, there] = std::mismatch(found.begin(), found.end(), agreed.begin(), agreed.end());
    return report(ViolationKind::data_flow, "the runs of group " + std::to_string(group) +
                                                " are not its agreed sequence: at place " +
                                                std::to_string(here - found.begin()) + ", they go on with " +
                                                listed_numbers({here, found.end()}) + ", and it goes on with " +
                                                listed_numbers({there, agreed.end()}));
  }
  return true;
}

std::vector<Bytes> RunReplay::fixed_loads() const {
  std::vector<Bytes> changes(runs_.size() + 2);
  for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
    const BudgetNode& node = problem_.nodes[id];
    if (node.is_state) changes[0] += node.size;
    if (!first_[id] || *first_[id] == *latest_[id]) continue;
    changes[*first_[id]] += node.seed;
    changes[*latest_[id] + 1] -= node.seed;
  }
  std::vector<Bytes> loads;
  Bytes live;
  for (std::size_t at = 0; at <= runs_.size(); ++at) {
    live += changes[at];
    loads.push_back(at < runs_.size() ? live + problem_.nodes[runs_[at]].extra : live);
  }
  return loads;
}

std::vector<Bytes> RunReplay::loads() const {
  std::vector<Bytes> loads = fixed_loads();
  std::vector<Bytes> changes(runs_.size() + 2);
  for (const Content& content : contents_) {
    const BudgetNode& node = problem_.nodes[content.entry];
    if (node.is_state) continue;
    changes[content.made] += node.size;
    changes[content.last_use + 1] -= node.size;
  }
  Bytes live;
  for (std::size_t at = 0; at <= runs_.size(); ++at) {
    live += changes[at];
    loads[at] += live;
  }
  return loads;
}

}  // namespace lowtide::verify_internal
