// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/step_times.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "lowtide/graph/node_name.h"
#include "lowtide/runtime/execute/run_control.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide {
namespace {

using Clock = std::chrono::steady_clock;

// Several threads may run steps of one session.
class TimeObserver final : public runtime_internal::StepObserver {
 public:
  explicit TimeObserver(std::vector<StepTime>& times) : times_(times) {}

  void begin(PreparedGraphId /*graph*/) override {}
  void before(const RunPlace& place) override {
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    thread.open.push_back({place, now()});
  }
  [[nodiscard]] bool after(const RunPlace& place) override {
    const std::int64_t end = now();
    const std::lock_guard lock(mutex_);
    Thread& thread = this_thread();
    // A step that failed within a body has not ended.
    while (thread.open.back().first != place) thread.open.pop_back();
    times_.push_back({place, static_cast<int>(&thread - threads_.data()), thread.open.back().second, end});
    thread.open.pop_back();
    return true;
  }

 private:
  struct Thread {
    std::thread::id id;
    std::vector<std::pair<RunPlace, std::int64_t>> open;  // steps that have begun, the innermost last
  };

  [[nodiscard]] std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
  }
  Thread& this_thread() {
    const std::thread::id id = std::this_thread::get_id();
    const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const Thread& one) { return one.id == id; });
    return found == threads_.end() ? threads_.emplace_back(Thread{id, {}}) : *found;
  }

  std::vector<StepTime>& times_;
  std::mutex mutex_;
  std::vector<Thread> threads_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

RunResult run_with_times(Session& session, std::vector<StepTime>& times) {
  TimeObserver observer(times);
  return session.run_observed(observer);
}

StepInfo step_info(const Executable& executable, const RunPlace& place) {
  const runtime_internal::PreparedGraph& in = executable.prepared().graphs[place.graph];
  const std::optional<NodeId> node = node_of(in.plan.program.steps[place.step]);
  if (!node) return {in.path, "", "copy"};
  return {in.path, node_name(in.graph, *node), full_name(in.graph.op(*node))};
}

std::optional<StepWork> step_work(const Executable& executable, const RunPlace& place) {
  const runtime_internal::PreparedGraph& in = executable.prepared().graphs[place.graph];
  const auto* compute = std::get_if<Compute>(&in.plan.program.steps[place.step].work);
  if (compute == nullptr) return std::nullopt;
  return StepWork{&in.graph, compute->node, in.plan.kernels[compute->kernel].name};
}

std::vector<RunPlace> all_steps(const Executable& executable) {
  std::vector<RunPlace> all;
  const auto& graphs = executable.prepared().graphs;
  for (PreparedGraphId graph : all_ids<PreparedGraphId>(graphs.size())) {
    for (StepId step : all_ids<StepId>(graphs[graph].plan.program.steps.size())) all.push_back({graph, step});
  }
  return all;
}

}  // namespace lowtide
