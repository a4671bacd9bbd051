// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/merged_padding.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/rewrite.h"

namespace lowtide::verify_internal {
namespace {

using Numbers = std::vector<std::int64_t>;

// Whether the operator is one of the ONNX standard.
bool is_onnx(const Graph& graph, NodeId id, std::string_view type) {
  return graph.op(id).type == type && (graph.op(id).domain == "ai.onnx" || graph.op(id).domain.empty());
}

using Names = std::unordered_set<std::string_view>;

Names names_of(std::span<const Graph* const> graphs) {
  Names names;
  for (const Graph* graph : graphs) {
    for (const Tensor& tensor : graph->tensors()) names.insert(tensor.name);
  }
  return names;
}

// The zeros that a Pad adds around an image, as the attribute "pads" of a convolution counts them. nullopt: it does
// something else, or that is not known.
std::optional<Numbers> zeros_around(const Graph& model, NodeId id, const ConstantTable* table) {
  const Node& node = model.node(id);
  const auto* mode = find_attribute<std::string>(node.attributes, "mode");
  const auto* number = find_attribute<double>(node.attributes, "value");
  const bool adds_zeros = (mode == nullptr || *mode == "constant") && (number == nullptr || *number == 0);
  if (!adds_zeros || (node.inputs.size() > 3 && node.inputs[3])) return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2]) {
    const Tensor& value = model.tensor(*node.inputs[2]);
    if (table == nullptr || !value.constant) return std::nullopt;
    const auto* known = std::get_if<ConstantSource::Inline>(&table->sources[*value.constant].where);
    if (known == nullptr) return std::nullopt;
    for (const std::byte byte : known->bytes) {
      if (byte != std::byte{}) return std::nullopt;
    }
  }
  const Numbers* given = nullptr;
  if (node.inputs.size() > 1 && node.inputs[1]) {
    given = model.known_integers(*node.inputs[1]);
  } else {
    given = find_attribute<Numbers>(node.attributes, "pads");
  }
  const auto axes = static_cast<std::size_t>(model.tensor(*node.inputs[0]).shape.rank());
  if (given == nullptr || axes < 3 || given->size() != axes * 2) return std::nullopt;
  Numbers around;
  for (std::size_t at = 0; at < given->size(); ++at) {
    const std::int64_t count = (*given)[at];
    const bool is_spatial = at % axes >= 2;
    if (count < 0 || (!is_spatial && count != 0)) return std::nullopt;
    if (is_spatial) around.push_back(count);
  }
  // A Pad by nothing is a copy (ModelTensors), whose readers keep their attributes.
  if (std::ranges::all_of(around, [](std::int64_t count) { return count == 0; })) return std::nullopt;
  return around;
}

// The attributes of a node that pads its image by `more` zeros itself, or nullopt if that computes something else.
std::optional<std::vector<Attribute>> with_more_zeros(const Graph& model, NodeId id, const Numbers& more) {
  const Node& node = model.node(id);
  const auto flag = [&](std::string_view name) {
    const auto* given = find_attribute<std::int64_t>(node.attributes, name);
    return given != nullptr && *given != 0;
  };
  const bool is_average = is_onnx(model, id, "AveragePool");
  if (!is_average && !is_onnx(model, id, "Conv")) return std::nullopt;
  // The last window of a pool with ceil_mode may begin behind the image.
  if (is_average && flag("ceil_mode")) return std::nullopt;
  Numbers pads(more.size(), 0);
  if (const auto* given = find_attribute<Numbers>(node.attributes, "pads")) pads = *given;
  if (const auto* how = find_attribute<std::string>(node.attributes, "auto_pad")) {
    if (*how == "VALID") {
      pads.assign(more.size(), 0);
    } else if (*how != "NOTSET") {
      return std::nullopt;
    }
  }
  if (pads.size() != more.size()) return std::nullopt;
  // Zeros of a Pad count as elements of the image. Own zeros count only if the pool says so.
  const bool has_own = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
  if (is_average && has_own && !flag("count_include_pad")) return std::nullopt;
  for (std::size_t at = 0; at < pads.size(); ++at) {
    const std::optional<std::int64_t> sum = checked_add(pads[at], more[at]);
    if (!sum) return std::nullopt;
    pads[at] = *sum;
  }
  std::vector<Attribute> changed = node.attributes;
  std::erase_if(changed, [](const Attribute& attribute) {
    return attribute.name == "auto_pad" || attribute.name == "pads" || attribute.name == "count_include_pad";
  });
  changed.push_back({"pads", std::move(pads)});
  if (is_average) changed.push_back({"count_include_pad", std::int64_t{1}});
  return changed;
}

bool is_absent_pad(const Graph& model, NodeId id, const Names& present) {
  const Node& node = model.node(id);
  if (!is_onnx(model, id, "Pad") || node.outputs.size() != 1 || !node.outputs[0]) return false;
  if (node.inputs.empty() || !node.inputs[0]) return false;
  return !present.contains(model.tensor(*node.outputs[0]).name);
}

}  // namespace

Result<Graph> with_merged_padding(const Graph& model, std::span<const Graph* const> graphs,
                                  const ConstantTable* table) {
  const Names present = names_of(graphs);
  GraphRewriter rewriter(model);
  for (NodeId id : all_ids<NodeId>(model.nodes().size())) {
    if (!is_absent_pad(model, id, present)) continue;
    const std::optional<Numbers> zeros = zeros_around(model, id, table);
    if (!zeros) continue;
    const TensorId padded = *model.node(id).outputs[0];
    for (NodeId reader : model.readers(padded)) {
      const Node& node = model.node(reader);
      if (node.inputs.empty() || node.inputs[0] != padded) continue;
      std::optional<std::vector<Attribute>> attributes = with_more_zeros(model, reader, *zeros);
      if (!attributes) continue;
      GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(model, reader);
      spec.inputs[0] = model.node(id).inputs[0];
      spec.attributes = *std::move(attributes);
      rewriter.replace_node(reader, std::move(spec));
    }
  }
  LOWTIDE_TRY(Rewritten rewritten, std::move(rewriter).finish());
  return std::move(rewritten.graph);
}

bool lack_padded_tensors(const Graph& model, std::span<const Graph* const> graphs) {
  const Names present = names_of(graphs);
  for (NodeId id : all_ids<NodeId>(model.nodes().size())) {
    if (is_absent_pad(model, id, present)) return true;
  }
  return false;
}

}  // namespace lowtide::verify_internal
