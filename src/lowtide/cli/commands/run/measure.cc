// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/measure.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/cli/commands/run/heap_counter.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/runtime/run_error.h"

namespace lowtide::cli_internal {
namespace {

void require(const Session& session, const RunResult& result) {
  if (!result.ok()) throw Stop(ExitCode::bad_input, describe(session.executable(), result).describe());
}

}  // namespace

std::optional<ProcessMemory> process_memory() {
  std::ifstream status("/proc/self/status");
  std::optional<std::int64_t> resident;
  std::optional<std::int64_t> high_water;
  for (std::string key; status >> key; status.ignore(1 << 20, '\n')) {
    std::int64_t kilobytes = 0;
    if (key == "VmRSS:" && status >> kilobytes) resident = kilobytes;
    if (key == "VmHWM:" && status >> kilobytes) high_water = kilobytes;
  }
  if (!resident || !high_water) return std::nullopt;
  return ProcessMemory{Bytes(*resident * 1024), Bytes(*high_water * 1024)};
}

double RunTimes::percentile(int percent) const {
  LOWTIDE_CHECK(!milliseconds.empty(), "a percentile is one of the times");
  const std::size_t rank = (milliseconds.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return milliseconds[std::max<std::size_t>(rank, 1) - 1];
}

RunTimes time_runs(Session& session, std::int64_t runs) {
  RunTimes times;
  times.milliseconds.reserve(static_cast<std::size_t>(runs));
  std::int64_t most = 0;
  for (std::int64_t run = 0; run < runs; ++run) {
    begin_counting_allocations();
    const Stopwatch watch;
    const RunResult result = session.run();
    times.milliseconds.push_back(watch.seconds() * 1e3);
    times.allocations = end_counting_allocations();
    require(session, result);
    most = std::max(most, times.allocations.value_or(0));
  }
  if (times.allocations) times.allocations = most;
  std::sort(times.milliseconds.begin(), times.milliseconds.end());
  return times;
}

double StepTimes::outside() const { return std::max(0.0, run - std::accumulate(of_each.begin(), of_each.end(), 0.0)); }

StepTimes time_steps(Session& session, std::int64_t runs) {
  StepTimes times{.of_each = IdVector<StepId, double>(session.executable().plan().program.steps.size())};
  for (std::int64_t run = 0; run < runs; ++run) {
    const Stopwatch watch;
    const RunResult result = session.run_timed(times.of_each);
    times.run += watch.seconds();
    require(session, result);
  }
  for (double& time : times.of_each) time *= 1e3 / static_cast<double>(runs);
  times.run *= 1e3 / static_cast<double>(runs);
  return times;
}

Bytes written_bytes(Session& session, const Arena& arena) {
  std::ptrdiff_t end = 0;
  // A run writes the same bytes both times, so it changes each of them at least once.
  for (const std::byte content : {std::byte{0x5A}, std::byte{0xA5}}) {
    const std::span<std::byte> memory = arena.memory();
    std::ranges::fill(memory, content);
    require(session, session.run());
    const auto last = std::find_if(memory.rbegin(), memory.rend(), [&](std::byte one) { return one != content; });
    end = std::max(end, memory.rend() - last);
  }
  return Bytes(end);
}

}  // namespace lowtide::cli_internal
