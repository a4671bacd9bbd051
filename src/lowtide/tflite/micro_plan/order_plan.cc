// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro_plan/order_plan.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/target/target.h"
#include "lowtide/tflite/micro/micro.h"
#include "lowtide/tflite/model_import/graph_of_tflite.h"

namespace lowtide::micro_plan_internal {
namespace {

// "3:12" -> subgraph 3, number 12. nullopt: a node or tensor that the file does not have, such as the caller.
std::optional<MicroPlace> place_of(std::string_view name) {
  MicroPlace place;
  const char* begin = name.data();
  const char* end = begin + name.size();
  const auto [colon, error] = std::from_chars(begin, end, place.subgraph);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [rest, wrong] = std::from_chars(colon + 1, end, place.op);
  if (wrong != std::errc() || rest != end) return std::nullopt;
  return place;
}

// The kernels of the runtime: the scratch that they request, and the operands that they may overwrite.
class MicroCatalogue final : public Catalogue {
 public:
  MicroCatalogue(const TfliteModel& model, MicroKernels kernels, const std::vector<MicroBuffer>& buffers)
      : model_(model), kernels_(kernels) {
    for (const TfliteSubgraph& subgraph : model.subgraphs) scratch_.emplace_back(subgraph.operators.size());
    for (const MicroBuffer& buffer : buffers) {
      if (!buffer.tensor) scratch_[buffer.requester.subgraph][buffer.requester.op] += buffer.size;
    }
  }

  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId id) const override {
    std::vector<Kernel> kernels = dense_catalogue()->kernels(graph, id);
    const std::optional<MicroPlace> place = place_of(graph.node(id).name);
    if (!place) return kernels;
    const TfliteOperator& op = model_.subgraphs[place->subgraph].operators[place->op];
    const std::vector<std::size_t> operands = operands_in_place(op, kernels_);
    Kernel& kernel = kernels.front();
    kernel.name = "tflm";
    kernel.scratch = scratch_[place->subgraph][place->op];
    std::erase_if(kernel.in_place, [&](const std::pair<int, int>& pair) {
      return std::ranges::find(operands, static_cast<std::size_t>(pair.first)) == operands.end();
    });
    kernel.may_alias_views = !operands.empty();
    return kernels;
  }

 private:
  const TfliteModel& model_;
  const MicroKernels kernels_;
  std::vector<std::vector<Bytes>> scratch_;  // by subgraph and operator
};

// Takes orders and places from a plan and from the plans of bodies in it.
class Reading {
 public:
  Reading(const TfliteModel& model, OrderPlan& to) : first_(first_tensors(model)), to_(to) {
    to_.orders.resize(model.subgraphs.size());
  }

  // Recursion is bounded by limits::kMaxBodyNesting.
  void read(const Graph& graph, const Plan& plan) {
    std::vector<std::uint32_t> order;
    std::optional<std::uint32_t> subgraph;
    for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
      const std::optional<NodeId> node = node_of(plan.program.steps[id]);
      const std::optional<MicroPlace> place = node ? place_of(graph.node(*node).name) : std::nullopt;
      if (!place) continue;
      subgraph = place->subgraph;
      order.push_back(place->op);
      read_places(graph, plan, plan.program.steps[id]);
      for (std::size_t at = 0; at < plan.layout.steps[id].bodies.size(); ++at) {
        read(*graph.node(*node).bodies[at].graph, *plan.layout.steps[id].bodies[at].plan);
      }
    }
    // Operators may run one subgraph; its plan is the same for all.
    if (subgraph && to_.orders[*subgraph].empty()) to_.orders[*subgraph] = std::move(order);
  }

 private:
  void read_places(const Graph& graph, const Plan& plan, const Step& step) {
    for (ValueId result : step.writes) {
      for (ValueId operand : step.reads) {
        if (plan.layout.values[result] != plan.layout.values[operand]) continue;
        const Tensor& from = graph.tensor(plan.program.values[operand].tensor);
        const Tensor& to = graph.tensor(plan.program.values[result].tensor);
        if (from.size != to.size) continue;
        const std::optional<MicroPlace> source = place_of(from.name);
        const std::optional<MicroPlace> target = place_of(to.name);
        if (!source || !target) continue;
        to_.in_place.emplace_back(first_[source->subgraph] + source->op, first_[target->subgraph] + target->op);
        break;
      }
    }
  }

  std::vector<std::uint32_t> first_;
  OrderPlan& to_;
};

}  // namespace

Result<Graph> numbered_graph(const TfliteModel& model, std::string_view bytes) {
  // Handles of resource variables have a place in the tail.
  TfliteModel without_handles = model;
  for (TfliteSubgraph& subgraph : without_handles.subgraphs) {
    for (TfliteTensor& tensor : subgraph.tensors) {
      if (tensor.type == TfliteType::resource) tensor.shape = {0};
    }
  }
  LOWTIDE_TRY(GraphOfTflite made, graph_of_tflite(without_handles, bytes, {.names_by_number = true}));
  LowerOptions lowering{.passes = {}};
  lowering.passes.insert(PassId::inputs_in_arena);
  LOWTIDE_TRY(Lowered lowered, lower(made.graph, lowering));
  return std::move(lowered.graph);
}

Result<OrderPlan> plan_order(const TfliteModel& model, const Graph& graph, std::string_view strategy,
                             const MicroPlanOptions& options) {
  LOWTIDE_TRY(const MicroHead head, micro_head(model, options.kernels));
  const Target target{.name = std::string(to_string(options.kernels)),
                      .machine = {.regions = {Region{.name = "head", .alignment = kMicroAlignment}},
                                  .workers = {Worker{.name = "mcu"}}},
                      .catalogue = std::make_shared<MicroCatalogue>(model, options.kernels, head.buffers)};
  LOWTIDE_TRY(const PlannedGraph planned, plan_graph(graph, target,
                                                     {.order = std::string(strategy),
                                                      .parts = false,
                                                      .order_effort = options.order_effort,
                                                      .allocate_effort = options.allocate_effort,
                                                      .stop = options.stop}));
  LOWTIDE_CHECK(planned.violations.empty(), "the plan of the graph of a TFLite model is correct");
  OrderPlan plan{.orders = {}, .in_place = {}, .bound = bound_of(planned.plan).bytes};
  Reading(model, plan).read(graph, planned.plan);
  return plan;
}

}  // namespace lowtide::micro_plan_internal
