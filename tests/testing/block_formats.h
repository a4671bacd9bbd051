// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowtide/target/formats.h"

namespace lowtide::testing {

// A machine whose convolutions and pools have blocks of 16 channels. A convolution of fewer channels reads them plain.
// Convolutions in groups have none of these formats. A Concat of channels that do not fill their blocks is in blocks,
// and so is one side of a Transpose that moves the channels to the last axis or back. A MatMul and a Gemm read their
// matrix packed. Products compute every epilogue. Winograd's algorithm is the faster one for all windows of 3 x 3.
class BlockFormats final : public KernelFormats {
 public:
  [[nodiscard]] std::vector<FormatOption> options(const Graph& graph, NodeId id) const override {
    const Operator& op = graph.op(id);
    const Node& node = graph.node(id);
    if (!op.domain.empty()) return {};
    const FormatOption blocks{.input = Format::nchw16c, .output = Format::nchw16c};
    if (op.type == "MaxPool" || op.type == "GlobalAveragePool") return {blocks};
    if (op.type == "Transpose") return transposes(node);
    if (op.type == "Concat") return is_padded_concat(graph, node) ? std::vector{blocks} : std::vector<FormatOption>();
    if (op.type == "MatMul" || op.type == "Gemm") {
      const Shape& matrix = graph.tensor(*node.inputs[1]).shape;
      if (matrix.rank() != 2) return {};
      return {{.weights = PackedConstant{.shape = Shape({matrix[0] * matrix[1]}), .order = "packed"}}};
    }
    if (op.type != "Conv" || find_attribute<std::int64_t>(node.attributes, "group") != nullptr) return {};
    FormatOption option = blocks;
    const Shape& weights = graph.tensor(*node.inputs[1]).shape;
    if (weights[1] < 16) option.input = Format::plain;
    std::int64_t elements = 1;
    for (std::int64_t extent : weights.extents()) elements *= extent;
    option.weights = PackedConstant{.shape = Shape({elements}), .order = "packed"};
    return {option};
  }
  [[nodiscard]] bool can_follow(const Graph& /*graph*/, NodeId /*product*/,
                                const EpilogueParts& /*epilogue*/) const override {
    return true;
  }
  [[nodiscard]] bool is_faster_with_winograd(const Graph& graph, NodeId conv) const override {
    const auto* weights = find_attribute<std::vector<std::int64_t>>(graph.node(conv).attributes, "weights");
    return weights != nullptr && weights->size() == 4 && (*weights)[2] == 3 && (*weights)[3] == 3;
  }

 private:
  // Between channels as the second axis, in blocks, and channels as the last axis.
  static std::vector<FormatOption> transposes(const Node& node) {
    const auto* order = find_attribute<std::vector<std::int64_t>>(node.attributes, "perm");
    if (order == nullptr) return {};
    if (*order == std::vector<std::int64_t>{0, 2, 3, 1}) return {{.input = Format::nchw16c}};
    if (*order == std::vector<std::int64_t>{0, 3, 1, 2}) return {{.output = Format::nchw16c}};
    return {};
  }
  // Whether a Concat along the channels of images has an operand that does not fill its blocks.
  static bool is_padded_concat(const Graph& graph, const Node& node) {
    const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
    bool is_padded = false;
    for (const std::optional<TensorId>& input : node.inputs) {
      const Shape& shape = graph.tensor(*input).shape;
      if (axis == nullptr || shape.rank() != 4 || (*axis != 1 && *axis != -3)) return false;
      is_padded = is_padded || shape[1] % 16 != 0;
    }
    return is_padded;
  }
};

inline std::shared_ptr<const KernelFormats> block_formats() { return std::make_shared<BlockFormats>(); }

}  // namespace lowtide::testing
