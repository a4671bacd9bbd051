// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "tests/verify/byte_oracle.h"
#include "tests/verify/plain_claims.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 60;  // far enough that sums of two do not wrap

class Rules {
 public:
  Rules(const Graph& graph, const Plan& plan, bool is_body) : graph_(graph), plan_(plan), is_body_(is_body) {}

  std::vector<std::string> check() {
    check_form();
    if (!faults_.empty()) return faults_;
    check_addresses();
    if (!faults_.empty()) return faults_;
    check_pairs();
    check_program();
    for (StepId id : all_ids<StepId>(plan_.program.size())) check_step(id);
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) check_value(id);
    for (BufferId id : all_ids<BufferId>(plan_.buffers.size())) check_buffer(id);
    check_outputs();
    check_claims();
    return faults_;
  }

 private:
  void must(bool holds, const char* rule) {
    if (!holds) faults_.emplace_back(rule);
  }

  void check_form() {
    const Provenance& from = plan_.provenance;
    must(from.graph == graph_.name() && from.nodes == static_cast<std::int64_t>(graph_.nodes().size()) &&
             from.tensors == static_cast<std::int64_t>(graph_.tensors().size()),
         "the plan is for this graph");
    must(plan_.arena.size() == plan_.regions.size(), "a region has an arena");
    must(!is_body_ || plan_.regions.size() == 1, "a body has one region");
    for (const Region& region : plan_.regions) {
      must(std::has_single_bit(static_cast<std::uint64_t>(region.alignment.count())), "an alignment is a power of two");
    }
    const auto steps = static_cast<std::uint32_t>(plan_.program.size());
    for (const Buffer& buffer : plan_.buffers) {
      must(buffer.size.count() >= 0 && buffer.size.count() < kFar, "a size is a number of bytes");
      must(buffer.lifespan.end.value() <= steps && (buffer.lifespan.begin < buffer.lifespan.end || steps == 0),
           "a lifespan is some steps of the program");
      must(!buffer.placement || buffer.placement->region.index() < plan_.regions.size(), "a region exists");
      if (!buffer.parts.empty()) check_parts(buffer);
    }
    for (const Value& value : plan_.values) {
      must(graph_.tensors().contains(value.tensor) && plan_.buffers.contains(value.buffer), "a value's ids exist");
      must(!value.written || plan_.program.contains(*value.written), "a value's step exists");
    }
    for (const Step& step : plan_.program) {
      must(graph_.nodes().contains(step.node), "a node exists");
      for (const auto* list : {&step.reads, &step.writes}) {
        for (ValueId id : *list) must(plan_.values.contains(id), "a value exists");
      }
      must(!step.scratch || plan_.buffers.contains(*step.scratch), "a scratch buffer exists");
      if (graph_.nodes().contains(step.node)) check_bodies_listed(step);
    }
  }

  void check_parts(const Buffer& buffer) {
    const bool is_plain = buffer.kind == BufferKind::temporary || buffer.kind == BufferKind::output;
    must(buffer.parts.size() > 1 && buffer.placement && is_plain, "parts are several, of what the plan owns");
    std::set<StepId> begins;
    std::set<StepId> ends;
    std::int64_t left = buffer.size.count();
    for (const BufferPart& part : buffer.parts) {
      const bool is_inside = part.size.count() > 0 && part.size.count() <= left;
      must(is_inside, "a part has some of the bytes that are left");
      if (!is_inside) return;
      left -= part.size.count();
      must(part.lifespan.begin < part.lifespan.end, "a part lives");
      begins.insert(part.lifespan.begin);
      ends.insert(part.lifespan.end);
    }
    must(left == 0, "parts are all of their buffer");
    must(*begins.begin() == buffer.lifespan.begin && *ends.rbegin() == buffer.lifespan.end,
         "parts together live as long as their buffer");
  }

  // Whether some bytes of a buffer live in a step; none: whether the buffer does.
  bool lives(const Buffer& buffer, std::int64_t begin, std::int64_t size, StepId step) const {
    if (buffer.parts.empty() || size == 0) return buffer.lifespan.contains(step);
    std::int64_t at = 0;
    for (const BufferPart& part : buffer.parts) {
      for (std::int64_t byte = at; byte < at + part.size.count(); ++byte) {
        if (byte >= begin && byte < begin + size && !part.lifespan.contains(step)) return false;
      }
      at += part.size.count();
    }
    return true;
  }
  bool lives(const Value& value, StepId step) const {
    return lives(plan_.buffers[value.buffer], value.offset.position(), graph_.tensor(value.tensor).size.count(), step);
  }

  // Where it lives in a step, byte by byte.
  std::set<std::int64_t> addresses(const Buffer& buffer, StepId step) const {
    std::set<std::int64_t> found;
    for (std::int64_t byte = 0; byte < buffer.size.count(); ++byte) {
      if (lives(buffer, byte, 1, step)) found.insert(buffer.placement->offset.position() + byte);
    }
    return found;
  }

  void check_bodies_listed(const Step& step) {
    const std::vector<Body>& bodies = graph_.node(step.node).bodies;
    must(step.bodies.size() == bodies.size(), "each body has a plan");
    for (std::size_t at = 0; at < std::min(bodies.size(), step.bodies.size()); ++at) {
      must(step.bodies[at].plan != nullptr && step.bodies[at].body == bodies[at].name, "a body has its plan");
      if (step.bodies[at].plan == nullptr) continue;
      Provenance from = step.bodies[at].plan->provenance;
      from.graph = plan_.provenance.graph;
      from.nodes = plan_.provenance.nodes;
      from.tensors = plan_.provenance.tensors;
      must(from == plan_.provenance, "a body's plan comes from where the whole plan comes from");
    }
  }

  void check_addresses() {
    for (const Buffer& buffer : plan_.buffers) {
      if (!buffer.placement) continue;
      const std::int64_t offset = buffer.placement->offset.position();
      const std::size_t region = buffer.placement->region.index();
      must(offset >= 0 && offset < kFar && offset + buffer.size.count() <= plan_.arena[region].count(),
           "a buffer is inside the arena");
      must(offset % plan_.regions[region].alignment.count() == 0, "a buffer is aligned");
    }
    for (const Value& value : plan_.values) {
      const std::int64_t offset = value.offset.position();
      must(offset >= 0 && offset < kFar &&
               offset + graph_.tensor(value.tensor).size.count() <= plan_.buffers[value.buffer].size.count(),
           "a value is inside its buffer");
    }
    for (std::size_t at = 0; at < plan_.regions.size(); ++at) {
      must(!plan_.regions[at].capacity || plan_.arena[at] <= *plan_.regions[at].capacity, "an arena fits its region");
    }
  }

  void check_pairs() {
    for (BufferId a : all_ids<BufferId>(plan_.buffers.size())) {
      for (BufferId b : all_ids<BufferId>(a.index())) check_pair(plan_.buffers[a], plan_.buffers[b]);
    }
  }

  void check_pair(const Buffer& a, const Buffer& b) {
    if (!a.placement || !b.placement || a.placement->region != b.placement->region) return;
    if (!a.parts.empty() || !b.parts.empty()) return check_parts_apart(a, b);
    bool live_together = plan_.program.empty();
    for (StepId step : all_ids<StepId>(plan_.program.size())) {
      live_together = live_together || (a.lifespan.contains(step) && b.lifespan.contains(step));
    }
    const std::int64_t low = std::max(a.placement->offset, b.placement->offset).position();
    const std::int64_t high =
        std::min(a.placement->offset.position() + a.size.count(), b.placement->offset.position() + b.size.count());
    must(!live_together || low >= high, "buffers that live together are apart");
  }

  void check_parts_apart(const Buffer& a, const Buffer& b) {
    for (StepId step : all_ids<StepId>(plan_.program.size())) {
      std::set<std::int64_t> both = addresses(a, step);
      const std::size_t apart = both.size() + addresses(b, step).size();
      both.merge(addresses(b, step));
      must(both.size() == apart, "bytes that live together are apart");
    }
  }

  void check_program() {
    std::multiset<NodeId> ran;
    for (const Step& step : plan_.program) {
      for (NodeId before : graph_.node(step.node).control_inputs)
        must(ran.contains(before), "control inputs run before");
      ran.insert(step.node);
    }
    for (NodeId node : all_ids<NodeId>(graph_.nodes().size())) must(ran.count(node) == 1, "each node runs once");
  }

  void check_step(StepId id) {
    const Step& step = plan_.program[id];
    for (ValueId read : step.reads) {
      const Value& value = plan_.values[read];
      must(lives(value, id), "bytes are read while they live");
      must(!value.written || *value.written < id, "a value is written before it is read");
    }
    for (std::size_t at = 0; at < step.writes.size(); ++at) {
      const Value& value = plan_.values[step.writes[at]];
      must(lives(value, id), "bytes are written while they live");
      must(value.written == id, "a value is written where it says");
      must(std::count(step.writes.begin(), step.writes.end(), step.writes[at]) == 1, "a value is written once");
    }
    if (step.kind == StepKind::alias) must(!step.scratch && step.bodies.empty(), "an alias needs nothing");
    if (!step.scratch) return;
    const Buffer& scratch = plan_.buffers[*step.scratch];
    must(scratch.kind == BufferKind::scratch, "scratch is scratch");
    must(scratch.lifespan.contains(id), "scratch is used while it lives");
    for (StepId other : all_ids<StepId>(plan_.program.size())) {
      must(other == id || plan_.program[other].scratch != step.scratch, "scratch is of one step");
    }
    for (const BodyPlan& body : step.bodies) check_body(scratch, body);
  }

  void check_body(const Buffer& scratch, const BodyPlan& body) {
    must(body.offset.position() >= 0 && body.offset.position() <= scratch.size.count(), "a body is in the scratch");
    if (!faults_.empty() || body.plan->regions.size() != 1 || body.plan->arena.size() != 1) return;
    if (!scratch.placement || body.plan->arena[0].count() == 0) return;
    const std::int64_t alignment = body.plan->regions[0].alignment.count();
    if (alignment <= 0) return;
    const std::int64_t outer = plan_.regions[scratch.placement->region.index()].alignment.count();
    must(outer % alignment == 0, "a body asks for no more alignment than there is");
    must((scratch.placement->offset.position() + body.offset.position()) % alignment == 0, "a body is aligned");
  }

  void check_value(ValueId id) {
    const Value& value = plan_.values[id];
    const Tensor& tensor = graph_.tensor(value.tensor);
    const Buffer& buffer = plan_.buffers[value.buffer];
    if (!tensor.producer) {
      must(to_string(buffer.kind) == to_string(tensor.role), "what is given lies in a buffer of its kind");
      must(!value.written, "what is given is not written");
      must(value.offset == Offset(0) && (buffer.placement || buffer.size == tensor.size),
           "what is given fills its buffer");
      for (ValueId other : all_ids<ValueId>(plan_.values.size())) {
        if (other == id) continue;
        must(plan_.values[other].tensor != value.tensor, "what is given has one place");
        const bool is_given = !graph_.tensor(plan_.values[other].tensor).producer;
        must(!is_given || plan_.values[other].buffer != value.buffer, "what is given is alone");
      }
      return;
    }
    must(value.written.has_value(), "a result is written");
    if (!value.written) return;
    const Step& step = plan_.program[*value.written];
    must(std::count(step.writes.begin(), step.writes.end(), id) == 1, "the step that writes a value lists it");
    must(buffer.kind != BufferKind::scratch, "scratch holds no value");
    const bool is_plain = buffer.kind == BufferKind::temporary || buffer.kind == BufferKind::output;
    must(is_plain || step.kind == StepKind::alias, "what is given is not written over");
    must(tensor.role != Role::output || buffer.kind == BufferKind::output, "an output is in an output buffer");
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = plan_.buffers[id];
    std::vector<TensorId> outputs;
    std::vector<TensorId> given;
    for (const Value& value : plan_.values) {
      if (value.buffer != id) continue;
      const Tensor& tensor = graph_.tensor(value.tensor);
      if (tensor.role == Role::output) outputs.push_back(value.tensor);
      if (!tensor.producer) given.push_back(value.tensor);
    }
    must(buffer.kind != BufferKind::output || !outputs.empty(), "an output buffer holds an output");
    const bool is_given_kind =
        buffer.kind == BufferKind::input || buffer.kind == BufferKind::constant || buffer.kind == BufferKind::state;
    if (!is_given_kind) return must(buffer.placement.has_value(), "what the plan owns has a placement");
    must(!given.empty(), "a buffer of something given holds it");
    if (given.empty()) return;
    const bool is_placed = is_body_ && buffer.kind == BufferKind::input && !graph_.tensor(given[0]).is_captured;
    must(buffer.placement.has_value() == is_placed, "only inputs of bodies are placed");
    const bool is_throughout =
        buffer.lifespan.begin.value() == 0 && buffer.lifespan.end.index() == plan_.program.size();
    must(!is_placed || is_throughout, "inputs of bodies live throughout");
  }

  // Bytes of outputs, one by one.
  void check_outputs() {
    std::set<std::pair<std::pair<bool, std::uint32_t>, std::int64_t>> bytes;
    const std::set<TensorId> outputs(graph_.outputs().begin(), graph_.outputs().end());
    std::set<TensorId> placed;
    for (const Value& value : plan_.values) {
      placed.insert(value.tensor);
      if (!outputs.contains(value.tensor)) continue;
      const Buffer& buffer = plan_.buffers[value.buffer];
      const auto steps = static_cast<std::uint32_t>(plan_.program.size());
      must(!buffer.placement || (steps == 0 ? buffer.lifespan.end == StepId(0) : lives(value, StepId(steps - 1))),
           "an output lives to the end");
      for (std::int64_t at = 0; at < graph_.tensor(value.tensor).size.count(); ++at) {
        const std::int64_t begin =
            (buffer.placement ? buffer.placement->offset.position() : 0) + value.offset.position();
        const std::uint32_t storage = buffer.placement ? buffer.placement->region.value() : value.buffer.value();
        must(bytes.insert({{buffer.placement.has_value(), storage}, begin + at}).second, "outputs are apart");
      }
    }
    for (TensorId input : graph_.inputs()) must(!is_body_ || placed.contains(input), "inputs of bodies have a place");
  }

  void check_claims() {
    const Claims& claims = plan_.claims;
    must(plan_.arena == plain_arenas(plan_), "an arena ends with its highest buffer");
    const Bytes load = plain_load(plan_);
    must(claims.load == load, "the load is claimed right");
    must(claims.load_as_given == plain_load_as_given(graph_), "the load as given is claimed right");
    must(claims.bound >= Bytes(0) && claims.bound <= load, "the bound is not above the load");
    must(claims.bound <= plain_proven_load(plan_), "the bound counts bodies at their own");
    must(!claims.schedule_optimal || claims.bound == load, "an optimal order meets its bound");
    must(!claims.allocate_optimal || arena_bytes(plan_) == load, "optimal offsets meet the load");
    for (const Step& step : plan_.program) {
      for (std::size_t at = 0; at < step.bodies.size(); ++at) {
        for (const std::string& inner :
             rule_faults(*graph_.node(step.node).bodies[at].graph, *step.bodies[at].plan, true)) {
          faults_.push_back(inner);
        }
      }
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  const bool is_body_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> rule_faults(const Graph& graph, const Plan& plan, bool is_body) {
  return Rules(graph, plan, is_body).check();
}

}  // namespace lowtide::testing
