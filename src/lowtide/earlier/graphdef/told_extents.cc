// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/told_extents.h"

#include <array>

namespace lowtide::graphdef_internal {
namespace {

std::optional<Extents> told_by_mat_mul(const NodeView& node, const std::vector<const KnownTensor*>& inputs,
                                       std::size_t input) {
  if (inputs.size() != 2) return std::nullopt;
  // The axes that are summed over.
  const std::array<std::size_t, 2> axes = {node.is_set("transpose_a") ? 0U : 1U, node.is_set("transpose_b") ? 1U : 0U};
  Extents told = {kOpen, kOpen};
  const std::optional<Extents>& other = inputs[1 - input]->extents;
  if (other && other->size() == 2) told[axes[input]] = (*other)[axes[1 - input]];
  return told;
}

// The bias has an element for each channel.
std::optional<Extents> told_by_bias_add(const NodeView& node, const std::vector<const KnownTensor*>& inputs,
                                        std::size_t input) {
  if (inputs.size() != 2 || !inputs[0]->extents || inputs[0]->extents->size() < 2) return std::nullopt;
  const Extents& x = *inputs[0]->extents;
  const std::size_t channels = node.text("data_format", "") == "NCHW" ? 1 : x.size() - 1;
  if (input == 1) return Extents{x[channels]};
  const std::optional<Extents>& bias = inputs[1]->extents;
  if (!bias || bias->size() != 1) return std::nullopt;
  Extents told(x.size(), kOpen);
  told[channels] = bias->front();
  return told;
}

}  // namespace

std::optional<Extents> told_extents(const NodeView& node, const std::vector<const KnownTensor*>& inputs,
                                    std::size_t input) {
  if (node.op() == "MatMul") return told_by_mat_mul(node, inputs, input);
  if (node.op() == "BiasAdd") return told_by_bias_add(node, inputs, input);
  return std::nullopt;
}

}  // namespace lowtide::graphdef_internal
