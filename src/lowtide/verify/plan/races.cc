// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lowtide/base/flags.h"
#include "lowtide/verify/plan/byte_map.h"
#include "lowtide/verify/plan/messages.h"
#include "lowtide/verify/plan/stages.h"
#include "lowtide/verify/plan/write_clock.h"

namespace lowtide::verify_internal {
namespace {

// Looks at one stream after another. For each step of the other streams, finds the last step of this stream that
// happens before it. Later steps of this stream that are earlier in the list than the other step may run at the same
// time as that step. They must not touch the same bytes, unless both only read.
class Races {
 public:
  explicit Races(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        map_(subject.plan, subject.graph),
        messages_(subject, map_),
        first_(subject.graph.nodes().size()) {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const std::optional<NodeId> node = node_of(subject_.step(id));
      if (node && !first_[*node]) first_[*node] = id;
    }
  }

  void check() {
    Flags<StreamId> is_used(plan_.program.streams.size());
    for (const Step& step : plan_.program.steps) is_used.set(step.stream);
    for (StreamId stream : all_ids<StreamId>(plan_.program.streams.size())) {
      if (subject_.findings.is_full()) return;
      if (is_used.test(stream)) check_against(stream);
    }
  }

 private:
  [[nodiscard]] static std::uint32_t time_of(StepId step) { return step.value() + 1; }

  // For each step, the time of the last step of `stream` that happens before it, or 0 if none does. For a step of the
  // stream itself, its own time.
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

  // Checks that a value is there before it is read, even if it has no bytes, and that the first run of each control
  // input has ended.
  void check_data(StepId id, StreamId stream, std::uint32_t known) {
    const Step& step = plan_.program.steps[id];
    const auto is_missed = [&](std::optional<StepId> before) {
      return before && *before < id && plan_.program.steps[*before].stream == stream && time_of(*before) > known;
    };
    for (ValueId read : step.reads) {
      if (is_missed(plan_.program.values[read].written)) messages_.no_wait_for_value(id, read);
    }
    const std::optional<NodeId> node = node_of(step);
    if (!node) return;
    for (NodeId before : subject_.graph.node(*node).control_inputs) {
      if (is_missed(first_[before])) messages_.no_wait_for_control(id, *first_[before]);
    }
  }

  // An alias runs nothing, but the bytes that it gives a second name to must stay as they are.
  template <typename Function>
  void for_each_access(StepId id, Function function) const {
    const Step& step = subject_.step(id);
    if (const Copy* copy = std::get_if<Copy>(&step.work)) {
      function(Access{map_.part_of(step.reads[0], copy->bytes), step.reads[0], false});
      function(Access{map_.part_of(step.writes[0], copy->bytes), step.writes[0]});
      return;
    }
    for (ValueId value : step.reads) function(Access{map_.place(value), value, false});
    if (is_alias(step)) return;
    for (ValueId value : step.writes) function(Access{map_.place(value), value});
    if (plan_.layout.steps[id].scratch) function(Access{map_.scratch_place(id), std::nullopt});
  }

  void report(StepId earlier, StepId later, const Access& access) {
    if (subject_.findings.is_full()) return;
    std::optional<Access> other;
    for_each_access(earlier, [&](const Access& one) {
      if (!other && (one.is_write || access.is_write) && one.place.overlaps(access.place)) other = one;
    });
    messages_.race(earlier, *other, later, access);
  }

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap map_;
  const Messages messages_;
  IdVector<NodeId, std::optional<StepId>> first_;  // step that runs the node
};

}  // namespace

void check_races(const Subject& subject) {
  if (subject.plan.program.streams.size() > 1) Races(subject).check();
}

}  // namespace lowtide::verify_internal
