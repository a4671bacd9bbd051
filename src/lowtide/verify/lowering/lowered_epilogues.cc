// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/lowered_epilogues.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/builder.h"
#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide::verify_internal {
namespace {

using Spec = GraphBuilder::NodeSpec;

bool is_fused_product(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const bool is_standard = op.domain == kOwnDomain && (op.type == kGemmType || op.type == kMatMulType);
  return (is_standard || is_lowered_product(op)) && has_epilogue(graph.node(id));
}

// The channels of a convolution in blocks, if they do not fill the last block. Its other lanes are zero, as those of a
// chain with the attribute `channels`.
std::optional<std::int64_t> channels_with_padding(const Node& conv, const Shape& result) {
  const auto* weights = find_attribute<std::vector<std::int64_t>>(conv.attributes, kWeightsAttribute);
  const auto* format = find_attribute<std::string>(conv.attributes, kOutputFormatAttribute);
  if (weights == nullptr || weights->empty() || format == nullptr || !format->starts_with("nchw")) return std::nullopt;
  const std::int64_t lanes = result.rank() == 0 ? 1 : result[result.rank() - 1];
  if (lanes < 1 || (*weights)[0] % lanes == 0) return std::nullopt;
  return (*weights)[0];
}

// The node as it would be without its epilogue, except for its result.
Spec product_of_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Spec product{.domain = is_lowered_product(graph.op(id)) ? std::string(kOwnDomain) : std::string(),
               .type = graph.op(id).type,
               .control_inputs = node.control_inputs};
  for (const Attribute& attribute : node.attributes) {
    const auto* name = std::get_if<std::string>(&attribute.value);
    if (attribute.name == kProductAttribute && name != nullptr) product.name = *name;
    if (attribute.name != kProductAttribute && attribute.name != kEpilogueAttribute)
      product.attributes.push_back(attribute);
  }
  for (std::size_t at = 0; at < kProductOperands; ++at) product.inputs.push_back(node.inputs[at]);
  while (!product.inputs.back() && product.inputs.size() > 1) product.inputs.pop_back();
  return product;
}

// Does what without_epilogues() does.
Result<Rewritten> separated(const Graph& lowered) {
  GraphRewriter rewriter(lowered);
  for (NodeId id : all_ids<NodeId>(lowered.nodes().size())) {
    const std::vector<Body>& bodies = lowered.node(id).bodies;
    for (std::size_t at = 0; at < bodies.size(); ++at) {
      LOWTIDE_TRY(Rewritten body, separated(*bodies[at].graph));
      if (body.graph.total_nodes() != bodies[at].graph->total_nodes()) rewriter.replace_body(id, at, std::move(body));
    }
    if (!is_fused_product(lowered, id)) continue;
    const Node& node = lowered.node(id);
    const Result<Graph> program = epilogue_program(lowered, id);
    const auto* lines = find_attribute<std::vector<std::string>>(node.attributes, kEpilogueAttribute);
    if (!program || lines == nullptr)
      return Error{ErrorCode::invalid,
                   "node " + quoted(node.name) + " has an epilogue that is not valid: " +
                       (program ? "it has no program" : program.error().message),
                   ""};
    const Tensor& first = program->tensor(program->inputs()[0]);
    const TensorId between = rewriter.add_tensor({.name = first.name, .dtype = first.dtype, .shape = first.shape}, {});
    Spec product = product_of_node(lowered, id);
    product.outputs = {between};
    Spec chain{.name = node.name,
               .domain = std::string(kOwnDomain),
               .type = std::string(kChainType),
               .inputs = {between},
               .outputs = node.outputs,
               .attributes = {{std::string(kProgramAttribute), *lines}}};
    chain.inputs.insert(chain.inputs.end(), node.inputs.begin() + kProductOperands, node.inputs.end());
    if (const auto channels = channels_with_padding(node, first.shape))
      chain.attributes.push_back({std::string(kChannelsAttribute), *channels});
    rewriter.replace_node(id, std::move(product));
    rewriter.add_node(std::move(chain), {id});
  }
  return std::move(rewriter).finish();
}

}  // namespace

Result<Graph> without_epilogues(const Graph& lowered) {
  LOWTIDE_TRY(Rewritten result, separated(lowered));
  return std::move(result.graph);
}

}  // namespace lowtide::verify_internal
