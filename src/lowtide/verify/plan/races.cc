// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/verify/plan/byte_map.h"
#include "lowtide/verify/plan/stages.h"
#include "lowtide/verify/plan/write_clock.h"

namespace lowtide::verify_internal {
namespace {

// What a step does with some bytes.
struct Access {
  std::optional<ValueId> value;  // nullopt: its scratch
  bool is_write = false;
  Place place;
};

// Looks at the streams one after another. For each step of the other streams it knows up to which step of this stream
// everything happens before. If a later step of this stream, which the list names earlier, touches the same bytes, the two
// may run at the same time.
class Races {
 public:
  explicit Races(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        map_(subject.plan, subject.graph),
        first_(subject.graph.nodes().size()) {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const std::optional<NodeId> node = node_of(subject_.step(id));
      if (node && !first_[*node]) first_[*node] = id;
    }
  }

  void check() {
    IdVector<StreamId, char> is_used(plan_.program.streams.size(), 0);
    for (const Step& step : plan_.program.steps) is_used[step.stream] = 1;
    for (StreamId stream : all_ids<StreamId>(plan_.program.streams.size())) {
      if (subject_.findings.is_full()) return;
      if (is_used[stream] != 0) check_against(stream);
    }
  }

 private:
  [[nodiscard]] static std::uint32_t time_of(StepId step) { return step.value() + 1; }

  // For each step the time of the last step of `stream` that happens before it, 0 if none; of a step of the stream its
  // own.
  IdVector<StepId, std::uint32_t> known_of(StreamId stream) const {
    IdVector<StepId, std::uint32_t> known(subject_.steps(), 0);
    IdVector<StreamId, std::uint32_t> known_by(plan_.program.streams.size(), 0);
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const Step& step = plan_.program.steps[id];
      std::uint32_t last = known_by[step.stream];
      for (StepId before : step.after) last = std::max(last, known[before]);
      if (step.stream == stream) last = time_of(id);
      known[id] = known_by[step.stream] = last;
    }
    return known;
  }

  void check_against(StreamId stream) {
    const IdVector<StepId, std::uint32_t> known = known_of(stream);
    WriteClock reads(map_.cells());
    WriteClock writes(map_.cells());
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      const bool is_inside = plan_.program.steps[id].stream == stream;
      if (!is_inside) check_data(id, stream, known[id]);
      for_each_access(id, [&](const Access& access) {
        const WriteClock::Cells& cells = access.place.cells;
        if (is_inside) return (access.is_write ? writes : reads).write(cells, time_of(id));
        const std::uint32_t written = writes.last_write(cells);
        if (written > known[id]) return report(StepId(written - 1), id, access);
        const std::uint32_t read = access.is_write ? reads.last_write(cells) : 0;
        if (read > known[id]) report(StepId(read - 1), id, access);
      });
    }
  }

  // A value is there before it is read, whether or not it has bytes; and the first run of a control input has ended.
  void check_data(StepId id, StreamId stream, std::uint32_t known) {
    const Step& step = plan_.program.steps[id];
    const auto is_missed = [&](std::optional<StepId> before) {
      return before && *before < id && plan_.program.steps[*before].stream == stream && time_of(*before) > known;
    };
    for (ValueId read : step.reads) {
      const Value& value = plan_.program.values[read];
      if (!is_missed(value.written) || subject_.findings.is_full()) continue;
      add(id, {value.tensor},
          name_of(subject_, id) + " reads " + name_of(subject_, value.tensor) + ", but does not wait for " +
              name_of(subject_, *value.written) + ", which writes it");
    }
    const std::optional<NodeId> node = node_of(step);
    if (!node) return;
    for (NodeId before : subject_.graph.node(*node).control_inputs) {
      if (!is_missed(first_[before]) || subject_.findings.is_full()) continue;
      add(id, {},
          name_of(subject_, id) + " must run after " + name_of(subject_, *first_[before]) +
              ", but does not wait for it");
    }
  }

  // An alias runs nothing, but the bytes that it gives a second name to must stay as they are.
  template <typename Function>
  void for_each_access(StepId id, Function function) const {
    const Step& step = subject_.step(id);
    if (const Copy* copy = std::get_if<Copy>(&step.work)) {
      function(Access{step.reads[0], false, map_.part_of(step.reads[0], copy->bytes)});
      function(Access{step.writes[0], true, map_.part_of(step.writes[0], copy->bytes)});
      return;
    }
    for (ValueId value : step.reads) function(Access{value, false, map_.place(value)});
    if (is_alias(step)) return;
    for (ValueId value : step.writes) function(Access{value, true, map_.place(value)});
    if (plan_.layout.steps[id].scratch) function(Access{std::nullopt, true, map_.scratch_place(id)});
  }

  // "writes 'x' (tensor 3)"
  std::string describe(const Access& access) const {
    if (!access.value) return "has its scratch";
    return std::string(access.is_write ? "writes " : "reads ") +
           name_of(subject_, plan_.program.values[*access.value].tensor);
  }

  void report(StepId earlier, StepId later, const Access& access) {
    if (subject_.findings.is_full()) return;
    const Place& place = access.place;
    std::optional<Access> other;
    for_each_access(earlier, [&](const Access& one) {
      if (!other && (one.is_write || access.is_write) && one.place.overlaps(place)) other = one;
    });
    const Place& hit = other->place;
    const Interval<std::int64_t> bytes{std::max(place.bytes.begin, hit.bytes.begin),
                                       std::min(place.bytes.end, hit.bytes.end)};
    std::vector<TensorId> tensors;
    for (const Access* one : {static_cast<const Access*>(&*other), &access}) {
      if (one->value) tensors.push_back(plan_.program.values[*one->value].tensor);
    }
    const std::optional<RegionId> region = map_.region_of(place);
    add(later, std::move(tensors),
        name_of(subject_, earlier) + " and " + name_of(subject_, later) + " may run at the same time: the one " +
            describe(*other) + ", the other " + describe(access) + " in " + name_of(bytes) + " of " +
            (region ? name_of(subject_, *region) : name_of(subject_, map_.buffer_of(place))),
        region, bytes);
  }

  void add(StepId step, std::vector<TensorId> tensors, std::string message,
           std::optional<RegionId> region = std::nullopt, std::optional<Interval<std::int64_t>> bytes = std::nullopt) {
    subject_.findings.add({.kind = ViolationKind::race,
                           .step = step,
                           .tensors = std::move(tensors),
                           .region = region,
                           .bytes = bytes,
                           .message = std::move(message)});
  }

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap map_;
  IdVector<NodeId, std::optional<StepId>> first_;  // step that runs the node
};

}  // namespace

void check_races(const Subject& subject) {
  if (subject.plan.program.streams.size() > 1) Races(subject).check();
}

}  // namespace lowtide::verify_internal
