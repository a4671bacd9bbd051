// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/base/disjoint_sets.h"
#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/bytes/live_ranges.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

using Range = LiveRanges::Range;

// Values that share bytes form a set. A set whose values all begin at one byte of one buffer is whole: it needs only
// space for its largest value. Any other set has values at different bytes, because of a slice, split or concat.
class Neighbors {
 public:
  explicit Neighbors(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        joined_(plan_.program.values.size()),
        sets_(plan_.program.values.size()),
        unit_(std::numeric_limits<std::int64_t>::max()) {
    for (RegionId id : written_regions(plan_)) {
      unit_ = std::min(unit_, plan_.machine.regions[id.index()].alignment.count());
    }
  }

  void check() {
    for (const Step& step : plan_.program.steps) join(step);
    collect_sets();
    add_steps();
    std::vector<std::vector<Item>> by_region(plan_.machine.regions.size());
    for (ValueId id : all_ids<ValueId>(sets_.size())) add_items(id, by_region);
    for (StepId id : all_ids<StepId>(subject_.steps())) add_scratch(id, by_region);
    for (const std::vector<Item>& items : by_region) sweep(items);
  }

 private:
  struct Set {
    bool is_whole = true;
    std::optional<ValueId> first;                                   // with bytes
    std::int64_t size = 0;                                          // of the largest value
    std::int64_t begin = std::numeric_limits<std::int64_t>::max();  // first step that touches a value; -1: before all
    std::int64_t end = -1;                                          // last step; the number of steps: after the run
  };

  // Bytes of a region that are live from step `begin` to step `end`, both included.
  struct Item {
    BufferId buffer;
    std::optional<ValueId> value;  // nullopt: scratch
    bool is_whole = true;
    Range bytes;  // of the region
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  [[nodiscard]] std::int64_t size_of(ValueId id) const { return subject_.tensor_of(id).size.count(); }
  [[nodiscard]] const ValuePlace& place_of(ValueId id) const { return plan_.layout.values[id]; }

  // The values of a copy share no bytes, even if it moves a value by less than its size.
  void join(const Step& step) {
    if (is_alias(step)) return join_alias(step);
    if (is_copy(step)) return;
    std::vector<std::tuple<BufferId, std::int64_t, ValueId>> places;
    for (const std::vector<ValueId>* values : {&step.reads, &step.writes}) {
      for (ValueId value : *values) {
        if (size_of(value) > 0) places.emplace_back(place_of(value).buffer, place_of(value).offset.position(), value);
      }
    }
    std::sort(places.begin(), places.end());
    std::int64_t end = 0;  // of the values before in the same buffer
    for (std::size_t at = 0; at < places.size(); ++at) {
      const auto& [buffer, begin, value] = places[at];
      const bool is_same_buffer = at > 0 && std::get<0>(places[at - 1]) == buffer;
      if (is_same_buffer && begin < end) joined_.join(std::get<2>(places[at - 1]), value);
      end = is_same_buffer ? std::max(end, begin + size_of(value)) : begin + size_of(value);
    }
  }

  // Operands that are not data, such as the shape of a Reshape, share no bytes with the result.
  void join_alias(const Step& step) {
    std::map<TensorId, ValueId> written;
    for (ValueId value : step.writes) written.emplace(plan_.program.values[value].tensor, value);
    for (const SameBytes& part : alias_meaning(subject_.graph, *node_of(step)).parts) {
      const auto output = written.find(part.output);
      if (part.operand < step.reads.size() && output != written.end()) {
        joined_.join(step.reads[part.operand], output->second);
      }
    }
  }

  void collect_sets() {
    for (ValueId id : all_ids<ValueId>(sets_.size())) {
      if (size_of(id) == 0) continue;
      Set& set = sets_[joined_.find(id)];
      if (!set.first) set.first = id;
      set.is_whole = set.is_whole && place_of(id) == place_of(*set.first);
      set.size = std::max(set.size, size_of(id));
    }
  }

  void touch(ValueId id, std::int64_t step) {
    for (Set* set : {&sets_[joined_.find(id)], &own_[id]}) {
      set->begin = std::min(set->begin, step);
      set->end = std::max(set->end, step);
    }
  }

  void add_steps() {
    own_ = IdVector<ValueId, Set>(sets_.size());
    for (ValueId id : all_ids<ValueId>(sets_.size())) {
      if (!plan_.program.values[id].written) touch(id, -1);
    }
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      for (ValueId value : subject_.step(id).reads) touch(value, id.value());
      for (ValueId value : subject_.step(id).writes) touch(value, id.value());
    }
    for (const std::vector<ValueId>* kept : {&plan_.program.outputs, &plan_.program.updates}) {
      for (ValueId value : *kept) touch(value, static_cast<std::int64_t>(subject_.steps()));
    }
  }

  // One item for a whole set, and one for each value of any other set.
  void add_items(ValueId id, std::vector<std::vector<Item>>& by_region) {
    const std::optional<Placement>& placement = subject_.buffer_of(id).placement;
    const Set& set = sets_[joined_.find(id)];
    if (!placement || size_of(id) == 0 || (set.is_whole && set.first != id)) return;
    const Set& life = set.is_whole ? set : own_[id];
    if (life.begin > life.end) return;
    const std::int64_t begin = placement->offset.position() + place_of(id).offset.position();
    const std::int64_t size = set.is_whole ? set.size : size_of(id);
    by_region[placement->region.index()].push_back(
        {place_of(id).buffer, id, set.is_whole, {begin, begin + size}, life.begin, life.end});
    if (set.is_whole) check_alignment(id, placement->region, begin);
  }

  void check_alignment(ValueId id, RegionId region, std::int64_t begin) {
    const std::int64_t alignment = plan_.machine.regions[region.index()].alignment.count();
    if (place_of(id).offset.position() % alignment == 0 || subject_.findings.is_full()) return;
    const TensorId tensor = plan_.program.values[id].tensor;
    subject_.findings.add({.kind = ViolationKind::misaligned,
                           .step = plan_.program.values[id].written,
                           .tensors = {tensor},
                           .region = region,
                           .message = name_of(subject_, tensor) + " is at offset " + std::to_string(begin) + " of " +
                                      name_of(subject_, region) + ", whose alignment is " + std::to_string(alignment) +
                                      ", and is not part of a larger tensor"});
  }

  void add_scratch(StepId id, std::vector<std::vector<Item>>& by_region) {
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (!scratch) return;
    const Buffer& buffer = plan_.layout.buffers[*scratch];
    if (!buffer.placement || buffer.size == Bytes(0)) return;
    const std::int64_t begin = buffer.placement->offset.position();
    by_region[buffer.placement->region.index()].push_back(
        {*scratch, std::nullopt, true, {begin, begin + buffer.size.count()}, id.value(), id.value()});
  }

  // To the end of the last unit.
  [[nodiscard]] Range reserved(const Item& item) const {
    if (!item.is_whole) return item.bytes;
    const std::int64_t unit = unit_of(plan_.layout.buffers[item.buffer].placement->region);
    const std::int64_t past = item.bytes.end % unit;
    return {item.bytes.begin, past == 0 ? item.bytes.end : item.bytes.end + (unit - past)};
  }

  [[nodiscard]] std::int64_t unit_of(RegionId region) const {
    return std::min(unit_, plan_.machine.regions[region.index()].alignment.count());
  }

  // Sweeps over time. Among events of one step, begins come before ends. Values of sets that are not whole may overlap
  // in any number, so only whole items are compared with all others.
  void sweep(const std::vector<Item>& items) {
    std::vector<Range> ranges;
    std::vector<std::tuple<std::int64_t, bool, std::size_t>> events;
    for (std::size_t at = 0; at < items.size(); ++at) {
      ranges.push_back(reserved(items[at]));
      events.emplace_back(items[at].begin, false, at);
      events.emplace_back(items[at].end, true, at);
    }
    std::sort(events.begin(), events.end());
    LiveRanges whole(ranges);
    LiveRanges others(std::move(ranges));
    for (const auto& [step, ends, at] : events) {
      LiveRanges& own = items[at].is_whole ? whole : others;
      if (ends) {
        own.erase(at);
        continue;
      }
      const auto report_first = [&, newer = at](std::size_t other) {
        report(items[other], items[newer]);
        return false;
      };
      whole.for_each_overlap(at, report_first);
      if (items[at].is_whole) others.for_each_overlap(at, report_first);
      if (subject_.findings.is_full()) return;
      own.insert(at);
    }
  }

  [[nodiscard]] std::string describe(const Item& item) const {
    return item.value ? name_of(subject_, plan_.program.values[*item.value].tensor) : name_of(subject_, item.buffer);
  }

  // Common bytes are an error of their own, which other checks report.
  void report(const Item& one, const Item& other) {
    if (one.bytes.begin < other.bytes.end && other.bytes.begin < one.bytes.end) return;
    if (subject_.findings.is_full()) return;
    const RegionId region = plan_.layout.buffers[one.buffer].placement->region;
    std::vector<TensorId> tensors;
    for (const Item* item : {&one, &other}) {
      if (item->value) tensors.push_back(plan_.program.values[*item->value].tensor);
    }
    subject_.findings.add({.kind = ViolationKind::misaligned,
                           .tensors = std::move(tensors),
                           .region = region,
                           .message = describe(one) + " at " + name_of(one.bytes) + " and " + describe(other) + " at " +
                                      name_of(other.bytes) + " of " + name_of(subject_, region) +
                                      " are in one unit of " + std::to_string(unit_of(region)) +
                                      " bytes, the smallest alignment, but share no bytes"});
  }

  const Subject& subject_;
  const Plan& plan_;
  DisjointSets<ValueId> joined_;
  IdVector<ValueId, Set> sets_;  // by the value that represents the set
  IdVector<ValueId, Set> own_;   // by value: its steps
  std::int64_t unit_;
};

}  // namespace

void check_neighbors(const Subject& subject) { Neighbors(subject).check(); }

}  // namespace lowtide::verify_internal
