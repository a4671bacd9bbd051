// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/run/trace.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/cli/output/json.h"

namespace lowtide::cli_internal {
namespace {

constexpr int kProcess = 1;

double in_us(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

// Gives a track its name.
Json metadata(std::string_view what, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json slice_of(const Executable& executable, const StepTime& time) {
  const StepInfo info = step_info(executable, time.place);
  Json args{{"step", time.place.step.value()}};
  if (!info.path.empty()) args["body"] = json_text(info.path);
  if (!info.node.empty()) args["node"] = json_text(info.node);
  return {{"ph", "X"},
          {"name", json_text(info.node.empty() ? info.op : info.op + " " + info.node)},
          {"cat", json_text(info.op)},
          {"pid", kProcess},
          {"tid", time.thread},
          {"ts", in_us(time.begin_ns)},
          {"dur", in_us(time.end_ns - time.begin_ns)},
          {"args", args}};
}

Json counter(std::int64_t nanoseconds, Bytes live) {
  return {{"ph", "C"}, {"name", "arena"},          {"pid", kProcess},
          {"tid", 0},  {"ts", in_us(nanoseconds)}, {"args", {{"live bytes", live.count()}}}};
}

// The bytes that are live when a step begins. After the last one, the outputs are live.
void add_counters(const Executable& executable, std::span<const StepTime> times, Json& events) {
  const std::vector<Bytes> load = load_by_step(executable.plan());
  std::vector<StepTime> steps;
  std::ranges::copy_if(times, std::back_inserter(steps),
                       [](const StepTime& one) { return one.place.graph == kMainGraph; });
  std::ranges::stable_sort(steps, {}, &StepTime::begin_ns);
  for (const StepTime& one : steps) {
    if (one.place.step.index() < load.size()) events.push_back(counter(one.begin_ns, load[one.place.step.index()]));
  }
  Bytes outputs;
  for (const Buffer& buffer : executable.plan().layout.buffers) {
    if (buffer.placement && buffer.kind == BufferKind::output) outputs += buffer.size;
  }
  if (!steps.empty()) events.push_back(counter(std::ranges::max(steps, {}, &StepTime::end_ns).end_ns, outputs));
}

}  // namespace

std::string trace_of(const Executable& executable, std::span<const StepTime> times) {
  Json events = Json::array();
  events.push_back(metadata("process_name", 0, "lowtide " + json_text(executable.plan().provenance.model)));
  int threads = 1;
  for (const StepTime& one : times) threads = std::max(threads, one.thread + 1);
  for (int thread = 0; thread < threads; ++thread) {
    events.push_back(metadata("thread_name", thread, "thread " + std::to_string(thread)));
  }
  for (const StepTime& one : times) events.push_back(slice_of(executable, one));
  add_counters(executable, times, events);
  return Json{{"displayTimeUnit", "ns"}, {"traceEvents", events}}.text() + "\n";
}

}  // namespace lowtide::cli_internal
