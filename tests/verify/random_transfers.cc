// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/random_transfers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

bool is_given_kind(BufferKind kind) {
  return kind == BufferKind::input || kind == BufferKind::constant || kind == BufferKind::state;
}

template <typename IdType, typename T>
void insert_at(IdVector<IdType, T>& list, std::uint32_t at, T item) {
  IdVector<IdType, T> longer;
  for (IdType id : all_ids<IdType>(list.size())) {
    if (id.value() == at) longer.push_back(item);
    longer.push_back(std::move(list[id]));
  }
  if (at == list.size()) longer.push_back(std::move(item));
  list = std::move(longer);
}

class Transfers {
 public:
  Transfers(const Graph& graph, Plan& plan, Random& random)
      : graph_(graph), plan_(plan), program_(plan.program), layout_(plan.layout), random_(random) {}

  void copy_states() {
    std::vector<ValueId> next;
    for (const StateUpdate& update : graph_.state_updates()) {
      ValueId value = first_value(update.next);
      // The new content may lie in another state, which may be replaced first. So it is copied to a buffer of its own.
      if (is_replaced(buffer_of(value)) && buffer_of(value) != buffer_of(first_value(update.state))) {
        const ValueId apart = new_value(update.next, new_buffer(size_of(value), some_region()));
        value = copy(value, apart, steps(), kComputes);
      }
      next.push_back(value);
    }
    for (std::size_t at = 0; at < next.size(); ++at) {
      const BufferId home = buffer_of(first_value(graph_.state_updates()[at].state));
      const bool is_there = buffer_of(next[at]) == home;
      program_.updates.push_back(is_there ? next[at]
                                          : copy(next[at], new_value(tensor_of(next[at]), home), steps(), kComputes));
    }
  }

  void add() {
    if (has_links()) {
      for (ValueId id : all_ids<ValueId>(program_.values.size())) {
        if (random_.chance(60)) bring_in(id);
      }
    }
    if (program_.values.empty()) return;
    for (std::uint64_t times = random_.below(4); times > 0; --times) {
      const std::uint64_t choice = random_.below(has_links() ? 4 : 2);
      if (choice == 0) recompute();
      if (choice == 1) copy_some();
      if (choice >= 2) swap();
    }
  }

 private:
  [[nodiscard]] std::uint32_t steps() const { return static_cast<std::uint32_t>(program_.steps.size()); }
  [[nodiscard]] bool has_links() const { return !plan_.machine.links.empty(); }
  [[nodiscard]] TensorId tensor_of(ValueId id) const { return program_.values[id].tensor; }
  [[nodiscard]] Bytes size_of(ValueId id) const { return graph_.tensor(tensor_of(id)).size; }
  [[nodiscard]] BufferId buffer_of(ValueId id) const { return layout_.values[id].buffer; }
  [[nodiscard]] std::uint32_t there_from(ValueId id) const {
    const std::optional<StepId>& written = program_.values[id].written;
    return written ? written->value() + 1 : 0;
  }
  ValueId any_value() { return ValueId(static_cast<std::uint32_t>(random_.below(program_.values.size()))); }
  [[nodiscard]] ValueId first_value(TensorId tensor) const {
    const auto found = std::find_if(program_.values.begin(), program_.values.end(),
                                    [&](const Value& value) { return value.tensor == tensor; });
    return ValueId(static_cast<std::uint32_t>(found - program_.values.begin()));
  }

  [[nodiscard]] bool is_replaced(BufferId buffer) const {
    return std::any_of(graph_.state_updates().begin(), graph_.state_updates().end(),
                       [&](const StateUpdate& update) { return buffer_of(first_value(update.state)) == buffer; });
  }

  // Whether each byte of a buffer is written at most once, so that a value in it stays intact while the buffer is live.
  [[nodiscard]] bool is_quiet(BufferId buffer) const {
    if (is_replaced(buffer)) return false;
    std::vector<int> times(static_cast<std::size_t>(layout_.buffers[buffer].size.count()), 0);
    for (ValueId id : all_ids<ValueId>(program_.values.size())) {
      const std::optional<StepId>& written = program_.values[id].written;
      if (buffer_of(id) != buffer || !written || is_alias(program_.steps[*written])) continue;
      const std::int64_t offset = layout_.values[id].offset.position();
      for (std::int64_t byte = offset; byte < offset + size_of(id).count(); ++byte) {
        if (++times[static_cast<std::size_t>(byte)] > 1) return false;
      }
    }
    return true;
  }

  // A region that the workers address.
  RegionId some_region() {
    return RegionId(static_cast<std::uint32_t>(has_links() ? 0 : random_.below(plan_.machine.regions.size())));
  }

  [[nodiscard]] bool is_addressed(ValueId id) const {
    const Buffer& buffer = layout_.buffers[buffer_of(id)];
    const std::optional<RegionId> region = buffer.placement ? buffer.placement->region : buffer.home;
    return !region || can_address(plan_.machine.workers[WorkerId(0)], *region);
  }

  // Returns a buffer without a lifespan. The first step that uses it begins its lifespan.
  BufferId new_buffer(Bytes size, RegionId region) {
    return layout_.buffers.push_back(
        {.kind = BufferKind::temporary, .size = size, .lifespan = {}, .placement = Placement{region, Offset(0)}});
  }

  ValueId new_value(TensorId tensor, BufferId buffer) {
    layout_.values.push_back({.buffer = buffer, .offset = Offset(0)});
    return program_.values.push_back({.tensor = tensor, .written = std::nullopt});
  }

  // Inserts a step at a position, and moves all steps from there on back by one. A lifespan that covers both neighbours
  // of the new step covers the new step too, and so does one that lasts to the end.
  void insert(std::uint32_t at, const Step& step, const StepSpace& space) {
    const std::uint32_t old_steps = steps();
    const auto moved = [&](StepId id) { return StepId(id.value() + (id.value() >= at ? 1 : 0)); };
    const auto longer = [&](Lifespan& life, bool is_throughout) {
      const bool is_longer = life.end.value() > at || life.end.value() == old_steps;
      life = {is_throughout ? StepId(0) : moved(life.begin), StepId(life.end.value() + (is_longer ? 1 : 0))};
    };
    for (Value& value : program_.values) {
      if (value.written) value.written = moved(*value.written);
    }
    for (Buffer& buffer : layout_.buffers) {
      if (buffer.lifespan == Lifespan{} && !is_given_kind(buffer.kind)) continue;  // not in use yet
      longer(buffer.lifespan, is_given_kind(buffer.kind));
      for (BufferPart& part : buffer.parts) longer(part.lifespan, false);
    }
    insert_at(program_.steps, at, step);
    insert_at(layout_.steps, at, space);
    for (ValueId write : step.writes) {
      program_.values[write].written = StepId(at);
      use(buffer_of(write), at);
    }
    for (ValueId read : step.reads) use(buffer_of(read), at);
    if (space.scratch) use(*space.scratch, at);
  }

  // Extends the lifespan of the buffer up to and including the step.
  void use(BufferId id, std::uint32_t step) {
    Buffer& buffer = layout_.buffers[id];
    const auto reach = [&](Lifespan& life) { life.end = std::max(life.end, StepId(step + 1)); };
    if (buffer.lifespan == Lifespan{} && !is_given_kind(buffer.kind))
      buffer.lifespan = {StepId(step), StepId(step + 1)};
    reach(buffer.lifespan);
    for (BufferPart& part : buffer.parts) reach(part.lifespan);
  }

  ValueId copy(ValueId from, ValueId to, std::uint32_t at, StreamId stream) {
    insert(at, {.work = Copy{{0, size_of(from).count()}}, .reads = {from}, .writes = {to}, .stream = stream}, {});
    return to;
  }

  // Copies a value at the step `at`, or one part of it there and the rest some steps later. Returns the step after
  // which the copy is complete.
  std::uint32_t copy_in_pieces(ValueId from, ValueId to, std::uint32_t at, StreamId stream) {
    if (size_of(from) < Bytes(2) || random_.chance(50)) {
      copy(from, to, at, stream);
      return at;
    }
    const std::int64_t size = size_of(from).count();
    const std::int64_t cut = random_.between(1, size - 1);
    std::pair<Interval<std::int64_t>, Interval<std::int64_t>> pieces{{0, cut}, {cut, size}};
    if (random_.chance(50)) std::swap(pieces.first, pieces.second);
    insert(at, {.work = Copy{pieces.first}, .reads = {from}, .writes = {to}, .stream = stream}, {});
    const auto later = static_cast<std::uint32_t>(random_.between(at + 1, random_.chance(50) ? at + 1 : steps()));
    insert(later, {.work = Copy{pieces.second}, .reads = {from}, .writes = {to}, .stream = stream}, {});
    return later;
  }

  // Makes random outputs, and random reads after the step `behind`, use `fresh` instead of `old`. Aliases and copies
  // on links keep `old`. Results of aliases lie in its bytes.
  void redirect(ValueId old, ValueId fresh, std::uint32_t behind, int percent) {
    for (std::uint32_t at = behind + 1; at < steps(); ++at) {
      Step& step = program_.steps[StepId(at)];
      if (is_alias(step) || program_.streams[step.stream].link || !is_addressed(fresh)) continue;
      for (ValueId& read : step.reads) {
        if (read != old || !random_.chance(percent)) continue;
        read = fresh;
        use(buffer_of(fresh), at);
      }
    }
    for (ValueId& output : program_.outputs) {
      if (output != old || !random_.chance(percent / 2)) continue;
      output = fresh;
      layout_.buffers[buffer_of(fresh)].kind = BufferKind::output;
      use(buffer_of(fresh), steps() - 1);
    }
    Buffer& buffer = layout_.buffers[buffer_of(old)];
    const bool has_output = std::any_of(program_.outputs.begin(), program_.outputs.end(),
                                        [&](ValueId output) { return buffer_of(output) == buffer_of(old); });
    if (buffer.kind == BufferKind::output && !has_output) buffer.kind = BufferKind::temporary;
  }

  void recompute() {
    std::vector<StepId> fitting;
    for (StepId id : all_ids<StepId>(program_.steps.size())) {
      const Step& step = program_.steps[id];
      if (!is_compute(step) || !gives_the_same_again(graph_, *node_of(step))) continue;
      const bool are_quiet =
          std::all_of(step.reads.begin(), step.reads.end(), [&](ValueId read) { return is_quiet(buffer_of(read)); });
      if (are_quiet) fitting.push_back(id);
    }
    if (fitting.empty()) return;
    const StepId first = fitting[random_.below(fitting.size())];
    const auto at = static_cast<std::uint32_t>(random_.between(first.value() + 1, steps()));
    Step again = program_.steps[first];
    const std::vector<ValueId> old = again.writes;
    for (ValueId& write : again.writes) write = new_value(tensor_of(write), new_buffer(size_of(write), some_region()));
    StepSpace space;
    if (random_.chance(20)) {
      space.scratch = new_buffer(Bytes(random_.between(0, 20)), some_region());
      layout_.buffers[*space.scratch].kind = BufferKind::scratch;
    }
    insert(at, again, space);
    for (std::size_t write = 0; write < old.size(); ++write) redirect(old[write], again.writes[write], at, 60);
  }

  void copy_some() {
    const ValueId from = any_value();
    if (!is_quiet(buffer_of(from)) || !is_addressed(from)) return;
    const auto at = static_cast<std::uint32_t>(random_.between(there_from(from), steps()));
    const ValueId to = new_value(tensor_of(from), new_buffer(size_of(from), some_region()));
    redirect(from, to, copy_in_pieces(from, to, at, kComputes), 60);
  }

  // Copies a value to the second region, and back again later.
  void swap() {
    const ValueId from = any_value();
    const std::optional<Placement>& place = layout_.buffers[buffer_of(from)].placement;
    if (!place || place->region != RegionId(0) || !is_quiet(buffer_of(from))) return;
    const ValueId away = new_value(tensor_of(from), new_buffer(size_of(from), RegionId(1)));
    const ValueId back = new_value(tensor_of(from), new_buffer(size_of(from), RegionId(0)));
    const auto out = static_cast<std::uint32_t>(random_.between(there_from(from), steps()));
    const std::uint32_t gone = copy_in_pieces(from, away, out, kCopiesOut);
    const auto in = static_cast<std::uint32_t>(random_.between(gone + 1, steps()));
    redirect(from, back, copy_in_pieces(away, back, in, kCopiesIn), 90);
    trim(from);
  }

  // Ends the lifespan of the buffer at the last read of its value, if the buffer is a temporary for this value alone.
  void trim(ValueId id) {
    Buffer& buffer = layout_.buffers[buffer_of(id)];
    for (ValueId other : all_ids<ValueId>(program_.values.size())) {
      if (other != id && buffer_of(other) == buffer_of(id)) return;
    }
    if (buffer.kind != BufferKind::temporary || !buffer.parts.empty()) return;
    std::uint32_t last = there_from(id) - 1;
    for (StepId step : all_ids<StepId>(program_.steps.size())) {
      const std::vector<ValueId>& reads = program_.steps[step].reads;
      if (std::count(reads.begin(), reads.end(), id) > 0) last = step.value();
    }
    buffer.lifespan.end = StepId(last + 1);
  }

  // Moves an input, a constant or a state to the second region. A copy brings it in before its first reader.
  void bring_in(ValueId given) {
    const BufferId home = buffer_of(given);
    if (program_.values[given].written || layout_.buffers[home].placement) return;
    std::optional<std::uint32_t> first;
    for (StepId id : all_ids<StepId>(program_.steps.size())) {
      const Step& step = program_.steps[id];
      const bool reads = std::count(step.reads.begin(), step.reads.end(), given) > 0;
      if (reads && is_alias(step)) return;
      if (reads && !first) first = id.value();
    }
    if (!first || !move_update(home)) return;
    layout_.buffers[home].home = RegionId(1);
    const ValueId here = new_value(tensor_of(given), new_buffer(size_of(given), RegionId(0)));
    const std::uint32_t at = static_cast<std::uint32_t>(random_.between(0, *first));
    insert(at, {.work = Copy{{0, size_of(given).count()}}, .reads = {given}, .writes = {here}, .stream = kCopiesIn},
           {});
    for (std::uint32_t step = at + 1; step < steps(); ++step) {
      for (ValueId& read : program_.steps[StepId(step)].reads) {
        if (read != given) continue;
        read = here;
        use(buffer_of(here), step);
      }
    }
  }

  // Moves the copies that replace a state onto the link to the second region. Returns false if a kernel writes the
  // state, or if a copy does not come from the first region.
  bool move_update(BufferId home) {
    if (layout_.buffers[home].kind != BufferKind::state) return true;
    for (ValueId id : all_ids<ValueId>(program_.values.size())) {
      const std::optional<StepId>& written = program_.values[id].written;
      if (buffer_of(id) != home || !written) continue;
      Step& step = program_.steps[*written];
      if (!is_copy(step)) return false;
      const std::optional<Placement>& from = layout_.buffers[buffer_of(step.reads[0])].placement;
      if (!from || from->region != RegionId(0)) return false;
      step.stream = kCopiesOut;
    }
    return true;
  }

  const Graph& graph_;
  Plan& plan_;
  Program& program_;
  Layout& layout_;
  Random& random_;
};

}  // namespace

void copy_states(const Graph& graph, Plan& plan, Random& random) { Transfers(graph, plan, random).copy_states(); }

void add_transfers(const Graph& graph, Plan& plan, Random& random) { Transfers(graph, plan, random).add(); }

void spread_in_order(Plan& plan, Random& random) {
  std::vector<StreamId> workers;
  for (StreamId id : all_ids<StreamId>(plan.program.streams.size())) {
    if (plan.program.streams[id].worker) workers.push_back(id);
  }
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    Step& step = plan.program.steps[id];
    if (plan.program.streams[step.stream].worker) step.stream = workers[random.below(workers.size())];
    if (id == StepId(0)) continue;
    const StepId last(id.value() - 1);
    if (plan.program.steps[last].stream != step.stream) step.after = {last};
  }
}

}  // namespace lowtide::testing
