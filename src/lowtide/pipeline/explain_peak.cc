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
        bound_options_{.alignment = detail::alignments_of(target).least, .inputs_live_throughout = is_body},
        kernels_(detail::choose_kernels(graph, target, {.views = options.views, .in_place = options.in_place})) {
    // As the bound counts them: views as aliases, bodies by what is proven of the largest.
    for (NodeId id : detail::views_with_scratch(graph, kernels_)) kernels_[id].scratch = Bytes(0);
    for (const Step& step : plan.program) {
      Bytes most;
      for (const BodyPlan& body : step.bodies) most = std::max(most, body.plan->claims.bound);
      kernels_[step.node].scratch += most;
    }
  }

  PeakExplanation explain() {
    PeakExplanation told{.graph = &graph_, .plan = &plan_};
    profile_ = load_by_step(plan_);
    find_peaks(told);
    std::vector<NodeId> order;
    for (const Step& step : plan_.program) order.push_back(step.node);
    told.witness_node = load_bound(graph_, kernels_, order, profile_, bound_options_).node;
    told.witness = must_be_live(graph_, kernels_, told.witness_node, bound_options_);
    told.must = told.witness;
    if (!plan_.program.empty()) {
      told.step = step_to_explain(told);
      const NodeId node = plan_.program[told.step].node;
      if (told.witness_node != node) told.must = must_be_live(graph_, kernels_, node, bound_options_);
      find_refusals(told);
      find_largest_touched(told);
    }
    told.buffers = detail::peak_buffers({graph_, plan_, told.step, profile_, told.must});
    return told;
  }

 private:
  void find_peaks(PeakExplanation& told) const {
    told.load = *std::max_element(profile_.begin(), profile_.end());
    for (StepId step : all_ids<StepId>(plan_.program.size())) {
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
      return StepId(static_cast<std::uint32_t>(plan_.program.size() - 1));
    }
    std::optional<StepId> first_kernel;
    for (const Interval<StepId>& peak : told.peaks) {
      for (StepId step = peak.begin; step < peak.end; step = StepId(step.value() + 1)) {
        if (plan_.program[step].node == told.witness_node) return step;
        if (!first_kernel && plan_.program[step].kind == StepKind::compute) first_kernel = step;
      }
    }
    return first_kernel.value_or(told.peaks.front().begin);
  }

  void find_largest_touched(PeakExplanation& told) const {
    IdVector<BufferId, StepId> counted(plan_.buffers.size(), StepId(~0U));
    for (StepId id : all_ids<StepId>(plan_.program.size())) {
      const Step& step = plan_.program[id];
      if (step.kind == StepKind::alias) continue;
      Bytes sum;
      const auto count = [&](BufferId buffer) {
        if (plan_.buffers[buffer].placement && std::exchange(counted[buffer], id) != id)
          sum += living_bytes(plan_.buffers[buffer], id);
      };
      for (ValueId value : step.reads) count(plan_.values[value].buffer);
      for (ValueId value : step.writes) count(plan_.values[value].buffer);
      if (step.scratch) count(*step.scratch);
      // Of equals the step that is explained, else the first.
      if (sum < told.largest_touched || (sum == told.largest_touched && id != told.step)) continue;
      told.largest_touched = sum;
      told.largest_touched_step = id;
    }
  }

  [[nodiscard]] BufferId buffer_of(TensorId tensor) const {
    // One value a tensor, and in that order: so plans are assembled.
    return plan_.values[ValueId(tensor.value())].buffer;
  }

  // Who first reads anything in each buffer after a step.
  [[nodiscard]] IdVector<BufferId, std::optional<StepId>> readers_after(StepId step) const {
    IdVector<BufferId, std::optional<StepId>> readers(plan_.buffers.size());
    for (std::uint32_t at = step.value() + 1; at < plan_.program.size(); ++at) {
      for (ValueId value : plan_.program[StepId(at)].reads) {
        std::optional<StepId>& reader = readers[plan_.values[value].buffer];
        if (!reader) reader = StepId(at);
      }
    }
    return readers;
  }

  // Nothing: another reason, such as a size that differs, of which the plan holds no trace.
  [[nodiscard]] std::optional<InPlaceRefusal> refusal(TensorId input, TensorId output,
                                                      std::optional<StepId> reader) const {
    InPlaceRefusal told{.input = input, .output = output, .bytes = plan_.buffers[buffer_of(output)].size};
    if (!options_.in_place) {
      told.reason = InPlaceRefusal::Reason::switched_off;
    } else if (!graph_.tensor(input).producer || !plan_.buffers[buffer_of(input)].placement) {
      told.reason = InPlaceRefusal::Reason::not_ours;
    } else if (plan_.buffers[buffer_of(input)].kind == BufferKind::output) {
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
    const Step& step = plan_.program[told.step];
    const Node& node = graph_.node(step.node);
    if (step.kind == StepKind::alias) return;
    const IdVector<BufferId, std::optional<StepId>> readers = readers_after(told.step);
    // The options may forbid what the kernel offers.
    for (const auto& [in, out] : target_.catalogue->kernels(graph_, step.node)[0].in_place) {
      const TensorId input = *node.inputs[static_cast<std::size_t>(in)];
      const TensorId output = *node.outputs[static_cast<std::size_t>(out)];
      const Buffer& buffer = plan_.buffers[buffer_of(output)];
      if (!buffer.placement || buffer.lifespan.begin != told.step || buffer_of(input) == buffer_of(output)) continue;
      if (const auto one = refusal(input, output, readers[buffer_of(input)])) told.refusals.push_back(*one);
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
  std::vector<Bytes> profile_;
};

// The body of the explained step that takes most; nothing: there is none, or it takes nothing.
std::optional<std::size_t> largest_body(const PeakExplanation& told) {
  if (told.plan->program.empty()) return std::nullopt;
  const std::vector<BodyPlan>& bodies = told.plan->program[told.step].bodies;
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
    const Step& step = levels.back().plan->program[levels.back().step];
    const Body& body = levels.back().graph->node(step.node).bodies[*inside];
    levels.push_back(Level(*body.graph, *step.bodies[*inside].plan, target, options, true).explain());
    levels.back().inside = body.name;
  }
  return levels;
}

}  // namespace lowtide
