// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/explain_peak.h"

#include <algorithm>
#include <utility>

#include "lowtide/pipeline/choose_kernels.h"
#include "lowtide/pipeline/peak_buffers.h"

namespace lowtide {
namespace {

// One graph: the model's, or a body.
class Level {
 public:
  Level(const Graph& graph, const Plan& plan, const Target& target, const PlanOptions& options, bool is_body)
      : graph_(graph),
        plan_(plan),
        target_(target),
        options_(options),
        bound_options_{.alignment = pipeline_internal::alignments_of(target).least, .inputs_live_throughout = is_body},
        kernels_(pipeline_internal::choose_kernels(graph, target, {.views = options.views, .in_place = options.in_place})) {
    // As the bound counts them: views as aliases, bodies by what is proven of the largest.
    for (NodeId id : pipeline_internal::views_with_scratch(graph, kernels_)) kernels_[id].scratch = Bytes(0);
    IdVector<NodeId, char> is_listed(graph.nodes().size(), 0);
    for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
      const std::optional<NodeId> node = node_of(plan.program.steps[id]);
      if (!node || std::exchange(is_listed[*node], 1) != 0) continue;
      order_.push_back(*node);
      first_steps_.push_back(id);
      Bytes most;
      for (const BodyPlan& body : plan.layout.steps[id].bodies) {
        if (const Bound* bound = best_bound(body.plan->claims, BoundScope::run_once))
          most = std::max(most, bound->bytes);
      }
      kernels_[*node].scratch += most;
    }
  }

  PeakExplanation explain() {
    PeakExplanation told{.graph = &graph_, .plan = &plan_, .ordinals = ordinals_of(plan_.program)};
    profile_ = load_by_step(plan_.layout);
    find_peaks(told);
    told.witness_node = load_bound(graph_, kernels_, order_, profile_of_nodes(), bound_options_).node;
    told.witness = must_be_live(graph_, kernels_, told.witness_node, bound_options_);
    told.must = told.witness;
    if (!plan_.program.steps.empty()) {
      told.step = step_to_explain(told);
      const std::optional<NodeId> node = node_of(plan_.program.steps[told.step]);
      if (!node) told.must = {};
      if (node && told.witness_node != node) told.must = must_be_live(graph_, kernels_, node, bound_options_);
      find_refusals(told);
      find_largest_touched(told);
    }
    told.buffers = pipeline_internal::peak_buffers({graph_, plan_, told.step, profile_, told.must});
    return told;
  }

 private:
  // The load where each node runs for the first time, in their order.
  [[nodiscard]] std::vector<Bytes> profile_of_nodes() const {
    if (first_steps_.empty()) return profile_;
    std::vector<Bytes> profile;
    for (StepId step : first_steps_) profile.push_back(profile_[step.index()]);
    return profile;
  }

  void find_peaks(PeakExplanation& told) const {
    told.load = *std::max_element(profile_.begin(), profile_.end());
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      const Bytes load = profile_[step.index()];
      if (load == told.load) {
        if (told.peaks.empty() || told.peaks.back().end != step) told.peaks.push_back({step, step});
        told.peaks.back().end = StepId(step.value() + 1);
      } else if (!told.next_step || load > told.next_load) {
        told.next_step = step;
        told.next_load = load;
      }
    }
  }

  [[nodiscard]] StepId step_to_explain(const PeakExplanation& told) const {
    // All outputs live when the run ends.
    if (!told.witness_node && profile_.back() == told.load) {
      return StepId(static_cast<std::uint32_t>(plan_.program.steps.size() - 1));
    }
    std::optional<StepId> first_kernel;
    std::optional<StepId> first_node;
    for (const Interval<StepId>& peak : told.peaks) {
      for (StepId id = peak.begin; id < peak.end; id = StepId(id.value() + 1)) {
        const Step& step = plan_.program.steps[id];
        if (is_copy(step)) continue;
        if (node_of(step) == told.witness_node) return id;
        if (!first_node) first_node = id;
        if (!first_kernel && is_compute(step)) first_kernel = id;
      }
    }
    return first_kernel.value_or(first_node.value_or(told.peaks.front().begin));
  }

  void find_largest_touched(PeakExplanation& told) const {
    IdVector<BufferId, StepId> counted(plan_.layout.buffers.size(), StepId(~0U));
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Step& step = plan_.program.steps[id];
      if (is_alias(step)) continue;
      Bytes sum;
      const auto count = [&](BufferId buffer) {
        if (plan_.layout.buffers[buffer].placement && std::exchange(counted[buffer], id) != id)
          sum += living_bytes(plan_.layout.buffers[buffer], id);
      };
      for (ValueId value : step.reads) count(plan_.layout.values[value].buffer);
      for (ValueId value : step.writes) count(plan_.layout.values[value].buffer);
      if (const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch) count(*scratch);
      // Of equals the step that is explained, else the first.
      if (sum < told.largest_touched || (sum == told.largest_touched && id != told.step)) continue;
      told.largest_touched = sum;
      told.largest_touched_step = id;
    }
  }

  // Of an operand or result of a node: the value that a step of it reads or writes there.
  [[nodiscard]] static ValueId value_at(const std::vector<std::optional<TensorId>>& tensors, int at,
                                        const std::vector<ValueId>& values) {
    return values[static_cast<std::size_t>(
        std::count_if(tensors.begin(), tensors.begin() + at, [](const auto& tensor) { return tensor.has_value(); }))];
  }

  // Who first reads anything in each buffer after a step.
  [[nodiscard]] IdVector<BufferId, std::optional<StepId>> readers_after(StepId step) const {
    IdVector<BufferId, std::optional<StepId>> readers(plan_.layout.buffers.size());
    for (std::uint32_t at = step.value() + 1; at < plan_.program.steps.size(); ++at) {
      for (ValueId value : plan_.program.steps[StepId(at)].reads) {
        std::optional<StepId>& reader = readers[plan_.layout.values[value].buffer];
        if (!reader) reader = StepId(at);
      }
    }
    return readers;
  }

  // Nothing: another reason, such as a size that differs, of which the plan holds no trace.
  [[nodiscard]] std::optional<InPlaceRefusal> refusal(ValueId input, ValueId output,
                                                      std::optional<StepId> reader) const {
    const Buffer& from = plan_.layout.buffers[plan_.layout.values[input].buffer];
    InPlaceRefusal told{.input = plan_.program.values[input].tensor,
                        .output = plan_.program.values[output].tensor,
                        .bytes = plan_.layout.buffers[plan_.layout.values[output].buffer].size};
    if (!options_.in_place) {
      told.reason = InPlaceRefusal::Reason::switched_off;
    } else if (!plan_.program.values[input].written || !from.placement) {
      told.reason = InPlaceRefusal::Reason::not_ours;
    } else if (from.kind == BufferKind::output) {
      told.reason = InPlaceRefusal::Reason::handed_out;
    } else if (reader) {
      told.reason = InPlaceRefusal::Reason::read_later;
      told.reader = reader;
    } else {
      return std::nullopt;
    }
    return told;
  }

  // Only of outputs that have a buffer of their own, which begins here.
  void find_refusals(PeakExplanation& told) const {
    const Step& step = plan_.program.steps[told.step];
    const Compute* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr) return;
    const Node& node = graph_.node(compute->node);
    const IdVector<BufferId, std::optional<StepId>> readers = readers_after(told.step);
    // The options may forbid what the kernel offers.
    const std::vector<Kernel> offered = target_.catalogue->kernels(graph_, compute->node);
    for (const auto& [in, out] : offered[0].in_place) {
      const ValueId input = value_at(node.inputs, in, step.reads);
      const ValueId output = value_at(node.outputs, out, step.writes);
      const BufferId from = plan_.layout.values[input].buffer;
      const BufferId to = plan_.layout.values[output].buffer;
      const Buffer& buffer = plan_.layout.buffers[to];
      if (!buffer.placement || buffer.lifespan.begin != told.step || from == to) continue;
      if (const auto one = refusal(input, output, readers[from])) told.refusals.push_back(*one);
    }
    std::stable_sort(told.refusals.begin(), told.refusals.end(),
                     [](const InPlaceRefusal& a, const InPlaceRefusal& b) { return a.bytes > b.bytes; });
  }

  const Graph& graph_;
  const Plan& plan_;
  const Target& target_;
  const PlanOptions& options_;
  BoundOptions bound_options_;
  ChosenKernels kernels_;
  std::vector<NodeId> order_;        // each node once
  std::vector<StepId> first_steps_;  // of them
  std::vector<Bytes> profile_;
};

// The body of the explained step that takes most; nothing: there is none, or it takes nothing.
std::optional<std::size_t> largest_body(const PeakExplanation& told) {
  if (told.plan->program.steps.empty()) return std::nullopt;
  const std::vector<BodyPlan>& bodies = told.plan->layout.steps[told.step].bodies;
  std::optional<std::size_t> largest;
  Bytes most;
  for (std::size_t at = 0; at < bodies.size(); ++at) {
    if (arena_bytes(*bodies[at].plan) <= most) continue;
    most = arena_bytes(*bodies[at].plan);
    largest = at;
  }
  return largest;
}

}  // namespace

std::string_view to_string(PeakUse use) {
  switch (use) {
    case PeakUse::read:
      return "read";
    case PeakUse::written:
      return "written";
    case PeakUse::rewritten:
      return "rewritten";
    case PeakUse::scratch:
      return "scratch";
    case PeakUse::kept:
      return "kept";
  }
  return "";
}

std::string_view to_string(PeakFreedom freedom) {
  switch (freedom) {
    case PeakFreedom::none:
      return "none";
    case PeakFreedom::written_later:
      return "written_later";
    case PeakFreedom::read_earlier:
      return "read_earlier";
    case PeakFreedom::shared:
      return "shared";
  }
  return "";
}

std::string_view to_string(InPlaceRefusal::Reason reason) {
  switch (reason) {
    case InPlaceRefusal::Reason::switched_off:
      return "switched_off";
    case InPlaceRefusal::Reason::not_ours:
      return "not_ours";
    case InPlaceRefusal::Reason::handed_out:
      return "handed_out";
    case InPlaceRefusal::Reason::read_later:
      return "read_later";
  }
  return "";
}

std::vector<PeakExplanation> explain_peak(const Graph& graph, const Target& target, const PlanOptions& options,
                                          const Plan& plan) {
  std::vector<PeakExplanation> levels;
  levels.push_back(Level(graph, plan, target, options, false).explain());
  // As deep as plans nest, which is limited.
  while (const std::optional<std::size_t> inside = largest_body(levels.back())) {
    const PeakExplanation& outer = levels.back();
    const NodeId node = *node_of(outer.plan->program.steps[outer.step]);
    const Body& body = outer.graph->node(node).bodies[*inside];
    const Plan& plan_inside = *outer.plan->layout.steps[outer.step].bodies[*inside].plan;
    levels.push_back(Level(*body.graph, plan_inside, target, options, true).explain());
    levels.back().inside = body.name;
  }
  return levels;
}

}  // namespace lowtide
