// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/verify/byte_oracle.h"
#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

using Range = Interval<std::int64_t>;

// A region, or a buffer without a placement, and a byte of it.
using Storage = std::pair<bool, std::uint32_t>;
using Address = std::pair<Storage, std::int64_t>;

class ProgramRules {
 public:
  ProgramRules(const Graph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), program_(plan.program), held_(plan.program.values.size()) {}

  std::vector<std::string> check() {
    check_nodes();
    for (ValueId id : all_ids<ValueId>(program_.values.size())) check_writers(id);
    for (StepId id : all_ids<StepId>(program_.steps.size())) {
      check_lists(id);
      check_lives(id);
      check_reach(id);
    }
    check_handed_on();
    if (!faults_.empty()) return faults_;
    run();
    if (program_.streams.size() > 1) check_concurrency();
    return faults_;
  }

 private:
  void must(bool holds, const char* rule) {
    if (!holds) faults_.emplace_back(rule);
  }

  [[nodiscard]] std::int64_t size_of(ValueId id) const {
    return graph_.tensor(program_.values[id].tensor).size.count();
  }
  [[nodiscard]] const Buffer& buffer_of(ValueId id) const {
    return plan_.layout.buffers[plan_.layout.values[id].buffer];
  }

  // The bytes of a value that a step reads or writes.
  [[nodiscard]] Range bytes_of(const Step& step, ValueId id) const {
    const Copy* copy = std::get_if<Copy>(&step.work);
    return copy != nullptr ? copy->bytes : Range{0, size_of(id)};
  }

  [[nodiscard]] Address address(BufferId id, std::int64_t byte) const {
    const Buffer& buffer = plan_.layout.buffers[id];
    if (!buffer.placement) return {{false, id.value()}, byte};
    return {{true, buffer.placement->region.value()}, buffer.placement->offset.position() + byte};
  }
  [[nodiscard]] Address address(ValueId id, std::int64_t byte) const {
    const ValuePlace& place = plan_.layout.values[id];
    return address(place.buffer, place.offset.position() + byte);
  }

  void check_nodes() {
    std::set<NodeId> ran;
    for (const Step& step : program_.steps) {
      const std::optional<NodeId> node = node_of(step);
      if (!node) continue;
      for (NodeId before : graph_.node(*node).control_inputs) must(ran.contains(before), "control inputs run before");
      must(ran.insert(*node).second || gives_the_same_again(graph_, *node),
           "only a node that gives the same results runs again");
    }
    must(ran.size() == graph_.nodes().size(), "each node runs");
  }

  // A value is written by one compute or alias step, or by copies that fill each byte once.
  void check_writers(ValueId id) {
    const std::optional<StepId>& written = program_.values[id].written;
    std::vector<StepId> whole;
    std::vector<StepId> copies;
    std::vector<int> filled(static_cast<std::size_t>(size_of(id)), 0);
    for (StepId at : all_ids<StepId>(program_.steps.size())) {
      const Step& step = program_.steps[at];
      const auto times = std::count(step.writes.begin(), step.writes.end(), id);
      if (!is_copy(step)) whole.insert(whole.end(), static_cast<std::size_t>(times), at);
      if (!is_copy(step) || times == 0) continue;
      copies.push_back(at);
      const Range& bytes = std::get<Copy>(step.work).bytes;
      must(bytes.end <= size_of(id), "a copy names bytes of the tensor");
      for (std::int64_t byte = bytes.begin; byte < std::min(bytes.end, size_of(id)); ++byte) {
        ++filled[static_cast<std::size_t>(byte)];
      }
    }
    if (!written) {
      must(!graph_.tensor(program_.values[id].tensor).producer, "a value of a produced tensor is written");
      must(whole.empty() && copies.empty(), "a given value is not written");
    } else if (copies.empty()) {
      must(whole == std::vector<StepId>{*written}, "a value is written once, by the step that it names");
    } else {
      must(whole.empty() && copies.back() == *written, "a value is complete after the last of its copies");
      must(std::all_of(filled.begin(), filled.end(), [](int times) { return times == 1; }),
           "copies fill each byte once");
    }
  }

  void check_lists(StepId id) {
    const Step& step = program_.steps[id];
    std::vector<TensorId> reads, writes;
    for (ValueId read : step.reads) {
      const Value& value = program_.values[read];
      reads.push_back(value.tensor);
      must(!value.written || *value.written < id, "a value is written before it is read");
    }
    for (ValueId write : step.writes) writes.push_back(program_.values[write].tensor);
    const std::optional<NodeId> node = node_of(step);
    if (!node) return must(reads == writes, "a copy reads and writes one tensor");
    std::vector<TensorId> outputs;
    for (const std::optional<TensorId>& output : graph_.node(*node).outputs) {
      if (output) outputs.push_back(*output);
    }
    must(reads == graph_.operands(*node) && writes == outputs, "a step reads and writes what its node does");
  }

  // Whether all of `bytes` are live in a step. If `bytes` is empty, whether the buffer is live.
  static bool lives(const Buffer& buffer, const Range& bytes, StepId step) {
    if (buffer.parts.empty() || bytes.empty()) return buffer.lifespan.contains(step);
    std::int64_t at = 0;
    for (const BufferPart& part : buffer.parts) {
      for (std::int64_t byte = at; byte < at + part.size.count(); ++byte) {
        if (bytes.contains(byte) && !part.lifespan.contains(step)) return false;
      }
      at += part.size.count();
    }
    return true;
  }
  [[nodiscard]] bool lives(ValueId id, const Range& bytes, StepId step) const {
    const std::int64_t offset = plan_.layout.values[id].offset.position();
    return lives(buffer_of(id), {offset + bytes.begin, offset + bytes.end}, step);
  }

  void check_lives(StepId id) {
    const Step& step = program_.steps[id];
    for (ValueId read : step.reads) must(lives(read, bytes_of(step, read), id), "bytes are read while they live");
    for (ValueId write : step.writes)
      must(lives(write, bytes_of(step, write), id), "bytes are written while they live");
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    must(!scratch || plan_.layout.buffers[*scratch].lifespan.contains(id), "scratch is used while it lives");
  }

  std::optional<RegionId> region_of(const Buffer& buffer) const {
    if (buffer.kind == BufferKind::constant && !buffer.home && !buffer.placement) return plan_.machine.constants;
    return buffer.placement ? buffer.placement->region : buffer.home;
  }

  void check_reach(StepId id) {
    const Step& step = program_.steps[id];
    const Stream& stream = program_.streams[step.stream];
    if (stream.link) {
      const Link& link = plan_.machine.links[*stream.link];
      must(is_copy(step) && region_of(buffer_of(step.reads[0])) == link.from &&
               region_of(buffer_of(step.writes[0])) == link.to,
           "a link copies from its one region to the other");
      return;
    }
    if (is_alias(step)) return;
    std::vector<const Buffer*> touched;
    for (ValueId read : step.reads) touched.push_back(&buffer_of(read));
    for (ValueId write : step.writes) touched.push_back(&buffer_of(write));
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (scratch) touched.push_back(&plan_.layout.buffers[*scratch]);
    const std::vector<RegionId>& reached = plan_.machine.workers[*stream.worker].addressable;
    for (const Buffer* buffer : touched) {
      const std::optional<RegionId> region = region_of(*buffer);
      must(!region || reached.empty() || std::count(reached.begin(), reached.end(), *region) == 1,
           "a worker addresses what it touches");
    }
  }

  void check_handed_on() {
    const auto steps = static_cast<std::uint32_t>(program_.steps.size());
    for (std::size_t at = 0; at < program_.outputs.size(); ++at) {
      const ValueId id = program_.outputs[at];
      must(program_.values[id].tensor == graph_.outputs()[at], "an output is a value of its tensor");
      must(!buffer_of(id).placement || steps == 0 || lives(id, {0, size_of(id)}, StepId(steps - 1)),
           "an output lives to the end");
    }
    std::set<Address> handed_out;
    for (ValueId id : std::set<ValueId>(program_.outputs.begin(), program_.outputs.end())) {
      for (std::int64_t byte = 0; byte < size_of(id); ++byte) {
        must(handed_out.insert(address(id, byte)).second, "outputs share no byte");
      }
    }
    for (std::size_t at = 0; at < program_.updates.size(); ++at) {
      const StateUpdate& update = graph_.state_updates()[at];
      const ValueId next = program_.updates[at];
      must(program_.values[next].tensor == update.next, "an update is a value of its tensor");
      bool is_there = false;
      for (ValueId id : all_ids<ValueId>(program_.values.size())) {
        const Value& value = program_.values[id];
        is_there = is_there || (value.tensor == update.state && !value.written && address(id, 0) == address(next, 0));
      }
      must(is_there, "an update lies where the state does");
    }
  }

  // Records the last write of each byte; 0 is the content from before the run. A value is intact as long as the last
  // write of its bytes is the same.
  void run() {
    for (ValueId id : all_ids<ValueId>(program_.values.size())) {
      held_[id].assign(static_cast<std::size_t>(size_of(id)), 0);
    }
    for (StepId id : all_ids<StepId>(program_.steps.size())) {
      const Step& step = program_.steps[id];
      for (ValueId read : step.reads) must_hold(read, bytes_of(step, read));
      if (is_alias(step)) {
        check_alias(step);
        for (ValueId write : step.writes) hold(write, {0, size_of(write)});
        continue;
      }
      write_scratch(id);
      for (ValueId write : step.writes) this->write(write, bytes_of(step, write));
      for (ValueId write : step.writes) {
        if (is_copy(step) && program_.values[write].written == id) must_hold(write, {0, size_of(write)});
      }
    }
    for (ValueId output : program_.outputs) must_hold(output, {0, size_of(output)});
    for (ValueId next : program_.updates) must_hold(next, {0, size_of(next)});
  }

  void write_scratch(StepId id) {
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    ++writes_;
    for (std::int64_t byte = 0; scratch && byte < plan_.layout.buffers[*scratch].size.count(); ++byte) {
      last_[address(*scratch, byte)] = writes_;
    }
  }

  void write(ValueId id, const Range& bytes) {
    ++writes_;
    for (std::int64_t byte = bytes.begin; byte < bytes.end; ++byte) {
      int& last = last_[address(id, byte)];
      must(buffer_of(id).kind != BufferKind::state || last == 0, "a byte of a state is written once");
      last = writes_;
    }
    hold(id, bytes);
  }

  void hold(ValueId id, const Range& bytes) {
    for (std::int64_t byte = bytes.begin; byte < bytes.end; ++byte) {
      held_[id][static_cast<std::size_t>(byte)] = last_[address(id, byte)];
    }
  }

  void must_hold(ValueId id, const Range& bytes) {
    for (std::int64_t byte = bytes.begin; byte < bytes.end; ++byte) {
      must(held_[id][static_cast<std::size_t>(byte)] == last_[address(id, byte)], "a value is intact when it is read");
    }
  }

  // The bytes of an alias are those of the values that it reads, not those of others with the same content.
  void check_alias(const Step& step) {
    std::size_t write = 0;
    for (std::size_t output = 0; output < graph_.node(*node_of(step)).outputs.size(); ++output) {
      if (!graph_.node(*node_of(step)).outputs[output]) continue;
      const auto sources = view_bytes(graph_, *node_of(step), output);
      must(sources.has_value(), "an alias only moves elements");
      const ValueId id = step.writes[write++];
      for (std::size_t byte = 0; sources && byte < sources->size(); ++byte) {
        const ByteSource& source = (*sources)[byte];
        must(address(id, static_cast<std::int64_t>(byte)) == address(step.reads[source.operand], source.byte),
             "an alias lies where its operands do");
      }
    }
  }

  // Steps that may run at the same time touch no common byte, unless both read it.
  void check_concurrency() {
    const std::size_t steps = program_.steps.size();
    std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps, false));
    std::map<NodeId, StepId> first;
    for (StepId id : all_ids<StepId>(steps)) {
      const Step& step = program_.steps[id];
      if (const std::optional<NodeId> node = node_of(step)) first.emplace(*node, id);
      for (StepId other : all_ids<StepId>(id.index())) {
        const bool is_direct =
            program_.steps[other].stream == step.stream || std::count(step.after.begin(), step.after.end(), other) > 0;
        if (!is_direct) continue;
        before[id.index()][other.index()] = true;
        for (std::size_t earlier = 0; earlier < other.index(); ++earlier) {
          if (before[other.index()][earlier]) before[id.index()][earlier] = true;
        }
      }
    }
    for (StepId id : all_ids<StepId>(steps)) {
      const auto waits_for = [&](StepId other) { return before[id.index()][other.index()]; };
      const Step& step = program_.steps[id];
      for (ValueId read : step.reads) {
        const std::optional<StepId>& written = program_.values[read].written;
        must(!written || waits_for(*written), "a step waits for what it reads");
      }
      for (StepId other : all_ids<StepId>(id.index())) {
        if (!waits_for(other)) check_apart(other, id);
      }
      const std::optional<NodeId> node = node_of(step);
      if (!node) continue;
      for (NodeId control : graph_.node(*node).control_inputs)
        must(waits_for(first.at(control)), "a step waits for its control inputs");
    }
  }

  void check_apart(StepId a, StepId b) {
    for (const auto& [is_write, at] : accesses(a)) {
      for (const auto& [is_other_write, other] : accesses(b)) {
        const bool shares = at.first == other.first && at.second.overlaps(other.second);
        must(!shares || !(is_write || is_other_write),
             "steps that may run at once share no byte that one of them writes");
      }
    }
  }

  using Access = std::pair<bool, std::pair<Storage, Range>>;  // whether it writes

  [[nodiscard]] std::vector<Access> accesses(StepId id) const {
    const Step& step = program_.steps[id];
    std::vector<Access> found;
    const auto add = [&](bool is_write, const Address& begin, std::int64_t size) {
      found.emplace_back(is_write, std::pair(begin.first, Range{begin.second, begin.second + size}));
    };
    const auto add_value = [&](bool is_write, ValueId value) {
      const Range bytes = bytes_of(step, value);
      add(is_write, address(value, bytes.begin), bytes.end - bytes.begin);
    };
    for (ValueId read : step.reads) add_value(false, read);
    if (is_alias(step)) return found;
    for (ValueId write : step.writes) add_value(true, write);
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (scratch) add(true, address(*scratch, 0), plan_.layout.buffers[*scratch].size.count());
    return found;
  }

  const Graph& graph_;
  const Plan& plan_;
  const Program& program_;
  std::map<Address, int> last_;
  int writes_ = 0;
  IdVector<ValueId, std::vector<int>> held_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> program_faults(const Graph& graph, const Plan& plan) {
  return ProgramRules(graph, plan).check();
}

}  // namespace lowtide::testing
