// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/verify/alias_meaning.h"
#include "lowtide/verify/byte_map.h"
#include "lowtide/verify/in_place.h"
#include "lowtide/verify/living_bytes.h"
#include "lowtide/verify/stages.h"
#include "lowtide/verify/write_clock.h"

namespace lowtide::verification {
namespace {

using Bytes64 = Interval<std::int64_t>;

Bytes64 common(const Bytes64& a, const Bytes64& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

// A value never moves. So it is intact as long as nobody wrote any of its bytes after it was put there, and an alias
// is right exactly if its inputs are intact and it lies where the meaning of its operator says.
class Replay {
 public:
  explicit Replay(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        map_(subject.plan, subject.graph),
        living_(subject.plan),
        clock_(map_.cells()),
        held_since_(plan_.values.size()) {}

  void run() {
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (!plan_.values[id].written) held_since_[id] = 0;
    }
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (is_full()) return;
      check_accesses(id);
      if (plan_.program[id].kind == StepKind::alias) {
        run_alias(id);
      } else {
        run_compute(id);
      }
    }
    check_outputs();
  }

 private:
  struct Writing {
    Place place;
    std::optional<ValueId> value;  // nothing: scratch
  };
  // Write number i happened in events_[i - 1]; number 0 is what was there before the run.
  struct Event {
    StepId step;
    std::optional<ValueId> value;
  };

  [[nodiscard]] bool is_full() const { return subject_.findings.is_full(); }

  void add(ViolationKind kind, StepId step, std::vector<TensorId> tensors, const Place& place, const Bytes64& bytes,
           std::string message) {
    subject_.findings.add({.kind = kind,
                           .step = step,
                           .tensors = std::move(tensors),
                           .region = map_.region_of(place),
                           .bytes = bytes,
                           .message = std::move(message)});
  }

  std::string where(const Bytes64& bytes, const Place& place) const {
    const std::optional<RegionId> region = map_.region_of(place);
    return name_of(bytes) + " of " + (region ? name_of(subject_, *region) : name_of(subject_, map_.buffer_of(place)));
  }

  std::string name(ValueId value) const { return name_of(subject_, plan_.values[value].tensor); }

  // Lifespans, and that what is read is what was put there.
  void check_accesses(StepId id) {
    const Step& step = plan_.program[id];
    for (ValueId read : step.reads) {
      if (is_full()) return;
      check_alive(id, "reads", plan_.values[read].buffer, read);
      check_intact(read, id);
    }
    for (ValueId write : step.writes) {
      if (is_full()) return;
      check_alive(id, "writes", plan_.values[write].buffer, write);
    }
    if (step.scratch) check_alive(id, "uses", *step.scratch, std::nullopt);
  }

  void check_alive(StepId id, const char* verb, BufferId buffer, std::optional<ValueId> value) {
    const Lifespan life = value ? life_of(*value) : living_.common_life(buffer, scratch_bytes(buffer));
    if (life.contains(id)) return;
    std::vector<TensorId> tensors;
    if (value) tensors.push_back(plan_.values[*value].tensor);
    subject_.findings.add({.kind = ViolationKind::dead_access,
                           .step = id,
                           .tensors = std::move(tensors),
                           .message = name_of(subject_, id) + " " + verb + " " + (value ? name(*value) + " in " : "") +
                                      name_of(subject_, buffer) + ", " + whose(buffer) + " only in steps [" +
                                      std::to_string(life.begin.value()) + ", " + std::to_string(life.end.value()) +
                                      ")"});
  }

  // The steps in which all bytes of a value live.
  Lifespan life_of(ValueId id) const {
    const Value& value = plan_.values[id];
    const std::int64_t begin = value.offset.position();
    const std::int64_t end = begin + subject_.tensor_of(id).size.count();
    // One that does not lie in its buffer has been reported.
    if (begin < 0 || end > plan_.buffers[value.buffer].size.count()) return plan_.buffers[value.buffer].lifespan;
    return living_.common_life(value.buffer, {begin, end});
  }

  Bytes64 scratch_bytes(BufferId buffer) const { return {0, plan_.buffers[buffer].size.count()}; }

  const char* whose(BufferId buffer) const {
    return plan_.buffers[buffer].parts.empty() ? "which lives" : "where all of these bytes live";
  }

  // `at` nothing: at the end of the program.
  void check_intact(ValueId value, std::optional<StepId> at) {
    if (!held_since_[value]) return;  // read before it is written: a matter of data flow
    const Place& place = map_.place(value);
    const std::uint32_t last = clock_.last_write(map_.cells_of(value));
    if (last <= *held_since_[value]) return;
    const Event& event = events_[last - 1];
    const Place& hit = event.value ? map_.place(*event.value) : map_.scratch_place(event.step);
    const Bytes64 bytes = common(place.bytes, hit.bytes);
    std::vector<TensorId> tensors{plan_.values[value].tensor};
    if (event.value) tensors.push_back(plan_.values[*event.value].tensor);
    const std::string reader =
        at ? name_of(subject_, *at) + " reads " + name(value) : "output " + name(value) + " should hold at the end";
    add(at ? ViolationKind::clobbered : ViolationKind::output_lost, at.value_or(event.step), std::move(tensors), place,
        bytes,
        reader + " from " + where(place.bytes, place) + ", but " + name_of(subject_, event.step) + " overwrote " +
            name_of(bytes) + " with " + (event.value ? name(*event.value) : std::string("its scratch")));
  }

  void run_compute(StepId id) {
    const Step& step = plan_.program[id];
    std::vector<Writing> writings;
    if (step.scratch) writings.push_back({map_.scratch_place(id), std::nullopt});
    for (ValueId write : step.writes) writings.push_back({map_.place(write), write});
    const std::vector<Writing> disjoint = check_disjoint(id, writings);
    for (ValueId read : step.reads) {
      if (is_full()) return;
      check_overwrites(id, read, disjoint);
    }
    if (step.scratch) {
      events_.push_back({id, std::nullopt});
      clock_.write(map_.scratch_cells(id), now());
    }
    for (ValueId write : step.writes) {
      events_.push_back({id, write});
      clock_.write(map_.cells_of(write), now());
      held_since_[write] = now();
    }
  }

  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(events_.size()); }

  // What one step writes does not share bytes. Returns those that do not, sorted.
  std::vector<Writing> check_disjoint(StepId id, std::vector<Writing> writings) {
    std::erase_if(writings, [](const Writing& writing) { return writing.place.bytes.empty(); });
    std::sort(writings.begin(), writings.end(), [](const Writing& a, const Writing& b) { return a.place < b.place; });
    std::vector<Writing> kept;
    for (const Writing& writing : writings) {
      if (kept.empty() || !kept.back().place.overlaps(writing.place)) {
        kept.push_back(writing);
        continue;
      }
      if (is_full()) break;
      const Writing& other = kept.back();
      const Bytes64 bytes = common(other.place.bytes, writing.place.bytes);
      std::vector<TensorId> tensors;
      for (const Writing* one : {&other, &writing}) {
        if (one->value) tensors.push_back(plan_.values[*one->value].tensor);
      }
      add(ViolationKind::clobbered, id, std::move(tensors), writing.place, bytes,
          name_of(subject_, id) + " writes both " + describe(other) + " and " + describe(writing) + " into " +
              where(bytes, writing.place));
    }
    return kept;
  }

  std::string describe(const Writing& writing) const {
    return writing.value ? name(*writing.value) : std::string("its scratch");
  }

  // A kernel writes while it reads: what it writes may take a read value's bytes only where the operator permits it.
  void check_overwrites(StepId id, ValueId read, const std::vector<Writing>& writings) {
    const Place& place = map_.place(read);
    if (place.bytes.empty()) return;
    auto writing = std::lower_bound(writings.begin(), writings.end(), place, [](const Writing& a, const Place& b) {
      return std::pair(a.place.storage, a.place.bytes.end) <= std::pair(b.storage, b.bytes.begin);
    });
    for (; writing != writings.end() && writing->place.overlaps(place) && !is_full(); ++writing) {
      const Bytes64 bytes = common(place.bytes, writing->place.bytes);
      const TensorId operand = plan_.values[read].tensor;
      if (!writing->value) {
        add(ViolationKind::clobbered, id, {operand}, place, bytes,
            name_of(subject_, id) + " has scratch in " + where(bytes, place) + ", where it reads " + name(read));
        continue;
      }
      const TensorId result = plan_.values[*writing->value].tensor;
      std::string why = writing->place == place
                            ? in_place_obstacle(subject_.graph, plan_.program[id].node, operand, result)
                            : "the two do not begin and end at the same bytes";
      if (why.empty()) continue;
      add(ViolationKind::bad_in_place, id, {operand, result}, place, bytes,
          name_of(subject_, id) + " writes " + name(*writing->value) + " over " + name(read) + " in " +
              where(bytes, place) + ": " + why);
    }
  }

  void run_alias(StepId id) {
    const Step& step = plan_.program[id];
    if (step.scratch) bad_alias(id, {}, name_of(subject_, id) + " is an alias, which needs no scratch");
    const AliasMeaning meaning = alias_meaning(subject_.graph, step.node);
    if (!meaning.obstacle.empty()) {
      bad_alias(id, {}, name_of(subject_, id) + " cannot be an alias: " + meaning.obstacle);
    }
    const std::vector<std::pair<TensorId, ValueId>> inputs = by_tensor(step.reads);
    const std::vector<std::pair<TensorId, ValueId>> outputs = by_tensor(step.writes);
    for (const SameBytes& part : meaning.parts) {
      if (is_full()) return;
      const std::optional<ValueId> input = find(inputs, part.input);
      const std::optional<ValueId> output = find(outputs, part.output);
      if (input && output) check_part(id, part, *input, *output);
    }
    for (ValueId write : step.writes) held_since_[write] = now();
  }

  void check_part(StepId id, const SameBytes& part, ValueId input, ValueId output) {
    const Place& from = map_.place(input);
    const Place& to = map_.place(output);
    const std::int64_t is_at = to.bytes.begin + part.output_begin;
    const std::int64_t should_be_at = from.bytes.begin + part.input_begin;
    if (from.storage == to.storage && is_at == should_be_at) return;
    const Bytes64 bytes{is_at, is_at + part.length};
    bad_alias(id, {part.input, part.output},
              name_of(subject_, id) + " is an alias, so " + where(bytes, to) + " of " + name(output) + " must be " +
                  where({should_be_at, should_be_at + part.length}, from) + ", where " + name(input) + " is",
              map_.region_of(to), bytes);
  }

  void bad_alias(StepId id, std::vector<TensorId> tensors, std::string message,
                 std::optional<RegionId> region = std::nullopt, std::optional<Bytes64> bytes = std::nullopt) {
    subject_.findings.add({.kind = ViolationKind::bad_alias,
                           .step = id,
                           .tensors = std::move(tensors),
                           .region = region,
                           .bytes = bytes,
                           .message = std::move(message)});
  }

  std::vector<std::pair<TensorId, ValueId>> by_tensor(const std::vector<ValueId>& values) const {
    std::vector<std::pair<TensorId, ValueId>> sorted;
    sorted.reserve(values.size());
    for (ValueId value : values) sorted.emplace_back(plan_.values[value].tensor, value);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  static std::optional<ValueId> find(const std::vector<std::pair<TensorId, ValueId>>& sorted, TensorId tensor) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair(tensor, ValueId(0)));
    return at != sorted.end() && at->first == tensor ? std::optional(at->second) : std::nullopt;
  }

  // Each output holds, in a buffer that stays, and no two of them in the same bytes.
  void check_outputs() {
    IdVector<TensorId, std::optional<ValueId>> value_of(subject_.graph.tensors().size());
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) value_of[plan_.values[id].tensor] = id;
    std::vector<TensorId> outputs = subject_.graph.outputs();
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    std::vector<ValueId> values;
    for (TensorId output : outputs) {
      if (is_full()) return;
      if (!value_of[output]) {
        lost(output, "output " + name_of(subject_, output) + " has no place");
        continue;
      }
      values.push_back(*value_of[output]);
      check_intact(*value_of[output], std::nullopt);
      check_stays(*value_of[output]);
    }
    std::sort(values.begin(), values.end(),
              [&](ValueId a, ValueId b) { return std::pair(map_.place(a), a) < std::pair(map_.place(b), b); });
    std::erase_if(values, [&](ValueId value) { return map_.place(value).bytes.empty(); });
    for (std::size_t at = 1; at < values.size() && !is_full(); ++at) {
      if (map_.place(values[at - 1]).overlaps(map_.place(values[at]))) report_shared(values[at - 1], values[at]);
    }
  }

  void check_stays(ValueId value) {
    const BufferId buffer = plan_.values[value].buffer;
    const Lifespan life = life_of(value);
    if (!plan_.buffers[buffer].placement || life.end.index() == subject_.steps()) return;
    lost(plan_.values[value].tensor, name_of(subject_, buffer) + " of output " + name(value) + " lives only to step " +
                                         std::to_string(life.end.value()) + ", not to the end, " +
                                         std::to_string(subject_.steps()));
  }

  void lost(TensorId output, std::string message) {
    subject_.findings.add({.kind = ViolationKind::output_lost, .tensors = {output}, .message = std::move(message)});
  }

  void report_shared(ValueId a, ValueId b) {
    const Place& place = map_.place(b);
    const Bytes64 bytes = common(map_.place(a).bytes, place.bytes);
    subject_.findings.add({.kind = ViolationKind::overlap,
                           .tensors = {plan_.values[a].tensor, plan_.values[b].tensor},
                           .region = map_.region_of(place),
                           .bytes = bytes,
                           .message = "outputs " + name(a) + " and " + name(b) + " share " + where(bytes, place)});
  }

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap map_;
  const LivingBytes living_;
  WriteClock clock_;
  std::vector<Event> events_;
  IdVector<ValueId, std::optional<std::uint32_t>> held_since_;  // nothing: not written yet
};

}  // namespace

void replay(const Subject& subject) { Replay(subject).run(); }

}  // namespace lowtide::verification
