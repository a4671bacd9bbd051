// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/node_walk.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/kept_facts.h"
#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/graphdef/shape_math.h"
#include "lowtide/graph/shape.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::int64_t kMostOutputs = 65'536;  // of one node
constexpr std::size_t kMostAxes = 254;         // TensorFlow has no tensors with more
// A few bytes can name output 65,535 of a node, but most outputs of a real graph are read.
constexpr std::size_t kMostPerInput = 8;

Error fault(const NodeView& node, std::string message, ErrorCode code = ErrorCode::invalid) {
  return Error{code, std::move(message), shown_node(node)};
}

// An upper bound counts as an extent.
void set_kept_types(const std::vector<std::optional<TensorType>>& kept, NodeTypes& types) {
  for (std::size_t port = 0; port < std::min(kept.size(), types.outputs.size()); ++port) {
    KnownTensor& output = types.outputs[port];
    output.dtype = kept[port] ? std::optional(kept[port]->dtype) : std::nullopt;
    output.extents = kept[port] ? std::optional(kept[port]->shape.extents()) : std::nullopt;
  }
}

}  // namespace

std::string name_of_output(const NodeView& node, std::size_t port) {
  return std::string(node.name()) + (port == 0 ? "" : ":" + std::to_string(port));
}

Result<void> NodeWalk::walk() {
  const ProtoMessage* library = find_message(graphdef_, graph_field::kLibrary);
  if (library != nullptr && !library->fields.empty()) {
    return Error{ErrorCode::unsupported, "the graph has a library of functions; inline them, and freeze the graph", ""};
  }
  LOWTIDE_RETURN_IF_ERROR(add_nodes());
  for (WalkedNode& node : nodes_) LOWTIDE_RETURN_IF_ERROR(add_inputs(node));
  LOWTIDE_RETURN_IF_ERROR(check_given());
  LOWTIDE_RETURN_IF_ERROR(sort());
  for (std::uint32_t at : order_) LOWTIDE_RETURN_IF_ERROR(infer(at));
  return {};
}

Result<void> NodeWalk::add_nodes() {
  for (const ProtoMessage* message : messages_of(graphdef_, graph_field::kNode)) {
    if (static_cast<std::int64_t>(nodes_.size()) == limits::kMaxNodes) {
      return Error{ErrorCode::over_limit,
                   "the graph has more than " + std::to_string(limits::kMaxNodes) + " nodes (kMaxNodes)", ""};
    }
    WalkedNode node{.view = NodeView(*message)};
    node.kind = kind_of_op(node.view.op());
    if (node.view.op().empty()) return fault(node.view, "the node has no operator");
    if (node.kind == NodeKind::loop) {
      return fault(node.view, "the graph has a loop, which Lowtide cannot plan", ErrorCode::unsupported);
    }
    if (!ids_.emplace(node.view.name(), static_cast<std::uint32_t>(nodes_.size())).second) {
      return fault(node.view, "two nodes have this name");
    }
    node.kept_types = kept_types(node.view);
    const std::size_t listed = node.kept_types ? node.kept_types->size() : 0;
    most_outputs_ += kMostPerInput * (node.view.inputs().size() + 1) + listed;
    nodes_.push_back(std::move(node));
  }
  for (WalkedNode& node : nodes_) {
    const std::size_t count = node.kept_types ? node.kept_types->size() : least_outputs(node.view);
    LOWTIDE_RETURN_IF_ERROR(grow_outputs(node, count));
  }
  return {};
}

Result<void> NodeWalk::grow_outputs(WalkedNode& node, std::size_t count) {
  if (count <= node.outputs.size()) return {};
  outputs_ += count - node.outputs.size();
  if (outputs_ > most_outputs_) {
    return fault(node.view,
                 "the nodes have more than " + std::to_string(most_outputs_) + " outputs, far more than are read",
                 ErrorCode::over_limit);
  }
  node.outputs.resize(count);
  return {};
}

Result<void> NodeWalk::add_inputs(WalkedNode& node) {
  for (std::string_view input : node.view.inputs()) {
    const DefInput name = read_input(input);
    const auto found = ids_.find(name.node);
    if (found == ids_.end()) return fault(node.view, "its input " + quoted(input, 60) + " does not exist");
    if (name.is_control) {
      node.controls.push_back(found->second);
      continue;
    }
    WalkedNode& from = nodes_[found->second];
    const auto port = static_cast<std::size_t>(name.port);
    const bool is_beyond = has_all_outputs(from.view) && port >= from.outputs.size();
    if (name.port >= kMostOutputs || from.kind == NodeKind::no_output || is_beyond) {
      return fault(node.view, "its input " + quoted(input, 60) + " is no output of " + shown_node(from.view));
    }
    LOWTIDE_RETURN_IF_ERROR(grow_outputs(from, port + 1));
    if (port >= from.is_read.size()) from.is_read.resize(port + 1, false);
    from.is_read[port] = true;
    node.inputs.emplace_back(found->second, static_cast<std::uint32_t>(port));
  }
  return {};
}

Result<void> NodeWalk::sort() {
  std::vector<std::vector<std::uint32_t>> readers(nodes_.size());
  std::vector<std::size_t> waits(nodes_.size(), 0);
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    for (const auto& [from, port] : nodes_[at].inputs) readers[from].push_back(at);
    for (std::uint32_t from : nodes_[at].controls) readers[from].push_back(at);
    waits[at] = nodes_[at].inputs.size() + nodes_[at].controls.size();
    if (waits[at] == 0) order_.push_back(at);
  }
  for (std::size_t next = 0; next < order_.size(); ++next) {
    for (std::uint32_t reader : readers[order_[next]]) {
      if (--waits[reader] == 0) order_.push_back(reader);
    }
  }
  if (order_.size() == nodes_.size()) return {};
  const auto blocked = std::find_if(waits.begin(), waits.end(), [](std::size_t count) { return count > 0; });
  return fault(nodes_[static_cast<std::size_t>(blocked - waits.begin())].view, "the node is in a cycle, or behind one");
}

std::pair<std::uint32_t, std::uint32_t> NodeWalk::source(std::pair<std::uint32_t, std::uint32_t> output) const {
  const std::optional<std::pair<std::uint32_t, std::uint32_t>>& state = nodes_[output.first].state;
  return output.second == 0 && state ? *state : output;
}

// Adds what the file or the caller says. The caller must not contradict what is known.
Result<void> NodeWalk::describe_outputs(const WalkedNode& node, std::vector<KnownTensor>& outputs) const {
  const ProtoMessage* shapes = node.view.value("_output_shapes");
  const ProtoMessage* list = shapes == nullptr ? nullptr : find_message(*shapes, value_field::kList);
  const auto said = list == nullptr ? std::vector<const ProtoMessage*>() : messages_of(*list, value_field::kShape);
  for (std::size_t port = 0; port < outputs.size(); ++port) {
    std::optional<Extents>& extents = outputs[port].extents;
    if (!extents && port < said.size()) extents = stated_extents(*said[port]);
    const Extents* given = given_shape(name_of_output(node.view, port));
    if (given == nullptr) continue;
    if (extents && *extents != *given) {
      return fault(node.view, "its output " + std::to_string(port) + " has the shape " + to_string(Shape(*extents)) +
                                  ", but the given one is " + to_string(Shape(*given)));
    }
    extents = *given;
  }
  return {};
}

std::optional<Extents> NodeWalk::stated_extents(const ProtoMessage& shape) const {
  std::optional<Extents> extents = known_ != nullptr ? open_extents_of(shape) : extents_of(shape);
  return extents && may_have(*extents) ? std::move(extents) : std::nullopt;
}

const Extents* NodeWalk::given_shape(const std::string& name) const {
  for (const auto* shapes : {&options_.shapes, &options_.listed_shapes}) {
    if (const auto found = shapes->find(name); found != shapes->end()) return &found->second;
  }
  return nullptr;
}

Result<void> NodeWalk::check_given() const {
  for (const auto& [name, shape] : options_.shapes) {
    const DefInput output = read_input(name);
    const auto found = ids_.find(output.node);
    if (found != ids_.end() && static_cast<std::size_t>(output.port) < nodes_[found->second].outputs.size()) continue;
    return Error{ErrorCode::invalid, "the shape of " + quoted(name, 60) + " is given, but the graph has no such tensor",
                 ""};
  }
  return {};
}

Extents merged_extents(Extents a, const Extents& b) {
  for (std::size_t axis = 0; axis < a.size() && a.size() == b.size(); ++axis) {
    if (a[axis] == kOpen) a[axis] = b[axis];
  }
  return a;
}

void NodeWalk::add_known_shapes(std::uint32_t at, std::vector<KnownTensor>& outputs) const {
  if (known_ == nullptr || outputs.empty()) return;
  if (known_->forgotten.contains(nodes_[at].view.name())) outputs.front().extents = std::nullopt;
  for (std::uint32_t port = 0; port < outputs.size(); ++port) {
    const auto found = known_->of_outputs.find({at, port});
    if (found == known_->of_outputs.end()) continue;
    std::optional<Extents>& extents = outputs[port].extents;
    extents = extents ? merged_extents(*std::move(extents), found->second) : found->second;
  }
}

// Open extents are only for a walk with known shapes.
bool NodeWalk::may_have(const Extents& extents) const {
  return extents.size() <= kMostAxes && (known_ != nullptr || !is_open(extents));
}

Result<void> NodeWalk::infer(std::uint32_t at) {
  WalkedNode& node = nodes_[at];
  if (node.kind == NodeKind::same_state && !node.inputs.empty()) node.state = source(node.inputs.front());
  NodeTypes types{.node = node.view, .inputs = {}, .outputs = node.outputs};
  for (const auto& input : node.inputs) {
    const auto from = source(input);
    types.inputs.push_back(&nodes_[from.first].outputs[from.second]);
  }
  const ProtoMessage* tensor = node.kind == NodeKind::constant ? node.view.value("value") : nullptr;
  if (tensor != nullptr) tensor = find_message(*tensor, value_field::kTensor);
  if (tensor != nullptr) {
    const ProtoMessage* shape = find_message(*tensor, tensor_field::kShape);
    types.outputs[0].extents = shape == nullptr ? Extents() : extents_of(*shape);
    if (!node.view.is_set(kept::kNoContent)) types.outputs[0].content = integers_of_tensor(*tensor);
  }
  if (node.kind != NodeKind::ordinary && !types.outputs.empty()) {
    types.outputs[0].dtype = node.view.dtype("dtype");
    const ProtoMessage* shape = node.view.value("shape");
    if (shape != nullptr) shape = find_message(*shape, value_field::kShape);
    if (shape != nullptr && node.kind != NodeKind::constant) types.outputs[0].extents = stated_extents(*shape);
  }
  if (node.kept_types) {
    set_kept_types(*node.kept_types, types);
  } else if (node.kind == NodeKind::ordinary) {
    infer_node(types);
    if (known_ != nullptr) infer_partial(types);
  }
  if (!types.fault.empty()) return fault(node.view, types.fault);
  for (KnownTensor& output : types.outputs) {
    if (output.extents && !may_have(*output.extents)) output.extents = std::nullopt;
  }
  LOWTIDE_RETURN_IF_ERROR(describe_outputs(node, types.outputs));
  add_known_shapes(at, types.outputs);
  node.outputs = std::move(types.outputs);
  node.is_read.resize(node.outputs.size(), false);
  return {};
}

}  // namespace lowtide::graphdef_internal
