// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/seconds_of.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/facts.h"
#include "lowtide/kernels/onednn/onednn.h"

namespace lowtide::kernels_internal {
namespace {

struct FormatPair {
  Format input = Format::plain;
  Format output = Format::plain;
};

bool has_wide_registers() {
  return (dnnl().get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
}

// The pairs for a convolution, the fastest one first. Blocked formats were as fast as NHWC in whole networks, except
// that NHWC needs no padding. A source whose channels do not fill a block is read as it is where oneDNN can.
std::vector<FormatPair> format_pairs(const Convolution& convolution) {
  const Format blocked = onednn_blocks();
  std::vector<FormatPair> pairs = {{blocked, blocked}, {Format::plain, blocked}, {Format::nhwc, Format::nhwc}};
  if (convolution.source[1] < (has_wide_registers() ? 16 : 8)) std::swap(pairs[0], pairs[1]);
  return pairs;
}

std::optional<FormatOption> option_with(const Graph& graph, NodeId node, Convolution& convolution,
                                        const FormatPair& pair) {
  convolution.input = pair.input;
  convolution.output = pair.output;
  std::optional<PrimitiveFacts> facts = facts_of(convolution, 1);
  if (!facts) return std::nullopt;
  return FormatOption{pair.input, pair.output, seconds_of(graph, node), std::move(facts->weights)};
}

// The fastest one with blocks. Asking for the others would take longer than the rest of lowering: to find that no
// implementation has a format, oneDNN tries all of them, whose code then stays in memory.
std::vector<FormatOption> fastest_of_convolution(const Graph& graph, NodeId node) {
  std::string missing;
  std::optional<Convolution> convolution = standard_convolution(graph, node, missing);
  if (!convolution) return {};
  for (const FormatPair& pair : format_pairs(*convolution)) {
    if (pair.output != onednn_blocks()) continue;
    if (std::optional<FormatOption> option = option_with(graph, node, *convolution, pair)) return {*std::move(option)};
  }
  return {};
}

// Whether an operation reads an operand of the size of the result. A matrix product needs more scratch for a sum, and
// vit_b_16 was 3 % slower with the residual in its products.
bool reads_whole_operand(const PostOps& operations, const ExtentList& result) {
  return std::ranges::any_of(
      operations, [&](const PostOp& one) { return one.kind != PostOp::Kind::function && one.extents == result; });
}

template <typename Problem>
bool is_light_with(const Problem& problem, std::optional<PostOps> operations) {
  if (!operations) return false;
  Problem with = problem;
  with.after = *std::move(operations);
  return is_as_light(with, problem);
}

class OnednnFormats final : public KernelFormats {
 public:
  [[nodiscard]] std::vector<FormatOption> options(const Graph& graph, NodeId node) const override {
    const Operator& op = graph.op(node);
    if (!(op.domain.empty() || op.domain == "ai.onnx")) return {};
    return op.type == kConvType ? fastest_of_convolution(graph, node) : std::vector<FormatOption>();
  }

  [[nodiscard]] bool can_follow(const Graph& graph, NodeId product, const EpilogueParts& epilogue) const override {
    std::string missing;
    const NumberOf number = any_numbers(graph, epilogue.operands);
    if (graph.op(product).domain == kOwnDomain) {
      const std::optional<Convolution> convolution = lowered_convolution(graph, product, missing);
      return convolution && is_light_with(*convolution, operations_after(*convolution, epilogue.program, number));
    }
    const std::optional<Product> made = product_of(graph, product, missing);
    const Shape& result = graph.tensor(*graph.node(product).outputs[0]).shape;
    if (!made) return false;
    std::optional<PostOps> operations = operations_after(*made, result, epilogue.program, number);
    return operations && !reads_whole_operand(*operations, made->result) && is_light_with(*made, std::move(operations));
  }

  [[nodiscard]] bool is_faster_with_winograd(const Graph& /*graph*/, NodeId /*conv*/) const override { return false; }
};

}  // namespace

std::vector<FormatOption> options_of_convolution(const Graph& graph, NodeId node) {
  std::vector<FormatOption> found;
  std::string missing;
  std::optional<Convolution> convolution = standard_convolution(graph, node, missing);
  if (!convolution) return found;
  for (const FormatPair& pair : format_pairs(*convolution)) {
    if (std::optional<FormatOption> option = option_with(graph, node, *convolution, pair)) found.push_back(*option);
  }
  return found;
}

Format onednn_blocks() { return has_wide_registers() ? Format::nchw16c : Format::nchw8c; }

std::shared_ptr<const KernelFormats> onednn_formats() {
  static const std::shared_ptr<const KernelFormats> formats = std::make_shared<OnednnFormats>();
  return has_onednn() ? formats : nullptr;
}

}  // namespace lowtide::kernels_internal
