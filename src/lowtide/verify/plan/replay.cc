// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/plan/byte_map.h"
#include "lowtide/verify/plan/in_place.h"
#include "lowtide/verify/plan/living_bytes.h"
#include "lowtide/verify/plan/messages.h"
#include "lowtide/verify/plan/stages.h"
#include "lowtide/verify/plan/write_clock.h"

namespace lowtide::verify_internal {
namespace {

// A value never moves. So it is intact as long as nothing wrote any of its bytes after it was put there. An alias is
// right if and only if its operands are intact and its outputs lie where the meaning of its operator says.
class Replay {
 public:
  explicit Replay(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        map_(subject.plan, subject.graph),
        messages_(subject, map_),
        living_(subject.plan),
        clock_(map_.cells()),
        held_since_(plan_.program.values.size()) {}

  void run() {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (!plan_.program.values[id].written) held_since_[id] = 0;
    }
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (is_full()) return;
      run_step(id);
    }
    check_outputs();
    check_updates();
  }

 private:
  // Write number i is events_[i - 1]. Number 0 is what was there before the run.
  struct Event {
    StepId step;
    Access write;
  };
  // Bytes of a value that copies have filled, while others are missing.
  struct Piece {
    Place place;
    std::uint32_t since;
  };
  using ByTensor = std::vector<std::pair<TensorId, ValueId>>;

  [[nodiscard]] bool is_full() const { return subject_.findings.is_full(); }
  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(events_.size()); }

  void run_step(StepId id) {
    const Step& step = plan_.program.steps[id];
    if (is_copy(step)) return run_copy(id);
    const std::vector<ValueId> reads = distinct(step.reads);
    for (ValueId read : reads) {
      if (is_full()) return;
      check_alive(id, "reads", read, map_.place(read));
      check_intact(read, map_.place(read), id);
    }
    for (ValueId write : step.writes) {
      if (is_full()) return;
      check_alive(id, "writes", write, map_.place(write));
    }
    if (const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch) {
      const Lifespan life = living_.common_life(*scratch, {0, plan_.layout.buffers[*scratch].size.count()});
      if (!life.contains(id)) messages_.dead_access(id, "uses", *scratch, std::nullopt, life);
    }
    if (is_alias(step)) {
      run_alias(id);
    } else {
      run_compute(id, reads);
    }
  }

  static std::vector<ValueId> distinct(std::vector<ValueId> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  // `place`: some bytes of the value, or all.
  void check_alive(StepId id, const char* verb, ValueId value, const Place& place) {
    const Lifespan life = life_of(value, place);
    if (!life.contains(id)) messages_.dead_access(id, verb, plan_.layout.values[value].buffer, value, life);
  }

  // The steps in which all of these bytes of a value are live.
  Lifespan life_of(ValueId id, const Place& place) const {
    const ValuePlace& value = plan_.layout.values[id];
    const Buffer& buffer = plan_.layout.buffers[value.buffer];
    const std::int64_t begin = value.offset.position() + place.bytes.begin - map_.place(id).bytes.begin;
    const std::int64_t end = begin + place.bytes.end - place.bytes.begin;
    // A value that does not lie in its buffer has been reported.
    if (begin < 0 || end > buffer.size.count()) return buffer.lifespan;
    return living_.common_life(value.buffer, {begin, end});
  }

  // `reader` nullopt: at the end of the program.
  void check_intact(ValueId value, const Place& place, std::optional<StepId> reader) {
    // A value that is read before it is written was reported with the data flow.
    if (held_since_[value]) check_unwritten(value, place, *held_since_[value], reader);
  }

  void check_unwritten(ValueId value, const Place& place, std::uint32_t since, std::optional<StepId> reader) {
    const std::uint32_t last = clock_.last_write(place.cells);
    if (last <= since) return;
    messages_.overwritten(value, place, events_[last - 1].step, events_[last - 1].write, reader);
  }

  void run_compute(StepId id, const std::vector<ValueId>& reads) {
    const Step& step = plan_.program.steps[id];
    std::vector<Access> writes;
    if (plan_.layout.steps[id].scratch) writes.push_back({.place = map_.scratch_place(id), .value = std::nullopt});
    for (ValueId write : step.writes) writes.push_back({.place = map_.place(write), .value = write});
    const std::vector<Access> disjoint = check_disjoint(id, writes);
    for (ValueId read : reads) {
      if (is_full()) return;
      check_overwrites(id, read, disjoint);
    }
    for (const Access& write : writes) {
      write_bytes(id, write);
      if (write.value) held_since_[*write.value] = now();
    }
  }

  void write_bytes(StepId id, const Access& write) {
    const std::uint32_t last = clock_.last_write(write.place.cells);
    const bool is_state = write.value && subject_.buffer_of(*write.value).kind == BufferKind::state;
    // A state has one next content. So a run writes each of its bytes at most once.
    if (is_state && last > 0 && !is_full()) messages_.updated_twice(id, write, events_[last - 1].step);
    events_.push_back({id, write});
    clock_.write(write.place.cells, now());
  }

  void run_copy(StepId id) {
    const Step& step = plan_.program.steps[id];
    const ValueId from = step.reads[0];
    const ValueId to = step.writes[0];
    const Place source = map_.part_of(from, std::get<Copy>(step.work).bytes);
    const Place target = map_.part_of(to, std::get<Copy>(step.work).bytes);
    check_alive(id, "reads", from, source);
    check_intact(from, source, id);
    check_alive(id, "writes", to, target);
    if (source.overlaps(target) && !is_full()) messages_.copied_over_itself(id, source, target);
    write_bytes(id, {.place = target, .value = to});
    pieces_[to].push_back({target, now()});
    if (plan_.program.values[to].written == id) complete(to, id);
  }

  // From here on the value is intact as a whole, if each piece of it still is.
  void complete(ValueId value, StepId id) {
    for (const Piece& piece : pieces_[value]) {
      if (is_full()) return;
      check_unwritten(value, piece.place, piece.since, id);
    }
    pieces_.erase(value);
    held_since_[value] = now();
  }

  // Checks that no two writes of one step share bytes. Returns those that share none, sorted.
  std::vector<Access> check_disjoint(StepId id, std::vector<Access> writes) {
    std::erase_if(writes, [](const Access& write) { return write.place.bytes.empty(); });
    std::sort(writes.begin(), writes.end(), [](const Access& a, const Access& b) { return a.place < b.place; });
    std::vector<Access> kept;
    for (const Access& write : writes) {
      if (kept.empty() || !kept.back().place.overlaps(write.place)) {
        kept.push_back(write);
      } else if (!is_full()) {
        messages_.written_together(id, kept.back(), write);
      }
    }
    return kept;
  }

  // A kernel writes while it reads. So it may write over an operand only if the operator permits it.
  void check_overwrites(StepId id, ValueId read, const std::vector<Access>& writes) {
    const Place& place = map_.place(read);
    if (place.bytes.empty()) return;
    auto write = std::lower_bound(writes.begin(), writes.end(), place, [](const Access& a, const Place& b) {
      return std::pair(a.place.storage, a.place.bytes.end) <= std::pair(b.storage, b.bytes.begin);
    });
    for (; write != writes.end() && write->place.overlaps(place) && !is_full(); ++write) {
      const std::string why = write->value ? obstacle(id, read, *write) : "";
      if (!write->value || !why.empty()) messages_.written_over_operand(id, read, *write, why);
    }
  }

  // Why a result may not take over an operand; empty if it may.
  std::string obstacle(StepId id, ValueId read, const Access& write) const {
    if (write.place != map_.place(read)) return "the two do not begin and end at the same bytes";
    return in_place_obstacle(subject_.graph, *node_of(plan_.program.steps[id]), plan_.program.values[read].tensor,
                             plan_.program.values[*write.value].tensor);
  }

  void run_alias(StepId id) {
    const Step& step = plan_.program.steps[id];
    if (plan_.layout.steps[id].scratch) messages_.alias_with_scratch(id);
    const AliasMeaning meaning = alias_meaning(subject_.graph, *node_of(step));
    if (!meaning.obstacle.empty()) messages_.not_an_alias(id, meaning.obstacle);
    const ByTensor outputs = by_tensor(step.writes);
    for (const SameBytes& part : meaning.parts) {
      if (is_full()) return;
      const std::optional<ValueId> output = find(outputs, part.output);
      if (part.operand < step.reads.size() && output) check_part(id, part, step.reads[part.operand], *output);
    }
    for (ValueId write : step.writes) held_since_[write] = now();
  }

  void check_part(StepId id, const SameBytes& part, ValueId input, ValueId output) {
    const Place& from = map_.place(input);
    const Place& to = map_.place(output);
    const bool is_there =
        from.storage == to.storage && to.bytes.begin + part.output_begin == from.bytes.begin + part.input_begin;
    if (!is_there) messages_.part_elsewhere(id, part, input, output);
  }

  ByTensor by_tensor(const std::vector<ValueId>& values) const {
    ByTensor sorted;
    for (ValueId value : values) sorted.emplace_back(plan_.program.values[value].tensor, value);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  static std::optional<ValueId> find(const ByTensor& sorted, TensorId tensor) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair(tensor, ValueId(0)));
    return at != sorted.end() && at->first == tensor ? std::optional(at->second) : std::nullopt;
  }

  // Checks that each output is intact, in a buffer that lives to the end, and that no two outputs share bytes.
  void check_outputs() {
    std::vector<ValueId> values = distinct(plan_.program.outputs);
    for (ValueId value : values) {
      if (is_full()) return;
      check_intact(value, map_.place(value), std::nullopt);
      const Lifespan life = life_of(value, map_.place(value));
      const bool is_placed = subject_.buffer_of(value).placement.has_value();
      if (is_placed && life.end.index() != subject_.steps()) messages_.short_lived_output(value, life);
    }
    std::sort(values.begin(), values.end(),
              [&](ValueId a, ValueId b) { return std::pair(map_.place(a), a) < std::pair(map_.place(b), b); });
    std::erase_if(values, [&](ValueId value) { return map_.place(value).bytes.empty(); });
    for (std::size_t at = 1; at < values.size() && !is_full(); ++at) {
      if (!map_.place(values[at - 1]).overlaps(map_.place(values[at]))) continue;
      messages_.outputs_share_bytes(values[at - 1], values[at]);
    }
  }

  // The bytes of each state that has an update hold its next content at the end.
  void check_updates() {
    if (subject_.graph.state_updates().empty()) return;
    IdVector<TensorId, std::optional<ValueId>> given(subject_.graph.tensors().size());
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (!plan_.program.values[id].written) given[plan_.program.values[id].tensor] = id;
    }
    for (std::size_t at = 0; at < plan_.program.updates.size() && !is_full(); ++at) {
      const TensorId state = subject_.graph.state_updates()[at].state;
      const ValueId next = plan_.program.updates[at];
      if (!given[state]) {
        messages_.state_without_place(state);
      } else if (map_.place(*given[state]) != map_.place(next)) {
        messages_.update_elsewhere(state, next);
      } else {
        check_intact(next, map_.place(next), std::nullopt);
      }
    }
  }

  const Subject& subject_;
  const Plan& plan_;
  const ByteMap map_;
  const Messages messages_;
  const LivingBytes living_;
  WriteClock clock_;
  std::vector<Event> events_;
  IdVector<ValueId, std::optional<std::uint32_t>> held_since_;  // nullopt: not written yet
  std::map<ValueId, std::vector<Piece>> pieces_;                // of values that copies are filling
};

}  // namespace

void replay(const Subject& subject) { Replay(subject).run(); }

}  // namespace lowtide::verify_internal
