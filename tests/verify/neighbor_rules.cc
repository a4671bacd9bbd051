// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <set>

#include "tests/verify/byte_oracle.h"
#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

// Bytes of a region that a value or scratch has, and the steps in which it is there.
struct Tenant {
  RegionId region;
  std::int64_t begin = 0;
  std::int64_t size = 0;
  bool is_alone = true;    // all values that share bytes with it begin at the same byte
  std::int64_t label = 0;  // equal for values that share bytes
  std::set<std::int64_t> steps;
};

class Neighbors {
 public:
  Neighbors(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    for (ValueId id : all_ids<ValueId>(plan.program.values.size())) label_.push_back(id.value());
    while (join_all()) {
    }
    for (ValueId id : all_ids<ValueId>(plan.program.values.size())) add_value(id);
    for (StepId id : all_ids<StepId>(plan.program.steps.size())) add_scratch(id);
  }

  std::vector<std::string> check() const {
    for (const Tenant& one : tenants_) {
      if (one.is_alone && one.begin % alignment(one.region) != 0) return {"a tensor alone begins at the alignment"};
      for (const Tenant& other : tenants_) {
        if (one.label != other.label && one.region == other.region && are_together(one, other) &&
            use_one_unit(one, other))
          return {"a tensor alone has its last unit for itself"};
      }
    }
    return {};
  }

  // The smallest alignment of a region that a worker of the program can write.
  std::int64_t unit() const {
    std::int64_t least = std::int64_t{1} << 40;
    for (std::size_t at = 0; at < plan_.machine.regions.size(); ++at) {
      if (plan_.machine.regions[at].is_read_only) continue;
      for (const Stream& stream : plan_.program.streams) {
        if (!stream.worker) continue;
        const std::vector<RegionId>& list = plan_.machine.workers[*stream.worker].addressable;
        const RegionId id(static_cast<std::uint32_t>(at));
        if (list.empty() || std::count(list.begin(), list.end(), id) > 0) least = std::min(least, alignment(id));
      }
    }
    return least;
  }

 private:
  // Gives both values the smaller label. Returns whether one of them had the larger one.
  bool join(ValueId a, ValueId b) {
    if (label_[a] == label_[b]) return false;
    label_[a] = label_[b] = std::min(label_[a], label_[b]);
    return true;
  }

  bool join_all() {
    bool is_changed = false;
    for (const Step& step : plan_.program.steps)
      is_changed = (is_alias(step) ? join_alias(step) : join(step)) || is_changed;
    return is_changed;
  }

  bool join(const Step& step) {
    if (is_copy(step)) return false;
    std::vector<ValueId> all = step.reads;
    all.insert(all.end(), step.writes.begin(), step.writes.end());
    bool is_changed = false;
    for (ValueId a : all) {
      for (ValueId b : all) is_changed = (have_common_bytes(a, b) && join(a, b)) || is_changed;
    }
    return is_changed;
  }

  bool join_alias(const Step& step) {
    const NodeId node = *node_of(step);
    const auto& outputs = graph_.node(node).outputs;
    bool is_changed = false;
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      const auto bytes = outputs[at] ? view_bytes(graph_, node, at) : std::nullopt;
      if (!bytes) continue;
      for (const ByteSource& source : *bytes) {
        for (ValueId write : step.writes) {
          if (plan_.program.values[write].tensor != *outputs[at] || source.operand >= step.reads.size()) continue;
          is_changed = join(step.reads[source.operand], write) || is_changed;
        }
      }
    }
    return is_changed;
  }

  std::int64_t size(ValueId id) const { return graph_.tensor(plan_.program.values[id].tensor).size.count(); }
  const ValuePlace& place(ValueId id) const { return plan_.layout.values[id]; }
  std::int64_t alignment(RegionId id) const { return plan_.machine.regions[id.index()].alignment.count(); }

  bool have_common_bytes(ValueId a, ValueId b) const {
    const std::int64_t one = place(a).offset.position();
    const std::int64_t other = place(b).offset.position();
    return place(a).buffer == place(b).buffer && one < other + size(b) && other < one + size(a) && size(a) > 0 &&
           size(b) > 0;
  }

  // -1: it is there before the run; the number of steps: it is needed after the run.
  std::set<std::int64_t> steps_of(ValueId id) const {
    const auto has = [&](const std::vector<ValueId>& list) { return std::count(list.begin(), list.end(), id) > 0; };
    std::set<std::int64_t> steps;
    if (!plan_.program.values[id].written) steps.insert(-1);
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      if (has(plan_.program.steps[step].reads) || has(plan_.program.steps[step].writes)) steps.insert(step.value());
    }
    if (has(plan_.program.outputs) || has(plan_.program.updates)) {
      steps.insert(static_cast<std::int64_t>(plan_.program.steps.size()));
    }
    return steps;
  }

  void add_value(ValueId id) {
    const std::optional<Placement>& at = plan_.layout.buffers[place(id).buffer].placement;
    if (!at || size(id) == 0) return;
    Tenant one{.region = at->region,
               .begin = at->offset.position() + place(id).offset.position(),
               .size = size(id),
               .label = label_[id],
               .steps = steps_of(id)};
    for (ValueId other : all_ids<ValueId>(plan_.program.values.size())) {
      if (label_[other] == label_[id] && size(other) > 0 && place(other) != place(id)) one.is_alone = false;
    }
    if (!one.steps.empty()) tenants_.push_back(std::move(one));
  }

  void add_scratch(StepId id) {
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (!scratch) return;
    const Buffer& buffer = plan_.layout.buffers[*scratch];
    if (!buffer.placement || buffer.size == Bytes(0)) return;
    tenants_.push_back({.region = buffer.placement->region,
                        .begin = buffer.placement->offset.position(),
                        .size = buffer.size.count(),
                        .label = -1 - static_cast<std::int64_t>(id.value()),
                        .steps = {id.value()}});
  }

  static bool are_together(const Tenant& a, const Tenant& b) {
    return *a.steps.begin() <= *b.steps.rbegin() && *b.steps.begin() <= *a.steps.rbegin();
  }

  // Whether one is alone and the other is in its last unit, but not in its bytes, which is a fault of its own.
  bool use_one_unit(const Tenant& a, const Tenant& b) const {
    const auto end = [&](const Tenant& one) {
      const std::int64_t last = one.begin + one.size;
      const std::int64_t least = std::min(unit(), alignment(one.region));
      return one.is_alone ? (last + least - 1) / least * least : last;
    };
    const bool have_bytes = a.begin < b.begin + b.size && b.begin < a.begin + a.size;
    return !have_bytes && a.begin < end(b) && b.begin < end(a);
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<ValueId, std::int64_t> label_;
  std::vector<Tenant> tenants_;
};

}  // namespace

std::vector<std::string> neighbor_faults(const Graph& graph, const Plan& plan) {
  return Neighbors(graph, plan).check();
}

std::int64_t smallest_unit(const Graph& graph, const Plan& plan) { return Neighbors(graph, plan).unit(); }

}  // namespace lowtide::testing
