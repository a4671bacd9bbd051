// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fold_batch_norm.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/constants.h"
#include "lowtide/lower/common/inference_form.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

constexpr double kEpsilon = 1e-5;  // of a BatchNormalization without the attribute

bool are_constants(const Graph& graph, const std::vector<std::optional<TensorId>>& inputs, std::size_t from,
                   std::size_t count) {
  for (std::size_t at = from; at < from + count; ++at) {
    if (!inputs[at]) return false;
    if (graph.tensor(*inputs[at]).dtype != DType::f32) return false;
    if (!lower_internal::constant_behind(graph, *inputs[at])) return false;
  }
  return true;
}

// The tensors that depend on more than constants. Nodes that read constants alone run at load, where a fold saves
// nothing.
Flags<TensorId> tensors_of_runs(const Graph& graph) {
  Flags<TensorId> found(graph.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    if (!graph.tensor(id).producer && graph.tensor(id).role != Role::constant) found.set(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const auto& reads = graph.reads(id);
    if (std::none_of(reads.begin(), reads.end(), [&](TensorId read) { return found.test(read); })) continue;
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) found.set(*output);
    }
  }
  return found;
}

// The convolution that a BatchNormalization can be folded into. Returns nullopt if there is none.
std::optional<NodeId> convolution_before(const Graph& graph, NodeId id, const Flags<NodeId>& has_waits,
                                         const Flags<TensorId>& is_of_run) {
  const Node& norm = graph.node(id);
  if (!is_standard(graph.op(id), "BatchNormalization") || norm.inputs.size() != 5 || !norm.inputs[0]) return {};
  if (norm.outputs.empty() || !norm.outputs[0] || !lower_internal::is_in_inference_form(graph, id)) return {};
  const Tensor& between = graph.tensor(*norm.inputs[0]);
  if (!between.producer || between.role != Role::temporary || between.dtype != DType::f32) return {};
  if (between.is_next_state || graph.readers(*norm.inputs[0]).size() != 1) return {};
  const NodeId before = *between.producer;
  const Node& conv = graph.node(before);
  if (!is_standard(graph.op(before), "Conv") || conv.inputs.size() < 2 || has_waits.test(id) || has_waits.test(before))
    return {};
  if (!conv.inputs[0] || !is_of_run.test(*conv.inputs[0])) return {};
  const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2];
  const bool is_constant =
      are_constants(graph, norm.inputs, 1, 4) && are_constants(graph, conv.inputs, 1, has_bias ? 2 : 1);
  const Tensor& result = graph.tensor(*norm.outputs[0]);
  return is_constant && result.dtype == DType::f32 && result.shape == between.shape ? std::optional(before)
                                                                                    : std::nullopt;
}

// Adds a node on constants, whose result has the type of the constant `like`.
TensorId add_scaled(const Graph& graph, GraphRewriter& rewriter, NodeId norm, GraphBuilder::NodeSpec spec,
                    TensorId like) {
  const Tensor& tensor = graph.tensor(like);
  const TensorId made = rewriter.add_tensor({.name = "", .dtype = tensor.dtype, .shape = tensor.shape}, {like});
  const auto* given = find_attribute<double>(graph.node(norm).attributes, "epsilon");
  spec.domain = kOwnDomain;
  spec.outputs = {made};
  spec.attributes = {{std::string(kEpsilonAttribute), given == nullptr ? kEpsilon : *given}};
  rewriter.add_node(std::move(spec), {norm});
  return made;
}

void fold(const Graph& graph, GraphRewriter& rewriter, NodeId before, NodeId norm) {
  const Node& conv = graph.node(before);
  const std::vector<std::optional<TensorId>>& of = graph.node(norm).inputs;  // x, scale, shift, mean, variance
  const std::string& name = graph.node(norm).name;
  GraphBuilder::NodeSpec bias{
      .name = name, .type = std::string(kScaledBiasType), .inputs = {of[1], of[2], of[3], of[4]}};
  if (conv.inputs.size() > 2 && conv.inputs[2]) bias.inputs.push_back(conv.inputs[2]);
  const TensorId weights =
      add_scaled(graph, rewriter, norm,
                 {.name = name, .type = std::string(kScaledWeightsType), .inputs = {conv.inputs[1], of[1], of[4]}},
                 *conv.inputs[1]);
  const TensorId offset = add_scaled(graph, rewriter, norm, std::move(bias), *of[2]);

  GraphBuilder::NodeSpec folded = GraphBuilder::spec_of(graph, before);
  folded.name = name;
  folded.inputs = {conv.inputs[0], weights, offset};
  folded.outputs = {graph.node(norm).outputs[0]};
  rewriter.replace_node(norm, std::move(folded));
  rewriter.merge_node(before, norm);
}

}  // namespace

Result<std::optional<Rewritten>> fold_batch_norm(const Graph& graph) {
  GraphRewriter rewriter(graph);
  const Flags<NodeId> has_waits = lower_internal::nodes_with_waits(graph);
  const Flags<TensorId> is_of_run = tensors_of_runs(graph);
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::optional<NodeId> before = convolution_before(graph, id, has_waits, is_of_run);
    if (before) fold(graph, rewriter, *before, id);
  }
  rewriter.remove_unused();
  return std::move(rewriter).finish_if_changed();
}

}  // namespace lowtide
