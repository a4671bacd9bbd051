// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/budget_problem.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace plan_internal {
namespace {

// By entry: where a chain of links from it ends. O(count): each entry is walked over once.
template <typename LinkOf>
IdVector<NodeId, NodeId> ends_of(std::size_t count, LinkOf link_of) {
  IdVector<NodeId, NodeId> ends;
  for (NodeId id : all_ids<NodeId>(count)) ends.push_back(NodeId(id));
  Flags<NodeId> is_known(count);
  std::vector<NodeId> chain;
  for (NodeId id : all_ids<NodeId>(count)) {
    NodeId at = id;
    while (is_known.insert(at)) {
      chain.push_back(at);
      const std::optional<NodeId> next = link_of(at);
      if (!next) break;
      at = *next;
    }
    for (NodeId passed : chain) ends[passed] = ends[at];
    chain.clear();
  }
  return ends;
}

// Checks the entries one by one first, so that the later checks can follow every id.
class ProblemCheck {
 public:
  ProblemCheck(const BudgetProblem& problem, const IdVector<NodeId, std::string>& names)
      : problem_(problem), names_(names) {}

  Result<void> check() {
    if (problem_.budget < Bytes(0)) return invalid("the budget is negative");
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) LOWTIDE_RETURN_IF_ERROR(check_entry(id));
    LOWTIDE_RETURN_IF_ERROR(check_sums());
    LOWTIDE_RETURN_IF_ERROR(check_extras());
    LOWTIDE_RETURN_IF_ERROR(check_before());
    LOWTIDE_RETURN_IF_ERROR(check_groups());
    implied_ = implied_before(problem_);
    LOWTIDE_RETURN_IF_ERROR(check_cycles());
    const EntryBytes facts(problem_);
    LOWTIDE_RETURN_IF_ERROR(check_overwritten(facts));
    LOWTIDE_RETURN_IF_ERROR(check_order_of_groups(facts, problem_.before));
    return check_order_of_groups(facts, implied_);
  }

 private:
  static Error invalid(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }
  [[nodiscard]] std::string name(NodeId id) const {
    return id.index() < names_.size() ? quoted(names_[id]) : std::to_string(id.value());
  }
  [[nodiscard]] Error wrong(NodeId id, const std::string& what) const {
    return invalid("node " + name(id) + " " + what);
  }

  Result<void> check_entry(NodeId id) const {
    const BudgetNode& node = problem_.nodes[id];
    const auto is_missing = [&](NodeId other) { return !problem_.nodes.contains(other); };
    for (std::optional<NodeId> other : {node.part_of, node.view_of, node.overwrites}) {
      if (other && is_missing(*other)) return wrong(id, "names a node that does not exist");
      if (other == id) return wrong(id, "names itself");
    }
    if (std::any_of(node.reads.begin(), node.reads.end(), is_missing))
      return wrong(id, "reads a node that does not exist");
    if (std::find(node.reads.begin(), node.reads.end(), id) != node.reads.end()) return wrong(id, "reads itself");
    if (std::adjacent_find(node.reads.begin(), node.reads.end(), std::greater_equal<>()) != node.reads.end()) {
      return wrong(id, "has reads that do not ascend");
    }
    if (node.size < Bytes(0) || node.seed < Bytes(0)) return wrong(id, "has a negative size");
    if (node.cost < 0 || node.cost > kMaxTotalCost)
      return wrong(id, "has a cost outside [0, 2^50 - 1] (kMaxTotalCost)");
    return node.is_run() ? check_run(id) : check_name(id);
  }

  // A part, a view or a state.
  Result<void> check_name(NodeId id) const {
    const BudgetNode& node = problem_.nodes[id];
    if ((node.part_of ? 1 : 0) + (node.view_of ? 1 : 0) + (node.is_state ? 1 : 0) != 1) {
      return wrong(id, "is more than one of a part, a view and a state");
    }
    if (!node.reads.empty() || node.cost != 0 || node.extra != Bytes(0) || node.seed != Bytes(0) || node.runs_once ||
        (node.overwrites && !node.part_of) || node.fetched_over) {
      return wrong(id,
                   "never runs, because it is a part, a view or a state; so it reads nothing, has no cost, scratch or "
                   "seed, and overwrites nothing unless it is a part");
    }
    if (node.part_of && !problem_.nodes[*node.part_of].is_run()) {
      return wrong(id, "is a part of node " + name(*node.part_of) + ", which never runs");
    }
    if (node.overwrites) LOWTIDE_RETURN_IF_ERROR(check_reads_overwritten(id));
    if (node.view_of && node.size != Bytes(0)) {
      return wrong(id,
                   "is a view, which has no bytes of its own, and its size is " + std::to_string(node.size.count()));
    }
    return {};
  }

  Result<void> check_reads_overwritten(NodeId id) const {
    const NodeId overwritten = *problem_.nodes[id].overwrites;
    const CompactVector<NodeId>& reads = problem_.nodes[problem_.nodes[id].part_of.value_or(id)].reads;
    if (std::binary_search(reads.begin(), reads.end(), overwritten)) return {};
    return wrong(id, "overwrites node " + name(overwritten) + " and does not read it");
  }

  Result<void> check_run(NodeId id) const {
    const BudgetNode& node = problem_.nodes[id];
    if (node.overwrites) LOWTIDE_RETURN_IF_ERROR(check_reads_overwritten(id));
    if (node.seed > Bytes(0) && node.runs_once) return wrong(id, "has a seed for later runs, and runs once");
    if (!node.fetched_over) return {};
    if (*node.fetched_over >= problem_.links.size()) return wrong(id, "is fetched over a link that does not exist");
    if (!node.reads.empty()) return wrong(id, "is fetched from outside, and reads node " + name(*node.reads.begin()));
    return {};
  }

  Result<void> check_sums() const {
    std::int64_t cost = 0;
    std::int64_t bytes = 0;
    for (const BudgetNode& node : problem_.nodes) {
      cost += node.cost;
      if (cost > kMaxTotalCost)
        return Error{ErrorCode::over_limit, "all costs together exceed 2^50 - 1 (kMaxTotalCost)", ""};
      for (Bytes part : {node.size, node.seed, std::max(node.extra, Bytes(0))}) {
        if (part.count() > limits::kMaxTotalBytes - bytes) {
          return Error{ErrorCode::over_limit, "all sizes together exceed 2^62 - 1 bytes (kMaxTotalBytes)", ""};
        }
        bytes += part.count();
      }
    }
    for (const FetchLink& link : problem_.links) {
      if (link.bytes_per_second <= 0 || link.latency_nanoseconds < 0) {
        return invalid("link " + quoted(link.name) + " needs a rate above 0 and a latency of at least 0");
      }
    }
    return {};
  }

  // What a run writes over inputs is at most all that it writes.
  Result<void> check_extras() const {
    IdVector<NodeId, Bytes> taken(problem_.nodes.size());
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      const BudgetNode& node = problem_.nodes[id];
      taken[node.part_of.value_or(id)] += node.size + node.extra;
    }
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      if (taken[id] < Bytes(0)) return wrong(id, "has a negative size");
    }
    return {};
  }

  Result<void> check_before() const {
    for (const BeforeEdge& edge : problem_.before) {
      for (NodeId id : {edge.reader, edge.writer}) {
        if (!problem_.nodes.contains(id)) return invalid("an edge of 'before' has a node that does not exist");
        if (!problem_.nodes[id].is_run()) return wrong(id, "is in 'before' and never runs");
      }
      if (edge.reader == edge.writer) return wrong(edge.reader, "must come before itself");
    }
    if (std::adjacent_find(problem_.before.begin(), problem_.before.end(), std::greater_equal<>()) !=
        problem_.before.end()) {
      return invalid("the edges of 'before' do not ascend");
    }
    return {};
  }

  Result<void> check_groups() const {
    IdVector<NodeId, std::size_t> group_of(problem_.nodes.size(), problem_.groups.size());
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      for (NodeId id : problem_.groups[group]) {
        if (!problem_.nodes.contains(id)) return invalid("a group has a node that does not exist");
        if (!problem_.nodes[id].is_run()) return wrong(id, "is in a group and never runs");
        if (group_of[id] != problem_.groups.size() && group_of[id] != group) return wrong(id, "is in two groups");
        group_of[id] = group;
      }
    }
    return {};
  }

  // The first run of a writer is after the last run of each reader, also within a group.
  Result<void> check_order_of_groups(const EntryBytes& facts, const std::vector<BeforeEdge>& before) const {
    constexpr std::size_t kNone = 0;
    IdVector<NodeId, std::size_t> first(problem_.nodes.size(), kNone);  // counted from 1, over all groups
    IdVector<NodeId, std::size_t> last(problem_.nodes.size(), kNone);
    IdVector<NodeId, std::size_t> group_of(problem_.nodes.size(), kNone);
    std::size_t at = 0;
    for (std::size_t group = 0; group < problem_.groups.size(); ++group) {
      for (NodeId id : problem_.groups[group]) {
        if (first[id] != kNone && facts.happens_once.test(id)) return wrong(id, "runs once, and a group has it twice");
        last[id] = ++at;
        if (first[id] == kNone) first[id] = at;
        group_of[id] = group + 1;
      }
    }
    for (const BeforeEdge& edge : before) {
      if (group_of[edge.reader] == kNone || group_of[edge.reader] != group_of[edge.writer]) continue;
      if (last[edge.reader] < first[edge.writer]) continue;
      return wrong(edge.reader, "must come before node " + name(edge.writer) + ", and their group has it after that");
    }
    return {};
  }

  // What must have run, or exist, before an entry can run for the first time.
  void add_edges(IdVector<NodeId, std::vector<NodeId>>& later) const {
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      const BudgetNode& node = problem_.nodes[id];
      for (NodeId read : node.reads) later[read].push_back(id);
      if (node.part_of) later[*node.part_of].push_back(id);
      if (node.view_of) later[*node.view_of].push_back(id);
    }
    for (const BeforeEdge& edge : implied_) later[edge.reader].push_back(edge.writer);
    for (const BeforeEdge& edge : problem_.before) later[edge.reader].push_back(edge.writer);
    Flags<NodeId> seen(problem_.nodes.size());  // an entry is in one group
    for (const std::vector<NodeId>& group : problem_.groups) {
      // The first runs of a group's entries, in their order.
      std::optional<NodeId> last;
      for (NodeId id : group) {
        if (!seen.insert(id)) continue;
        if (last) later[*last].push_back(id);
        last = id;
      }
    }
  }

  // What the problem has of that which orders entries: "reads, views and groups".
  [[nodiscard]] std::string kinds_of_edges() const {
    const auto is_any = [&](const auto& question) {
      return std::any_of(problem_.nodes.begin(), problem_.nodes.end(), question);
    };
    std::vector<std::string> kinds;
    const auto add = [&](bool is_there, std::string kind) {
      if (is_there) kinds.push_back(std::move(kind));
    };
    add(is_any([](const BudgetNode& node) { return !node.reads.empty(); }), "reads");
    add(is_any([](const BudgetNode& node) { return node.part_of.has_value(); }), "outputs");
    add(is_any([](const BudgetNode& node) { return node.view_of.has_value(); }), "views");
    add(!problem_.before.empty(), "'before'");
    add(!implied_.empty(), "'overwrites'");
    add(!problem_.groups.empty(), "groups");
    return listed(kinds, "and");
  }

  Result<void> check_cycles() const {
    IdVector<NodeId, std::vector<NodeId>> later(problem_.nodes.size());
    add_edges(later);
    IdVector<NodeId, std::size_t> missing(problem_.nodes.size(), 0);
    for (const std::vector<NodeId>& targets : later) {
      for (NodeId target : targets) ++missing[target];
    }
    std::vector<NodeId> ready;
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      if (missing[id] == 0) ready.push_back(id);
    }
    for (std::size_t at = 0; at < ready.size(); ++at) {
      for (NodeId target : later[ready[at]]) {
        if (--missing[target] == 0) ready.push_back(target);
      }
    }
    if (ready.size() == problem_.nodes.size()) return {};
    const auto stuck = std::find_if(missing.begin(), missing.end(), [](std::size_t count) { return count > 0; });
    return wrong(NodeId(static_cast<std::uint32_t>(stuck - missing.begin())),
                 "must come before itself, because of " + kinds_of_edges());
  }

  Result<void> check_overwritten(const EntryBytes& facts) const {
    IdVector<NodeId, std::optional<NodeId>> writer(problem_.nodes.size());  // by entry with bytes: a run or a part
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      const BudgetNode& node = problem_.nodes[id];
      if (!node.overwrites) continue;
      const NodeId bytes = facts.bytes[*node.overwrites];
      if (writer[bytes]) {
        return wrong(id, "overwrites the bytes that node " + name(*writer[bytes]) + " overwrites, too");
      }
      writer[bytes] = id;
      if (!facts.state[id]) continue;
      const NodeId maker = node.part_of.value_or(id);
      if (node.size != Bytes(0)) return wrong(id, "overwrites a state, so it has no bytes of its own");
      if (problem_.nodes[maker].seed != Bytes(0)) {
        return wrong(maker, "overwrites a state, so it never runs again and needs no seed");
      }
    }
    for (NodeId id : all_ids<NodeId>(problem_.nodes.size())) {
      const std::optional<NodeId> by = writer[facts.bytes[id]];
      if (problem_.nodes[id].is_output && by) {
        return wrong(id, "is an output, and node " + name(*by) + " overwrites its bytes");
      }
    }
    return {};
  }

  const BudgetProblem& problem_;
  const IdVector<NodeId, std::string>& names_;
  std::vector<BeforeEdge> implied_;
};

}  // namespace
}  // namespace plan_internal

NodeId bytes_of_entry(const BudgetProblem& problem, NodeId entry) {
  while (problem.nodes[entry].view_of) entry = *problem.nodes[entry].view_of;
  return entry;
}

EntryBytes::EntryBytes(const BudgetProblem& problem)
    : writer(problem.nodes.size()), state(problem.nodes.size()), happens_once(problem.nodes.size()) {
  const IdVector<NodeId, BudgetNode>& nodes = problem.nodes;
  bytes = plan_internal::ends_of(nodes.size(), [&](NodeId id) { return nodes[id].view_of; });
  const IdVector<NodeId, NodeId> origins = plan_internal::ends_of(
      nodes.size(), [&](NodeId id) { return nodes[id].view_of ? nodes[id].view_of : nodes[id].overwrites; });
  for (NodeId id : all_ids<NodeId>(nodes.size())) {
    const BudgetNode& node = nodes[id];
    if (nodes[origins[id]].is_state) state[id] = origins[id];
    if (node.overwrites) writer[bytes[*node.overwrites]] = node.part_of.value_or(id);
    if (node.runs_once || (node.overwrites && state[id])) happens_once.set(node.part_of.value_or(id));
  }
}

std::vector<BeforeEdge> implied_before(const BudgetProblem& problem) {
  const EntryBytes facts(problem);
  std::vector<BeforeEdge> edges;
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    for (NodeId read : problem.nodes[id].reads) {
      const std::optional<NodeId> after = facts.writer[facts.bytes[read]];
      if (after && *after != id) edges.push_back({.reader = id, .writer = *after});
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

Result<void> check_budget_problem(const BudgetProblem& problem, const IdVector<NodeId, std::string>& names) {
  return plan_internal::ProblemCheck(problem, names).check();
}

}  // namespace lowtide
