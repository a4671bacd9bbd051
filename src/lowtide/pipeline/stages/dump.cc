// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/stages/dump.h"

#include <cstddef>
#include <optional>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"

namespace lowtide::pipeline_internal {
namespace {

std::string bytes_text(Bytes bytes) { return std::to_string(bytes.count()) + " bytes"; }

std::string node_text(const Graph& graph, NodeId id) {
  return "node " + std::to_string(id.value()) + " " + quoted(graph.node(id).name) + " (" + graph.op(id).type + ")";
}

std::string lifespan_text(const Lifespan& lifespan) {
  return "[" + std::to_string(lifespan.begin.value()) + ", " + std::to_string(lifespan.end.value()) + ")";
}

// The nodes in order, and the buffers that several tensors share.
std::string schedule_text(const Graph& graph, const Schedule& schedule) {
  std::string text;
  for (std::size_t step = 0; step < schedule.order.size(); ++step) {
    const NodeId id = schedule.order[step];
    const bool is_alias = schedule.aliases.step_kinds[id] == StepKind::alias;
    text += "step " + std::to_string(step) + ": " + node_text(graph, id) + (is_alias ? ", alias\n" : "\n");
  }
  IdVector<AliasClassId, std::vector<TensorId>> members(schedule.aliases.classes.size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) members[schedule.aliases.class_of[id]].push_back(id);
  for (AliasClassId id : all_ids<AliasClassId>(members.size())) {
    if (members[id].size() < 2) continue;
    text += "buffer " + std::to_string(id.value()) + " is shared by";
    for (TensorId tensor : members[id]) text += " " + quoted(graph.tensor(tensor).name);
    text += "\n";
  }
  return text;
}

std::string layout_text(const Plan& plan) {
  std::string text;
  for (std::size_t at = 0; at < plan.layout.arena.size(); ++at) {
    text +=
        "region " + quoted(plan.machine.regions[at].name) + ": arena of " + bytes_text(plan.layout.arena[at]) + "\n";
  }
  for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
    const Buffer& buffer = plan.layout.buffers[id];
    text += "buffer " + std::to_string(id.value()) + ": " + std::string(to_string(buffer.kind)) + ", " +
            bytes_text(buffer.size) + ", steps " + lifespan_text(buffer.lifespan);
    if (buffer.placement) {
      text += ", " + quoted(plan.machine.regions[buffer.placement->region.index()].name) + " at " +
              std::to_string(buffer.placement->offset.position());
    }
    text += "\n";
  }
  return text;
}

std::string program_text(const Graph& graph, const Program& program) {
  std::string text;
  for (StepId id : all_ids<StepId>(program.steps.size())) {
    const Step& step = program.steps[id];
    const std::optional<NodeId> node = node_of(step);
    text += "step " + std::to_string(id.value()) + ": stream " + std::to_string(step.stream.value()) + ", " +
            (node ? node_text(graph, *node) : "copy");
    if (!step.after.empty()) text += ", after";
    for (StepId before : step.after) text += " " + std::to_string(before.value());
    text += "\n";
  }
  return text;
}

std::string bodies_text(const Graph& graph, const std::vector<PlannedBodies>& bodies) {
  std::string text;
  for (const PlannedBodies& inside : bodies) {
    text += node_text(graph, inside.node) + ": bodies take " + bytes_text(inside.bytes) + "\n";
    for (std::size_t at = 0; at < inside.plans.size(); ++at) {
      text += "  body " + quoted(graph.node(inside.node).bodies[at].name) + ": " +
              bytes_text(arena_bytes(*inside.plans[at])) + " at " + std::to_string(inside.offsets[at].position()) +
              "\n";
    }
  }
  return text;
}

}  // namespace

std::string text_of(const Graph& graph, const BodyPlans& bodies) {
  const std::string lightest = bodies_text(graph, bodies.lightest);
  return bodies_text(graph, bodies.fastest) + (lightest.empty() ? "" : "with the lightest kernels\n" + lightest);
}

std::string text_of(const Graph& graph, const KernelOptions& options) {
  std::string text;
  for (NodeId id : all_ids<NodeId>(options.of_node.size())) {
    for (const KernelOption& option : options.of_node[id]) {
      const Kernel& kernel = option.kernel;
      text += node_text(graph, id) + ": kernel " + quoted(kernel.name) + ", scratch " + bytes_text(kernel.scratch);
      if (option.has_lightest_bodies) text += ", lightest bodies";
      for (const auto& [input, output] : kernel.in_place) {
        text += ", output " + std::to_string(output) + " over input " + std::to_string(input);
      }
      text += "\n";
    }
  }
  return text;
}

std::string text_of(const Graph& graph, const Alternatives& plans) {
  std::string text = "fastest kernels: " + bytes_text(arena_bytes(plans.fastest.placed.plan)) + "\n";
  if (plans.lightest) text += "lightest kernels: " + bytes_text(arena_bytes(plans.lightest->placed.plan)) + "\n";
  if (!plans.exchanged) return text;
  text += "exchanged kernels: " + bytes_text(arena_bytes(plans.exchanged->placed.plan)) + "\n";
  for (NodeId id : all_ids<NodeId>(plans.options.of_node.size())) {
    const std::size_t index = plans.exchanged->choice.indices[id];
    if (index > 0)
      text += node_text(graph, id) + ": kernel " + quoted(plans.options.of_node[id][index].kernel.name) + "\n";
  }
  return text;
}

std::string text_of(const Graph& graph, const ChosenOrder& order) {
  std::string text;
  for (const auto& [strategy, load] : order.choice.tried) text += "tried " + strategy + ": " + bytes_text(load) + "\n";
  return text + "chosen " + order.choice.best.strategy + ": " + bytes_text(order.choice.best.load) + "\nbound " +
         std::string(order.bound.name) + ": " + bytes_text(order.bound.bytes) + "\n" +
         schedule_text(graph, order.choice.best);
}

std::string text_of(const Graph& graph, const PlacedSchedule& placed) {
  return "allocated by " + placed.strategy + "\n" + schedule_text(graph, placed.schedule) + layout_text(placed.plan);
}

std::string text_of(const Graph&, const OrderBoundCheck& check) {
  return "bound " + std::string(to_string(check.verdict)) + "\n";
}

std::string text_of(const Graph& graph, const PlannedGraph& planned) {
  std::string text;
  for (const TradeOff& one : planned.trade_offs) {
    text += std::string(to_string(one.run)) + " on " + with_count(one.streams, "stream") + ": " +
            bytes_text(one.arena) + ", " + std::to_string(one.picoseconds) + " ps, " + std::to_string(one.waits) +
            " waits" + (one.is_chosen ? ", chosen\n" : "\n");
  }
  return text + program_text(graph, planned.plan.program) + layout_text(planned.plan);
}

std::string text_of(const Graph&, const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += violation.message + "\n";
  return text.empty() ? "no violations\n" : text;
}

}  // namespace lowtide::pipeline_internal
