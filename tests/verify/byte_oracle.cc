// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/byte_oracle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

// By default, the tag of no tensor. Bytes last used as scratch have it, and bytes of a value before a copy fills them.
struct Tag {
  std::uint32_t tensor = ~0U;
  std::uint32_t run = 0;
  std::int64_t byte = -1;
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// A region, or a buffer that belongs to the caller.
using Storage = std::pair<bool, std::uint32_t>;
using Address = std::pair<Storage, std::int64_t>;

class ByteMachine {
 public:
  ByteMachine(const Graph& graph, const Plan& plan, bool is_body) : graph_(graph), plan_(plan), is_body_(is_body) {}

  std::vector<std::string> run() {
    if (!has_sane_ids()) return {"an id is out of range"};
    set_up();
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      if (!faults_.empty()) return faults_;
      run_step(id);
    }
    check_end();
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  bool has_sane_ids() const {
    bool ok = plan_.layout.arena.size() == plan_.machine.regions.size() &&
              plan_.layout.values.size() == plan_.program.values.size() &&
              plan_.layout.steps.size() == plan_.program.steps.size() &&
              plan_.program.outputs.size() == graph_.outputs().size() &&
              plan_.program.updates.size() == graph_.state_updates().size();
    for (const Value& value : plan_.program.values) ok = ok && graph_.tensors().contains(value.tensor);
    for (const ValuePlace& place : plan_.layout.values) ok = ok && plan_.layout.buffers.contains(place.buffer);
    for (const auto* list : {&plan_.program.outputs, &plan_.program.updates}) ok = ok && has_values(*list);
    for (const Buffer& buffer : plan_.layout.buffers) {
      ok = ok && (!buffer.placement || buffer.placement->region.index() < plan_.machine.regions.size());
    }
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) ok = ok && has_sane_ids(id);
    return ok;
  }

  bool has_values(const std::vector<ValueId>& list) const {
    return std::all_of(list.begin(), list.end(), [&](ValueId id) { return plan_.program.values.contains(id); });
  }

  bool has_sane_ids(StepId id) const {
    const Step& step = plan_.program.steps[id];
    const StepSpace& space = plan_.layout.steps[id];
    bool ok = has_values(step.reads) && has_values(step.writes);
    ok = ok && (!space.scratch || plan_.layout.buffers.contains(*space.scratch));
    if (const Copy* copy = std::get_if<Copy>(&step.work)) {
      return ok && step.reads.size() == 1 && step.writes.size() == 1 && 0 <= copy->bytes.begin &&
             copy->bytes.begin <= copy->bytes.end;
    }
    ok = ok && graph_.nodes().contains(*node_of(step));
    ok = ok && (is_alias(step) || space.bodies.size() == graph_.node(*node_of(step)).bodies.size());
    for (const BodyPlan& body : space.bodies) ok = ok && body.plan != nullptr;
    return ok;
  }

  // Values that no step writes are in their places. Other bytes hold nothing.
  void set_up() {
    content_.resize(plan_.program.values.size());
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (is_given(id)) put(id, 0);
    }
  }

  bool is_given(ValueId id) const {
    const Value& value = plan_.program.values[id];
    return !value.written && !graph_.tensor(value.tensor).producer;
  }

  // Address of byte `byte` of a buffer. Reports a fault if it is outside the buffer or the arena.
  Address address(BufferId id, std::int64_t byte) {
    const Buffer& buffer = plan_.layout.buffers[id];
    if (byte < 0 || byte >= buffer.size.count()) fault("an access outside its buffer");
    if (!buffer.placement) return {{false, id.value()}, byte};
    const std::uint32_t region = buffer.placement->region.value();
    std::int64_t at = 0;
    if (__builtin_add_overflow(buffer.placement->offset.position(), byte, &at)) fault("an address that overflows");
    if (at < 0 || at >= plan_.layout.arena[region].count() || at >= kMostBytes) fault("an access outside the arena");
    return {{true, region}, at};
  }

  std::vector<Address> addresses(ValueId id) {
    const ValuePlace& place = plan_.layout.values[id];
    std::vector<Address> result;
    const std::int64_t size = graph_.tensor(plan_.program.values[id].tensor).size.count();
    for (std::int64_t byte = 0; byte < size && faults_.empty(); ++byte) {
      std::int64_t at = 0;
      if (__builtin_add_overflow(place.offset.position(), byte, &at)) fault("an address that overflows");
      result.push_back(address(place.buffer, at));
    }
    return result;
  }

  // Writes the tags of the tensor.
  void put(ValueId id, std::uint32_t run) {
    std::vector<Tag> tags;
    for (const Address& at : addresses(id)) {
      tags.push_back({plan_.program.values[id].tensor.value(), run, static_cast<std::int64_t>(tags.size())});
      memory_[at] = tags.back();
    }
    content_[id] = {true, std::move(tags)};
  }

  void check_read(ValueId id, const std::string& who) {
    check_read(id, {0, graph_.tensor(plan_.program.values[id].tensor).size.count()}, who);
  }

  void check_read(ValueId id, const Interval<std::int64_t>& bytes, const std::string& who) {
    const auto& [is_there, tags] = content_[id];
    if (!is_there) return fault(who + " reads what no step has written");
    const std::vector<Address> at = addresses(id);
    for (auto byte = static_cast<std::size_t>(bytes.begin); static_cast<std::int64_t>(byte) < bytes.end; ++byte) {
      if (!faults_.empty()) return;
      const auto found = memory_.find(at[byte]);
      if (tags[byte] == Tag{}) fault(who + " reads a byte that no step has copied");
      if (found == memory_.end() || found->second != tags[byte]) fault(who + " reads a byte of another value");
    }
  }

  void run_step(StepId id) {
    const Step& step = plan_.program.steps[id];
    if (is_copy(step)) return run_copy(step);
    const NodeId node = *node_of(step);
    const std::vector<TensorId> reads = graph_.operands(node);
    if (step.reads.size() != reads.size()) return fault("a step reads the wrong number of values");
    for (std::size_t at = 0; at < reads.size(); ++at) {
      if (plan_.program.values[step.reads[at]].tensor != reads[at])
        return fault("a step reads a tensor that its node does not read");
      check_read(step.reads[at], "a step");
    }
    std::vector<std::size_t> outputs;
    for (std::size_t at = 0; at < graph_.node(node).outputs.size(); ++at) {
      if (graph_.node(node).outputs[at]) outputs.push_back(at);
    }
    if (step.writes.size() != outputs.size()) return fault("a step writes the wrong number of values");
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      if (plan_.program.values[step.writes[at]].tensor != graph_.node(node).outputs[outputs[at]]) {
        return fault("a step writes a tensor that its node does not write");
      }
    }
    if (!faults_.empty()) return;
    if (is_alias(step)) {
      for (std::size_t at = 0; at < outputs.size() && faults_.empty(); ++at) run_alias(step, at, outputs[at]);
    } else {
      run_kernel(id, outputs);
    }
  }

  void run_copy(const Step& step) {
    const ValueId from = step.reads[0];
    const ValueId to = step.writes[0];
    const Interval<std::int64_t>& bytes = std::get<Copy>(step.work).bytes;
    const TensorId tensor = plan_.program.values[from].tensor;
    if (plan_.program.values[to].tensor != tensor) return fault("a copy writes a value of another tensor");
    if (bytes.end > graph_.tensor(tensor).size.count()) return fault("a copy of bytes that the tensor does not have");
    check_read(from, bytes, "a copy");
    const std::vector<Address> source = addresses(from);
    const std::vector<Address> target = addresses(to);
    if (!faults_.empty()) return;
    content_[to].first = true;
    content_[to].second.resize(target.size());
    std::set<Address> read(source.begin() + bytes.begin, source.begin() + bytes.end);
    for (auto byte = static_cast<std::size_t>(bytes.begin); static_cast<std::int64_t>(byte) < bytes.end; ++byte) {
      if (read.contains(target[byte])) return fault("a copy over itself");
      check_writable(target[byte]);
      memory_[target[byte]] = memory_[source[byte]];
      content_[to].second[byte] = content_[from].second[byte];
    }
  }

  // A buffer of the caller may be written only if the graph updates the state in it.
  void check_writable(const Address& at) {
    const auto& [is_placed, buffer] = at.first;
    if (is_placed) return;
    for (const StateUpdate& update : graph_.state_updates()) {
      const std::optional<ValueId> state = given_value(update.state);
      if (state && plan_.layout.values[*state].buffer.value() == buffer) return;
    }
    fault("a step writes into a buffer of the caller");
  }

  std::optional<ValueId> given_value(TensorId tensor) const {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (plan_.program.values[id].tensor == tensor && is_given(id)) return id;
    }
    return std::nullopt;
  }

  void run_alias(const Step& step, std::size_t write, std::size_t output) {
    const auto sources = view_bytes(graph_, *node_of(step), output);
    if (!sources) return fault("a node that must compute is an alias");
    std::vector<Tag> tags;
    for (const ByteSource& source : *sources) {
      tags.push_back(content_[step.reads[source.operand]].second[static_cast<std::size_t>(source.byte)]);
    }
    content_[step.writes[write]] = {true, std::move(tags)};
    check_read(step.writes[write], "an alias");
  }

  // What a byte is written for in this step: an output and one of its bytes, or scratch.
  struct Writer {
    bool is_scratch = false;
    std::size_t output = 0;
    std::int64_t byte = 0;
  };

  void run_kernel(StepId id, const std::vector<std::size_t>& outputs) {
    const Step& step = plan_.program.steps[id];
    const NodeId node = *node_of(step);
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    std::map<Address, Writer> written;
    const auto claim = [&](const Address& at, Writer writer) {
      if (!written.emplace(at, writer).second) fault("a step writes one byte twice");
      check_writable(at);
    };
    if (scratch) {
      for (std::int64_t byte = 0; byte < plan_.layout.buffers[*scratch].size.count() && faults_.empty(); ++byte) {
        claim(address(*scratch, byte), {.is_scratch = true});
      }
    }
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      std::int64_t byte = 0;
      for (const Address& where : addresses(step.writes[at])) claim(where, {false, outputs[at], byte++});
    }
    for (ValueId read : step.reads) check_overwrites(node, read, written);
    run_bodies(node, plan_.layout.steps[id]);
    if (!faults_.empty()) return;
    for (const auto& [at, writer] : written) {
      if (writer.is_scratch) memory_[at] = Tag{};
    }
    for (ValueId write : step.writes) put(write, gives_the_same_again(graph_, node) ? 0 : id.value() + 1);
  }

  void check_overwrites(NodeId node, ValueId read, const std::map<Address, Writer>& written) {
    const TensorId tensor = plan_.program.values[read].tensor;
    std::int64_t byte = 0;
    for (const Address& at : addresses(read)) {
      const auto writer = written.find(at);
      if (writer != written.end()) {
        if (writer->second.is_scratch) return fault("scratch where the step reads");
        if (!may_overwrite(node, tensor, byte, writer->second))
          return fault("a result over an operand that is still needed");
      }
      ++byte;
    }
  }

  // Whether byte `byte` of the operand is needed only for the element that is written there.
  bool may_overwrite(NodeId id, TensorId operand, std::int64_t byte, const Writer& writer) const {
    static const std::set<std::string> kFirst = {"Relu", "Neg", "Abs", "Cast", "PRelu"};
    static const std::set<std::string> kAny = {"Add", "Mul", "Sub", "Sum"};
    const Node& node = graph_.node(id);
    const std::string& type = graph_.op(id).type;
    if ((!kFirst.contains(type) && !kAny.contains(type)) || writer.output != 0 || writer.byte != byte) return false;
    const Tensor& source = graph_.tensor(operand);
    const Tensor& result = graph_.tensor(*node.outputs[0]);
    const std::int64_t width = bytes_of_element(result);
    if (width != bytes_of_element(source)) return false;
    bool is_input = false;
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (node.inputs[at] != operand) continue;
      if (at > 0 && kFirst.contains(type)) return false;
      is_input = true;
    }
    for (std::int64_t element = 0; element < result.size.count() / width; ++element) {
      const bool needs_it = broadcast_source(source.shape, result.shape, element) == byte / width;
      if (needs_it && element != writer.byte / width) return false;
    }
    return is_input;
  }

  void run_bodies(NodeId node, const StepSpace& space) {
    const std::vector<Body>& bodies = graph_.node(node).bodies;
    std::set<std::int64_t> taken;
    for (std::size_t at = 0; at < bodies.size() && faults_.empty(); ++at) {
      const BodyPlan& body = space.bodies[at];
      if (body.plan->layout.arena.size() != 1) return fault("a body without its one arena");
      for (std::int64_t byte = 0; byte < body.plan->layout.arena[0].count() && faults_.empty(); ++byte) {
        if (!space.scratch) return fault("a body without scratch");
        std::int64_t inside = 0;
        if (__builtin_add_overflow(body.offset.position(), byte, &inside)) return fault("an address that overflows");
        address(*space.scratch, inside);
        if (graph_.op(node).type != "If" && !taken.insert(inside).second) fault("two bodies in one place");
      }
      for (const std::string& inner : byte_faults(*bodies[at].graph, *body.plan, true)) fault(inner);
    }
  }

  // Checks that outputs are intact, that each state holds what replaces it, and that constants, other states and the
  // inputs of a body are unchanged.
  void check_end() {
    for (std::size_t at = 0; at < graph_.outputs().size(); ++at) {
      const ValueId id = plan_.program.outputs[at];
      if (plan_.program.values[id].tensor != graph_.outputs()[at])
        return fault("an output is a value of another tensor");
      check_read(id, "the caller");
    }
    std::set<TensorId> replaced;
    for (std::size_t at = 0; at < graph_.state_updates().size(); ++at) {
      const StateUpdate& update = graph_.state_updates()[at];
      replaced.insert(update.state);
      check_update(update, plan_.program.updates[at]);
    }
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const TensorId tensor = plan_.program.values[id].tensor;
      if (!is_given(id) || replaced.contains(tensor)) continue;
      if (is_body_ || graph_.tensor(tensor).role != Role::input) check_read(id, "the owner");
    }
  }

  void check_update(const StateUpdate& update, ValueId next) {
    if (plan_.program.values[next].tensor != update.next) return fault("a state is replaced by another tensor");
    const std::optional<ValueId> state = given_value(update.state);
    if (!state) return fault("a state has no place");
    check_read(next, "the next run");
    const std::vector<Address> at = addresses(*state);
    for (std::size_t byte = 0; byte < at.size() && faults_.empty(); ++byte) {
      if (memory_[at[byte]] != content_[next].second[byte]) fault("a state does not hold its next content");
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  const bool is_body_;
  std::map<Address, Tag> memory_;
  IdVector<ValueId, std::pair<bool, std::vector<Tag>>> content_;  // whether it is there, and its tags
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> byte_faults(const Graph& graph, const Plan& plan, bool is_body) {
  return ByteMachine(graph, plan, is_body).run();
}

}  // namespace lowtide::testing
