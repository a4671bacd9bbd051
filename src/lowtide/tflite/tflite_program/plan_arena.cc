// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/plan_arena.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/target.h"
#include "lowtide/tflite/model_import/graph_of_tflite.h"

namespace lowtide::tflite_program_internal {
namespace {

// "0:12" -> 12. nullopt: a node or tensor that the file does not have, such as the caller.
std::optional<std::uint32_t> number_of(std::string_view name) {
  if (!name.starts_with("0:")) return std::nullopt;
  std::uint32_t number = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + 2, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// The kernels in C: they may overwrite some of their inputs.
class CCatalogue final : public Catalogue {
 public:
  explicit CCatalogue(const std::vector<OperatorRules>& rules) : rules_(rules) {}

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId id) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, id);
    const Node& node = graph.node(id);
    const std::optional<std::uint32_t> op = number_of(node.name);
    if (!op) return kernels;
    const OperatorRules& rule = rules_[*op];
    Kernel& kernel = kernels.front();
    kernel.name = "c";
    kernel.scratch = rule.scratch;
    kernel.is_memory_known = true;
    std::erase_if(kernel.in_place, [&](const std::pair<int, int>& pair) {
      return std::ranges::find(rule.in_place, static_cast<std::size_t>(pair.first)) == rule.in_place.end();
    });
    // Constants have no place in the arena, so a view of one is a copy.
    kernel.may_alias_views =
        rule.is_copy && node.inputs.front() && graph.tensor(*node.inputs.front()).role != Role::constant;
    return kernels;
  }

 private:
  const std::vector<OperatorRules>& rules_;
};

// Takes the places of the tensors from the plan of the graph.
class Reading {
 public:
  Reading(const Graph& graph, const Plan& plan, std::size_t tensors) : graph_(graph), plan_(plan) {
    result_.tensors.resize(tensors);
  }

  ArenaPlan read() && {
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Step& step = plan_.program.steps[id];
      const auto call = static_cast<std::int64_t>(result_.calls.size());
      const std::optional<std::uint32_t> op = operator_of(step);
      LOWTIDE_CHECK(!is_copy(step), "operators of TFLite have no partial views, so nothing is copied");
      // The caller and views are no calls: what they touch is live at the next call, or was live at the last one.
      const bool is_call = op && is_compute(step);
      for (ValueId value : step.reads) use(value, call, is_call);
      for (ValueId value : step.writes) use(value, call, is_call);
      if (!is_call) continue;
      result_.calls.push_back(*op);
      const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
      result_.scratch.push_back(scratch ? std::optional(placement(*scratch)) : std::nullopt);
    }
    for (ValueId output : plan_.program.outputs) {
      use(output, static_cast<std::int64_t>(result_.calls.size()), false);
    }
    result_.arena = plan_.layout.arena.front();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> operator_of(const Step& step) const {
    const std::optional<NodeId> node = node_of(step);
    return node ? number_of(graph_.node(*node).name) : std::nullopt;
  }

  [[nodiscard]] Offset placement(BufferId buffer) const { return plan_.layout.buffers[buffer].placement->offset; }

  void use(ValueId value, std::int64_t call, bool is_call) {
    const std::optional<std::uint32_t> number = number_of(graph_.tensor(plan_.program.values[value].tensor).name);
    const ValuePlace& place = plan_.layout.values[value];
    if (!number || !plan_.layout.buffers[place.buffer].placement) return;
    std::optional<TensorPlace>& tensor = result_.tensors[*number];
    if (!tensor) {
      const Offset offset = placement(place.buffer) + (place.offset - Offset());
      tensor = TensorPlace{.offset = offset, .lifespan = {call, call}};
    }
    tensor->lifespan.end = std::max(tensor->lifespan.end, is_call ? call + 1 : call);
  }

  const Graph& graph_;
  const Plan& plan_;
  ArenaPlan result_;
};

}  // namespace

Result<ArenaPlan> plan_arena(const TfliteModel& model, std::string_view bytes, const std::vector<OperatorRules>& rules,
                             const ArenaOptions& options) {
  LOWTIDE_TRY(GraphOfTflite made, graph_of_tflite(model, bytes, {.names_by_number = true}));
  LowerOptions lowering{.passes = {}};
  lowering.passes.insert(PassId::inputs_in_arena);
  LOWTIDE_TRY(const Lowered lowered, lower(made.graph, lowering));
  const Target target{.name = "c",
                      .machine = {.regions = {Region{.name = "arena", .alignment = options.alignment}},
                                  .workers = {Worker{.name = "mcu"}}},
                      .catalogue = std::make_shared<CCatalogue>(rules)};
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(lowered.graph, target,
                                                     {.parts = false,
                                                      .order_effort = options.order_effort,
                                                      .allocate_effort = options.allocate_effort,
                                                      .stop = options.stop}));
  LOWTIDE_CHECK(planned.violations.empty(), "the plan of the graph of a TFLite model is correct");
  ArenaPlan plan = Reading(lowered.graph, planned.plan, model.subgraphs.front().tensors.size()).read();
  plan.bound = bound_of(planned.plan).bytes;
  return plan;
}

}  // namespace lowtide::tflite_program_internal
