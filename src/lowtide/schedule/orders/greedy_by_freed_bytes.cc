// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "lowtide/analysis/views.h"
#include "lowtide/base/flags.h"
#include "lowtide/schedule/orders/heuristics.h"

namespace lowtide::schedule_internal {
namespace {

class Greedy {
 public:
  explicit Greedy(const Graph& graph)
      : graph_(graph),
        group_(graph.tensors().size()),
        unread_(graph.tensors().size(), 0),
        is_kept_(graph.tensors().size()),
        waiting_(graph.nodes().size(), 0),
        added_(graph.nodes().size(), 0),
        is_done_(graph.nodes().size()),
        followers_(graph.nodes().size()),
        touched_(graph.nodes().size(), 0) {
    group_whole_views();
    count_readers();
  }

  std::vector<NodeId> run() {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      added_[id] = bytes_added(id);
      if (waiting_[id] == 0) offer(id);
    }
    std::vector<NodeId> order;
    order.reserve(graph_.nodes().size());
    while (!ready_.empty()) {
      const Entry entry = ready_.top();
      ready_.pop();
      const NodeId id = std::get<2>(entry);
      if (is_done_.test(id) || std::get<0>(entry) != added_[id]) continue;  // was offered again with a better score
      is_done_.set(id);
      order.push_back(id);
      finish(id, static_cast<std::int64_t>(order.size()));
    }
    return order;
  }

 private:
  // The bytes added, the negated step that last wrote an input, and the id. The smallest entry comes first.
  using Entry = std::tuple<std::int64_t, std::int64_t, NodeId>;

  void group_whole_views() {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) group_[id] = id;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      const ViewKind kind = graph_.op(id).traits.view;
      if (!is_whole_view(kind)) continue;
      for (const View& view : views_of(graph_, id)) group_[view.part] = group_[view.whole];  // in topological order
    }
  }

  // Groups that a node reads, each once.
  std::vector<TensorId> groups_read(NodeId id) const {
    std::vector<TensorId> groups;
    for (TensorId tensor : graph_.reads(id)) groups.push_back(group_[tensor]);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
  }

  void count_readers() {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      for (TensorId group : groups_read(id)) ++unread_[group];
      for (TensorId tensor : graph_.reads(id)) {
        if (!graph_.tensor(tensor).producer) continue;
        ++waiting_[id];
      }
      for (NodeId before : graph_.node(id).control_inputs) {
        ++waiting_[id];
        followers_[before].push_back(id);
      }
    }
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (graph_.is_needed_at_end(id) || !graph_.tensor(id).producer) is_kept_.set(group_[id]);
    }
  }

  [[nodiscard]] std::int64_t bytes_added(NodeId id) const {
    std::int64_t added = 0;
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      // An output without readers that the caller does not get is gone after its step.
      const bool is_short = output && unread_[*output] == 0 && !is_kept_.test(*output);
      if (output && group_[*output] == *output && !is_short) added += graph_.tensor(*output).size.count();
    }
    for (TensorId group : groups_read(id)) {
      if (!is_kept_.test(group) && unread_[group] == 1) added -= graph_.tensor(group).size.count();
    }
    return added;
  }

  void offer(NodeId id) { ready_.emplace(added_[id], -touched_[id], id); }

  void make_ready(NodeId id, std::int64_t step) {
    touched_[id] = step;
    if (--waiting_[id] == 0) {
      added_[id] = bytes_added(id);
      offer(id);
    }
  }

  void finish(NodeId id, std::int64_t step) {
    const std::vector<TensorId> groups = groups_read(id);
    for (TensorId group : groups) --unread_[group];
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      for (NodeId reader : graph_.readers(*output)) make_ready(reader, step);
    }
    for (NodeId follower : followers_[id]) make_ready(follower, step);
    for (TensorId group : groups) {
      if (unread_[group] == 1 && !is_kept_.test(group)) offer_last_reader(group);
    }
  }

  // The last reader of a group frees it, so its score is better now. This finds only a reader of the group's first
  // tensor. A reader of a view gets its score when it becomes ready.
  void offer_last_reader(TensorId group) {
    for (NodeId reader : graph_.readers(group)) {
      if (is_done_.test(reader) || waiting_[reader] != 0) continue;
      const std::int64_t added = bytes_added(reader);
      if (added == added_[reader]) continue;
      added_[reader] = added;
      offer(reader);
    }
  }

  const Graph& graph_;
  IdVector<TensorId, TensorId> group_;
  IdVector<TensorId, std::uint32_t> unread_;  // of a group: readers that have not run
  Flags<TensorId> is_kept_;                   // of a group: never freed
  IdVector<NodeId, std::uint32_t> waiting_;
  IdVector<NodeId, std::int64_t> added_;
  Flags<NodeId> is_done_;
  IdVector<NodeId, std::vector<NodeId>> followers_;  // by control edges
  IdVector<NodeId, std::int64_t> touched_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
};

}  // namespace

std::vector<NodeId> greedy_by_freed_bytes(const Graph& graph) { return Greedy(graph).run(); }

}  // namespace lowtide::schedule_internal
