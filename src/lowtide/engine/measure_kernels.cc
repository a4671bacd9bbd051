// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/measure_kernels.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/engine/open_sharing.h"
#include "lowtide/engine/prepared_file.h"
#include "lowtide/graph/work_text.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/runtime/step_times.h"

namespace lowtide {
namespace {

constexpr std::int64_t kLeastRuns = 3;
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

// A kernel for a work (graph/work_text.h).
using Measurable = std::pair<std::string, std::string>;

// The steps of a plan whose kernels have no samples yet, by place.
using Wanted = std::map<std::pair<PreparedGraphId, StepId>, Measurable>;

class Measuring {
 public:
  Measuring(const std::string& path, const OpenOptions& options, const MeasureOptions& measure)
      : path_(path), options_(options), measure_(measure) {}

  Result<KernelTimes> run() {
    std::set<std::vector<std::string>> seen;  // the passes of the graphs
    for (const LowerOptions& lowering : lowerings_for_machine(options_.lower)) {
      OpenOptions one = options_;
      one.lower = lowering;
      std::size_t ranks = 1;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        LOWTIDE_TRY(const OpenedModel model, open(one, rank));
        if (rank == 0 && !seen.insert(model.executable->plan().provenance.lowering).second) break;
        ranks = std::max(ranks, most_kernels(*model.executable));
        LOWTIDE_RETURN_IF_ERROR(measure(model.executable));
      }
    }
    return times();
  }

 private:
  // The order and the offsets of the plan matter little for the times of kernels.
  Result<OpenedModel> open(OpenOptions options, std::size_t rank) {
    options.plan.order_effort = 0;
    options.plan.allocate_effort = 0;
    options.costs = nullptr;
    return engine_internal::open_sharing(path_, options, shared_, rank);
  }

  [[nodiscard]] std::size_t most_kernels(const Executable& executable) const {
    std::size_t most = 1;
    for (const RunPlace& place : all_steps(executable)) {
      const std::optional<StepWork> work = step_work(executable, place);
      if (!work) continue;
      most = std::max(most, offered_kernels(*work->graph, work->node, options_.cpu.threads).size());
    }
    return most;
  }

  [[nodiscard]] Wanted wanted_of(const Executable& executable) const {
    Wanted wanted;
    for (const RunPlace& place : all_steps(executable)) {
      const std::optional<StepWork> work = step_work(executable, place);
      if (!work) continue;
      Measurable one{work_text(*work->graph, work->node), std::string(work->kernel)};
      if (!samples_.contains(one)) wanted.emplace(std::pair(place.graph, place.step), std::move(one));
    }
    return wanted;
  }

  Result<void> measure(const std::shared_ptr<const Executable>& executable) {
    const Wanted wanted = wanted_of(*executable);
    if (wanted.empty()) return {};
    LOWTIDE_TRY(const Arena arena, Arena::allocate(executable->required_bytes()));
    LOWTIDE_TRY(Session session, Session::open(executable, arena, {.stop = options_.plan.stop}));
    LOWTIDE_RETURN_IF_ERROR(measure_.bind_inputs(session));
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t run = 0; run < measure_.runs; ++run) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (run >= kLeastRuns && passed.count() > measure_.seconds) break;
      std::vector<StepTime> steps;
      const RunResult result = run_with_times(session, steps);
      if (!result.ok()) return describe(*executable, result);
      for (const StepTime& step : steps) {
        const auto work = wanted.find({step.place.graph, step.place.step});
        if (work != wanted.end()) samples_[work->second].push_back(step.end_ns - step.begin_ns);
      }
    }
    return {};
  }

  [[nodiscard]] KernelTimes times() {
    KernelTimes times{.machine_key = texts_of(machine_key(options_.cpu)), .of_work = {}};
    for (auto& [work, nanoseconds] : samples_) {
      const auto middle = nanoseconds.begin() + static_cast<std::ptrdiff_t>(nanoseconds.size() / 2);
      std::nth_element(nanoseconds.begin(), middle, nanoseconds.end());
      const std::int64_t most = kMostMeasuredPicoseconds / kPicosecondsPerNanosecond;
      times.of_work[work.first][work.second] = {
          .picoseconds = std::clamp<std::int64_t>(*middle, 1, most) * kPicosecondsPerNanosecond,
          .samples = static_cast<std::int64_t>(nanoseconds.size())};
    }
    return times;
  }

  const std::string& path_;
  const OpenOptions& options_;
  const MeasureOptions& measure_;
  engine_internal::SharedWeights shared_;
  std::map<Measurable, std::vector<std::int64_t>> samples_;
};

}  // namespace

Result<KernelTimes> measure_kernels(const std::string& path, const OpenOptions& options,
                                    const MeasureOptions& measure) {
  if (options.plan.budget || options.given_plan || is_prepared_file(path)) {
    return Error{ErrorCode::invalid, "kernels are measured for a model, without a plan or a budget", shown_path(path)};
  }
  Result<KernelTimes> times = Measuring(path, options, measure).run();
  engine_internal::give_back_memory();
  return times;
}

}  // namespace lowtide
