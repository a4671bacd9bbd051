// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/reordering.h"

#include <algorithm>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/onednn/convolution.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {
namespace {

std::optional<Reordering> packing(const Node& node, const Shape& weights) {
  const auto* order = find_attribute<std::string>(node.attributes, kOrderAttribute);
  const auto* group = find_attribute<std::int64_t>(node.attributes, "group");
  const std::int64_t groups = group == nullptr ? 1 : *group;
  if (order == nullptr || groups < 1 || weights.rank() < 3 || weights.rank() > 4 || weights[0] % groups != 0) {
    return std::nullopt;
  }
  ExtentList extents = onednn_weights(weights.extents(), groups);
  const std::string_view dense = std::string_view("abcde").substr(0, extents.size());
  return Reordering{std::move(extents), std::string(dense), *order};
}

}  // namespace

std::optional<Reordering> reordering_of(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = "its attributes do not describe another order of its tensor";
  if (node.inputs.size() != 1 || !node.inputs[0] || node.outputs.size() != 1 || !node.outputs[0]) return std::nullopt;
  const Tensor& source = graph.tensor(*node.inputs[0]);
  const Tensor& result = graph.tensor(*node.outputs[0]);
  for (const Tensor* tensor : {&source, &result}) {
    if (tensor->dtype != DType::f32 || tensor->shape.has_upper_bounds() || tensor->size == Bytes()) return std::nullopt;
  }
  std::optional<Reordering> reordering = packing(node, source.shape);
  if (!reordering) return std::nullopt;
  const MemoryDescription to = tensor_in_order(reordering->to, reordering->extents);
  if (to == nullptr || size_of(to.get()) != result.size) return std::nullopt;
  missing.clear();
  return reordering;
}

PrimitiveDescription describe(const Reordering& reordering) {
  const SingleThread single;
  dnnl_engine_t engine = onednn_engine();
  const PrimitiveAttributes attributes = caller_scratchpad();
  const MemoryDescription from = tensor_in_order(reordering.from, reordering.extents);
  const MemoryDescription to = tensor_in_order(reordering.to, reordering.extents);
  if (attributes == nullptr || from == nullptr || to == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().reorder_primitive_desc_create(made, from.get(), engine, to.get(), engine, attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
