// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

// Per thread: how many of its actions come first.
using Clock = std::vector<std::uint32_t>;

void raise_to(Clock& clock, const Clock& other) {
  for (std::size_t at = 0; at < clock.size(); ++at) clock[at] = std::max(clock[at], other[at]);
}

// Orders the actions of one graph with vector clocks, as `synchronize` does for waits.
class Ordering {
 public:
  // `workers`: threads that run streams of workers; <= threads.
  Ordering(const PreparedGraph& in, std::size_t threads, std::size_t workers)
      : in_(in), threads_(threads), workers_(workers) {}

  ActionOrder make() && {
    find_clocks();
    // Beside a thread for copies, kernels run on one thread anyway. Each stretch ends with a wait for that thread.
    const std::vector<bool> is_alone = workers_ < threads_ ? std::vector<bool>(actions_.size(), false) : find_alone();
    ActionOrder order;
    for (std::size_t at = 0; at < actions_.size(); ++at) {
      if (at == 0 || is_alone[at] != is_alone[at - 1]) order.stretches.push_back({{at, at}, !is_alone[at]});
      order.stretches.back().actions.end = at + 1;
    }
    add_needs(order);
    return order;
  }

 private:
  struct OrderedAction {
    std::size_t thread;
    Clock begin;  // what ends before the action begins
  };

  [[nodiscard]] std::size_t thread_of(StreamId stream) const {
    return in_.plan.program.streams[stream].link ? threads_ - 1 : stream.index() % workers_;
  }

  void find_clocks() {
    const Program& program = in_.plan.program;
    IdVector<StepId, Clock> end(program.steps.size());
    IdVector<StreamId, Clock> of_stream(program.streams.size(), Clock(threads_));
    std::vector<Clock> of_thread(threads_, Clock(threads_));
    for (StepId id : all_ids<StepId>(program.steps.size())) {
      const Step& step = program.steps[id];
      Clock clock = of_stream[step.stream];
      for (StepId before : step.after) raise_to(clock, end[before]);
      if (actions_.size() < in_.actions.size() && step_of(in_.actions[actions_.size()]) == id) {
        const std::size_t thread = thread_of(step.stream);
        raise_to(clock, of_thread[thread]);
        actions_.push_back({thread, clock});
        ++clock[thread];
        of_thread[thread] = clock;
      }
      of_stream[step.stream] = clock;
      end[id] = std::move(clock);
    }
  }

  // Whether every other action ends before it begins, or begins after it has ended.
  [[nodiscard]] std::vector<bool> find_alone() const {
    std::vector<bool> is_alone(actions_.size(), true);
    Clock before(threads_);
    for (std::size_t at = 0; at < actions_.size(); ++at) {
      is_alone[at] = actions_[at].begin == before;
      ++before[actions_[at].thread];
    }
    std::vector<const Clock*> next(threads_, nullptr);  // of the next action of each thread
    for (std::size_t at = actions_.size(); at-- > 0;) {
      const std::size_t thread = actions_[at].thread;
      const std::uint32_t position = actions_[at].begin[thread];
      for (std::size_t other = 0; other < threads_; ++other) {
        const bool is_free = other == thread || next[other] == nullptr || (*next[other])[thread] > position;
        is_alone[at] = is_alone[at] && is_free;
      }
      next[thread] = &actions_[at].begin;
    }
    return is_alone;
  }

  // What a stretch needs from earlier ones has ended before it begins.
  void add_needs(ActionOrder& order) const {
    Clock before(threads_);
    for (const Stretch& stretch : order.stretches) {
      const Clock at_begin = before;
      for (std::size_t at = stretch.actions.begin; at < stretch.actions.end; ++at) {
        const OrderedAction& action = actions_[at];
        ++before[action.thread];
        order.thread.push_back(static_cast<std::uint32_t>(action.thread));
        for (std::size_t other = 0; other < threads_; ++other) {
          order.needs.push_back(std::max(action.begin[other], at_begin[other]) - at_begin[other]);
        }
      }
    }
  }

  const PreparedGraph& in_;
  const std::size_t threads_;
  const std::size_t workers_;
  std::vector<OrderedAction> actions_;
};

// The extents of a tensor that depend on data are one set of numbers, although the tensor may have several values.
bool has_values_of_unknown_size(const PreparedGraph& in) {
  return !in.dynamic_tensors.empty() && recomputes(in.plan.program);
}

bool can_run_side_by_side(const PreparedGraph& in) {
  const bool has_waits = in.plan.execution == ExecutionModel::streams || in.plan.execution == ExecutionModel::waves;
  return has_waits && in.plan.program.streams.size() > 1 && !has_values_of_unknown_size(in);
}

bool copies_over_links(const PreparedGraph& in) {
  const auto& streams = in.plan.program.streams;
  return std::any_of(streams.begin(), streams.end(), [](const Stream& stream) { return stream.link.has_value(); });
}

}  // namespace

// Copies over links have a thread of their own beside kernels that run on one.
void order_actions(Prepared& prepared) {
  const ExecutableOptions& options = prepared.options;
  int wanted = options.threads;
  for (const PreparedGraph& one : prepared.graphs) {
    if (can_run_side_by_side(one) && copies_over_links(one)) wanted = std::max(wanted, 2);
  }
  prepared.system_threads = std::min(wanted, options.system_threads.value_or(processors_of_thread()));
  const int workers = std::min(options.threads, prepared.system_threads);
  for (PreparedGraph& one : prepared.graphs) {
    if (prepared.system_threads > 1 && can_run_side_by_side(one) && (workers > 1 || copies_over_links(one))) {
      const auto threads = static_cast<std::size_t>(prepared.system_threads);
      one.order = Ordering(one, threads, static_cast<std::size_t>(workers)).make();
      one.order.has_thread_for_copies = copies_over_links(one) && workers < prepared.system_threads;
    } else {
      one.order.stretches = {{{0, one.actions.size()}, false}};
    }
  }
}

}  // namespace lowtide::runtime_internal
