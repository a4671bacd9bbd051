// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/timed_run.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

#include "lowtide/base/try.h"

namespace lowtide {
namespace {

// When a node was ready, and its index.
using Ready = std::pair<std::int64_t, std::size_t>;

struct Engine {
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::int64_t free_at = 0;
  std::int64_t busy = 0;
};

class RunClock {
 public:
  RunClock(const std::vector<DefNode>& nodes, const std::vector<CostedNodeOfRun>& costed,
           const TimedRunOptions& options)
      : nodes_(nodes), costed_(costed), options_(options), runs_(costed.size()) {
    engines_.resize(options.cluster.devices.size() + 2);
    for (std::size_t at = 0; at < costed.size(); ++at) by_node_[costed[at].node] = at;
    for (std::size_t at = 0; at < costed.size(); ++at) {
      for (const std::vector<std::uint32_t>* list : {&costed[at].reads, &costed[at].waits}) {
        for (std::uint32_t source : *list) {
          runs_[by_node_.at(source)].readers.push_back(at);
          ++runs_[at].missing;
        }
      }
      if (costed[at].device != options.device) continue;
      runs_[at].counts = true;
      for (std::uint32_t source : costed[at].reads) runs_[by_node_.at(source)].counts = true;
    }
  }

  Result<TimedRun> run() && {
    std::vector<std::size_t> sources;
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      if (runs_[at].missing == 0) sources.push_back(at);
    }
    for (std::size_t at : sources) make_ready(at);
    while (start_next()) {
    }
    if (started_ < costed_.size()) return Error{ErrorCode::invalid, "nodes wait for each other in a circle", ""};
    count_bytes();
    for (const Run& one : runs_) result_.nanoseconds = std::max(result_.nanoseconds, one.end);
    const Engine& device = engines_[options_.device];
    result_.idle_nanoseconds = device.free_at - device.busy;
    return std::move(result_);
  }

 private:
  struct Run {
    std::vector<std::size_t> readers;  // and what waits for it
    std::size_t missing = 0;           // inputs that have not begun
    std::int64_t ready = 0;            // when the inputs so far have ended
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool counts = false;
  };

  [[nodiscard]] std::size_t engine_of(std::size_t at) const {
    const std::string& op = nodes_[costed_[at].node].op;
    if (op == "_CopyFromGpuToHost") return engines_.size() - 2;
    return op == "_CopyFromHostToGpu" ? engines_.size() - 1 : costed_[at].device;
  }

  [[nodiscard]] std::int64_t duration_of(std::size_t at) const {
    if (engine_of(at) + 2 < engines_.size()) return costed_[at].is_resident ? 0 : costed_[at].nanoseconds;
    const Int128 moved = nanoseconds_to_move(costed_[at].bytes, options_.link.bytes_per_second);
    return options_.link.latency_nanoseconds + static_cast<std::int64_t>(std::min<Int128>(moved, kMaxTime));
  }

  void make_ready(std::size_t at) {
    if (costed_[at].is_resident) {
      finish(at, 0, 0);
    } else {
      engines_[engine_of(at)].ready.emplace(runs_[at].ready, at);
    }
  }

  // The engine whose next node begins first.
  bool start_next() {
    Engine* next = nullptr;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (Engine& engine : engines_) {
      if (engine.ready.empty()) continue;
      const std::int64_t begin = std::max(engine.free_at, engine.ready.top().first);
      if (next != nullptr && begin >= first) continue;
      next = &engine;
      first = begin;
    }
    if (next == nullptr) return false;
    const std::size_t at = next->ready.top().second;
    next->ready.pop();
    next->free_at = first + duration_of(at);
    next->busy += duration_of(at);
    result_.outs += engine_of(at) + 2 == engines_.size() ? 1 : 0;
    result_.ins += engine_of(at) + 1 == engines_.size() ? 1 : 0;
    finish(at, first, next->free_at);
    return true;
  }

  void finish(std::size_t at, std::int64_t begin, std::int64_t end) {
    // A stack, because constants make others ready at once.
    std::vector<std::size_t> done = {at};
    runs_[at].begin = begin;
    runs_[at].end = end;
    while (!done.empty()) {
      const std::size_t one = done.back();
      done.pop_back();
      ++started_;
      for (std::size_t reader : runs_[one].readers) {
        runs_[reader].ready = std::max(runs_[reader].ready, runs_[one].end);
        if (--runs_[reader].missing > 0) continue;
        if (costed_[reader].is_resident) {
          done.push_back(reader);
        } else {
          engines_[engine_of(reader)].ready.emplace(runs_[reader].ready, reader);
        }
      }
    }
  }

  [[nodiscard]] std::int64_t bytes_of(std::size_t at) const {
    if (!runs_[at].counts || nodes_[costed_[at].node].op == "_CopyFromGpuToHost") return 0;
    return rounded(costed_[at].bytes);
  }

  [[nodiscard]] std::int64_t rounded(std::int64_t bytes) const {
    return (bytes + options_.unit - 1) / options_.unit * options_.unit;
  }

  void count_bytes() {
    std::map<std::int64_t, std::int64_t> changes;
    changes[0] = 0;
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      if (runs_[at].counts) changes[0] += rounded(costed_[at].held_bytes);
    }
    std::vector<std::int64_t> ends(costed_.size());
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      ends[at] = std::max(ends[at], runs_[at].end);
      for (std::uint32_t source : costed_[at].reads) {
        std::int64_t& end = ends[by_node_.at(source)];
        end = std::max(end, runs_[at].end);
      }
    }
    for (std::size_t at = 0; at < costed_.size(); ++at) {
      const std::int64_t bytes = bytes_of(at);
      changes[runs_[at].begin] += bytes;
      if (costed_[at].is_resident || costed_[at].is_fetched) continue;
      changes[std::max(ends[at], runs_[at].begin + 1)] -= bytes;
    }
    std::int64_t live = 0;
    for (const auto& [time, change] : changes) {
      live += change;
      result_.peak_bytes = std::max(result_.peak_bytes, live);
      result_.live.emplace_back(time, live);
    }
  }

  const std::vector<DefNode>& nodes_;
  const std::vector<CostedNodeOfRun>& costed_;
  const TimedRunOptions& options_;
  std::vector<Run> runs_;
  std::unordered_map<std::uint32_t, std::size_t> by_node_;
  std::vector<Engine> engines_;  // by device, and then the link out and in
  std::size_t started_ = 0;
  TimedRun result_;
};

}  // namespace

Result<TimedRun> time_run(const std::vector<DefNode>& nodes, const TimedRunOptions& options) {
  LOWTIDE_TRY(const std::vector<CostedNodeOfRun> costed, cost_nodes(nodes, options.cluster, options.ends));
  return RunClock(nodes, costed, options).run();
}

}  // namespace lowtide
