// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fold_padding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/flags.h"
#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

using List = std::vector<std::int64_t>;

bool are_zeros(const List& numbers) {
  return std::ranges::all_of(numbers, [](std::int64_t number) { return number == 0; });
}

List list_or(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise) {
  const auto* given = find_attribute<List>(node.attributes, name);
  return given == nullptr ? List(count, otherwise) : *given;
}

std::int64_t number_in(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto* given = find_attribute<std::int64_t>(node.attributes, name);
  return given == nullptr ? otherwise : *given;
}

class PaddingFolder {
 public:
  PaddingFolder(const Graph& graph, const ConstantTable* table)
      : graph_(graph), table_(table), has_waits_(lower_internal::nodes_with_waits(graph)), rewriter_(graph) {}

  Result<std::optional<Rewritten>> run() && {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (const std::optional<List> pads = pads_of(id)) fold(id, *pads);
    }
    rewriter_.remove_unused();
    return std::move(rewriter_).finish_if_changed();
  }

 private:
  // The pads of the spatial axes, first all before and then all behind. nullopt: this is not a Pad that may be folded.
  [[nodiscard]] std::optional<List> pads_of(NodeId id) const {
    const Node& pad = graph_.node(id);
    if (!is_standard(graph_.op(id), "Pad") || has_waits_.test(id)) return std::nullopt;
    if (pad.inputs.empty() || !pad.inputs[0] || pad.outputs.size() != 1 || !pad.outputs[0]) return std::nullopt;
    const auto* mode = find_attribute<std::string>(pad.attributes, "mode");
    if ((mode != nullptr && *mode != "constant") || !has_value_zero(pad)) return std::nullopt;
    if (pad.inputs.size() > 3 && pad.inputs[3]) return std::nullopt;  // pads of some axes alone
    const bool is_operand = pad.inputs.size() > 1 && pad.inputs[1];
    const List* all = is_operand ? graph_.known_integers(*pad.inputs[1]) : find_attribute<List>(pad.attributes, "pads");
    const auto rank = static_cast<std::size_t>(graph_.tensor(*pad.inputs[0]).shape.rank());
    if (all == nullptr || rank < 3 || all->size() != 2 * rank) return std::nullopt;
    if (std::ranges::any_of(*all, [](std::int64_t number) { return number < 0; })) return std::nullopt;
    List spatial;
    for (std::size_t begin : {std::size_t{0}, rank}) {
      if ((*all)[begin] != 0 || (*all)[begin + 1] != 0) return std::nullopt;
      for (std::size_t axis = 2; axis < rank; ++axis) spatial.push_back((*all)[begin + axis]);
    }
    if (are_zeros(spatial)) return std::nullopt;  // a copy, which remove_unneeded() removes
    return spatial;
  }

  [[nodiscard]] bool has_value_zero(const Node& pad) const {
    const auto* attribute = find_attribute<double>(pad.attributes, "value");
    if (attribute != nullptr && *attribute != 0) return false;
    if (pad.inputs.size() < 3 || !pad.inputs[2]) return true;
    const std::optional<ConstantId> constant = graph_.tensor(*pad.inputs[2]).constant;
    if (table_ == nullptr || !constant) return false;
    const auto* content = std::get_if<ConstantSource::Inline>(&table_->sources[*constant].where);
    return content != nullptr &&
           std::ranges::all_of(content->bytes, [](std::byte byte) { return byte == std::byte{0}; });
  }

  // The attributes of a convolution or a pool with more pads, or nullopt if it cannot have them.
  [[nodiscard]] std::optional<std::vector<Attribute>> padded(NodeId reader, TensorId image, const List& pads) const {
    const Node& node = graph_.node(reader);
    const bool is_convolution = is_standard(graph_.op(reader), "Conv") && node.inputs.size() >= 2 && node.inputs[1];
    const bool is_pool = is_standard(graph_.op(reader), "AveragePool") && number_in(node, "ceil_mode", 0) == 0;
    if (!(is_convolution || is_pool) || has_waits_.test(reader) || node.inputs[0] != image) return std::nullopt;
    if (std::ranges::count(node.inputs, std::optional(image)) != 1) return std::nullopt;
    const auto* automatic = find_attribute<std::string>(node.attributes, "auto_pad");
    if (automatic != nullptr && *automatic != "NOTSET" && *automatic != "VALID") return std::nullopt;
    const std::size_t axes = pads.size() / 2;
    const bool is_valid = automatic != nullptr && *automatic == "VALID";
    List all = is_valid ? List(2 * axes, 0) : list_or(node, "pads", 2 * axes, 0);
    if (all.size() != 2 * axes) return std::nullopt;
    if (is_pool && !are_zeros(all) && number_in(node, "count_include_pad", 0) == 0) return std::nullopt;
    const List gaps = list_or(node, "dilations", axes, 1);
    const std::optional<List> window = window_of(node, is_convolution, axes);
    if (!window || gaps.size() != axes) return std::nullopt;
    for (std::size_t at = 0; at < all.size(); ++at) {
      const auto reach = checked_multiply((*window)[at % axes] - 1, gaps[at % axes]);
      const auto sum = checked_add(all[at], pads[at]);
      if (!reach || !sum || *sum > *reach) return std::nullopt;
      all[at] = *sum;
    }
    std::vector<Attribute> attributes;
    for (const Attribute& attribute : node.attributes) {
      const bool is_replaced =
          attribute.name == "pads" || attribute.name == "auto_pad" || attribute.name == "count_include_pad";
      if (!is_replaced) attributes.push_back(attribute);
    }
    attributes.push_back({"pads", std::move(all)});
    if (is_pool) attributes.push_back({"count_include_pad", std::int64_t{1}});
    return attributes;
  }

  [[nodiscard]] std::optional<List> window_of(const Node& node, bool is_convolution, std::size_t axes) const {
    List window;
    if (is_convolution) {
      const List& weights = graph_.tensor(*node.inputs[1]).shape.extents();
      if (weights.size() == axes + 2) window.assign(weights.begin() + 2, weights.end());
    } else {
      window = list_or(node, "kernel_shape", 0, 0);
    }
    const bool is_window = window.size() == axes && std::ranges::all_of(window, [](std::int64_t n) { return n > 0; });
    return is_window ? std::optional(window) : std::nullopt;
  }

  void fold(NodeId pad, const List& pads) {
    const TensorId image = *graph_.node(pad).outputs[0];
    if (graph_.is_needed_at_end(image) || graph_.readers(image).empty()) return;
    std::vector<std::pair<NodeId, std::vector<Attribute>>> changed;
    for (NodeId reader : graph_.readers(image)) {
      std::optional<std::vector<Attribute>> attributes = padded(reader, image, pads);
      if (!attributes) return;
      changed.emplace_back(reader, *std::move(attributes));
    }
    for (auto& [reader, attributes] : changed) {
      GraphBuilder::NodeSpec spec = rewriter_.node(reader);
      spec.inputs[0] = graph_.node(pad).inputs[0];
      spec.attributes = std::move(attributes);
      rewriter_.replace_node(reader, std::move(spec));
    }
    if (changed.size() == 1) {
      rewriter_.merge_node(pad, changed.front().first);
    } else {
      rewriter_.remove_node(pad);
    }
  }

  const Graph& graph_;
  const ConstantTable* table_;
  Flags<NodeId> has_waits_;
  GraphRewriter rewriter_;
};

}  // namespace

Result<std::optional<Rewritten>> fold_padding(const Graph& graph, const ConstantTable* table) {
  return PaddingFolder(graph, table).run();
}

}  // namespace lowtide
