// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/recompute/kept_tensors.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "lowtide/analysis/last_uses.h"
#include "lowtide/analysis/peak.h"
#include "lowtide/pipeline/explain/peak_buffers.h"
#include "lowtide/target/cost.h"

namespace lowtide::pipeline_internal {
namespace {

constexpr std::size_t kMostKept = 16;

bool may_run_again(const Graph& graph, NodeId id) {
  const OperatorTraits& traits = graph.op(id).traits;
  return traits.is_pure && !traits.is_random && !traits.is_stateful && graph.node(id).bodies.empty();
}

bool has_keep_hint(const std::vector<NodeHint>& hints, NodeId id) {
  return std::ranges::any_of(hints,
                             [&](const NodeHint& hint) { return hint.node == id && hint.kind == HintKind::keep; });
}

// Whether the arena keeps a value of a tensor up to a step, or longer.
bool is_there(const Program& program, const IdVector<ValueId, StepId>& uses, TensorId tensor, StepId step) {
  for (ValueId id : all_ids<ValueId>(program.values.size())) {
    const Value& value = program.values[id];
    const bool is_complete = !value.written || *value.written < step;
    if (value.tensor == tensor && is_complete && uses[id] >= step) return true;
  }
  return false;
}

// The operands that another node computes, and that are not there any more at a step.
std::vector<TensorId> absent_operands(const Graph& graph, NodeId node, const Program& program,
                                      const IdVector<ValueId, StepId>& uses, StepId step) {
  std::vector<TensorId> absent;
  for (TensorId read : graph.reads(node)) {
    if (graph.tensor(read).producer && !is_there(program, uses, read, step)) absent.push_back(read);
  }
  return absent;
}

}  // namespace

std::vector<KeptTensor> kept_tensors(const Graph& graph, const Plan& plan, const ChosenKernels& kernels,
                                     const std::vector<NodeHint>& hints) {
  std::vector<KeptTensor> kept;
  const Labels labels = labels_of(graph);
  const Peak peak = peaks_of(plan, labels).front();
  if (!peak.step) return kept;
  const IdVector<ValueId, StepId> uses = last_uses(plan.program);
  for (const PeakBuffer& buffer : peak_buffers(graph, peak, {})) {
    if (kept.size() == kMostKept) break;
    if (buffer.use != PeakUse::kept || buffer.live.values.empty()) continue;
    const TensorId tensor = plan.program.values[buffer.live.values.front()].tensor;
    KeptTensor one{.tensor = tensor, .bytes = buffer.live.bytes, .step = *peak.step, .next_read = buffer.next_read};
    const std::optional<NodeId> node = graph.tensor(tensor).producer;
    if (!node) {
      one.reason = KeptReason::given;
    } else if (!buffer.next_read) {
      one.reason = KeptReason::result;
    } else if (!may_run_again(graph, *node)) {
      one.reason = KeptReason::runs_once;
    } else if (has_keep_hint(hints, *node)) {
      one.reason = KeptReason::hint;
    } else {
      one.reason = KeptReason::costs_more;
      one.picoseconds = estimated_picoseconds(graph, *node, kernels[*node]);
      one.absent = absent_operands(graph, *node, plan.program, uses, *buffer.next_read);
    }
    kept.push_back(std::move(one));
  }
  return kept;
}

}  // namespace lowtide::pipeline_internal
