// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/streams.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/analysis/load.h"
#include "lowtide/schedule/stream_loads.h"

namespace lowtide {
namespace {

constexpr int kMostLookedAt = 32;

class Simulation {
 public:
  Simulation(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
             const IdVector<NodeId, std::int64_t>& costs, const StreamOptions& options)
      : graph_(graph),
        sequential_(sequential),
        costs_(costs),
        options_(options),
        before_(detail::predecessors(graph, sequential)),
        after_(graph.nodes().size()),
        waiting_(graph.nodes().size(), 0),
        position_(graph.nodes().size()),
        urgency_(graph.nodes().size(), 0),
        place_(graph.nodes().size(), 0),
        loads_(graph, sequential, kernels, options.aliases, options.cap),
        running_(options.streams),
        last_(options.streams) {
    for (std::size_t at = 0; at < sequential.order.size(); ++at) {
      position_[sequential.order[at]] = static_cast<std::uint32_t>(at);
    }
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      waiting_[id] = static_cast<std::uint32_t>(before_[id].size());
      for (NodeId one : before_[id]) after_[one].push_back(id);
    }
    set_urgency();
    for (NodeId id : sequential.order) {
      if (waiting_[id] == 0) ready_.insert(key_of(id));
    }
  }

  StreamSchedule run() {
    while (schedule_.order.size() < sequential_.order.size() || is_running()) {
      while (start_one()) {
      }
      LOWTIDE_CHECK(is_running() || schedule_.order.size() == sequential_.order.size(),
                    "the next node of the sequential order may start where nothing runs");
      if (is_running()) end_next();
    }
    schedule_.picoseconds = now_;
    schedule_.lifespans = loads_.lifespans();
    schedule_.load = loads_.highest();
    return std::move(schedule_);
  }

 private:
  // Less is first.
  using Key = std::pair<std::int64_t, std::uint32_t>;
  struct Running {
    NodeId node;
    std::int64_t end;
  };

  [[nodiscard]] std::int64_t cost_of(NodeId id) const {
    return sequential_.aliases.step_kinds[id] == StepKind::alias ? 0 : costs_[id];
  }

  void set_urgency() {
    for (std::size_t at = sequential_.order.size(); at-- > 0;) {
      const NodeId id = sequential_.order[at];
      std::int64_t longest = 0;
      for (NodeId next : after_[id]) longest = std::max(longest, urgency_[next]);
      urgency_[id] = longest + cost_of(id);
    }
  }

  // Aliases first: they take no time, and what waits for them may start.
  [[nodiscard]] Key key_of(NodeId id) const {
    if (sequential_.aliases.step_kinds[id] == StepKind::alias) {
      return {std::numeric_limits<std::int64_t>::min(), position_[id]};
    }
    const bool is_by_path = options_.priority == StreamPriority::longest_path;
    return {is_by_path ? -urgency_[id] : 0, position_[id]};
  }

  [[nodiscard]] bool is_running() const {
    return std::any_of(running_.begin(), running_.end(), [](const auto& one) { return one.has_value(); });
  }

  bool start_one() {
    const bool has_free = std::any_of(running_.begin(), running_.end(), [](const auto& one) { return !one; });
    if (!has_free) return false;
    int left = kMostLookedAt;
    for (const Key& key : ready_) {
      if (left-- == 0) break;
      if (start_if_it_fits(key.second)) return true;
    }
    const std::uint32_t next = loads_.first_left();
    const bool is_ready = next < sequential_.order.size() && ready_.contains(key_of(sequential_.order[next]));
    return is_ready && start_if_it_fits(next);
  }

  bool start_if_it_fits(std::uint32_t position) {
    if (!loads_.start_if_it_fits(position)) return false;
    const NodeId id = sequential_.order[position];
    ready_.erase(key_of(id));
    const std::uint32_t stream = stream_for(id);
    place_[id] = static_cast<std::uint32_t>(schedule_.order.size());
    schedule_.order.push_back(id);
    schedule_.stream.push_back(stream);
    schedule_.started_by_end.push_back(0);
    last_[stream] = id;
    running_[stream] = Running{id, now_ + cost_of(id)};
    if (cost_of(id) == 0) end(stream);
    return true;
  }

  // A free one whose last node this one waits for anyway, so that fewer waits are needed; else the first free one.
  [[nodiscard]] std::uint32_t stream_for(NodeId id) const {
    std::optional<std::uint32_t> first;
    for (std::uint32_t stream = 0; stream < running_.size(); ++stream) {
      if (running_[stream]) continue;
      if (!first) first = stream;
      if (last_[stream] && std::find(before_[id].begin(), before_[id].end(), *last_[stream]) != before_[id].end()) {
        return stream;
      }
    }
    return *first;
  }

  // Everything that ends at the next moment at which something does.
  void end_next() {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const auto& one : running_) {
      if (one) next = std::min(next, one->end);
    }
    now_ = next;
    for (std::uint32_t stream = 0; stream < running_.size(); ++stream) {
      if (running_[stream] && running_[stream]->end == now_) end(stream);
    }
  }

  void end(std::uint32_t stream) {
    const NodeId id = running_[stream]->node;
    running_[stream].reset();
    schedule_.started_by_end[place_[id]] = static_cast<std::uint32_t>(schedule_.order.size());
    loads_.end(position_[id]);
    for (NodeId next : after_[id]) {
      if (--waiting_[next] == 0) ready_.insert(key_of(next));
    }
  }

  const Graph& graph_;
  const Schedule& sequential_;
  const IdVector<NodeId, std::int64_t>& costs_;
  const StreamOptions& options_;
  const IdVector<NodeId, std::vector<NodeId>> before_;
  IdVector<NodeId, std::vector<NodeId>> after_;
  IdVector<NodeId, std::uint32_t> waiting_;   // of those before, how many have not ended
  IdVector<NodeId, std::uint32_t> position_;  // in the sequential order
  IdVector<NodeId, std::int64_t> urgency_;    // longest way to the end, its own cost included
  IdVector<NodeId, std::uint32_t> place_;     // in the order by start
  detail::StreamLoads loads_;
  std::set<Key> ready_;
  std::vector<std::optional<Running>> running_;  // by stream
  std::vector<std::optional<NodeId>> last_;      // by stream
  std::int64_t now_ = 0;
  StreamSchedule schedule_;
};

}  // namespace

std::string_view to_string(StreamPriority priority) {
  return priority == StreamPriority::longest_path ? "longest_path" : "given_order";
}

StreamSchedule schedule_streams(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                                const IdVector<NodeId, std::int64_t>& costs, const StreamOptions& options) {
  LOWTIDE_CHECK(options.streams >= 1, "something runs somewhere");
  return Simulation(graph, sequential, kernels, costs, options).run();
}

}  // namespace lowtide
