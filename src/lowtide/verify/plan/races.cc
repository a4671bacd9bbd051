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

// Looks at one stream after another. For each step X of the other streams, finds the last step of this stream that
// happens before X. The steps of this stream between that one and X in the list may run at the same time as X. They
// must not touch the same bytes as X, unless both only read.
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
    for (StepId id : all_ids<StepId>(subject_.steps())) add_step(id);
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

  // Flat copies of what the check of each stream reads.
  struct Touched {
    WriteClock::Cells cells;
    bool is_write;
  };
  struct Needed {
    StepId before;
    std::optional<ValueId> value;  // that `before` writes; nullopt: it runs a control input
  };
  // A step, and where its entries end in the lists of waits, needs and accesses.
  struct Timed {
    StreamId stream;
    std::size_t end_of_waits;
    std::size_t end_of_needs;
    std::size_t end_of_accesses;
  };

  void add_step(StepId id) {
    const Step& step = plan_.program.steps[id];
    waits_.insert(waits_.end(), step.after.begin(), step.after.end());
    for (ValueId read : step.reads) {
      const std::optional<StepId> written = plan_.program.values[read].written;
      if (written && *written < id) needs_.push_back({*written, read});
    }
    if (const std::optional<NodeId> node = node_of(step)) {
      for (NodeId before : subject_.graph.node(*node).control_inputs) {
        if (first_[before] && *first_[before] < id) needs_.push_back({*first_[before], std::nullopt});
      }
    }
    for_each_access(id, [&](const Access& access) { accesses_.push_back({access.place.cells, access.is_write}); });
    steps_.push_back({step.stream, waits_.size(), needs_.size(), accesses_.size()});
  }

  // For each step, the time of the last step of `stream` that happens before it, or 0 if none does. For a step of the
  // stream itself, its own time.
  IdVector<StepId, std::uint32_t> known_of(StreamId stream) const {
    IdVector<StepId, std::uint32_t> known(subject_.steps(), 0);
    IdVector<StreamId, std::uint32_t> known_by(plan_.program.streams.size(), 0);
    std::size_t wait = 0;
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const Timed& step = steps_[id];
      std::uint32_t last = known_by[step.stream];
      for (; wait < step.end_of_waits; ++wait) last = std::max(last, known[waits_[wait]]);
      if (step.stream == stream) last = time_of(id);
      known[id] = known_by[step.stream] = last;
    }
    return known;
  }

  void check_against(StreamId stream) {
    const IdVector<StepId, std::uint32_t> known = known_of(stream);
    WriteClock reads(map_.cells());
    WriteClock writes(map_.cells());
    std::size_t need = 0;
    std::size_t access = 0;
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      const Timed& step = steps_[id];
      const bool is_inside = step.stream == stream;
      for (; need < step.end_of_needs; ++need) {
        if (!is_inside) check_need(id, needs_[need], stream, known[id]);
      }
      const std::size_t first = access;
      for (; access < step.end_of_accesses; ++access) {
        const auto& [cells, is_write] = accesses_[access];
        if (is_inside) {
          (is_write ? writes : reads).write(cells, time_of(id));
          continue;
        }
        std::uint32_t other = writes.last_write(cells);
        if (other <= known[id] && is_write) other = reads.last_write(cells);
        if (other > known[id]) report(StepId(other - 1), id, access - first);
      }
    }
  }

  // A value must be there before it is read, even if it has no bytes, and the first run of each control input must have
  // ended.
  void check_need(StepId id, const Needed& need, StreamId stream, std::uint32_t known) {
    if (steps_[need.before].stream != stream || time_of(need.before) <= known) return;
    if (need.value) return messages_.no_wait_for_value(id, *need.value);
    messages_.no_wait_for_control(id, need.before);
  }

  // An alias runs no kernel, but its operands must stay unchanged, so it counts as a reader.
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

  // `at`: which access of the later step races.
  void report(StepId earlier, StepId later, std::size_t at) {
    if (subject_.findings.is_full()) return;
    std::optional<Access> access;
    for_each_access(later, [&](const Access& one) {
      if (at-- == 0) access = one;
    });
    std::optional<Access> other;
    for_each_access(earlier, [&](const Access& one) {
      if (!other && (one.is_write || access->is_write) && one.place.overlaps(access->place)) other = one;
    });
    messages_.race(earlier, *other, later, *access);
  }

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap map_;
  const Messages messages_;
  IdVector<NodeId, std::optional<StepId>> first_;  // step that runs the node
  IdVector<StepId, Timed> steps_;
  std::vector<StepId> waits_;      // of all steps, in their order, like the next two lists
  std::vector<Needed> needs_;      // steps that must have ended
  std::vector<Touched> accesses_;  // in the order of for_each_access
};

}  // namespace

void check_races(const Subject& subject) {
  if (subject.plan.program.streams.size() > 1) Races(subject).check();
}

}  // namespace lowtide::verify_internal
