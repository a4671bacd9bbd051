// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/plan/random_plan.h"

#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "tests/graph/random_graph.h"

namespace lowtide::testing {
namespace {

class PlanMaker {
 public:
  explicit PlanMaker(Random& random) : random_(random) {}

  Plan make(const Graph& graph, bool is_body = false) {
    Plan plan;
    plan.provenance = {.tool = random_name(random_),
                       .model = random_name(random_),
                       .model_sha256 = random_name(random_),
                       .graph = graph.name(),
                       .nodes = static_cast<std::int64_t>(graph.nodes().size()),
                       .tensors = static_cast<std::int64_t>(graph.tensors().size()),
                       .target = random_name(random_)};
    while (random_.chance(30)) plan.provenance.lowering.push_back(random_name(random_));
    while (random_.chance(30)) plan.provenance.dims.push_back(random_name(random_));
    while (random_.chance(30)) plan.provenance.machine_key.push_back(random_name(random_));
    add_machine(plan, is_body ? 1 : random_.below(4));
    plan.execution = static_cast<ExecutionModel>(random_.below(4));
    while (plan.kernels.empty() || random_.chance(30)) plan.kernels.push_back({random_name(random_)});
    plan.claims = {.load_as_given = Bytes(number()),
                   .load = Bytes(number()),
                   .schedule = random_name(random_),
                   .schedule_optimal = random_.chance(50),
                   .allocate = random_name(random_),
                   .allocate_optimal = random_.chance(50),
                   .shortfall = Bytes(random_.chance(20) ? random_.between(1, 1000) : 0),
                   .uncounted = {}};
    while (random_.chance(10)) plan.claims.uncounted.push_back(random_name(random_));
    for (BoundScope scope : {BoundScope::run_once, BoundScope::all_plans}) {
      if (random_.chance(50)) plan.claims.bounds.push_back({scope, Bytes(number()), random_name(random_)});
    }
    add_tables(graph, plan);
    return plan;
  }

 private:
  std::int64_t number() {
    return random_.chance(90) ? random_.between(0, 5000) : random_.between(0, limits::kMaxArenaBytes);
  }

  template <typename IdType>
  IdType any(std::size_t count) {
    return IdType(static_cast<std::uint32_t>(random_.below(count)));
  }

  void add_machine(Plan& plan, std::uint64_t regions) {
    for (std::uint64_t count = regions; count > 0; --count) {
      Region region{.name = random_name(random_), .alignment = Bytes(std::int64_t{1} << random_.below(31))};
      if (random_.chance(50)) region.capacity = Bytes(number());
      region.is_read_only = random_.chance(20);
      plan.machine.regions.push_back(region);
      plan.layout.arena.emplace_back(number());
    }
    while (regions > 1 && random_.chance(60)) {
      const auto from = any<RegionId>(regions - 1);
      const Link link{from, RegionId(from.value() + 1), random_.between(1, 1LL << 62), number()};
      plan.machine.links.push_back(random_.chance(50) ? link : Link{link.to, link.from, 1, 0});
    }
    while (plan.machine.workers.empty() || random_.chance(30)) {
      Worker worker{.name = random_name(random_), .count = static_cast<int>(random_.between(1, 100))};
      for (std::uint32_t region = 0; region < regions; ++region) {
        if (random_.chance(30)) worker.addressable.emplace_back(region);
      }
      plan.machine.workers.push_back(worker);
    }
    plan.program.streams.push_back({.worker = any<WorkerId>(plan.machine.workers.size())});
    while (random_.chance(30)) plan.program.streams.push_back({.worker = any<WorkerId>(plan.machine.workers.size())});
    for (LinkId link : all_ids<LinkId>(plan.machine.links.size())) {
      if (random_.chance(50)) plan.program.streams.push_back({.link = link});
    }
  }

  void add_tables(const Graph& graph, Plan& plan) {
    std::vector<std::optional<NodeId>> program;  // nullopt: a copy
    for (NodeId node : all_ids<NodeId>(graph.nodes().size())) {
      for (std::uint64_t times = random_.below(3); times > 0; --times) program.emplace_back(node);
      if (random_.chance(20)) program.emplace_back(std::nullopt);
    }
    if (program.empty()) return;
    for (std::uint64_t count = random_.below(6); count > 0; --count) add_buffer(plan, program.size());
    for (std::uint64_t count = plan.layout.buffers.empty() || graph.tensors().empty() ? 0 : random_.below(6); count > 0;
         --count) {
      Value value{.tensor = any<TensorId>(graph.tensors().size())};
      if (random_.chance(70)) value.written = any<StepId>(program.size());
      plan.program.values.push_back(value);
      plan.layout.values.push_back({any<BufferId>(plan.layout.buffers.size()), Offset(number())});
    }
    for (const std::optional<NodeId>& node : program) add_step(graph, plan, node);
    if (plan.program.values.empty()) return;
    while (random_.chance(50)) plan.program.outputs.push_back(any_value(plan));
    while (random_.chance(20)) plan.program.updates.push_back(any_value(plan));
  }

  ValueId any_value(const Plan& plan) { return any<ValueId>(plan.program.values.size()); }

  void add_step(const Graph& graph, Plan& plan, std::optional<NodeId> node) {
    const bool has_values = !plan.program.values.empty();
    Step step;
    StepSpace space;
    if (node && random_.chance(80)) {
      step.work = Compute{*node, any<KernelId>(plan.kernels.size())};
      for (const Body& body : graph.node(*node).bodies) {
        space.bodies.push_back({body.name, Offset(number()), std::make_shared<const Plan>(make(*body.graph, true))});
      }
    } else if (node || !has_values) {
      step.work = Alias{node.value_or(NodeId(0))};
    } else {
      const std::int64_t begin = number() / 2;
      step.work = Copy{{begin, begin + number() / 4}};
      step.reads = {any_value(plan)};
      step.writes = {any_value(plan)};
    }
    while (!is_copy(step) && has_values && random_.chance(60)) step.reads.push_back(any_value(plan));
    while (!is_copy(step) && has_values && random_.chance(60)) step.writes.push_back(any_value(plan));
    const bool may_have_scratch = !is_copy(step) && !plan.layout.buffers.empty();
    if (may_have_scratch && random_.chance(30)) space.scratch = any<BufferId>(plan.layout.buffers.size());
    step.stream = any<StreamId>(plan.program.streams.size());
    for (StepId before : all_ids<StepId>(plan.program.steps.size())) {
      if (plan.program.steps[before].stream != step.stream && random_.chance(20)) step.after.push_back(before);
    }
    plan.program.steps.push_back(std::move(step));
    plan.layout.steps.push_back(std::move(space));
  }

  void add_buffer(Plan& plan, std::size_t steps) {
    Buffer buffer{.kind = static_cast<BufferKind>(random_.below(6)), .size = Bytes(number())};
    buffer.lifespan.begin = any<StepId>(steps);
    buffer.lifespan.end =
        StepId(buffer.lifespan.begin.value() + 1 + any<StepId>(steps - buffer.lifespan.begin.index()).value());
    const std::size_t regions = plan.machine.regions.size();
    if (regions == 0) buffer.kind = static_cast<BufferKind>(random_.below(3));
    const bool is_owned = buffer.kind >= BufferKind::output;
    if (regions > 0 && (is_owned || random_.chance(40))) {
      buffer.placement = Placement{any<RegionId>(regions), Offset(number())};
      const bool may_have_parts = buffer.kind == BufferKind::temporary || buffer.kind == BufferKind::output;
      if (may_have_parts && buffer.size.count() > 2 && random_.chance(30)) divide(buffer);
    } else if (regions > 0 && random_.chance(50)) {
      buffer.home = any<RegionId>(regions);
    }
    plan.layout.buffers.push_back(buffer);
  }

  // Divides a buffer into two parts. The second is live throughout the buffer's lifespan.
  void divide(Buffer& buffer) {
    const Bytes low(random_.between(1, buffer.size.count() - 1));
    Lifespan shorter = buffer.lifespan;
    if (shorter.begin.value() + 1 < shorter.end.value()) shorter.begin = StepId(shorter.begin.value() + 1);
    buffer.parts = {{low, shorter}, {buffer.size - low, buffer.lifespan}};
  }

  Random& random_;
};

std::string difference(const Labels& a, const Labels& b) {
  if (!(a.nodes == b.nodes)) return "nodes";
  if (!(a.tensors == b.tensors)) return "tensors";
  if (a.bodies.size() != b.bodies.size()) return "number of bodies";
  for (std::size_t at = 0; at < a.bodies.size(); ++at) {
    if (a.bodies[at].node != b.bodies[at].node || a.bodies[at].body != b.bodies[at].body) return "body labels";
    const std::string inside = difference(a.bodies[at].labels, b.bodies[at].labels);
    if (!inside.empty()) return "body labels: " + inside;
  }
  return "";
}

std::string difference(const Plan& a, const Plan& b) {
  if (!(a.provenance == b.provenance)) return "provenance";
  if (!(a.machine == b.machine)) return "machine";
  if (!(a.kernels == b.kernels) || a.execution != b.execution) return "kernels or execution";
  if (!(a.claims == b.claims)) return "claims";
  if (!(a.program == b.program)) return "program";
  if (a.layout.arena != b.layout.arena) return "arena";
  if (!(a.layout.buffers == b.layout.buffers)) return "buffers";
  if (!(a.layout.values == b.layout.values)) return "places of values";
  if (a.layout.steps.size() != b.layout.steps.size()) return "number of steps";
  for (StepId id : all_ids<StepId>(a.layout.steps.size())) {
    const StepSpace& one = a.layout.steps[id];
    const StepSpace& other = b.layout.steps[id];
    if (one.scratch != other.scratch || one.bodies.size() != other.bodies.size()) {
      return "space of step " + std::to_string(id.value());
    }
    for (std::size_t at = 0; at < one.bodies.size(); ++at) {
      if (one.bodies[at].body != other.bodies[at].body || one.bodies[at].offset != other.bodies[at].offset)
        return "body";
      const std::string inside = difference(*one.bodies[at].plan, *other.bodies[at].plan);
      if (!inside.empty()) return "body: " + inside;
    }
  }
  return "";
}

}  // namespace

PlanFile random_plan_file(Random& random) {
  const Graph graph = random_graph(random, static_cast<int>(random.below(4)));
  return {PlanMaker(random).make(graph), labels_of(graph)};
}

std::string difference(const PlanFile& a, const PlanFile& b) {
  const std::string labels = difference(a.labels, b.labels);
  return labels.empty() ? difference(a.plan, b.plan) : "labels: " + labels;
}

}  // namespace lowtide::testing
