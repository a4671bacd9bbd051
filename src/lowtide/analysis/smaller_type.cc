// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/analysis/smaller_type.h"

#include <algorithm>
#include <vector>

#include "lowtide/analysis/peak.h"
#include "lowtide/base/flags.h"

namespace lowtide::analysis_internal {
namespace {

constexpr std::int64_t kBits = 32;  // of the values that get fewer

class SmallerType {
 public:
  // `bits`: what each such value has instead.
  SmallerType(const Plan& plan, const Labels& labels, std::int64_t bits)
      : plan_(plan), labels_(labels), bits_(bits), is_f32_(plan.layout.buffers.size()) {
    Flags<BufferId> holds_others(plan.layout.buffers.size());
    for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
      const bool is_f32 = labels.tensors[plan.program.values[id].tensor].dtype == DType::f32;
      (is_f32 ? is_f32_ : holds_others).set(plan.layout.values[id].buffer);
    }
    for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
      if (holds_others.test(id)) is_f32_.reset(id);
    }
  }

  [[nodiscard]] Bytes peak(std::optional<RegionId> region) {
    std::vector<Bytes> change(plan_.program.steps.size() + 1);
    const auto add = [&](const Lifespan& lifespan, Bytes bytes) {
      change[lifespan.begin.index()] += bytes;
      change[lifespan.end.index()] -= bytes;
    };
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      const Buffer& buffer = plan_.layout.buffers[id];
      if (!is_f32_.test(id) || !buffer.placement || (region && buffer.placement->region != *region)) continue;
      Bytes left = buffer.size - with_bits(buffer.size, unit_of(buffer));
      for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
        const Bytes removed((bytes.end - bytes.begin) * (kBits - bits_) / kBits);
        add(lifespan, Bytes(0) - removed);
        left -= removed;
      });
      add(buffer.lifespan, Bytes(0) - left);  // what rounding adds to the parts, or takes from them
    }
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const StepSpace& space = plan_.layout.steps[id];
      if (!space.scratch) continue;
      const Buffer& scratch = plan_.layout.buffers[*space.scratch];
      if (region && scratch.placement->region != *region) continue;
      add(scratch.lifespan, scratch_bytes(id, scratch) - scratch.size);
    }
    const std::vector<Bytes> loads = load_by_step(plan_.layout, region);
    Bytes largest;
    Bytes by;
    for (std::size_t at = 0; at < loads.size(); ++at) {
      by += change[at];
      largest = std::max(largest, loads[at] + by);
    }
    return largest;
  }

  [[nodiscard]] bool has_kernel_scratch() const { return has_kernel_scratch_; }

 private:
  [[nodiscard]] Bytes unit_of(const Buffer& buffer) const {
    return plan_.machine.regions[buffer.placement->region.index()].alignment;
  }
  [[nodiscard]] Bytes with_bits(Bytes size, Bytes unit) const {
    return round_up(Bytes((size.count() * bits_ + kBits - 1) / kBits), unit);
  }

  // The scratch of a step: the arenas of the bodies with smaller types, and the kernel's own. A body begins where the
  // bodies below it end.
  Bytes scratch_bytes(StepId id, const Buffer& scratch) {
    struct Range {
      Offset old_end;
      Offset new_end;
    };
    std::vector<Range> ranges;
    Offset old_end;
    Offset new_end;
    const std::vector<BodyPlan>& bodies = plan_.layout.steps[id].bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      const BodyPlan& body = bodies[at];
      Offset begin;
      for (const Range& below : ranges) {
        if (below.old_end <= body.offset) begin = std::max(begin, below.new_end);
      }
      const Bytes arena = arena_bytes(*body.plan);
      const Bytes smaller = arena - saved_in(id, at, *body.plan);
      ranges.push_back({body.offset + arena, begin + round_up(smaller, unit_of(scratch))});
      old_end = std::max(old_end, ranges.back().old_end);
      new_end = std::max(new_end, ranges.back().new_end);
    }
    const Bytes own = scratch.size - (old_end - Offset());
    has_kernel_scratch_ = has_kernel_scratch_ || own > Bytes(0);
    return std::min(scratch.size, round_up((new_end - Offset()) + own, unit_of(scratch)));
  }

  Bytes saved_in(StepId id, std::size_t at, const Plan& body) {
    const Labels* labels = body_labels(labels_, *node_of(plan_.program.steps[id]), at);
    const std::vector<Bytes> loads = load_by_step(body.layout);
    if (labels == nullptr || loads.empty()) return Bytes(0);
    SmallerType inside(body, *labels, bits_);
    const Bytes saved = *std::max_element(loads.begin(), loads.end()) - inside.peak(std::nullopt);
    has_kernel_scratch_ = has_kernel_scratch_ || inside.has_kernel_scratch_;
    return saved;
  }

  const Plan& plan_;
  const Labels& labels_;
  std::int64_t bits_;
  Flags<BufferId> is_f32_;  // the buffers that hold only such values
  bool has_kernel_scratch_ = false;
};

}  // namespace

TypeRemedy with_smaller_types(const Plan& plan, const Labels& labels, std::optional<RegionId> region) {
  SmallerType half(plan, labels, 16);
  SmallerType quarter(plan, labels, 8);
  TypeRemedy remedy{.peak_16_bits = half.peak(region), .peak_8_bits = quarter.peak(region)};
  remedy.has_kernel_scratch = half.has_kernel_scratch();
  return remedy;
}

}  // namespace lowtide::analysis_internal
