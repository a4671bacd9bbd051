// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/known_shapes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"

namespace lowtide::baselines_internal {
namespace {

// An operator whose output sizes depend on the content of its inputs from index `first` on.
struct ContentRow {
  std::string_view type;
  std::size_t first;
};

// Sorted by type.
constexpr auto kContentRows = std::to_array<ContentRow>({
    {"Compress", 0},  {"ConstantOfShape", 0}, {"Expand", 1},       {"NonMaxSuppression", 0},
    {"NonZero", 0},   {"OneHot", 1},          {"Pad", 1},          {"Range", 0},
    {"ReduceL1", 1},  {"ReduceL2", 1},        {"ReduceLogSum", 1}, {"ReduceLogSumExp", 1},
    {"ReduceMax", 1}, {"ReduceMean", 1},      {"ReduceMin", 1},    {"ReduceProd", 1},
    {"ReduceSum", 1}, {"ReduceSumSquare", 1}, {"Reshape", 1},      {"Resize", 1},
    {"Slice", 1},     {"Split", 1},           {"Squeeze", 1},      {"Tile", 1},
    {"TopK", 1},      {"Unique", 0},          {"Unsqueeze", 1},    {"Upsample", 1},
});

std::size_t first_content(const Operator& op) {
  if (!op.domain.empty()) return SIZE_MAX;
  const auto* row = std::lower_bound(kContentRows.begin(), kContentRows.end(), op.type,
                                     [](const ContentRow& a, std::string_view type) { return a.type < type; });
  return row != kContentRows.end() && row->type == op.type ? row->first : SIZE_MAX;
}

// Operators whose results a session computes before the run if their inputs are known. Concat is not among them.
constexpr std::array<std::string_view, 7> kDerived = {"Add", "Div", "Gather", "Mul", "Squeeze", "Sub", "Unsqueeze"};

constexpr std::int64_t kUnknownExtent = INT64_MIN;

struct Knowledge {
  IdVector<TensorId, ShapeForm> extents;  // perhaps with kUnknownExtent; empty if the shape is not derived
  Flags<TensorId> is_derived;             // the session derives the shape, perhaps with unknown extents
  Flags<TensorId> content;
};

bool is_form(const ShapeForm& extents) { return std::ranges::find(extents, kUnknownExtent) == extents.end(); }

// The extents of tensors, with one number below 0 per symbol.
class Extents {
 public:
  Extents(const Graph& graph, const OnnxRuntimeShapes& shapes) : graph_(graph), shapes_(shapes) {}

  [[nodiscard]] bool is_declared(TensorId id) const { return shapes_.declared.contains(graph_.tensor(id).name); }

  // A symbol that the file declares for the tensor itself comes before one that was derived, and a number before both.
  // A derived symbol counts only if the operator copies it from an extent that the session knows.
  ShapeForm of(TensorId id, const IdVector<TensorId, ShapeForm>& known) {
    const Tensor& tensor = graph_.tensor(id);
    const auto open = shapes_.open.find(tensor.name);
    if (open == shapes_.open.end()) return tensor.shape.extents();
    const auto declared = shapes_.declared.find(tensor.name);
    const bool has_own = declared != shapes_.declared.end() && declared->second.size() == open->second.size();
    ShapeForm extents;
    for (std::size_t axis = 0; axis < open->second.size(); ++axis) {
      if (const std::optional<std::int64_t> number = number_of(open->second[axis])) {
        extents.push_back(*number);
        continue;
      }
      const std::int64_t symbol = number_of_symbol(has_own ? declared->second[axis] : open->second[axis]);
      const bool counts = has_own || !tensor.producer || is_copied(*tensor.producer, axis, symbol, known);
      extents.push_back(counts ? symbol : reordered_extent(*tensor.producer, axis, known));
    }
    return extents;
  }

 private:
  static std::optional<std::int64_t> number_of(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
  }

  std::int64_t number_of_symbol(const std::string& text) {
    if (text == OnnxRuntimeShapes::kUnknown) return kUnknownExtent;
    return symbols_.try_emplace(text, -1 - std::ssize(symbols_)).first->second;
  }

  // A Reshape copies the extents for which its new shape has 0. It does not divide by symbols to find an extent of -1.
  [[nodiscard]] bool is_copied(NodeId id, std::size_t axis, std::int64_t symbol,
                               const IdVector<TensorId, ShapeForm>& known) {
    if (symbol == kUnknownExtent) return false;
    if (graph_.op(id).domain.empty() && graph_.op(id).type == "Reshape") {
      const auto& inputs = graph_.node(id).inputs;
      const auto* wanted = inputs.size() > 1 && inputs[1] ? graph_.known_integers(*inputs[1]) : nullptr;
      if (wanted == nullptr || axis >= wanted->size() || (*wanted)[axis] != 0) return false;
    }
    return symbols_read_by(id, known).contains(symbol);
  }

  // The symbols in the extents of the operands, which are collected once for all results of a node.
  const std::set<std::int64_t>& symbols_read_by(NodeId id, const IdVector<TensorId, ShapeForm>& known) {
    if (reader_ == id) return read_;
    reader_ = id;
    read_.clear();
    for (TensorId operand : graph_.operands(id)) {
      for (std::int64_t extent : known[operand]) {
        if (extent < 0) read_.insert(extent);
      }
    }
    return read_;
  }

  // A ReorderInput keeps all extents except the channels. Its operand may have symbols that only the file declares.
  [[nodiscard]] std::int64_t reordered_extent(NodeId id, std::size_t axis,
                                              const IdVector<TensorId, ShapeForm>& known) const {
    const Operator& op = graph_.op(id);
    const Node& node = graph_.node(id);
    const auto* channels_last = find_attribute<std::int64_t>(node.attributes, "channels_last");
    const bool moves_axes = channels_last != nullptr && *channels_last != 0;
    if (op.domain != "com.microsoft.nchwc" || op.type != "ReorderInput" || moves_axes) return kUnknownExtent;
    const ShapeForm& operand = known[*node.inputs.front()];
    return axis < operand.size() ? operand[axis] : kUnknownExtent;
  }

  const Graph& graph_;
  const OnnxRuntimeShapes& shapes_;
  std::map<std::string, std::int64_t> symbols_;
  std::optional<NodeId> reader_;  // whose symbols `read_` has
  std::set<std::int64_t> read_;
};

bool has_numbers_only(const ShapeForm& extents) {
  return std::ranges::all_of(extents, [](std::int64_t extent) { return extent >= 0; });
}

bool is_content_known(const Graph& graph, NodeId id, const Knowledge& known) {
  const Operator& op = graph.op(id);
  const auto& reads = graph.reads(id);
  if (!op.domain.empty() || reads.empty()) return false;
  if (op.type == "Shape" || op.type == "Size") {
    return known.is_derived.test(reads.front()) && has_numbers_only(known.extents[reads.front()]);
  }
  return std::find(kDerived.begin(), kDerived.end(), op.type) != kDerived.end() &&
         std::all_of(reads.begin(), reads.end(), [&](TensorId tensor) { return known.content.test(tensor); });
}

bool is_shape_derived(const Graph& graph, NodeId id, const Knowledge& known) {
  // The result of a Shape has as many elements as its input has axes, whatever their extents are.
  if (graph.op(id).type == "Shape") return true;
  const Node& node = graph.node(id);
  if (!node.bodies.empty()) return false;
  const std::size_t content = first_content(graph.op(id));
  for (std::size_t at = 0; at < node.inputs.size(); ++at) {
    if (!node.inputs[at]) continue;
    const TensorId input = *node.inputs[at];
    if (at < content ? !known.is_derived.test(input) : !known.content.test(input)) return false;
  }
  return true;
}

}  // namespace

IdVector<TensorId, std::optional<ShapeForm>> known_shapes(const Graph& graph, const OnnxRuntimeShapes& shapes) {
  const std::size_t tensors = graph.tensors().size();
  Knowledge known{.extents = IdVector<TensorId, ShapeForm>(tensors),
                  .is_derived = Flags<TensorId>(tensors),
                  .content = Flags<TensorId>(tensors)};
  Extents extents(graph, shapes);
  const auto derive = [&](TensorId id) {
    if (graph.tensor(id).shape.has_upper_bounds()) return;
    known.extents[id] = extents.of(id, known.extents);
    known.is_derived.set(id);
  };
  for (TensorId id : all_ids<TensorId>(tensors)) {
    if (graph.tensor(id).producer) continue;
    derive(id);
    if (graph.tensor(id).role == Role::constant) known.content.set(id);
  }
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const bool has_content = is_content_known(graph, id, known);
    const bool has_shape = is_shape_derived(graph, id, known);
    for (std::optional<TensorId> tensor : graph.node(id).outputs) {
      if (!tensor) continue;
      if (has_shape || extents.is_declared(*tensor)) derive(*tensor);
      if (has_content && known.is_derived.test(*tensor)) known.content.set(*tensor);
    }
  }
  IdVector<TensorId, std::optional<ShapeForm>> forms(tensors);
  for (TensorId id : all_ids<TensorId>(tensors)) {
    if (known.is_derived.test(id) && is_form(known.extents[id])) forms[id] = std::move(known.extents[id]);
  }
  return forms;
}

}  // namespace lowtide::baselines_internal
