// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/plan/random_plan.h"

#include <utility>

#include "lowtide/base/limits.h"
#include "tests/graph/random_graph.h"

namespace lowtide::testing {
namespace {

class PlanMaker {
 public:
  explicit PlanMaker(Random& random) : random_(random) {}

  Plan make(const Graph& graph) {
    Plan plan;
    plan.provenance = {.tool = random_name(random_),
                       .model_sha256 = random_name(random_),
                       .graph = graph.name(),
                       .nodes = static_cast<std::int64_t>(graph.nodes().size()),
                       .tensors = static_cast<std::int64_t>(graph.tensors().size()),
                       .target = random_name(random_)};
    while (random_.chance(30)) plan.provenance.dims.push_back(random_name(random_));
    for (std::uint64_t count = random_.below(3); count > 0; --count) {
      Region region{.name = random_name(random_), .alignment = Bytes(std::int64_t{1} << random_.below(31))};
      if (random_.chance(50)) region.capacity = Bytes(number());
      plan.regions.push_back(region);
      plan.arena.emplace_back(number());
    }
    plan.claims = {.load_as_given = Bytes(number()),
                   .load = Bytes(number()),
                   .bound = Bytes(number()),
                   .bound_name = random_name(random_),
                   .schedule = random_name(random_),
                   .schedule_optimal = random_.chance(50),
                   .allocate = random_name(random_),
                   .allocate_optimal = random_.chance(50)};
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

  void add_tables(const Graph& graph, Plan& plan) {
    std::vector<NodeId> program;
    for (NodeId node : all_ids<NodeId>(graph.nodes().size())) {
      for (std::uint64_t times = random_.below(3); times > 0; --times) program.push_back(node);
    }
    if (program.empty()) return;
    for (std::uint64_t count = random_.below(6); count > 0; --count) add_buffer(plan, program.size());
    for (std::uint64_t count = plan.buffers.empty() || graph.tensors().empty() ? 0 : random_.below(6); count > 0;
         --count) {
      Value value{.tensor = any<TensorId>(graph.tensors().size()),
                  .buffer = any<BufferId>(plan.buffers.size()),
                  .offset = Offset(number())};
      if (random_.chance(70)) value.written = any<StepId>(program.size());
      plan.values.push_back(value);
    }
    plan.streams = random_.chance(30) ? static_cast<std::uint32_t>(random_.between(1, 4)) : 1;
    for (NodeId node : program) {
      Step step{.node = node, .kind = random_.chance(20) ? StepKind::alias : StepKind::compute};
      while (!plan.values.empty() && random_.chance(60)) step.reads.push_back(any<ValueId>(plan.values.size()));
      while (!plan.values.empty() && random_.chance(60)) step.writes.push_back(any<ValueId>(plan.values.size()));
      if (!plan.buffers.empty() && random_.chance(30)) step.scratch = any<BufferId>(plan.buffers.size());
      for (const Body& body : graph.node(node).bodies) {
        step.bodies.push_back({body.name, Offset(number()), std::make_shared<const Plan>(make(*body.graph))});
      }
      step.stream = static_cast<std::uint32_t>(random_.below(plan.streams));
      while (!plan.program.empty() && plan.streams > 1 && random_.chance(40)) {
        step.after.push_back(any<StepId>(plan.program.size()));
      }
      plan.program.push_back(std::move(step));
    }
  }

  void add_buffer(Plan& plan, std::size_t steps) {
    Buffer buffer{.kind = static_cast<BufferKind>(random_.below(6)), .size = Bytes(number())};
    buffer.lifespan.begin = any<StepId>(steps);
    buffer.lifespan.end =
        StepId(buffer.lifespan.begin.value() + 1 + any<StepId>(steps - buffer.lifespan.begin.index()).value());
    if (!plan.regions.empty() && random_.chance(60)) {
      buffer.placement = Placement{any<RegionId>(plan.regions.size()), Offset(number())};
      if (buffer.size.count() > 2 && random_.chance(20)) divide(buffer);
    }
    plan.buffers.push_back(buffer);
  }

  // Two parts, of which one lives as long as both.
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
  if (!(a.claims == b.claims)) return "claims";
  if (a.regions != b.regions || a.arena != b.arena) return "regions";
  if (!(a.values == b.values)) return "values";
  if (!(a.buffers == b.buffers)) return "buffers";
  if (a.program.size() != b.program.size() || a.streams != b.streams) return "number of steps or streams";
  for (StepId id : all_ids<StepId>(a.program.size())) {
    const Step& one = a.program[id];
    const Step& other = b.program[id];
    if (one.node != other.node || one.kind != other.kind || one.reads != other.reads || one.writes != other.writes ||
        one.scratch != other.scratch || one.stream != other.stream || one.after != other.after ||
        one.bodies.size() != other.bodies.size()) {
      return "step " + std::to_string(id.value());
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
