// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "lowtide/base/check.h"
#include "lowtide/report/peak.h"

namespace lowtide {
namespace {

// Facts of one plan that every holder needs.
struct Uses {
  IdVector<ValueId, std::optional<StepId>> last_read;
  IdVector<BufferId, std::optional<StepId>> buffer_last_read;
  IdVector<BufferId, std::optional<StepId>> scratch_of;
};

Uses uses_of(const Plan& plan) {
  Uses uses{IdVector<ValueId, std::optional<StepId>>(plan.program.values.size()),
            IdVector<BufferId, std::optional<StepId>>(plan.layout.buffers.size()),
            IdVector<BufferId, std::optional<StepId>>(plan.layout.buffers.size())};
  for (StepId step : all_ids<StepId>(plan.program.steps.size())) {
    for (ValueId read : plan.program.steps[step].reads) {
      uses.last_read[read] = step;
      uses.buffer_last_read[plan.layout.values[read].buffer] = step;
    }
    if (const std::optional<BufferId>& scratch = plan.layout.steps[step].scratch) uses.scratch_of[*scratch] = step;
  }
  return uses;
}

// Step of the largest load, the first of equals.
StepId peak_step(const Plan& plan) {
  const std::vector<Bytes> loads = load_by_step(plan.layout);
  return StepId(static_cast<std::uint32_t>(std::max_element(loads.begin(), loads.end()) - loads.begin()));
}

// Whether a buffer is called after this value rather than after another one: it is an output, it is larger, it is read
// later. The page calls buffers by the same rule (page/sheet.js).
struct Candidate {
  ValueId value;
  bool is_output = false;
  Bytes size;
  std::int64_t last_read = -1;

  [[nodiscard]] bool is_better_than(const Candidate& other) const {
    if (is_output != other.is_output) return is_output;
    if (size != other.size) return size > other.size;
    if (last_read != other.last_read) return last_read > other.last_read;
    return value < other.value;
  }
};

struct Held {
  std::optional<Candidate> name;
  bool name_lives = false;  // at the peak
  std::int64_t living = 0;
  std::optional<StepId> first_write;
};

class PlanPeak {
 public:
  explicit PlanPeak(const NamedPlan& shown)
      : plan_(shown.plan),
        labels_(shown.labels),
        uses_(uses_of(shown.plan)),
        ordinals_(ordinals_of(shown.plan.program)),
        is_output_(shown.plan.program.values.size(), 0),
        step_(peak_step(shown.plan)) {
    for (ValueId output : plan_.program.outputs) is_output_[output] = 1;
  }

  [[nodiscard]] Peak peak() const {
    Peak peak;
    peak.steps = static_cast<std::int64_t>(plan_.program.steps.size());
    if (peak.steps == 0) return peak;
    peak.step = step_.value();
    peak.node = shown(step_);
    const IdVector<BufferId, Held> held = held_at_peak();
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      const Buffer& buffer = plan_.layout.buffers[id];
      const Bytes living = living_bytes(buffer, step_);
      if (!buffer.placement || living == Bytes(0)) continue;
      peak.holders.push_back(holder(id, held[id], living));
      peak.load += living;
    }
    std::stable_sort(peak.holders.begin(), peak.holders.end(),
                     [](const PeakHolder& a, const PeakHolder& b) { return a.size > b.size; });
    return peak;
  }

  // The body of the step at the peak that needs most; nullptr if there is none.
  [[nodiscard]] const BodyPlan* largest_body() const {
    const BodyPlan* largest = nullptr;
    if (plan_.program.steps.empty()) return nullptr;
    for (const BodyPlan& body : plan_.layout.steps[step_].bodies) {
      if (largest == nullptr || arena_bytes(*body.plan) > arena_bytes(*largest->plan)) largest = &body;
    }
    return largest != nullptr && arena_bytes(*largest->plan) > Bytes(0) ? largest : nullptr;
  }

  [[nodiscard]] const Labels& labels_of_body(const BodyPlan& body) const {
    const std::optional<NodeId> node = node_of(plan_.program.steps[step_]);
    const auto found = std::find_if(labels_.bodies.begin(), labels_.bodies.end(), [&](const Labels::BodyLabels& inner) {
      return inner.node == node && inner.body == body.body;
    });
    LOWTIDE_CHECK(found != labels_.bodies.end(), "labels name every body of their plan");
    return found->labels;
  }

 private:
  [[nodiscard]] ShownNode shown(StepId step) const {
    const Step& shown = plan_.program.steps[step];
    if (const std::optional<NodeId> node = node_of(shown)) return {labels_.nodes[*node].name, labels_.nodes[*node].op};
    return shown_copy(plan_, shown, labels_.tensors[plan_.program.values[shown.reads[0]].tensor].name);
  }

  [[nodiscard]] IdVector<BufferId, Held> held_at_peak() const {
    IdVector<BufferId, Held> held(plan_.layout.buffers.size());
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const Value& value = plan_.program.values[id];
      const TensorLabel& tensor = labels_.tensors[value.tensor];
      const bool is_there = !value.written || *value.written <= step_;
      const bool is_output = is_output_[id] != 0;
      const bool is_needed =
          is_output || value.written == step_ || (uses_.last_read[id] && *uses_.last_read[id] >= step_);
      const Candidate candidate{id, is_output, tensor.size,
                                uses_.last_read[id] ? std::int64_t{uses_.last_read[id]->value()} : -1};
      Held& of_buffer = held[plan_.layout.values[id].buffer];
      if (is_there && is_needed) ++of_buffer.living;
      if (value.written && (!of_buffer.first_write || *value.written < *of_buffer.first_write)) {
        of_buffer.first_write = value.written;
      }
      if (of_buffer.name && !candidate.is_better_than(*of_buffer.name)) continue;
      of_buffer.name = candidate;
      of_buffer.name_lives = is_there && is_needed;
    }
    return held;
  }

  [[nodiscard]] PeakHolder holder(BufferId id, const Held& held, Bytes living) const {
    const Buffer& buffer = plan_.layout.buffers[id];
    PeakHolder holder{.kind = buffer.kind,
                      .size = living,
                      .sharing = held.living - (held.name_lives ? 1 : 0),
                      .steps = {buffer.lifespan.begin.value(), buffer.lifespan.end.value()}};
    if (held.name) {
      const Value& value = plan_.program.values[held.name->value];
      const TensorLabel& tensor = labels_.tensors[value.tensor];
      holder.tensor = tensor.name;
      holder.ordinal = ordinals_[held.name->value];
      holder.dtype = tensor.dtype;
      holder.shape = tensor.shape;
      if (held.first_write) holder.producer = shown(*held.first_write);
    } else if (uses_.scratch_of[id]) {
      holder.producer = shown(*uses_.scratch_of[id]);
    }
    if (buffer.kind != BufferKind::output && uses_.buffer_last_read[id]) {
      holder.last_reader = shown(*uses_.buffer_last_read[id]);
    }
    return holder;
  }

  const Plan& plan_;
  const Labels& labels_;
  Uses uses_;
  IdVector<ValueId, std::uint32_t> ordinals_;
  IdVector<ValueId, char> is_output_;
  StepId step_;
};

}  // namespace

ShownNode shown_copy(const Plan& plan, const Step& step, const std::string& tensor) {
  const auto region_of = [&](ValueId value) -> std::optional<RegionId> {
    const Buffer& buffer = plan.layout.buffers[plan.layout.values[value].buffer];
    return buffer.placement ? std::optional(buffer.placement->region) : buffer.home;
  };
  const std::optional<RegionId> from = region_of(step.reads[0]);
  const std::optional<RegionId> to = region_of(step.writes[0]);
  ShownNode shown{.name = tensor, .op = "copy"};
  if (to && from != to) shown.to = plan.machine.regions[to->index()].name;
  return shown;
}

std::vector<Peak> peak_of(const NamedPlan& shown) {
  std::vector<Peak> levels;
  std::string name;
  const Plan* plan = &shown.plan;
  const Labels* labels = &shown.labels;
  while (plan != nullptr) {
    const PlanPeak level({*plan, *labels});
    levels.push_back(level.peak());
    levels.back().inside = name;
    const BodyPlan* body = level.largest_body();
    plan = body == nullptr ? nullptr : body->plan.get();
    if (body == nullptr) break;
    name = body->body;
    labels = &level.labels_of_body(*body);
  }
  return levels;
}

}  // namespace lowtide
