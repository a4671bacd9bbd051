// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/plan/byte_map.h"
#include "lowtide/verify/plan/in_place.h"
#include "lowtide/verify/plan/living_bytes.h"
#include "lowtide/verify/plan/stages.h"
#include "lowtide/verify/plan/write_clock.h"

namespace lowtide::verify_internal {
namespace {

using Bytes64 = Interval<std::int64_t>;

Bytes64 common(const Bytes64& a, const Bytes64& b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }

// A value never moves. So it is intact as long as nothing wrote any of its bytes after it was put there. An alias is right
// exactly if its operands are intact and its outputs lie where the meaning of its operator says.
class Replay {
 public:
  explicit Replay(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        map_(subject.plan, subject.graph),
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
  struct Writing {
    Place place;
    std::optional<ValueId> value;  // nullopt: scratch
  };
  // Write number i happened in events_[i - 1]; number 0 is what was there before the run.
  struct Event {
    StepId step;
    Writing writing;
  };
  // Bytes of a value that copies have filled, while others are missing.
  struct Piece {
    Place place;
    std::uint32_t since;
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

  std::string name(ValueId value) const { return name_of(subject_, plan_.program.values[value].tensor); }

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
      check_alive(id, "uses", *scratch, living_.common_life(*scratch, all_bytes(*scratch)), std::nullopt);
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

  void check_alive(StepId id, const char* verb, ValueId value, const Place& place) {
    check_alive(id, verb, plan_.layout.values[value].buffer, life_of(value, place), value);
  }

  void check_alive(StepId id, const char* verb, BufferId buffer, const Lifespan& life, std::optional<ValueId> value) {
    if (life.contains(id)) return;
    std::vector<TensorId> tensors;
    if (value) tensors.push_back(plan_.program.values[*value].tensor);
    subject_.findings.add({.kind = ViolationKind::dead_access,
                           .step = id,
                           .tensors = std::move(tensors),
                           .message = name_of(subject_, id) + " " + verb + " " + (value ? name(*value) + " in " : "") +
                                      name_of(subject_, buffer) + ", " + whose(buffer) + " only in steps [" +
                                      std::to_string(life.begin.value()) + ", " + std::to_string(life.end.value()) +
                                      ")"});
  }

  // The steps in which all of these bytes of a value are live.
  Lifespan life_of(ValueId id, const Place& place) const {
    const BufferId buffer = plan_.layout.values[id].buffer;
    const std::int64_t begin =
        plan_.layout.values[id].offset.position() + place.bytes.begin - map_.place(id).bytes.begin;
    const std::int64_t end = begin + place.bytes.end - place.bytes.begin;
    // A value that does not lie in its buffer has been reported.
    if (begin < 0 || end > plan_.layout.buffers[buffer].size.count()) return plan_.layout.buffers[buffer].lifespan;
    return living_.common_life(buffer, {begin, end});
  }

  Bytes64 all_bytes(BufferId buffer) const { return {0, plan_.layout.buffers[buffer].size.count()}; }

  const char* whose(BufferId buffer) const {
    return plan_.layout.buffers[buffer].parts.empty() ? "which lives" : "where all of these bytes live";
  }

  // `place`: some bytes of the value, or all. `at` nullopt: at the end of the program.
  void check_intact(ValueId value, const Place& place, std::optional<StepId> at) {
    if (!held_since_[value]) return;  // read before it is written: a matter of data flow
    const std::uint32_t last = clock_.last_write(place.cells);
    if (last > *held_since_[value]) report_clobbered(value, place, last, at);
  }

  void report_clobbered(ValueId value, const Place& place, std::uint32_t last, std::optional<StepId> at) {
    const Event& event = events_[last - 1];
    const std::optional<ValueId>& writer = event.writing.value;
    std::vector<TensorId> tensors{plan_.program.values[value].tensor};
    if (writer) tensors.push_back(plan_.program.values[*writer].tensor);
    const Bytes64 bytes = common(place.bytes, event.writing.place.bytes);
    const std::string reader =
        at ? name_of(subject_, *at) + " reads " + name(value) : name(value) + " should hold at the end";
    add(at ? ViolationKind::clobbered : ViolationKind::output_lost, at.value_or(event.step), std::move(tensors), place,
        bytes,
        reader + " from " + where(place.bytes, place) + ", but " + name_of(subject_, event.step) + " overwrote " +
            name_of(bytes) + " with " + (writer ? name(*writer) : std::string("its scratch")));
  }

  void run_compute(StepId id, const std::vector<ValueId>& reads) {
    const Step& step = plan_.program.steps[id];
    std::vector<Writing> writings;
    if (plan_.layout.steps[id].scratch) writings.push_back({map_.scratch_place(id), std::nullopt});
    for (ValueId write : step.writes) writings.push_back({map_.place(write), write});
    const std::vector<Writing> disjoint = check_disjoint(id, writings);
    for (ValueId read : reads) {
      if (is_full()) return;
      check_overwrites(id, read, disjoint);
    }
    for (const Writing& writing : writings) {
      write_bytes(id, writing);
      if (writing.value) held_since_[*writing.value] = now();
    }
  }

  void write_bytes(StepId id, const Writing& writing) {
    const WriteClock::Cells& cells = writing.place.cells;
    if (writing.value) check_state_write(id, writing, cells);
    events_.push_back({id, writing});
    clock_.write(cells, now());
  }

  // A state has one next content. So a run writes each of its bytes at most once.
  void check_state_write(StepId id, const Writing& writing, WriteClock::Cells cells) {
    if (subject_.buffer_of(*writing.value).kind != BufferKind::state) return;
    const std::uint32_t last = clock_.last_write(cells);
    if (last == 0 || is_full()) return;
    add(ViolationKind::role, id, {plan_.program.values[*writing.value].tensor}, writing.place, writing.place.bytes,
        name_of(subject_, id) + " writes " + name(*writing.value) + " into " +
            where(writing.place.bytes, writing.place) + ", which " + name_of(subject_, events_[last - 1].step) +
            " has updated already");
  }

  void run_copy(StepId id) {
    const Step& step = plan_.program.steps[id];
    const ValueId from = step.reads[0];
    const ValueId to = step.writes[0];
    const Bytes64& bytes = std::get<Copy>(step.work).bytes;
    const Place source = map_.part_of(from, bytes);
    const Place target = map_.part_of(to, bytes);
    check_alive(id, "reads", from, source);
    check_intact(from, source, id);
    check_alive(id, "writes", to, target);
    if (source.overlaps(target) && !is_full()) {
      const Bytes64 shared = common(source.bytes, target.bytes);
      add(ViolationKind::clobbered, id, {plan_.program.values[to].tensor}, target, shared,
          name_of(subject_, id) + " copies " + name(from) + " over itself in " + where(shared, target));
    }
    write_bytes(id, {target, to});
    pieces_[to].push_back({target, now()});
    if (plan_.program.values[to].written == id) complete(to, id);
  }

  // From here on the value is intact as a whole, if each piece of it still is.
  void complete(ValueId value, StepId id) {
    for (const Piece& piece : pieces_[value]) {
      if (is_full()) return;
      const std::uint32_t last = clock_.last_write(piece.place.cells);
      if (last > piece.since) report_clobbered(value, piece.place, last, id);
    }
    pieces_.erase(value);
    held_since_[value] = now();
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
        if (one->value) tensors.push_back(plan_.program.values[*one->value].tensor);
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
      const TensorId operand = plan_.program.values[read].tensor;
      if (!writing->value) {
        add(ViolationKind::clobbered, id, {operand}, place, bytes,
            name_of(subject_, id) + " has scratch in " + where(bytes, place) + ", where it reads " + name(read));
        continue;
      }
      const TensorId result = plan_.program.values[*writing->value].tensor;
      std::string why = writing->place == place
                            ? in_place_obstacle(subject_.graph, *node_of(plan_.program.steps[id]), operand, result)
                            : "the two do not begin and end at the same bytes";
      if (why.empty()) continue;
      add(ViolationKind::bad_in_place, id, {operand, result}, place, bytes,
          name_of(subject_, id) + " writes " + name(*writing->value) + " over " + name(read) + " in " +
              where(bytes, place) + ": " + why);
    }
  }

  void run_alias(StepId id) {
    const Step& step = plan_.program.steps[id];
    if (plan_.layout.steps[id].scratch)
      bad_alias(id, {}, name_of(subject_, id) + " is an alias, which needs no scratch");
    const AliasMeaning meaning = alias_meaning(subject_.graph, *node_of(step));
    if (!meaning.obstacle.empty()) {
      bad_alias(id, {}, name_of(subject_, id) + " cannot be an alias: " + meaning.obstacle);
    }
    const std::vector<std::pair<TensorId, ValueId>> outputs = by_tensor(step.writes);
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
    for (ValueId value : values) sorted.emplace_back(plan_.program.values[value].tensor, value);
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  static std::optional<ValueId> find(const std::vector<std::pair<TensorId, ValueId>>& sorted, TensorId tensor) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair(tensor, ValueId(0)));
    return at != sorted.end() && at->first == tensor ? std::optional(at->second) : std::nullopt;
  }

  // Each output holds, in a buffer that stays, and no two of them in the same bytes.
  void check_outputs() {
    std::vector<ValueId> values = distinct(plan_.program.outputs);
    for (ValueId value : values) {
      if (is_full()) return;
      check_intact(value, map_.place(value), std::nullopt);
      check_stays(value);
    }
    std::sort(values.begin(), values.end(),
              [&](ValueId a, ValueId b) { return std::pair(map_.place(a), a) < std::pair(map_.place(b), b); });
    std::erase_if(values, [&](ValueId value) { return map_.place(value).bytes.empty(); });
    for (std::size_t at = 1; at < values.size() && !is_full(); ++at) {
      if (map_.place(values[at - 1]).overlaps(map_.place(values[at]))) report_shared(values[at - 1], values[at]);
    }
  }

  void check_stays(ValueId value) {
    const BufferId buffer = plan_.layout.values[value].buffer;
    const Lifespan life = life_of(value, map_.place(value));
    if (!plan_.layout.buffers[buffer].placement || life.end.index() == subject_.steps()) return;
    lost(plan_.program.values[value].tensor, name_of(subject_, buffer) + " of output " + name(value) +
                                                 " lives only to step " + std::to_string(life.end.value()) +
                                                 ", not to the end, " + std::to_string(subject_.steps()));
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
        lost(state, "state " + name_of(subject_, state) + " has no place");
      } else if (map_.place(*given[state]) != map_.place(next)) {
        lost(state, name(next) + " should replace state " + name_of(subject_, state) + ", but lies in " +
                        where(map_.place(next).bytes, map_.place(next)));
      } else {
        check_intact(next, map_.place(next), std::nullopt);
      }
    }
  }

  void lost(TensorId tensor, std::string message) {
    subject_.findings.add({.kind = ViolationKind::output_lost, .tensors = {tensor}, .message = std::move(message)});
  }

  void report_shared(ValueId a, ValueId b) {
    const Place& place = map_.place(b);
    const Bytes64 bytes = common(map_.place(a).bytes, place.bytes);
    subject_.findings.add({.kind = ViolationKind::overlap,
                           .tensors = {plan_.program.values[a].tensor, plan_.program.values[b].tensor},
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
  IdVector<ValueId, std::optional<std::uint32_t>> held_since_;  // nullopt: not written yet
  std::map<ValueId, std::vector<Piece>> pieces_;                // of values that copies are filling
};

}  // namespace

void replay(const Subject& subject) { Replay(subject).run(); }

}  // namespace lowtide::verify_internal
