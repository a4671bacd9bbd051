// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/place/assemble.h"

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
      : parts_(parts),
        graph_(parts.graph),
        schedule_(schedule),
        options_(options),
        first_(first_steps(schedule.order, schedule.aliases)),
        copied_updates_(count_copied_updates()) {}

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
  [[nodiscard]] std::size_t steps() const { return first_.back().index() + copied_updates_; }
  // What a node writes. Copies have later ids.
  [[nodiscard]] static ValueId value_of(TensorId id) { return ValueId(id.value()); }
  [[nodiscard]] StepId next_step() const { return StepId(static_cast<std::uint32_t>(plan_.program.steps.size())); }

  // Converts a lifespan from positions of the order to steps of the program. If the buffer is needed at the end of the
  // run, a lifespan that includes the last node also includes the state updates.
  [[nodiscard]] Lifespan in_steps(const AliasClass& alias, const Lifespan& lifespan) const {
    const bool is_last = alias.is_kept && lifespan.end.index() == schedule_.order.size();
    const StepId end = is_last ? StepId(static_cast<std::uint32_t>(steps())) : first_[lifespan.end.index()];
    return {first_[lifespan.begin.index()], end};
  }

  void add_buffers() {
    plan_.layout.buffers.reserve(schedule_.aliases.classes.size());
    for (const AliasClass& alias : schedule_.aliases.classes) {
      const bool is_rounded = is_in_arena(alias, options_);
      const BufferId id =
          plan_.layout.buffers.push_back({.kind = alias.kind,
                                          .size = is_rounded ? round_up(alias.size, options_.alignment) : alias.size,
                                          .lifespan = in_steps(alias, alias.lifespan),
                                          .placement = std::nullopt,
                                          .parts = alias.parts});
      for (BufferPart& part : plan_.layout.buffers[id].parts) part.lifespan = in_steps(alias, part.lifespan);
    }
  }

  // One value per tensor, since no node runs twice here, and one per copy.
  void add_values() {
    IdVector<NodeId, StepId> step_of(graph_.nodes().size());
    for (std::size_t at = 0; at < schedule_.order.size(); ++at) {
      step_of[schedule_.order[at]] = StepId(first_[at + 1].value() - 1);
    }
    const AliasClasses& aliases = schedule_.aliases;
    const std::size_t count = graph_.tensors().size() + aliases.copies.size() + graph_.state_updates().size();
    plan_.program.values.reserve(count);
    plan_.layout.values.reserve(count);
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      const std::optional<NodeId>& producer = graph_.tensor(id).producer;
      plan_.program.values.push_back(
          {.tensor = id, .written = producer ? std::optional<StepId>(step_of[*producer]) : std::nullopt});
      plan_.layout.values.push_back(
          {.buffer = BufferId(aliases.class_of[id].value()), .offset = aliases.offset_in_class[id]});
    }
  }

  void add_node(NodeId id) {
    const bool computes = schedule_.aliases.step_kinds[id] == StepKind::compute;
    Step step{.work = computes ? Work(Compute{id, kernel_named(parts_.kernels[id].name)}) : Work(Alias{id})};
    for (TensorId tensor : graph_.operands(id)) step.reads.push_back(value_of(tensor));
    for (const OperandCopy& copy : schedule_.aliases.copies_of(id)) step.reads[copy.operand] = add_copy(copy);
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (output) step.writes.push_back(value_of(*output));
    }
    StepSpace space{.scratch = scratch_buffer(scratch_of(schedule_.aliases, parts_.kernels, id)), .bodies = {}};
    if (const PlannedBodies* inside = bodies_of(parts_.bodies, id)) {
      for (std::size_t body = 0; body < inside->plans.size(); ++body) {
        space.bodies.push_back({graph_.node(id).bodies[body].name, inside->offsets[body], inside->plans[body]});
      }
    }
    plan_.program.steps.push_back(std::move(step));
    plan_.layout.steps.push_back(std::move(space));
  }

  // Copies the operand into the result of its concat, and returns the new value.
  ValueId add_copy(const OperandCopy& copy) {
    const TensorId result = *graph_.node(copy.concat).outputs[0];
    const BufferId buffer(schedule_.aliases.class_of[result].value());
    return add_copy(value_of(copy.tensor), copy.tensor, {.buffer = buffer, .offset = copy.offset});
  }

  ValueId add_copy(ValueId from, TensorId tensor, const ValuePlace& place) {
    const ValueId to = plan_.program.values.push_back({.tensor = tensor, .written = next_step()});
    plan_.layout.values.push_back(place);
    plan_.program.steps.push_back(
        {.work = Copy{{0, graph_.tensor(tensor).size.count()}}, .reads = {from}, .writes = {to}});
    plan_.layout.steps.push_back({});
    return to;
  }

  KernelId kernel_named(const std::string& name) {
    const auto [known, is_new] = kernels_.try_emplace(name);
    if (is_new) known->second = plan_.kernels.push_back({name});
    return known->second;
  }

  // Adds the scratch buffer of the next step. Returns nullopt if it needs none.
  std::optional<BufferId> scratch_buffer(Bytes scratch) {
    if (scratch == Bytes(0)) return std::nullopt;
    const StepId at = next_step();
    return plan_.layout.buffers.push_back({.kind = BufferKind::scratch,
                                           .size = round_up(scratch, options_.alignment),
                                           .lifespan = {at, StepId(at.value() + 1)},
                                           .placement = std::nullopt});
  }

  // Whether a node writes the next content into the state.
  [[nodiscard]] bool is_in_place(const StateUpdate& update) const {
    const AliasClasses& aliases = schedule_.aliases;
    return aliases.class_of[update.next] == aliases.class_of[update.state] &&
           aliases.offset_in_class[update.next] == aliases.offset_in_class[update.state];
  }

  [[nodiscard]] std::size_t count_copied_updates() const {
    const std::vector<StateUpdate>& updates = graph_.state_updates();
    return static_cast<std::size_t>(
        std::count_if(updates.begin(), updates.end(), [&](const StateUpdate& one) { return !is_in_place(one); }));
  }

  // All nodes have run by now, so no step reads the old content later.
  void add_update(const StateUpdate& update) {
    if (is_in_place(update)) return plan_.program.updates.push_back(value_of(update.next));
    const ValuePlace state = plan_.layout.values[value_of(update.state)];
    plan_.program.updates.push_back(add_copy(value_of(update.next), update.next, state));
  }

  const PlanParts& parts_;
  const Graph& graph_;
  const Schedule& schedule_;
  const AliasOptions& options_;
  const std::vector<StepId> first_;   // step of each position of the order, and of the first update
  const std::size_t copied_updates_;  // at the end of the program
  std::map<std::string, KernelId> kernels_;
  Plan plan_;
};

}  // namespace

std::vector<StepId> first_steps(const std::vector<NodeId>& order, const AliasClasses& aliases) {
  std::vector<StepId> first(1, StepId(0));
  first.reserve(order.size() + 1);
  for (NodeId id : order) {
    const auto copies = static_cast<std::uint32_t>(aliases.copies_of(id).size());
    first.push_back(StepId(first.back().value() + copies + 1));
  }
  return first;
}

Plan assemble(const PlanParts& parts, const Schedule& schedule, const AliasOptions& options) {
  return Assembly(parts, schedule, options).make();
}

void set_streams(Program& program, std::size_t count) {
  program.streams = IdVector<StreamId, Stream>(count, Stream{.worker = kWorker, .link = std::nullopt});
}

std::vector<BufferId> buffers_in_arena(const Plan& plan, const AliasClasses& aliases, const AliasOptions& options) {
  std::vector<BufferId> buffers;
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const bool is_scratch = id.index() >= aliases.classes.size();
    if (is_scratch || is_in_arena(aliases.classes[AliasClassId(id.value())], options)) buffers.push_back(id);
  }
  return buffers;
}

}  // namespace lowtide::pipeline_internal
