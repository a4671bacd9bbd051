// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/choose_formats.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/flags.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/common/bodies.h"
#include "lowtide/lower/machine/format_parts.h"

namespace lowtide {
namespace {

using lower_internal::FormatPart;
using lower_internal::FormatParts;
using lower_internal::has_one_element;
using Attributes = std::vector<Attribute>;

std::string name_of(Format format) { return std::string(to_string(format)); }

// The attributes of a convolution with their defaults.
Attributes window_of(const Node& conv, std::size_t spatial) {
  const auto* automatic = find_attribute<std::string>(conv.attributes, "auto_pad");
  const bool is_padded = automatic == nullptr || *automatic != "VALID";
  const auto list = [&](std::string_view name, std::size_t count, std::int64_t otherwise) {
    const auto* given = find_attribute<std::vector<std::int64_t>>(conv.attributes, name);
    const bool is_given = given != nullptr && (is_padded || name != "pads");
    return Attribute{std::string(name), is_given ? *given : std::vector<std::int64_t>(count, otherwise)};
  };
  const auto* group = find_attribute<std::int64_t>(conv.attributes, "group");
  return {list("strides", spatial, 1), list("pads", 2 * spatial, 0), list("dilations", spatial, 1),
          Attribute{"group", group == nullptr ? std::int64_t{1} : *group}};
}

struct IntegerAttribute {
  std::string_view name;
  std::int64_t value = 0;
};

class FormatWriter {
 public:
  FormatWriter(const Graph& graph, const FormatParts& parts)
      : graph_(graph), parts_(parts), rewriter_(graph), in_blocks_(graph.tensors().size()) {
    for (const Tensor& tensor : graph.tensors()) names_.insert(tensor.name);
  }

  GraphRewriter write() && {
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) add_formats(id);
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      const FormatPart& part = parts_.nodes[id];
      if (part.kind == FormatPart::Kind::decides) is_matrix_product(id) ? write_product(id) : write_convolution(id);
      if (part.kind == FormatPart::Kind::moves) write_transpose(id);
      if (part.is_blocked) part.has_one_image ? write_image(id) : write_follower(id);
    }
    return std::move(rewriter_);
  }

 private:
  std::string unique_name(std::string name) {
    while (!names_.insert(name).second) name += ".1";
    return name;
  }

  [[nodiscard]] bool is_in_blocks(NodeId node, TensorId tensor) const {
    return parts_.read_by(graph_, node, tensor) != Format::plain;
  }

  // Adds the form in blocks of a tensor, and the node that makes one form from the other, where both are needed.
  void add_formats(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    const bool is_written = tensor.producer && parts_.written_by(*tensor.producer) != Format::plain;
    bool is_needed_plain = graph_.is_needed_at_end(id);
    bool is_read = false;
    for (NodeId reader : graph_.readers(id)) (is_in_blocks(reader, id) ? is_read : is_needed_plain) = true;
    if (!is_written && !is_read) return;
    const bool is_plain_left = !is_written || is_needed_plain;
    const std::string name =
        is_plain_left ? unique_name(tensor.name + " (" + name_of(parts_.blocked) + ")") : tensor.name;
    in_blocks_[id] = rewriter_.add_tensor(
        {.name = name, .dtype = tensor.dtype, .shape = shape_in(parts_.blocked, tensor.shape)}, {id});
    if (!is_plain_left) return;
    GraphBuilder::NodeSpec reorder{.name = name,
                                   .domain = std::string(kOwnDomain),
                                   .type = std::string(kReorderType),
                                   .inputs = {is_written ? *in_blocks_[id] : id},
                                   .outputs = {is_written ? id : *in_blocks_[id]}};
    const Format from = is_written ? parts_.blocked : Format::plain;
    const Format to = is_written ? Format::plain : parts_.blocked;
    reorder.attributes = {{std::string(kInputFormatAttribute), name_of(from)},
                          {std::string(kOutputFormatAttribute), name_of(to)},
                          {std::string(kChannelsAttribute), tensor.shape[1]}};
    rewriter_.add_node(std::move(reorder), {});
  }

  // The tensor that a node reads.
  [[nodiscard]] std::optional<TensorId> read(NodeId node, std::optional<TensorId> operand) const {
    return operand && is_in_blocks(node, *operand) ? in_blocks_[*operand] : operand;
  }

  [[nodiscard]] TensorId result_of(NodeId id) const {
    const TensorId result = *graph_.node(id).outputs[0];
    return parts_.written_by(id) == Format::plain ? result : *in_blocks_[result];
  }

  // The packed form of weights. Nodes that read the same order share it. `how` is the attribute of lowtide::Pack beside
  // the order, of which a constant has the same name in all nodes.
  TensorId packed(TensorId weights, const PackedConstant& as, const IntegerAttribute& how) {
    std::optional<TensorId>& found = packed_[{weights, as.order, how.value, as.shape.extents()}];
    if (found) return *found;
    const std::string name = unique_name(graph_.tensor(weights).name + " (packed)");
    found = rewriter_.add_tensor({.name = name, .dtype = as.dtype, .shape = as.shape}, {weights});
    rewriter_.add_node({.name = name,
                        .domain = std::string(kOwnDomain),
                        .type = std::string(kPackType),
                        .inputs = {weights},
                        .outputs = {found},
                        .attributes = {{std::string(kOrderAttribute), as.order}, {std::string(how.name), how.value}}},
                       {});
    return *found;
  }

  void write_convolution(NodeId id) {
    const Node& conv = graph_.node(id);
    const FormatOption& option = *parts_.nodes[id].option;
    const Shape& weights = graph_.tensor(*conv.inputs[1]).shape;
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    spec.domain = kOwnDomain;
    spec.type = kConvType;
    spec.attributes = window_of(conv, static_cast<std::size_t>(weights.rank() - 2));
    const std::int64_t group = *find_attribute<std::int64_t>(spec.attributes, "group");
    spec.attributes.push_back({std::string(kWeightsAttribute), weights.extents()});
    spec.attributes.push_back({std::string(kInputFormatAttribute), name_of(option.input)});
    spec.attributes.push_back({std::string(kOutputFormatAttribute), name_of(option.output)});
    spec.attributes.push_back({std::string(kOrderAttribute), option.weights->order});
    if (option.input != Format::plain) spec.inputs[0] = in_blocks_[*conv.inputs[0]];
    spec.inputs[1] = packed(*conv.inputs[1], *option.weights, {"group", group});
    spec.outputs = {result_of(id)};
    rewriter_.replace_node(id, std::move(spec));
  }

  [[nodiscard]] bool is_matrix_product(NodeId id) const { return graph_.op(id).type != kConvType; }

  // A MatMul or a Gemm whose second operand is a constant.
  void write_product(NodeId id) {
    const PackedConstant& as = *parts_.nodes[id].option->weights;
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    const TensorId matrix = *spec.inputs[1];
    const auto* transposed = find_attribute<std::int64_t>(spec.attributes, kTransposeAttribute);
    const IntegerAttribute how{kTransposeAttribute, transposed != nullptr && *transposed != 0 ? 1 : 0};
    spec.domain = kOwnDomain;
    spec.type = kPackedMatMulType;
    spec.attributes = {{std::string(kWeightsAttribute), graph_.tensor(matrix).shape.extents()},
                       {std::string(how.name), how.value},
                       {std::string(kOrderAttribute), as.order}};
    spec.inputs[1] = packed(matrix, as, how);
    rewriter_.replace_node(id, std::move(spec));
  }

  // A pool or a norm.
  void write_image(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    spec.domain = kOwnDomain;
    spec.attributes.push_back({std::string(kFormatAttribute), name_of(parts_.blocked)});
    spec.attributes.push_back({std::string(kChannelsAttribute), graph_.tensor(*spec.inputs[0]).shape[1]});
    spec.inputs[0] = in_blocks_[*spec.inputs[0]];
    spec.outputs = {result_of(id)};
    rewriter_.replace_node(id, std::move(spec));
  }

  // A Transpose between blocks and channels as the last axis.
  void write_transpose(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    const FormatOption& option = *parts_.nodes[id].option;
    const bool is_into_blocks = option.input == Format::plain;
    const TensorId image = is_into_blocks ? *spec.outputs[0] : *spec.inputs[0];
    spec.domain = kOwnDomain;
    spec.attributes.push_back({std::string(kInputFormatAttribute), name_of(option.input)});
    spec.attributes.push_back({std::string(kOutputFormatAttribute), name_of(option.output)});
    spec.attributes.push_back({std::string(kChannelsAttribute), graph_.tensor(image).shape[1]});
    spec.inputs[0] = read(id, spec.inputs[0]);
    spec.outputs = {result_of(id)};
    rewriter_.replace_node(id, std::move(spec));
  }

  // A Concat along the channels, some of whose operands do not fill their blocks.
  void write_padded_concat(NodeId id) {
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    std::vector<std::int64_t> channels;
    for (const std::optional<TensorId>& input : spec.inputs) channels.push_back(graph_.tensor(*input).shape[1]);
    spec.domain = kOwnDomain;
    spec.attributes = {{std::string(kFormatAttribute), name_of(parts_.blocked)},
                       {std::string(kChannelsAttribute), std::move(channels)}};
    for (std::optional<TensorId>& input : spec.inputs) input = read(id, input);
    spec.outputs = {result_of(id)};
    rewriter_.replace_node(id, std::move(spec));
  }

  // An element-wise node, a chain or a Concat.
  void write_follower(NodeId id) {
    if (parts_.nodes[id].is_padded_concat) return write_padded_concat(id);
    GraphBuilder::NodeSpec spec = GraphBuilder::spec_of(graph_, id);
    const Tensor& result = graph_.tensor(*graph_.node(id).outputs[0]);
    const bool is_chain = spec.domain == kOwnDomain;
    const Shape blocks = shape_in(parts_.blocked, result.shape);
    const bool has_padding = blocks[1] * blocks[blocks.rank() - 1] != result.shape[1];
    if (is_chain || has_padding) {
      if (!is_chain) spec = chain_of(graph_, {id});
      set_program(spec, has_padding ? std::optional(result.shape[1]) : std::nullopt);
    } else if (spec.type == "Concat") {
      for (Attribute& attribute : spec.attributes) {
        if (attribute.name == "axis") attribute.value = std::int64_t{1};
      }
    }
    for (std::optional<TensorId>& input : spec.inputs) input = read(id, input);
    spec.outputs = {result_of(id)};
    rewriter_.replace_node(id, std::move(spec));
  }

  // Gives the tensors of a program their blocks. `channels` is set if these have padding.
  void set_program(GraphBuilder::NodeSpec& spec, std::optional<std::int64_t> channels) const {
    const auto* lines = find_attribute<std::vector<std::string>>(spec.attributes, kProgramAttribute);
    LOWTIDE_CHECK(lines != nullptr, "a chain has a program");
    const Result<Graph> given = chain_graph(*lines);
    LOWTIDE_CHECK(given.ok(), "the program of a chain is a graph");
    GraphBuilder builder(given->name());
    for (const Tensor& one : given->tensors()) {
      const Shape shape = has_one_element(one) ? one.shape : shape_in(parts_.blocked, one.shape);
      builder.add_tensor({.name = one.name, .dtype = one.dtype, .shape = shape},
                         one.role == Role::input ? Role::input : Role::temporary);
    }
    for (NodeId node : all_ids<NodeId>(given->nodes().size())) builder.add_node(GraphBuilder::spec_of(*given, node));
    builder.set_outputs(given->outputs());
    const Result<Graph> program = std::move(builder).build();
    LOWTIDE_CHECK(program.ok(), "the program of a chain in blocks is a graph");
    spec.attributes = {{std::string(kProgramAttribute), chain_lines(*program)}};
    if (channels) spec.attributes.push_back({std::string(kChannelsAttribute), *channels});
  }

  const Graph& graph_;
  const FormatParts& parts_;
  GraphRewriter rewriter_;
  IdVector<TensorId, std::optional<TensorId>> in_blocks_;  // the tensors that have a form in blocks
  std::map<std::tuple<TensorId, std::string, std::int64_t, std::vector<std::int64_t>>, std::optional<TensorId>> packed_;
  std::unordered_set<std::string> names_;
};

// Does what choose_formats() does. The tensors in `stay_plain` are captured matrices that others read as they are.
Result<std::optional<Rewritten>> with_formats(const Graph& graph, const KernelFormats& machine,
                                              const Flags<TensorId>& stay_plain) {
  const FormatParts parts = lower_internal::choose_parts(graph, machine, stay_plain);
  GraphRewriter rewriter = FormatWriter(graph, parts).write();
  IdVector<TensorId, std::optional<bool>> may_be_packed(graph.tensors().size());
  const auto stays_plain = [&](TensorId id) {
    if (graph.tensor(id).role != Role::constant) return true;
    std::optional<bool>& answer = may_be_packed[id];
    if (!answer) answer = !stay_plain.test(id) && lower_internal::is_only_a_matrix(graph, id, machine);
    return !*answer;
  };
  LOWTIDE_RETURN_IF_ERROR(lower_internal::rewrite_bodies(graph, rewriter, [&](NodeId, const Body& body) {
    Flags<TensorId> stay_plain_inside(body.graph->tensors().size());
    for (const auto& [outer, inner] : body.captures) {
      if (stays_plain(outer)) stay_plain_inside.set(inner);
    }
    return with_formats(*body.graph, machine, stay_plain_inside);
  }));
  return std::move(rewriter).finish_if_changed();
}

}  // namespace

Result<std::optional<Rewritten>> choose_formats(const Graph& graph, const KernelFormats& machine) {
  return with_formats(graph, machine, Flags<TensorId>(graph.tensors().size()));
}

}  // namespace lowtide
