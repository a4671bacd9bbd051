// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/assemble.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace lowtide::pipeline_internal {
namespace {

class Assembly {
 public:
  Assembly(const PlanParts& parts, const Schedule& schedule, const AliasOptions& options)
      : parts_(parts), graph_(parts.graph), schedule_(schedule), options_(options) {}

  Plan make() && {
    plan_.machine = parts_.machine;
    set_streams(plan_.program, 1);
    add_buffers();
    add_values();
    plan_.program.steps.reserve(steps());
    plan_.layout.steps.reserve(steps());
    for (NodeId id : schedule_.order) add_node(id);
    for (const StateUpdate& update : graph_.state_updates()) add_update(update);
    for (TensorId output : graph_.outputs()) plan_.program.outputs.push_back(value_of(output));
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::size_t steps() const { return schedule_.order.size() + graph_.state_updates().size(); }
  [[nodiscard]] static ValueId value_of(TensorId id) { return ValueId(id.value()); }  // before updates are added
  [[nodiscard]] StepId next_step() const { return StepId(static_cast<std::uint32_t>(plan_.program.steps.size())); }

  // What lives to the end of the nodes lives through the copies too, if it is needed at the end of the run.
  [[nodiscard]] Lifespan with_updates(const AliasClass& alias, const Lifespan& lifespan) const {
    if (!alias.is_kept || lifespan.end.index() != schedule_.order.size()) return lifespan;
    return {lifespan.begin, StepId(static_cast<std::uint32_t>(steps()))};
  }

  void add_buffers() {
    plan_.layout.buffers.reserve(schedule_.aliases.classes.size());
    for (const AliasClass& alias : schedule_.aliases.classes) {
      const bool is_rounded = takes_room(alias, options_);
      const BufferId id =
          plan_.layout.buffers.push_back({.kind = alias.kind,
                                          .size = is_rounded ? round_up(alias.size, options_.alignment) : alias.size,
                                          .lifespan = with_updates(alias, alias.lifespan),
                                          .placement = std::nullopt,
                                          .parts = alias.parts});
      for (BufferPart& part : plan_.layout.buffers[id].parts) part.lifespan = with_updates(alias, part.lifespan);
    }
  }

  // One value per tensor: no node runs twice here.
  void add_values() {
    IdVector<NodeId, StepId> step_of(graph_.nodes().size());
    for (std::size_t step = 0; step < schedule_.order.size(); ++step) {
      step_of[schedule_.order[step]] = StepId(static_cast<std::uint32_t>(step));
    }
    const AliasClasses& aliases = schedule_.aliases;
    plan_.program.values.reserve(graph_.tensors().size() + graph_.state_updates().size());
    plan_.layout.values.reserve(graph_.tensors().size() + graph_.state_updates().size());
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const std::optional<NodeId>& producer = graph_.tensor(id).producer;
      plan_.program.values.push_back(
          {.tensor = id, .written = producer ? std::optional<StepId>(step_of[*producer]) : std::nullopt});
      plan_.layout.values.push_back(
          {.buffer = BufferId(aliases.class_of[id].value()), .offset = aliases.offset_in_class[id]});
    }
  }

  void add_node(NodeId id) {
    const bool is_alias = schedule_.aliases.step_kinds[id] == StepKind::alias;
    Step step{.work = is_alias ? Work(Alias{id}) : Work(Compute{id, kernel_named(parts_.kernels[id].name)})};
    for (TensorId tensor : graph_.operands(id)) step.reads.push_back(value_of(tensor));
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output) step.writes.push_back(value_of(*output));
    }
    StepSpace space{.scratch = scratch_buffer(scratch_of(schedule_.aliases, parts_.kernels, id)), .bodies = {}};
    const auto inside = std::lower_bound(parts_.bodies.begin(), parts_.bodies.end(), id,
                                         [](const PlannedBodies& one, NodeId wanted) { return one.node < wanted; });
    if (inside != parts_.bodies.end() && inside->node == id) {
      for (std::size_t body = 0; body < inside->plans.size(); ++body) {
        space.bodies.push_back({graph_.node(id).bodies[body].name, inside->offsets[body], inside->plans[body]});
      }
    }
    plan_.program.steps.push_back(std::move(step));
    plan_.layout.steps.push_back(std::move(space));
  }

  KernelId kernel_named(const std::string& name) {
    const auto [known, is_new] = kernels_.try_emplace(name);
    if (is_new) known->second = plan_.kernels.push_back({name});
    return known->second;
  }

  // Of the step that comes next.
  std::optional<BufferId> scratch_buffer(Bytes scratch) {
    if (scratch == Bytes(0)) return std::nullopt;
    const StepId at = next_step();
    return plan_.layout.buffers.push_back({.kind = BufferKind::scratch,
                                           .size = round_up(scratch, options_.alignment),
                                           .lifespan = {at, StepId(at.value() + 1)},
                                           .placement = std::nullopt});
  }

  // The last reader of the old content has run by now: all nodes have.
  void add_update(const StateUpdate& update) {
    const ValueId to = plan_.program.values.push_back({.tensor = update.next, .written = next_step()});
    plan_.layout.values.push_back(plan_.layout.values[value_of(update.state)]);
    plan_.program.steps.push_back(
        {.work = Copy{{0, graph_.tensor(update.next).size.count()}}, .reads = {value_of(update.next)}, .writes = {to}});
    plan_.layout.steps.push_back({});
    plan_.program.updates.push_back(to);
  }

  const PlanParts& parts_;
  const Graph& graph_;
  const Schedule& schedule_;
  const AliasOptions& options_;
  std::map<std::string, KernelId> kernels_;
  Plan plan_;
};

}  // namespace

Plan assemble(const PlanParts& parts, const Schedule& schedule, const AliasOptions& options) {
  return Assembly(parts, schedule, options).make();
}

void set_streams(Program& program, std::size_t count) {
  program.streams = IdVector<StreamId, Stream>(count, Stream{.worker = kWorker, .link = std::nullopt});
}

std::vector<BufferId> buffers_with_room(const Plan& plan, const AliasClasses& aliases, const AliasOptions& options) {
  std::vector<BufferId> buffers;
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const bool is_scratch = id.index() >= aliases.classes.size();
    if (is_scratch || takes_room(aliases.classes[AliasClassId(id.value())], options)) buffers.push_back(id);
  }
  return buffers;
}

}  // namespace lowtide::pipeline_internal
