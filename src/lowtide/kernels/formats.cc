// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/formats.h"

#include <optional>
#include <utility>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/blocks/concat.h"
#include "lowtide/kernels/blocks/convolution.h"
#include "lowtide/kernels/blocks/pool.h"
#include "lowtide/kernels/blocks/product.h"
#include "lowtide/kernels/blocks/transpose.h"
#include "lowtide/kernels/onednn/onednn.h"

namespace lowtide::kernels_internal {
namespace {

class CpuFormats final : public KernelFormats {
 public:
  explicit CpuFormats(std::shared_ptr<const KernelFormats> library) : library_(std::move(library)) {}

  [[nodiscard]] std::vector<FormatOption> options(const Graph& graph, NodeId node) const override {
    const Operator& op = graph.op(node);
    if (op.domain.empty() || op.domain == "ai.onnx") {
      std::optional<FormatOption> own;
      if (op.type == kConvType) own = block_option(graph, node, onednn_blocks());
      const bool is_pool = op.type == kMaxPoolType || op.type == kAveragePoolType || op.type == kGlobalAveragePoolType;
      if (is_pool) own = pool_option(graph, node, onednn_blocks());
      if (op.type == kConcatType) own = concat_option(graph, node, onednn_blocks());
      if (op.type == kTransposeType) own = transpose_option(graph, node, onednn_blocks());
      if (op.type == kGemmType || op.type == kMatMulType) own = product_option(graph, node, onednn_blocks());
      if (own) return {*std::move(own)};
    }
    return library_->options(graph, node);
  }

  [[nodiscard]] bool can_follow(const Graph& graph, NodeId product, const EpilogueParts& epilogue) const override {
    const Operator& op = graph.op(product);
    if (op.domain == kOwnDomain && op.type == kPackedMatMulType) return can_follow_product(epilogue);
    const bool is_own = op.domain == kOwnDomain && op.type == kConvType && has_block_kernel(graph, product);
    return is_own ? can_follow_in_blocks(epilogue) : library_->can_follow(graph, product, epilogue);
  }

  [[nodiscard]] bool is_faster_with_winograd(const Graph& graph, NodeId conv) const override {
    return has_winograd_kernel(graph, conv);
  }

 private:
  std::shared_ptr<const KernelFormats> library_;
};

}  // namespace

std::shared_ptr<const KernelFormats> cpu_formats() {
  static const std::shared_ptr<const KernelFormats> formats = [] {
    std::shared_ptr<const KernelFormats> library = onednn_formats();
    return library == nullptr ? nullptr : std::make_shared<const CpuFormats>(std::move(library));
  }();
  return formats;
}

}  // namespace lowtide::kernels_internal
