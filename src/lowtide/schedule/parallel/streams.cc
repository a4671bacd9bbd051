// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/streams.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lowtide/schedule/parallel/ready_nodes.h"
#include "lowtide/schedule/parallel/stream_loads.h"

namespace lowtide {
namespace {

constexpr int kMostCandidates = 32;

class Simulation {
 public:
  Simulation(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
             const IdVector<NodeId, std::int64_t>& costs, const StreamOptions& options)
      : sequential_(sequential),
        ready_(graph, sequential, costs, options.priority),
        place_(graph.nodes().size(), 0),
        loads_(graph, sequential, kernels, options.aliases, options.cap),
        running_(options.streams),
        last_(options.streams) {}

  StreamSchedule run() {
    while (schedule_.order.size() < sequential_.order.size() || is_running()) {
      while (start_one()) {
      }
      LOWTIDE_CHECK(is_running() || schedule_.order.size() == sequential_.order.size(),
                    "the next node of the sequential order can start when nothing is running");
      if (is_running()) end_next();
    }
    schedule_.picoseconds = now_;
    schedule_.lifespans = loads_.lifespans();
    schedule_.load = loads_.highest();
    return std::move(schedule_);
  }

 private:
  struct Running {
    NodeId node;
    std::int64_t end;
  };

  [[nodiscard]] bool is_running() const {
    return std::any_of(running_.begin(), running_.end(), [](const auto& one) { return one.has_value(); });
  }

  bool start_one() {
    const bool has_free = std::any_of(running_.begin(), running_.end(), [](const auto& one) { return !one; });
    if (!has_free) return false;
    int left = kMostCandidates;
    for (const schedule_internal::ReadyNodes::Key& key : ready_.keys()) {
      if (left-- == 0) break;
      if (start_if_it_fits(key.second)) return true;
    }
    const std::uint32_t next = loads_.first_left();
    return ready_.contains(next) && start_if_it_fits(next);
  }

  bool start_if_it_fits(std::uint32_t position) {
    if (!loads_.start_if_it_fits(position)) return false;
    const NodeId id = sequential_.order[position];
    ready_.start(id);
    const std::uint32_t stream = stream_for(id);
    place_[id] = static_cast<std::uint32_t>(schedule_.order.size());
    schedule_.order.push_back(id);
    schedule_.stream.push_back(stream);
    schedule_.started_by_end.push_back(0);
    last_[stream] = id;
    running_[stream] = Running{id, now_ + ready_.cost_of(id)};
    if (ready_.cost_of(id) == 0) end(stream);
    return true;
  }

  // Returns a free stream whose last node this one depends on, which saves a wait. Otherwise returns the first free
  // one.
  [[nodiscard]] std::uint32_t stream_for(NodeId id) const {
    const std::vector<NodeId>& before = ready_.before(id);
    std::optional<std::uint32_t> first;
    for (std::uint32_t stream = 0; stream < running_.size(); ++stream) {
      if (running_[stream]) continue;
      if (!first) first = stream;
      if (last_[stream] && std::find(before.begin(), before.end(), *last_[stream]) != before.end()) return stream;
    }
    return *first;
  }

  // Advances to the next time at which a node ends, and ends all nodes that end then.
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
    loads_.end(ready_.position_of(id));
    ready_.end(id);
  }

  const Schedule& sequential_;
  schedule_internal::ReadyNodes ready_;
  IdVector<NodeId, std::uint32_t> place_;  // in the order by start
  schedule_internal::StreamLoads loads_;
  std::vector<std::optional<Running>> running_;  // by stream
  std::vector<std::optional<NodeId>> last_;      // by stream
  std::int64_t now_ = 0;
  StreamSchedule schedule_;
};

}  // namespace

StreamSchedule schedule_streams(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                                const IdVector<NodeId, std::int64_t>& costs, const StreamOptions& options) {
  LOWTIDE_CHECK(options.streams >= 1, "a run needs at least one stream");
  return Simulation(graph, sequential, kernels, costs, options).run();
}

}  // namespace lowtide
