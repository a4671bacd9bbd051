// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/waves.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "lowtide/schedule/parallel/ready_nodes.h"
#include "lowtide/schedule/parallel/stream_loads.h"

namespace lowtide {
namespace {

constexpr std::size_t kLeastCandidates = 64;

class Grouping {
 public:
  Grouping(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
           const IdVector<NodeId, std::int64_t>& costs, const WaveOptions& options)
      : sequential_(sequential),
        options_(options),
        ready_(graph, sequential, costs, options.priority),
        loads_(graph, sequential, kernels, options.aliases, options.cap),
        is_taken_(options.most, 0),
        last_(options.most) {}

  WaveSchedule run() {
    while (made_.run.order.size() < sequential_.order.size()) make_wave();
    made_.run.lifespans = loads_.lifespans();
    made_.run.load = loads_.highest();
    return std::move(made_);
  }

 private:
  void make_wave() {
    begin_ = made_.run.order.size();
    const std::optional<NodeId> first = start_first();
    LOWTIDE_CHECK(first.has_value(), "the next node of the sequential order can start when nothing is running");
    if (ready_.has_kernel(*first)) fill_beside(*first);
    if (!ready_.is_alias(*first)) ++made_.computing;
    end_wave();
  }

  // The first ready nodes by priority, and the next node of the sequential order, which may always start.
  [[nodiscard]] std::vector<std::uint32_t> candidates() const {
    std::vector<std::uint32_t> positions;
    for (const schedule_internal::ReadyNodes::Key& key : ready_.keys()) {
      if (positions.size() >= std::max(kLeastCandidates, std::size_t{options_.most} * 2)) break;
      positions.push_back(key.second);
    }
    const std::uint32_t next = loads_.first_left();
    const bool is_seen = std::find(positions.begin(), positions.end(), next) != positions.end();
    if (!is_seen && ready_.contains(next)) positions.push_back(next);
    return positions;
  }

  std::optional<NodeId> start_first() {
    for (std::uint32_t position : candidates()) {
      if (start_if_it_fits(position)) return sequential_.order[position];
    }
    return std::nullopt;
  }

  void fill_beside(NodeId first) {
    std::vector<std::uint32_t> others = candidates();
    std::erase_if(others, [&](std::uint32_t position) { return !ready_.has_kernel(sequential_.order[position]); });
    if (options_.fill == WaveFill::by_cost) {
      const std::int64_t cost = ready_.cost_of(first);
      const auto rank = [&](std::uint32_t position) {
        const std::int64_t own = ready_.cost_of(sequential_.order[position]);
        return std::tuple(own > cost, std::abs(own - cost));
      };
      std::stable_sort(others.begin(), others.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    }
    for (std::uint32_t position : others) {
      if (made_.run.order.size() - begin_ == options_.most) return;
      start_if_it_fits(position);
    }
  }

  bool start_if_it_fits(std::uint32_t position) {
    if (!loads_.start_if_it_fits(position)) return false;
    const NodeId id = sequential_.order[position];
    ready_.start(id);
    const std::uint32_t stream = stream_for(id);
    is_taken_[stream] = 1;
    made_.run.order.push_back(id);
    made_.run.stream.push_back(stream);
    made_.wave.push_back(waves_);
    return true;
  }

  // Returns a free stream whose last node this one depends on. Otherwise returns the first free one.
  [[nodiscard]] std::uint32_t stream_for(NodeId id) const {
    const std::vector<NodeId>& before = ready_.before(id);
    std::optional<std::uint32_t> first;
    for (std::uint32_t stream = 0; stream < last_.size(); ++stream) {
      if (is_taken_[stream] != 0) continue;
      if (!first) first = stream;
      if (last_[stream] && std::find(before.begin(), before.end(), *last_[stream]) != before.end()) return stream;
    }
    return *first;
  }

  void end_wave() {
    const std::size_t end = made_.run.order.size();
    std::int64_t longest = 0;
    for (std::size_t at = begin_; at < end; ++at) {
      const NodeId id = made_.run.order[at];
      longest = std::max(longest, ready_.cost_of(id));
      made_.run.started_by_end.push_back(static_cast<std::uint32_t>(end));
      loads_.end(ready_.position_of(id));
      ready_.end(id);
      last_[made_.run.stream[at]] = id;
    }
    made_.run.picoseconds += longest;
    std::fill(is_taken_.begin(), is_taken_.end(), 0);
    ++waves_;
  }

  const Schedule& sequential_;
  const WaveOptions& options_;
  schedule_internal::ReadyNodes ready_;
  schedule_internal::StreamLoads loads_;
  std::vector<char> is_taken_;               // by stream, in the current wave
  std::vector<std::optional<NodeId>> last_;  // by stream
  std::size_t begin_ = 0;                    // of the current wave
  std::uint32_t waves_ = 0;
  WaveSchedule made_;
};

}  // namespace

WaveSchedule schedule_waves(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                            const IdVector<NodeId, std::int64_t>& costs, const WaveOptions& options) {
  LOWTIDE_CHECK(options.most >= 1, "a wave holds at least one node");
  return Grouping(graph, sequential, kernels, costs, options).run();
}

}  // namespace lowtide
