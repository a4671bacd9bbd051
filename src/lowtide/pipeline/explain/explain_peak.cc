// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/explain_peak.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/pipeline/explain/peak_buffers.h"
#include "lowtide/pipeline/task/target_kernels.h"

namespace lowtide {
namespace {

// Rounds up the bytes of each tensor if they then add up to those of the set. Otherwise several tensors may lie in one
// unit of the alignment.
void use_whole_units(LiveSet& set, Bytes alignment) {
  Bytes sum = set.scratch;
  for (const LiveSet::Member& member : set.tensors) sum += round_up(member.bytes, alignment);
  if (sum != set.bytes) return;
  for (LiveSet::Member& member : set.tensors) member.bytes = round_up(member.bytes, alignment);
}

// The explanation of one graph: the model's, or a body.
class Level {
 public:
  Level(const Graph& graph, Peak peak, const Target& target, const PlanOptions& options)
      : graph_(graph),
        plan_(*peak.plan),
        options_(options),
        bound_options_{.alignment = pipeline_internal::alignments_of(target).least,
                       .inputs_live_throughout = !peak.body.empty()},
        target_(target),
        offered_(pipeline_internal::kernels_of(graph, target, {}, *peak.plan)),
        kernels_(permitted(offered_, {.views = options.views, .in_place = options.in_place})),
        result_{.graph = &graph, .peak = std::move(peak)} {
    // The bound counts views as aliases, and a body by its own bound.
    for (NodeId id : pipeline_internal::views_with_scratch(graph, kernels_)) kernels_[id].scratch = Bytes(0);
    Flags<NodeId> is_listed(graph.nodes().size());
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const std::optional<NodeId> node = node_of(plan_.program.steps[id]);
      if (!node || !is_listed.insert(*node)) continue;
      order_.push_back(*node);
      first_steps_.push_back(id);
      Bytes most;
      for (const BodyPlan& body : plan_.layout.steps[id].bodies) {
        if (const Bound* bound = best_bound(body.plan->claims, BoundScope::chosen_kernels))
          most = std::max(most, bound->bytes);
      }
      kernels_[*node].scratch += most;
    }
  }

  PeakExplanation explain() && {
    const std::optional<StepId> step = result_.peak.step;
    find_ranges();
    result_.witness_node = live_set_bound(graph_, kernels_, order_, profile_of_nodes(), bound_options_).node;
    result_.witness = live_set(graph_, kernels_, result_.witness_node, bound_options_);
    result_.must = result_.witness;
    use_whole_units(result_.witness, bound_options_.alignment);
    if (step) {
      const std::optional<NodeId> node = node_of(plan_.program.steps[*step]);
      if (!node) result_.must = {};
      if (node && result_.witness_node != node) result_.must = live_set(graph_, kernels_, node, bound_options_);
      find_refusals(*step);
      if (node) find_lighter_kernel(*node);
      find_largest_touched(*step);
    }
    result_.remedies = model_remedies(plan_, *result_.peak.labels);
    result_.buffers = pipeline_internal::peak_buffers(graph_, result_.peak, result_.must);
    return std::move(result_);
  }

 private:
  // The load at the first run of each node, in the order of these runs.
  [[nodiscard]] std::vector<Bytes> profile_of_nodes() const {
    if (first_steps_.empty()) return result_.peak.loads;
    std::vector<Bytes> profile;
    for (StepId step : first_steps_) profile.push_back(result_.peak.loads[step.index()]);
    return profile;
  }

  void find_ranges() {
    std::vector<Interval<StepId>>& ranges = result_.ranges;
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      const Bytes load = result_.peak.loads[step.index()];
      if (load == result_.peak.bytes) {
        if (ranges.empty() || ranges.back().end != step) ranges.push_back({step, step});
        ranges.back().end = StepId(step.value() + 1);
      } else if (!result_.next_step || load > result_.next_load) {
        result_.next_step = step;
        result_.next_load = load;
      }
    }
  }

  void find_lighter_kernel(NodeId node) {
    for (const Kernel& kernel : target_.catalogue->kernels(graph_, node)) {
      const Bytes least = (result_.lighter_kernel ? *result_.lighter_kernel : offered_[node]).scratch;
      if (kernel.scratch < least) result_.lighter_kernel = kernel;
    }
  }

  void find_largest_touched(StepId peak_step) {
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Bytes touched = touched_bytes(plan_, id);
      if (touched < result_.largest_touched || (touched == result_.largest_touched && id != peak_step)) continue;
      result_.largest_touched = touched;
      result_.largest_touched_step = id;
    }
  }

  // The value that a step reads or writes for the operand or result at a position of its node.
  [[nodiscard]] static ValueId value_at(const std::vector<std::optional<TensorId>>& tensors, int at,
                                        const std::vector<ValueId>& values) {
    return values[static_cast<std::size_t>(
        std::count_if(tensors.begin(), tensors.begin() + at, [](const auto& tensor) { return tensor.has_value(); }))];
  }

  // For each buffer, the first step after `step` that reads any of its bytes.
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

  // nullopt for any other reason, which the plan does not show, such as a different size.
  [[nodiscard]] std::optional<InPlaceRefusal> refusal_of(ValueId input, ValueId output,
                                                         std::optional<StepId> reader) const {
    const Buffer& from = plan_.layout.buffers[plan_.layout.values[input].buffer];
    InPlaceRefusal refusal{.input = plan_.program.values[input].tensor,
                           .output = plan_.program.values[output].tensor,
                           .bytes = plan_.layout.buffers[plan_.layout.values[output].buffer].size};
    if (!options_.in_place) {
      refusal.reason = InPlaceRefusal::Reason::switched_off;
    } else if (!plan_.program.values[input].written || !from.placement) {
      refusal.reason = InPlaceRefusal::Reason::external;
    } else if (from.kind == BufferKind::output) {
      refusal.reason = graph_.tensor(refusal.input).role == Role::output ? InPlaceRefusal::Reason::output
                                                                         : InPlaceRefusal::Reason::with_output;
    } else if (reader) {
      refusal.reason = InPlaceRefusal::Reason::read_later;
      refusal.reader = reader;
    } else {
      return std::nullopt;
    }
    return refusal;
  }

  // Considers only outputs that have their own buffer, which begins at the step.
  void find_refusals(StepId peak_step) {
    const Step& step = plan_.program.steps[peak_step];
    const Compute* compute = std::get_if<Compute>(&step.work);
    if (compute == nullptr) return;
    const Node& node = graph_.node(compute->node);
    const IdVector<BufferId, std::optional<StepId>> readers = readers_after(peak_step);
    // The options may forbid what the kernel offers.
    for (const auto& [in, out] : offered_[compute->node].in_place) {
      const ValueId input = value_at(node.inputs, in, step.reads);
      const ValueId output = value_at(node.outputs, out, step.writes);
      const BufferId from = plan_.layout.values[input].buffer;
      const BufferId to = plan_.layout.values[output].buffer;
      const Buffer& buffer = plan_.layout.buffers[to];
      if (!buffer.placement || buffer.lifespan.begin != peak_step || from == to) continue;
      if (const auto refusal = refusal_of(input, output, readers[from])) result_.refusals.push_back(*refusal);
    }
    std::stable_sort(result_.refusals.begin(), result_.refusals.end(),
                     [](const InPlaceRefusal& a, const InPlaceRefusal& b) { return a.bytes > b.bytes; });
  }

  const Graph& graph_;
  const Plan& plan_;
  const PlanOptions& options_;
  BoundOptions bound_options_;
  const Target& target_;
  ChosenKernels offered_;  // of the plan, with what the options forbid
  ChosenKernels kernels_;
  std::vector<NodeId> order_;        // each node once
  std::vector<StepId> first_steps_;  // of them
  PeakExplanation result_;
};

}  // namespace

std::vector<PeakExplanation> explain_peak(const Graph& graph, const Labels& labels, const Target& target,
                                          const PlanOptions& options, const Plan& plan) {
  std::vector<PeakExplanation> levels;
  for (Peak& peak : peaks_of(plan, labels)) {
    const Graph* of_level = &graph;
    if (!levels.empty()) {
      const PeakExplanation& outer = levels.back();
      const NodeId node = *node_of(outer.peak.plan->program.steps[*outer.peak.step]);
      of_level = outer.graph->node(node).bodies[peak.body_position].graph.get();
    }
    levels.push_back(Level(*of_level, std::move(peak), target, options).explain());
  }
  return levels;
}

}  // namespace lowtide
