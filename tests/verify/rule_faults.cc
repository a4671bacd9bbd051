// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <optional>
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
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) check_space(id);
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) check_value(id);
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) check_buffer(id);
    for (TensorId input : graph_.inputs()) must(!is_body_ || has_place(input), "inputs of bodies have a place");
    for (std::string& fault : constant_faults(graph_, plan_)) faults_.push_back(std::move(fault));
    for (std::string& fault : neighbor_faults(graph_, plan_)) faults_.push_back(std::move(fault));
    for (std::string& fault : program_faults(graph_, plan_)) faults_.push_back(std::move(fault));
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
    must(plan_.layout.arena.size() == plan_.machine.regions.size(), "a region has an arena");
    must(plan_.layout.values.size() == plan_.program.values.size(), "a value has a place");
    must(plan_.layout.steps.size() == plan_.program.steps.size(), "a step has an entry in the layout");
    must(plan_.program.outputs.size() == graph_.outputs().size(), "each output has a value");
    must(plan_.program.updates.size() == graph_.state_updates().size(), "each update has a value");
    must(!is_body_ || plan_.machine.regions.size() == 1, "a body has one region");
    if (!faults_.empty()) return;
    check_machine();
    check_streams();
    for (const Buffer& buffer : plan_.layout.buffers) check_buffer_form(buffer);
    for (const Value& value : plan_.program.values) {
      must(graph_.tensors().contains(value.tensor), "a value's tensor exists");
      must(!value.written || plan_.program.steps.contains(*value.written), "a value's step exists");
    }
    for (const ValuePlace& place : plan_.layout.values) {
      must(plan_.layout.buffers.contains(place.buffer), "a value's buffer exists");
    }
    must_exist(plan_.program.outputs);
    must_exist(plan_.program.updates);
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) check_step_form(id);
  }

  void must_exist(const std::vector<ValueId>& list) {
    for (ValueId id : list) must(plan_.program.values.contains(id), "a value exists");
  }

  bool has_region(RegionId id) const { return id.index() < plan_.machine.regions.size(); }

  void check_machine() {
    for (const Region& region : plan_.machine.regions) {
      const auto alignment = static_cast<std::uint64_t>(region.alignment.count());
      must(region.alignment.count() > 0 && std::has_single_bit(alignment), "an alignment is a power of two");
    }
    must(!plan_.machine.constants || (has_region(*plan_.machine.constants) && !is_body_),
         "constants are in a region, which only the plan of the model states");
    for (const Link& link : plan_.machine.links) {
      must(has_region(link.from) && has_region(link.to) && link.from != link.to, "a link is between two regions");
      must(link.bytes_per_second > 0 && link.latency_picoseconds >= 0, "a link takes some time");
    }
    must(!plan_.machine.workers.empty(), "there is a worker");
    for (const Worker& worker : plan_.machine.workers) {
      const std::set<RegionId> sorted(worker.addressable.begin(), worker.addressable.end());
      must(worker.addressable == std::vector<RegionId>(sorted.begin(), sorted.end()),
           "regions are listed once, in order");
      for (RegionId region : worker.addressable) must(has_region(region), "a region exists");
      must(worker.count >= 1, "there is at least one of each worker");
    }
  }

  void check_streams() {
    const auto& streams = plan_.program.streams;
    must(streams.size() >= 1 && streams.size() <= 1024, "there are 1 to 1024 streams");
    std::multiset<LinkId> driven;
    for (const Stream& stream : streams) {
      must(stream.worker.has_value() != stream.link.has_value(), "a stream is of a worker or of a link");
      must(!stream.worker || plan_.machine.workers.contains(*stream.worker), "a worker exists");
      must(!stream.link || plan_.machine.links.contains(*stream.link), "a link exists");
      if (stream.link) driven.insert(*stream.link);
    }
    for (LinkId link : driven) must(driven.count(link) == 1, "one stream drives a link");
  }

  void check_buffer_form(const Buffer& buffer) {
    const auto steps = static_cast<std::uint32_t>(plan_.program.steps.size());
    must(buffer.size.count() >= 0 && buffer.size.count() < kFar, "a size is neither negative nor too large");
    must(buffer.lifespan.end.value() <= steps &&
             (buffer.lifespan.begin < buffer.lifespan.end || (steps == 0 && buffer.lifespan.begin == StepId(0))),
         "a lifespan has steps, and only those of the program");
    must(!buffer.placement || has_region(buffer.placement->region), "a region exists");
    must(!buffer.home || (has_region(*buffer.home) && !buffer.placement), "only a buffer without placement has a home");
    if (!buffer.parts.empty()) check_parts(buffer);
  }

  void check_step_form(StepId id) {
    const Step& step = plan_.program.steps[id];
    const StepSpace& space = plan_.layout.steps[id];
    must_exist(step.reads);
    must_exist(step.writes);
    must(!space.scratch || plan_.layout.buffers.contains(*space.scratch), "a scratch buffer exists");
    const bool has_stream = plan_.program.streams.contains(step.stream);
    must(has_stream, "a stream exists");
    for (std::size_t at = 0; at < step.after.size(); ++at) {
      must(step.after[at] < id && (at == 0 || step.after[at - 1] < step.after[at]),
           "waits are for earlier steps, in order");
      if (!has_stream || !(step.after[at] < id)) continue;
      must(plan_.program.steps[step.after[at]].stream != step.stream, "waits are for steps of other streams");
    }
    if (const Copy* copy = std::get_if<Copy>(&step.work)) {
      must(step.reads.size() == 1 && step.writes.size() == 1 && !space.scratch,
           "a copy reads one value and writes one");
      must(0 <= copy->bytes.begin && copy->bytes.begin <= copy->bytes.end && copy->bytes.end < kFar,
           "a copy is of some bytes");
    } else {
      must(graph_.nodes().contains(*node_of(step)), "a node exists");
    }
    if (!is_compute(step)) return must(space.bodies.empty(), "only kernels run bodies");
    const Compute& compute = std::get<Compute>(step.work);
    must(plan_.kernels.contains(compute.kernel), "a kernel exists");
    if (graph_.nodes().contains(compute.node)) check_bodies_listed(compute.node, space);
  }

  void check_parts(const Buffer& buffer) {
    const bool is_plain = buffer.kind == BufferKind::temporary || buffer.kind == BufferKind::output;
    must(buffer.parts.size() > 1 && buffer.placement && is_plain,
         "only a buffer that the plan owns has parts, and several");
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
    must(left == 0, "parts cover their buffer");
    must(*begins.begin() == buffer.lifespan.begin && *ends.rbegin() == buffer.lifespan.end,
         "parts together live as long as their buffer");
  }

  // Whether all bytes of a range of a buffer live in a step. For an empty range, whether the buffer does.
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
  // The addresses of the bytes of the buffer that are live in a step.
  std::set<std::int64_t> addresses(const Buffer& buffer, StepId step) const {
    std::set<std::int64_t> found;
    for (std::int64_t byte = 0; byte < buffer.size.count(); ++byte) {
      if (lives(buffer, byte, 1, step)) found.insert(buffer.placement->offset.position() + byte);
    }
    return found;
  }

  void check_bodies_listed(NodeId node, const StepSpace& space) {
    const std::vector<Body>& bodies = graph_.node(node).bodies;
    must(space.bodies.size() == bodies.size(), "each body has a plan");
    for (std::size_t at = 0; at < std::min(bodies.size(), space.bodies.size()); ++at) {
      must(space.bodies[at].plan != nullptr && space.bodies[at].body == bodies[at].name, "a body has its plan");
      if (space.bodies[at].plan == nullptr) continue;
      Provenance from = space.bodies[at].plan->provenance;
      from.graph = plan_.provenance.graph;
      from.nodes = plan_.provenance.nodes;
      from.tensors = plan_.provenance.tensors;
      must(from == plan_.provenance, "the plan of a body has the provenance of the plan around it");
    }
  }

  void check_addresses() {
    for (const Buffer& buffer : plan_.layout.buffers) {
      if (!buffer.placement) continue;
      const std::int64_t offset = buffer.placement->offset.position();
      const std::size_t region = buffer.placement->region.index();
      must(offset >= 0 && offset < kFar && offset + buffer.size.count() <= plan_.layout.arena[region].count(),
           "a buffer is inside the arena");
      must(offset % plan_.machine.regions[region].alignment.count() == 0, "a buffer is aligned");
    }
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      const ValuePlace& place = plan_.layout.values[id];
      const std::int64_t offset = place.offset.position();
      must(offset >= 0 && offset < kFar &&
               offset + tensor_of(id).size.count() <= plan_.layout.buffers[place.buffer].size.count(),
           "a value is inside its buffer");
    }
    for (std::size_t at = 0; at < plan_.machine.regions.size(); ++at) {
      const std::optional<Bytes>& capacity = plan_.machine.regions[at].capacity;
      must(!capacity || plan_.layout.arena[at] <= *capacity, "an arena fits its region");
    }
  }

  void check_pairs() {
    for (BufferId a : all_ids<BufferId>(plan_.layout.buffers.size())) {
      for (BufferId b : all_ids<BufferId>(a.index())) check_pair(plan_.layout.buffers[a], plan_.layout.buffers[b]);
    }
  }

  void check_pair(const Buffer& a, const Buffer& b) {
    if (!a.placement || !b.placement || a.placement->region != b.placement->region) return;
    if (!a.parts.empty() || !b.parts.empty()) return check_parts_apart(a, b);
    bool live_together = plan_.program.steps.empty();
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      live_together = live_together || (a.lifespan.contains(step) && b.lifespan.contains(step));
    }
    const std::int64_t low = std::max(a.placement->offset, b.placement->offset).position();
    const std::int64_t high =
        std::min(a.placement->offset.position() + a.size.count(), b.placement->offset.position() + b.size.count());
    must(!live_together || low >= high, "buffers that live together share no address");
  }

  void check_parts_apart(const Buffer& a, const Buffer& b) {
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      std::set<std::int64_t> both = addresses(a, step);
      const std::size_t apart = both.size() + addresses(b, step).size();
      both.merge(addresses(b, step));
      must(both.size() == apart, "bytes that live together share no address");
    }
  }

  void check_space(StepId id) {
    const StepSpace& space = plan_.layout.steps[id];
    if (is_alias(plan_.program.steps[id])) must(!space.scratch, "an alias has no scratch");
    if (!space.scratch) return;
    const Buffer& scratch = plan_.layout.buffers[*space.scratch];
    must(scratch.kind == BufferKind::scratch, "a scratch buffer is of kind scratch");
    for (StepId other : all_ids<StepId>(plan_.program.steps.size())) {
      must(other == id || plan_.layout.steps[other].scratch != space.scratch, "only one step uses a scratch buffer");
    }
    for (const BodyPlan& body : space.bodies) check_body(scratch, body);
  }

  void check_body(const Buffer& scratch, const BodyPlan& body) {
    must(body.offset.position() >= 0 && body.offset.position() <= scratch.size.count(), "a body is in the scratch");
    if (!faults_.empty() || body.plan->machine.regions.size() != 1 || body.plan->layout.arena.size() != 1) return;
    if (!scratch.placement || body.plan->layout.arena[0].count() == 0) return;
    const std::int64_t alignment = body.plan->machine.regions[0].alignment.count();
    if (alignment <= 0) return;
    const std::int64_t outer = plan_.machine.regions[scratch.placement->region.index()].alignment.count();
    must(outer % alignment == 0, "the region of the scratch is aligned for the body");
    must(alignment >= std::min(outer, smallest_unit(graph_, plan_)), "a body is not aligned more finely than its plan");
    must((scratch.placement->offset.position() + body.offset.position()) % alignment == 0, "a body is aligned");
  }

  const Tensor& tensor_of(ValueId id) const { return graph_.tensor(plan_.program.values[id].tensor); }
  bool is_given(ValueId id) const { return !plan_.program.values[id].written && !tensor_of(id).producer; }
  bool has_place(TensorId tensor) const {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (is_given(id) && plan_.program.values[id].tensor == tensor) return true;
    }
    return false;
  }
  bool is_output(ValueId id) const {
    return std::count(plan_.program.outputs.begin(), plan_.program.outputs.end(), id) > 0;
  }

  void check_value(ValueId id) {
    const Value& value = plan_.program.values[id];
    const ValuePlace& place = plan_.layout.values[id];
    const Buffer& buffer = plan_.layout.buffers[place.buffer];
    if (is_given(id)) {
      must(to_string(buffer.kind) == to_string(tensor_of(id).role), "what is given lies in a buffer of its kind");
      must(place.offset == Offset(0) && (buffer.placement || buffer.size == tensor_of(id).size),
           "what is given fills its buffer");
      for (ValueId other : all_ids<ValueId>(plan_.program.values.size())) {
        if (other == id || !is_given(other)) continue;
        must(plan_.program.values[other].tensor != value.tensor, "what is given has one place");
        must(plan_.layout.values[other].buffer != place.buffer, "what is given shares no buffer");
      }
      return;
    }
    if (!value.written) return;  // program_faults
    must(buffer.kind != BufferKind::scratch, "scratch holds no value");
    const bool is_plain = buffer.kind == BufferKind::temporary || buffer.kind == BufferKind::output;
    must(is_plain || is_alias(plan_.program.steps[*value.written]) || is_updated(place.buffer),
         "what is given is not written over");
    must(!is_output(id) || buffer.kind == BufferKind::output, "an output is in an output buffer");
  }

  // Whether the buffer holds a state that the graph updates.
  bool is_updated(BufferId buffer) const {
    bool found = false;
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (!is_given(id) || plan_.layout.values[id].buffer != buffer) continue;
      for (const StateUpdate& update : graph_.state_updates()) {
        found = found || update.state == plan_.program.values[id].tensor;
      }
    }
    return found && plan_.layout.buffers[buffer].kind == BufferKind::state;
  }

  void check_buffer(BufferId id) {
    const Buffer& buffer = plan_.layout.buffers[id];
    bool has_output = false;
    std::vector<TensorId> given;
    for (ValueId value : all_ids<ValueId>(plan_.program.values.size())) {
      if (plan_.layout.values[value].buffer != id) continue;
      has_output = has_output || (is_output(value) && !is_given(value));
      if (is_given(value)) given.push_back(plan_.program.values[value].tensor);
    }
    must(buffer.kind != BufferKind::output || has_output, "an output buffer holds an output");
    const bool is_given_kind =
        buffer.kind == BufferKind::input || buffer.kind == BufferKind::constant || buffer.kind == BufferKind::state;
    if (!is_given_kind) return must(buffer.placement.has_value(), "what the plan owns has a placement");
    must(!given.empty(), "a buffer of the caller holds a given value");
    if (given.empty()) return;
    const bool is_placed = is_body_ && buffer.kind == BufferKind::input && !graph_.tensor(given[0]).is_captured;
    must(buffer.placement.has_value() == is_placed, "only inputs of bodies are placed");
    const bool is_throughout =
        buffer.lifespan.begin.value() == 0 && buffer.lifespan.end.index() == plan_.program.steps.size();
    must(!is_placed || is_throughout, "inputs of bodies live throughout");
  }

  void check_claims() {
    const Claims& claims = plan_.claims;
    must(plan_.layout.arena == plain_arenas(plan_), "an arena ends with its highest buffer");
    const Bytes load = plain_load(plan_);
    must(claims.load == load, "the claimed load is right");
    must(claims.load_as_given == plain_load_as_given(graph_), "the claimed load as given is right");
    check_bounds(load);
    must(!claims.allocate_optimal || arena_bytes(plan_) == load, "the arena of optimal offsets equals the load");
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const std::vector<BodyPlan>& bodies = plan_.layout.steps[id].bodies;
      for (std::size_t at = 0; at < bodies.size(); ++at) {
        const Body& body = graph_.node(*node_of(plan_.program.steps[id])).bodies[at];
        for (const std::string& inner : rule_faults(*body.graph, *bodies[at].plan, true)) faults_.push_back(inner);
      }
    }
  }

  // A bound applies to the plan if the plan is in its scope.
  void check_bounds(Bytes load) {
    const Claims& claims = plan_.claims;
    std::optional<Bytes> best;
    std::set<BoundScope> scopes;
    for (const Bound& bound : claims.bounds) {
      must(scopes.empty() || *scopes.rbegin() < bound.scope, "there is one bound per scope, in order");
      scopes.insert(bound.scope);
      must(bound.bytes >= Bytes(0), "a bound is not negative");
      if (bound.scope < plain_scope(plan_)) continue;
      must(bound.bytes <= load, "a bound is not above the load");
      must(bound.bytes <= plain_proven_load(plan_, bound.scope), "a bound counts each body with its own bound");
      best = std::max(best.value_or(bound.bytes), bound.bytes);
    }
    must(!claims.schedule_optimal || best == load, "the load of an optimal order equals its best bound");
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
