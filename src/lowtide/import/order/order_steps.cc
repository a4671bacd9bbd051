// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order/order_steps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::import_internal {
namespace {

CompactVector<NodeId> ascending(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return {nodes.data(), nodes.data() + nodes.size()};
}

class StepMaker {
 public:
  StepMaker(const OrderFile& file, const OrderNames& names) : file_(file), names_(names) {}

  Result<OrderSteps> make(const std::vector<std::size_t>& order) {
    steps_.runs = order;
    entries_.resize(file_.nodes.size());
    for (std::size_t node : order) add_run(node);
    LOWTIDE_RETURN_IF_ERROR(add_parts());
    for (std::size_t node = 0; node < file_.nodes.size(); ++node) {
      if (is_view(node)) entries_[node] = {add({.reads = {}, .size = Bytes(0)}, names_.name_of(node))};
    }
    for (const OrderState& state : file_.states) {
      if (state.bytes > limits::kMaxTotalBytes - steps_.state_bytes) {
        return Error{ErrorCode::over_limit, "all states together exceed 2^62 - 1 bytes (kMaxTotalBytes)", ""};
      }
      steps_.state_bytes += state.bytes;
      states_.push_back(add({.reads = {}, .size = Bytes(0), .is_state = true}, state.name));
    }
    LOWTIDE_RETURN_IF_ERROR(fill_views());
    LOWTIDE_RETURN_IF_ERROR(fill_reads());
    LOWTIDE_RETURN_IF_ERROR(fill_outputs());
    LOWTIDE_RETURN_IF_ERROR(fill_overwrites());
    LOWTIDE_RETURN_IF_ERROR(fill_order());
    keep_unread_fetches();
    // The graph of a file without steps has all of these checks.
    if (file_.has_steps()) LOWTIDE_RETURN_IF_ERROR(check_budget_problem(steps_.problem, steps_.names));
    return std::move(steps_);
  }

 private:
  [[nodiscard]] bool is_view(std::size_t node) const {
    const OrderExtras* more = file_.extras_of(node);
    return more != nullptr && more->view_of.has_value();
  }

  NodeId add(BudgetNode node, std::string name, std::size_t output_number = 0) {
    steps_.names.push_back(std::move(name));
    steps_.output_numbers.push_back(static_cast<std::int64_t>(output_number));
    return steps_.problem.nodes.push_back(std::move(node));
  }

  void add_run(std::size_t node) {
    const OrderExtras* more = file_.extras_of(node);
    BudgetNode run{.reads = {}, .size = Bytes(std::max<std::int64_t>(file_.nodes[node].bytes, 0))};
    run.cost = std::max<std::int64_t>(file_.nodes[node].cost, 0);
    if (more != nullptr) {
      if (!more->outputs.empty()) run.size = Bytes(std::max<std::int64_t>(more->outputs[0].bytes, 0));
      run.extra = Bytes(more->scratch);
      run.seed = Bytes(more->seed_bytes);
      run.runs_once = more->runs_once;
    }
    steps_.scratch.push_back(more == nullptr ? 0 : more->scratch);
    entries_[node] = {add(std::move(run), names_.name_of(node))};
  }

  // The further outputs of each node.
  Result<void> add_parts() {
    for (std::size_t node : steps_.runs) {
      const OrderExtras* more = file_.extras_of(node);
      const std::size_t count = more == nullptr ? 0 : more->outputs.size();
      for (std::size_t at = 0; at < count; ++at) {
        const OrderOutput& output = more->outputs[at];
        if (output.same_as < 0) {
          const std::string name = output.name.empty() ? std::to_string(at) : output.name;
          if (at > 0) {
            const Bytes size(std::max<std::int64_t>(output.bytes, 0));
            entries_[node].push_back(
                add({.reads = {}, .size = size, .part_of = entries_[node][0]}, names_.name_of(node) + "/" + name, at));
          }
          continue;
        }
        const auto same = static_cast<std::size_t>(output.same_as);
        if (same >= at || more->outputs[same].same_as >= 0) {
          return invalid_order("output " + std::to_string(at) + " of node " + quoted(names_.name_of(node)) +
                               " is the same as output " + std::to_string(same) +
                               ", which must be an earlier one with 'bytes'");
        }
        entries_[node].push_back(entries_[node][same]);
      }
    }
    return {};
  }

  [[nodiscard]] NodeId entry_of(const OrderTarget& target) const {
    return target.is_state ? states_[target.at] : entries_[target.at][target.output];
  }

  Result<NodeId> find(const OrderRef& ref, const std::string& what) const {
    LOWTIDE_TRY(const OrderTarget target, names_.find(ref, what));
    return entry_of(target);
  }

  Result<NodeId> find_run(const OrderRef& ref, const std::string& what) const {
    const Result<std::size_t> node = names_.find_node(ref, what);
    if (!node) return node.error();
    if (is_view(*node)) return invalid_order(what + " is node " + quoted(names_.name_of(*node)) + ", which is a view");
    return entries_[*node][0];
  }

  Result<void> fill_views() {
    for (std::size_t node = 0; node < file_.nodes.size(); ++node) {
      if (!is_view(node)) continue;
      LOWTIDE_TRY(const NodeId named,
                  find(*file_.extras_of(node)->view_of, "'view_of' of node " + quoted(names_.name_of(node))));
      steps_.problem.nodes[entries_[node][0]].view_of = named;
    }
    return {};
  }

  Result<void> fill_reads() {
    IdVector<NodeId, std::vector<NodeId>> reads(steps_.problem.nodes.size());
    for (std::size_t at = 0; at < file_.edges.size(); ++at) {
      const std::string edge = "edge " + std::to_string(at);
      LOWTIDE_TRY(const NodeId from, find(file_.edges[at].first, "the start of " + edge));
      LOWTIDE_TRY(const NodeId to, find_run(file_.edges[at].second, "the end of " + edge));
      if (from == to) return invalid_order(edge + " goes from node " + quoted(steps_.names[to]) + " to itself");
      reads[to].push_back(from);
    }
    for (std::size_t node : steps_.runs) LOWTIDE_RETURN_IF_ERROR(find_overwritten(node, reads[entries_[node][0]]));
    for (NodeId id : all_ids<NodeId>(reads.size())) steps_.problem.nodes[id].reads = ascending(std::move(reads[id]));
    return {};
  }

  // What a node overwrites, it also reads.
  Result<void> find_overwritten(std::size_t node, std::vector<NodeId>& reads) {
    const OrderExtras* more = file_.extras_of(node);
    const auto find_one = [&](const std::optional<OrderRef>& ref, NodeId output) -> Result<void> {
      if (!ref) return {};
      LOWTIDE_TRY(const NodeId bytes, find(*ref, "'overwrites' of node " + quoted(steps_.names[output])));
      steps_.problem.nodes[output].overwrites = bytes;
      reads.push_back(bytes);
      return {};
    };
    if (more == nullptr) return {};
    LOWTIDE_RETURN_IF_ERROR(find_one(more->overwrites, entries_[node][0]));
    for (std::size_t at = 0; at < more->outputs.size(); ++at) {
      LOWTIDE_RETURN_IF_ERROR(find_one(more->outputs[at].overwrites, entries_[node][at]));
    }
    return {};
  }

  Result<void> fill_outputs() {
    for (const OrderRef& output : file_.outputs) {
      LOWTIDE_TRY(const NodeId entry, find(output, "one of the outputs"));
      steps_.problem.nodes[entry].is_output = true;
    }
    return {};
  }

  // What is fetched although nothing reads it is for the caller. Otherwise no run would have to make room for it.
  void keep_unread_fetches() {
    if (file_.links.empty()) return;
    IdVector<NodeId, BudgetNode>& nodes = steps_.problem.nodes;
    const EntryBytes facts(steps_.problem);
    Flags<NodeId> is_read(nodes.size());
    for (const BudgetNode& node : nodes) {
      for (NodeId read : node.reads) is_read.set(facts.bytes[read]);
    }
    for (NodeId id : all_ids<NodeId>(nodes.size())) {
      nodes[id].is_output = nodes[id].is_output || (nodes[id].fetched_over && !is_read.test(id));
    }
  }

  // An output that overwrites another one takes only the bytes that it has more.
  Result<void> fill_overwrites() {
    if (!file_.has_steps()) return {};
    const EntryBytes facts(steps_.problem);
    IdVector<NodeId, BudgetNode>& nodes = steps_.problem.nodes;
    for (std::size_t node : steps_.runs) {
      for (std::size_t at = 0; at < entries_[node].size(); ++at) {
        const NodeId output = entries_[node][at];
        if (is_other_name(node, at) || !nodes[output].overwrites || facts.state[output]) continue;
        if (stated_bytes(node, at) < 0) {
          return invalid_order("node " + quoted(steps_.names[output]) +
                               " has no 'bytes'; only what overwrites a state needs none");
        }
        nodes[entries_[node][0]].extra -=
            std::min(nodes[output].size, nodes[facts.bytes[*nodes[output].overwrites]].size);
      }
    }
    return {};
  }

  [[nodiscard]] bool is_other_name(std::size_t node, std::size_t output) const {
    const OrderExtras* more = file_.extras_of(node);
    return more != nullptr && !more->outputs.empty() && more->outputs[output].same_as >= 0;
  }

  // What the file has for an output; -1 for nothing.
  [[nodiscard]] std::int64_t stated_bytes(std::size_t node, std::size_t output) const {
    const OrderExtras* more = file_.extras_of(node);
    return more == nullptr || more->outputs.empty() ? file_.nodes[node].bytes : more->outputs[output].bytes;
  }

  Result<void> fill_order() {
    std::vector<BeforeEdge>& before = steps_.problem.before;
    for (std::size_t at = 0; at < file_.before.size(); ++at) {
      const std::string edge = "pair " + std::to_string(at) + " of 'before'";
      LOWTIDE_TRY(const NodeId reader, find_run(file_.before[at].first, "the first of " + edge));
      LOWTIDE_TRY(const NodeId writer, find_run(file_.before[at].second, "the second of " + edge));
      before.push_back({.reader = reader, .writer = writer});
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (std::size_t at = 0; at < file_.groups.size(); ++at) {
      std::vector<NodeId>& group = steps_.problem.groups.emplace_back();
      for (const OrderRef& ref : file_.groups[at]) {
        const Result<NodeId> run = find_run(ref, "one node of group " + std::to_string(at));
        if (!run) return run.error();
        group.push_back(*run);
      }
    }
    return fill_links();
  }

  Result<void> fill_links() {
    std::map<std::string_view, std::uint32_t> links;
    for (const OrderLink& link : file_.links) {
      if (!links.emplace(link.name, static_cast<std::uint32_t>(links.size())).second) {
        return invalid_order("two links are named " + quoted(link.name) + "; give them different names");
      }
      steps_.problem.links.push_back(
          {.name = link.name, .bytes_per_second = link.bytes_per_second, .latency_nanoseconds = link.latency_ns});
    }
    for (std::size_t node : steps_.runs) {
      const OrderExtras* more = file_.extras_of(node);
      if (more == nullptr || more->from.empty()) continue;
      const auto link = links.find(more->from);
      if (link == links.end()) {
        return invalid_order("node " + quoted(names_.name_of(node)) + " is 'from' " + quoted(more->from) +
                             ", and no link has this name");
      }
      steps_.problem.nodes[entries_[node][0]].fetched_over = link->second;
    }
    return {};
  }

  const OrderFile& file_;
  const OrderNames& names_;
  OrderSteps steps_{
      .problem = {.nodes = {}, .budget = Bytes(0)}, .runs = {}, .names = {}, .scratch = {}, .output_numbers = {}};
  std::vector<std::vector<NodeId>> entries_;  // by node: of its outputs, or of the view
  std::vector<NodeId> states_;
};

}  // namespace

Result<OrderSteps> make_steps(const OrderFile& file, const OrderNames& names, const std::vector<std::size_t>& order) {
  return StepMaker(file, names).make(order);
}

BudgetProblem renumbered(const BudgetProblem& problem, const IdVector<NodeId, NodeId>& new_ids) {
  const auto of = [&](NodeId id) { return new_ids.contains(id) ? new_ids[id] : id; };
  BudgetProblem result = problem;
  for (NodeId id : all_ids<NodeId>(problem.nodes.size())) {
    BudgetNode node = problem.nodes[id];
    std::vector<NodeId> reads;
    for (NodeId read : node.reads) reads.push_back(of(read));
    node.reads = ascending(std::move(reads));
    for (std::optional<NodeId>* other : {&node.part_of, &node.view_of, &node.overwrites}) {
      if (*other) *other = of(**other);
    }
    result.nodes[of(id)] = std::move(node);
  }
  for (BeforeEdge& edge : result.before) edge = {.reader = of(edge.reader), .writer = of(edge.writer)};
  std::sort(result.before.begin(), result.before.end());
  for (std::vector<NodeId>& group : result.groups) {
    for (NodeId& id : group) id = of(id);
  }
  return result;
}

}  // namespace lowtide::import_internal
