// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/byte_oracle.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/verify/view_bytes.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kMostBytes = 1 << 20;

struct Tag {
  std::uint32_t tensor = ~0U;
  std::uint32_t step = 0;
  std::int64_t byte = -1;
  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// A region, or a buffer of the caller's.
using Storage = std::pair<bool, std::uint32_t>;
using Address = std::pair<Storage, std::int64_t>;

class Machine {
 public:
  Machine(const Graph& graph, const Plan& plan, bool is_body) : graph_(graph), plan_(plan), is_body_(is_body) {}

  std::vector<std::string> run() {
    if (!has_sane_ids()) return {"an id is out of range"};
    set_up();
    for (StepId id : all_ids<StepId>(plan_.program.size())) {
      if (!faults_.empty()) return faults_;
      run_step(id);
    }
    check_end();
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  bool has_sane_ids() const {
    bool ok = plan_.arena.size() == plan_.regions.size();
    for (const Value& value : plan_.values) {
      ok = ok && graph_.tensors().contains(value.tensor) && plan_.buffers.contains(value.buffer);
    }
    for (const Buffer& buffer : plan_.buffers) {
      ok = ok && (!buffer.placement || buffer.placement->region.index() < plan_.regions.size());
    }
    for (const Step& step : plan_.program) {
      ok = ok && graph_.nodes().contains(step.node);
      for (ValueId id : step.reads) ok = ok && plan_.values.contains(id);
      for (ValueId id : step.writes) ok = ok && plan_.values.contains(id);
      ok = ok && (!step.scratch || plan_.buffers.contains(*step.scratch));
      ok = ok && step.bodies.size() == graph_.node(step.node).bodies.size();
      for (const BodyPlan& body : step.bodies) ok = ok && body.plan != nullptr;
    }
    return ok;
  }

  // Everything that a node does not produce is in its place; other bytes hold nothing.
  void set_up() {
    content_.resize(plan_.values.size());
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (!graph_.tensor(plan_.values[id].tensor).producer) put(id, 0);
    }
  }

  // Address of byte `byte` of a buffer; a fault if it is in no memory.
  Address address(BufferId id, std::int64_t byte) {
    const Buffer& buffer = plan_.buffers[id];
    if (byte < 0 || byte >= buffer.size.count()) fault("an access outside its buffer");
    if (!buffer.placement) return {{false, id.value()}, byte};
    const std::uint32_t region = buffer.placement->region.value();
    std::int64_t at = 0;
    if (__builtin_add_overflow(buffer.placement->offset.position(), byte, &at)) fault("an address that wraps");
    if (at < 0 || at >= plan_.arena[region].count() || at >= kMostBytes) fault("an access outside the arena");
    return {{true, region}, at};
  }

  std::vector<Address> addresses(ValueId id) {
    const Value& value = plan_.values[id];
    std::vector<Address> result;
    for (std::int64_t byte = 0; byte < graph_.tensor(value.tensor).size.count() && faults_.empty(); ++byte) {
      std::int64_t at = 0;
      if (__builtin_add_overflow(value.offset.position(), byte, &at)) fault("an address that wraps");
      result.push_back(address(value.buffer, at));
    }
    return result;
  }

  // Writes fresh tags.
  void put(ValueId id, std::uint32_t step) {
    std::vector<Tag> tags;
    for (const Address& at : addresses(id)) {
      tags.push_back({plan_.values[id].tensor.value(), step, static_cast<std::int64_t>(tags.size())});
      memory_[at] = tags.back();
    }
    content_[id] = {true, std::move(tags)};
  }

  void check_read(ValueId id, const std::string& who) {
    const auto& [is_there, tags] = content_[id];
    if (!is_there) return fault(who + " reads what nobody has written");
    const std::vector<Address> at = addresses(id);
    for (std::size_t byte = 0; byte < at.size() && faults_.empty(); ++byte) {
      const auto found = memory_.find(at[byte]);
      if (found == memory_.end() || found->second != tags[byte]) fault(who + " finds another's byte");
    }
  }

  void run_step(StepId id) {
    const Step& step = plan_.program[id];
    const auto reads = graph_.reads(step.node);
    if (step.reads.size() != reads.size()) return fault("a node gets another number of tensors than it reads");
    for (std::size_t at = 0; at < reads.size(); ++at) {
      if (plan_.values[step.reads[at]].tensor != reads[at]) return fault("a node gets a tensor that it does not read");
      check_read(step.reads[at], "a step");
    }
    std::vector<std::size_t> outputs;
    for (std::size_t at = 0; at < graph_.node(step.node).outputs.size(); ++at) {
      if (graph_.node(step.node).outputs[at]) outputs.push_back(at);
    }
    if (step.writes.size() != outputs.size()) return fault("a node gets another number of results than it writes");
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      if (plan_.values[step.writes[at]].tensor != graph_.node(step.node).outputs[outputs[at]]) {
        return fault("a node gets room for a tensor that it does not write");
      }
    }
    if (!faults_.empty()) return;
    if (step.kind == StepKind::alias) {
      for (std::size_t at = 0; at < outputs.size() && faults_.empty(); ++at) run_alias(step, at, outputs[at]);
    } else {
      run_kernel(id, step, outputs);
    }
  }

  void run_alias(const Step& step, std::size_t write, std::size_t output) {
    const auto sources = view_bytes(graph_, step.node, output);
    if (!sources) return fault("a node that must compute does not");
    std::vector<Tag> tags;
    for (const ByteSource& source : *sources) {
      for (ValueId read : step.reads) {
        if (plan_.values[read].tensor == source.tensor) {
          tags.push_back(content_[read].second[static_cast<std::size_t>(source.byte)]);
        }
      }
    }
    content_[step.writes[write]] = {true, std::move(tags)};
    check_read(step.writes[write], "an alias");
  }

  // Who writes a byte in this step: an output and one of its bytes, or scratch.
  struct Writer {
    bool is_scratch = false;
    std::size_t output = 0;
    std::int64_t byte = 0;
  };

  void run_kernel(StepId id, const Step& step, const std::vector<std::size_t>& outputs) {
    std::map<Address, Writer> written;
    const auto claim = [&](const Address& at, Writer writer) {
      if (!written.emplace(at, writer).second) fault("a step writes one byte twice");
      if (!at.first.first) fault("a step writes what is the caller's");
    };
    if (step.scratch) {
      for (std::int64_t byte = 0; byte < plan_.buffers[*step.scratch].size.count() && faults_.empty(); ++byte) {
        claim(address(*step.scratch, byte), {.is_scratch = true});
      }
    }
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      std::int64_t byte = 0;
      for (const Address& where : addresses(step.writes[at])) claim(where, {false, outputs[at], byte++});
    }
    for (ValueId read : step.reads) check_overwrites(step.node, read, written);
    run_bodies(step);
    if (!faults_.empty()) return;
    for (const auto& [at, writer] : written) {
      if (writer.is_scratch) memory_[at] = Tag{};
    }
    for (ValueId write : step.writes) put(write, id.value() + 1);
  }

  void check_overwrites(NodeId node, ValueId read, const std::map<Address, Writer>& written) {
    const TensorId tensor = plan_.values[read].tensor;
    std::int64_t byte = 0;
    for (const Address& at : addresses(read)) {
      const auto writer = written.find(at);
      if (writer != written.end()) {
        if (writer->second.is_scratch) return fault("scratch where the step reads");
        if (!may_overwrite(node, tensor, byte, writer->second)) return fault("a result over an operand still needed");
      }
      ++byte;
    }
  }

  // Whether all that needs byte `byte` of the operand is the element that is written there.
  bool may_overwrite(NodeId id, TensorId operand, std::int64_t byte, const Writer& writer) const {
    static const std::set<std::string> kFirst = {"Relu", "Neg", "Cast", "PRelu"};
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

  void run_bodies(const Step& step) {
    const std::vector<Body>& bodies = graph_.node(step.node).bodies;
    std::set<std::int64_t> taken;
    for (std::size_t at = 0; at < bodies.size() && faults_.empty(); ++at) {
      const BodyPlan& body = step.bodies[at];
      if (body.plan->arena.size() != 1) return fault("a body without its one arena");
      for (std::int64_t byte = 0; byte < body.plan->arena[0].count() && faults_.empty(); ++byte) {
        if (!step.scratch) return fault("a body without room");
        std::int64_t inside = 0;
        if (__builtin_add_overflow(body.offset.position(), byte, &inside)) return fault("an address that wraps");
        address(*step.scratch, inside);
        if (graph_.op(step.node).type != "If" && !taken.insert(inside).second) fault("two bodies in one place");
      }
      for (const std::string& inner : byte_faults(*bodies[at].graph, *body.plan, true)) fault(inner);
    }
  }

  // Outputs hold; what the caller gave is as it was.
  void check_end() {
    for (TensorId output : graph_.outputs()) {
      bool is_there = false;
      for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
        if (plan_.values[id].tensor != output) continue;
        is_there = true;
        check_read(id, "the caller");
      }
      if (!is_there) fault("an output is nowhere");
    }
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      const Tensor& tensor = graph_.tensor(plan_.values[id].tensor);
      if (!tensor.producer && (is_body_ || tensor.role != Role::input)) check_read(id, "the owner");
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
  return Machine(graph, plan, is_body).run();
}

}  // namespace lowtide::testing
