// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/peak.h"

#include <algorithm>
#include <tuple>

#include "lowtide/base/check.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"

namespace lowtide {
namespace {

Bytes size_of(const Plan& plan, const Labels& labels, ValueId value) {
  return labels.tensors[plan.program.values[value].tensor].size;
}

IdVector<ValueId, std::optional<StepId>> last_reads(const Program& program) {
  IdVector<ValueId, std::optional<StepId>> last(program.values.size());
  for (StepId step : all_ids<StepId>(program.steps.size())) {
    for (ValueId read : program.steps[step].reads) last[read] = step;
  }
  return last;
}

Flags<ValueId> outputs_of(const Program& program) {
  Flags<ValueId> is_output(program.values.size());
  for (ValueId output : program.outputs) is_output.set(output);
  return is_output;
}

// Returns the buffers in the arena with live bytes in the step, or all of them if there is no step.
std::vector<LiveBuffer> live_buffers(const Plan& plan, const Labels& labels, std::optional<StepId> step) {
  const Layout& layout = plan.layout;
  const IdVector<ValueId, std::optional<StepId>> last_read = last_reads(plan.program);
  const Flags<ValueId> is_output = outputs_of(plan.program);
  const auto is_live = [&](ValueId id) {
    const std::optional<StepId>& written = plan.program.values[id].written;
    // The inputs of a loop body are live throughout.
    if (!step || layout.buffers[layout.values[id].buffer].kind == BufferKind::input) return true;
    if (written && *written > *step) return false;
    return is_output.test(id) || written == step || (last_read[id] && *last_read[id] >= *step);
  };
  IdVector<BufferId, std::vector<ValueId>> values(layout.buffers.size());
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    if (is_live(id)) values[layout.values[id].buffer].push_back(id);
  }
  std::vector<LiveBuffer> live;
  for (BufferId id : all_ids<BufferId>(layout.buffers.size())) {
    const Buffer& buffer = layout.buffers[id];
    const Bytes bytes = step ? living_bytes(buffer, *step) : buffer.size;
    if (!buffer.placement || is_outside(plan.machine, buffer.placement->region) || bytes == Bytes(0)) continue;
    std::stable_sort(values[id].begin(), values[id].end(),
                     [&](ValueId a, ValueId b) { return size_of(plan, labels, a) > size_of(plan, labels, b); });
    live.push_back({id, bytes, std::move(values[id])});
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
  return live;
}

// The live bytes of each step in the regions that count.
template <typename Counts>
std::vector<Bytes> loads_of(const Layout& layout, const Counts& counts) {
  const std::size_t moments = std::max<std::size_t>(layout.steps.size(), 1);
  std::vector<std::int64_t> change(moments + 1, 0);
  for (const Buffer& buffer : layout.buffers) {
    if (!buffer.placement || !counts(buffer.placement->region)) continue;
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += bytes.end - bytes.begin;
      change[layout.steps.empty() ? moments : lifespan.end.index()] -= bytes.end - bytes.begin;
    });
  }
  std::vector<Bytes> loads;
  std::int64_t live = 0;
  for (std::size_t moment = 0; moment < moments; ++moment) {
    live = must_add(live, change[moment]);
    loads.emplace_back(live);
  }
  return loads;
}

Peak peak_of_level(const Plan& plan, const Labels& labels) {
  Peak peak{.plan = &plan, .labels = &labels, .body = {}, .loads = load_by_step(plan)};
  peak.bytes = *std::max_element(peak.loads.begin(), peak.loads.end());
  peak.step = peak_step(plan, peak.loads);
  peak.buffers = live_buffers(plan, labels, peak.step);
  peak.uses = buffer_uses(plan, labels);
  peak.ordinals = ordinals_of(plan.program);
  return peak;
}

// The position of the body with the largest arena at the peak; nullopt if no body there needs one.
std::optional<std::size_t> largest_body(const Peak& peak) {
  if (!peak.step) return std::nullopt;
  const std::vector<BodyPlan>& bodies = peak.plan->layout.steps[*peak.step].bodies;
  const auto largest = std::max_element(bodies.begin(), bodies.end(), [](const BodyPlan& a, const BodyPlan& b) {
    return arena_bytes(*a.plan) < arena_bytes(*b.plan);
  });
  if (largest == bodies.end() || arena_bytes(*largest->plan) == Bytes(0)) return std::nullopt;
  return static_cast<std::size_t>(largest - bodies.begin());
}

}  // namespace

std::vector<Bytes> load_by_step(const Layout& layout, std::optional<RegionId> region) {
  return loads_of(layout, [&](RegionId id) { return !region || id == *region; });
}

std::vector<Bytes> load_by_step(const Plan& plan) {
  return loads_of(plan.layout, [&](RegionId id) { return !is_outside(plan.machine, id); });
}

Bytes touched_bytes(const Plan& plan, StepId id) {
  const Step& step = plan.program.steps[id];
  if (is_alias(step)) return Bytes(0);
  std::vector<BufferId> touched;
  for (ValueId value : step.reads) touched.push_back(plan.layout.values[value].buffer);
  for (ValueId value : step.writes) touched.push_back(plan.layout.values[value].buffer);
  if (const std::optional<BufferId>& scratch = plan.layout.steps[id].scratch) touched.push_back(*scratch);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  Bytes sum;
  for (BufferId buffer : touched) {
    if (plan.layout.buffers[buffer].placement) sum += living_bytes(plan.layout.buffers[buffer], id);
  }
  return sum;
}

std::optional<StepId> peak_step(const Plan& plan, const std::vector<Bytes>& loads) {
  if (plan.program.steps.empty()) return std::nullopt;
  const Bytes largest = *std::max_element(loads.begin(), loads.end());
  const auto rank = [&](StepId id) {
    const Step& step = plan.program.steps[id];
    if (!is_compute(step)) return std::pair(is_alias(step) ? 1 : 0, Bytes(0));
    return std::pair(2, touched_bytes(plan, id));
  };
  std::optional<StepId> best;
  for (StepId step : all_ids<StepId>(plan.program.steps.size())) {
    if (loads[step.index()] == largest && (!best || rank(step) > rank(*best))) best = step;
  }
  return best;
}

IdVector<BufferId, BufferUse> buffer_uses(const Plan& plan, const Labels& labels) {
  IdVector<BufferId, BufferUse> uses(plan.layout.buffers.size());
  const IdVector<ValueId, std::optional<StepId>> last_read = last_reads(plan.program);
  const Flags<ValueId> is_output = outputs_of(plan.program);
  const auto rank = [&](ValueId id) {
    return std::tuple(is_output.test(id), size_of(plan, labels, id), last_read[id]);
  };
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    BufferUse& use = uses[plan.layout.values[id].buffer];
    const std::optional<StepId>& written = plan.program.values[id].written;
    if (written && (!use.first_write || *written < *use.first_write)) use.first_write = written;
    use.last_read = std::max(use.last_read, last_read[id]);
    if (!use.name || rank(id) > rank(*use.name)) use.name = id;
  }
  for (StepId step : all_ids<StepId>(plan.layout.steps.size())) {
    if (const std::optional<BufferId>& scratch = plan.layout.steps[step].scratch) uses[*scratch].first_write = step;
  }
  return uses;
}

std::size_t Peak::other_values(const LiveBuffer& live) const {
  const auto named = std::count(live.values.begin(), live.values.end(), uses[live.buffer].name);
  return live.values.size() - static_cast<std::size_t>(named);
}

std::vector<Peak> peaks_of(const Plan& plan, const Labels& labels) {
  std::vector<Peak> peaks = {peak_of_level(plan, labels)};
  // Bodies nest at most limits::kMaxBodyNesting deep.
  while (const std::optional<std::size_t> position = largest_body(peaks.back())) {
    const Peak& outer = peaks.back();
    const BodyPlan& body = outer.plan->layout.steps[*outer.step].bodies[*position];
    const Labels* inner = body_labels(*outer.labels, *node_of(outer.plan->program.steps[*outer.step]), *position);
    LOWTIDE_CHECK(inner != nullptr, "labels name every body of their plan");
    Peak peak = peak_of_level(*body.plan, *inner);
    peak.body_position = *position;
    peak.body = body.body;
    peaks.push_back(std::move(peak));
  }
  return peaks;
}

}  // namespace lowtide
