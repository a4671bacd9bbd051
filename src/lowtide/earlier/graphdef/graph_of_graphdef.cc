// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/graph_of_graphdef.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/attribute_values.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/kept_facts.h"
#include "lowtide/earlier/graphdef/node_walk.h"
#include "lowtide/earlier/proto/proto.h"
#include "lowtide/earlier/proto/raw_field.h"
#include "lowtide/graph/builder.h"

namespace lowtide {
namespace graphdef_internal {
namespace {

constexpr std::size_t kShownNames = 8;
constexpr std::uint64_t kTextType = 7;  // DT_STRING

using Output = std::pair<std::uint32_t, std::uint32_t>;  // node and port

class GraphMaker {
 public:
  GraphMaker(const GraphDefOptions& options, const NodeWalk& walk) : options_(options), walk_(walk) {}

  Result<GraphOfGraphDef> make() && {
    LOWTIDE_RETURN_IF_ERROR(add_tensors());
    find_written();
    LOWTIDE_RETURN_IF_ERROR(add_nodes());
    LOWTIDE_RETURN_IF_ERROR(set_outputs());
    note_devices();
    LOWTIDE_TRY(Graph graph, std::move(builder_).build());
    return GraphOfGraphDef{std::move(graph), std::move(notes_)};
  }

 private:
  static bool is_node(NodeKind kind) {
    return kind == NodeKind::ordinary || kind == NodeKind::same_state || kind == NodeKind::no_output;
  }
  Result<void> add_tensors();
  void find_written();
  void add_tensor(std::uint32_t at, std::uint32_t port);
  std::string domain_of(std::uint32_t at) const;
  Result<void> add_nodes();
  void add_controls(std::uint32_t at, GraphBuilder::NodeSpec& spec) const;
  void add_attributes(const NodeView& view, GraphBuilder::NodeSpec& spec) const;
  Result<void> set_outputs();
  void set_unread_outputs();
  void note_devices();
  Error unresolved(const std::vector<std::string>& names) const;

  const GraphDefOptions& options_;
  const NodeWalk& walk_;
  GraphBuilder builder_{""};
  std::map<Output, TensorId> tensors_;
  std::set<std::uint32_t> unsized_;           // nodes
  std::map<std::uint32_t, NodeId> node_ids_;  // by index of the node
  std::set<Output> written_;                  // variables
  std::vector<std::string> notes_;
};

Error GraphMaker::unresolved(const std::vector<std::string>& names) const {
  return Error{ErrorCode::unresolved,
               "the sizes of some tensors are not known: " + listed_first(names, kShownNames) +
                   "; set shapes with --shape NAME=AxB, or count each as one byte with --unit-sizes",
               ""};
}

// Texts, such as the message of an Assert, have no size.
bool is_text_constant(const WalkedNode& node) {
  const ProtoMessage* type = node.kind == NodeKind::constant ? node.view.value("dtype") : nullptr;
  return type != nullptr && find_number(*type, value_field::kType) == kTextType;
}

void GraphMaker::add_tensor(std::uint32_t at, std::uint32_t port) {
  const WalkedNode& node = walk_.nodes()[at];
  const KnownTensor& known = node.outputs[port];
  const bool is_known = known.dtype && known.extents;
  if (!is_known) unsized_.insert(at);
  Role role = Role::temporary;
  if (node.kind == NodeKind::input) role = Role::input;
  if (node.kind == NodeKind::constant) role = Role::constant;
  if (node.kind == NodeKind::variable) role = Role::state;
  const std::vector<std::string_view> names = kept_texts(node.view, kept::kNames);
  const std::size_t at_name = port + 1;  // behind the name of the node
  GraphBuilder::TensorSpec spec{
      .name = at_name < names.size() ? std::string(names[at_name]) : name_of_output(node.view, port),
      .dtype = is_known ? *known.dtype : DType::u8,
      .shape = Shape(is_known ? *known.extents : Extents{1})};
  if (node.kept_types && port < node.kept_types->size() && (*node.kept_types)[port]) {
    const Shape& kept = (*node.kept_types)[port]->shape;
    if (kept.extents() == known.extents) spec.shape = kept;  // with its upper bounds
  }
  const TensorId id = builder_.add_tensor(std::move(spec), role);
  tensors_[{at, port}] = id;
  if (role != Role::constant || !is_known || node.view.is_set(kept::kNoContent)) return;
  const ProtoMessage* value = node.view.value("value");
  const ProtoMessage* tensor = value == nullptr ? nullptr : find_message(*value, value_field::kTensor);
  if (tensor == nullptr || dtype_of(find_number(*tensor, tensor_field::kType).value_or(0)) != known.dtype) return;
  std::optional<Extents> content = known_integers_of_tensor(*tensor);
  const Result<std::int64_t> elements = element_count(Shape(*known.extents));
  if (!content || !elements || *elements != static_cast<std::int64_t>(content->size())) return;
  builder_.set_known_integers(id, *std::move(content));
}

// Outputs without readers need a tensor only if their size is known, or if they are the first one. Constants of texts
// have none.
Result<void> GraphMaker::add_tensors() {
  std::vector<std::string> unknown;
  for (std::uint32_t at : walk_.order()) {
    const WalkedNode& node = walk_.nodes()[at];
    if (node.kind == NodeKind::same_state && !node.inputs.empty()) continue;
    for (std::uint32_t port = 0; port < node.outputs.size(); ++port) {
      const KnownTensor& known = node.outputs[port];
      const bool is_known = known.dtype && known.extents;
      const bool is_left_out = node.kept_types && (port >= node.kept_types->size() || !(*node.kept_types)[port]);
      const bool is_unread = !node.is_read[port] && (port > 0 || !is_node(node.kind) || is_left_out);
      const bool is_optional = is_unread || is_text_constant(node);
      if (!is_known && is_optional) continue;
      if (!is_known && !options_.unit_sizes) {
        const auto reads_unknown = [&](const Output& input) {
          const Output from = walk_.source(input);
          const KnownTensor& source = walk_.nodes()[from.first].outputs[from.second];
          return (!source.dtype || !source.extents) && !is_text_constant(walk_.nodes()[from.first]);
        };
        if (std::any_of(node.inputs.begin(), node.inputs.end(), reads_unknown)) continue;
        const std::string type = known.dtype ? "" : unread_type(node.view);
        unknown.push_back(quoted(name_of_output(node.view, port), 60) + " of " + shown_node(node.view) +
                          (type.empty() ? "" : ", whose type " + type + " is not read"));
        continue;
      }
      add_tensor(at, port);
    }
  }
  if (!unknown.empty()) return unresolved(unknown);
  if (!unsized_.empty())
    notes_.push_back("the results of " + std::to_string(unsized_.size()) +
                     " nodes of unknown size count as one byte each");
  return {};
}

void GraphMaker::add_attributes(const NodeView& view, GraphBuilder::NodeSpec& spec) const {
  const std::vector<std::string_view> added = kept_texts(view, kept::kAdded);
  for (const ProtoMessage* entry : view.entries()) {
    const std::string key(find_text(*entry, entry_field::kKey).value_or(""));
    const ProtoMessage* value = find_message(*entry, entry_field::kValue);
    if (value == nullptr || key == "_output_shapes" || key.starts_with(kept::kPrefix)) continue;
    if (std::ranges::find(added, key) != added.end()) continue;
    spec.attributes.push_back({key, attribute_of_value(key, *value)});
  }
  // The order of a map in a file has no meaning.
  std::sort(spec.attributes.begin(), spec.attributes.end(),
            [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
}

// Control inputs that are nodes, and the nodes that wrote the variables among the inputs.
void GraphMaker::add_controls(std::uint32_t at, GraphBuilder::NodeSpec& spec) const {
  const WalkedNode& node = walk_.nodes()[at];
  std::set<NodeId> before;
  for (std::uint32_t control : node.controls) {
    if (const auto found = node_ids_.find(control); found != node_ids_.end()) before.insert(found->second);
  }
  for (const Output& input : node.inputs) {
    if (walk_.nodes()[input.first].kind != NodeKind::same_state) continue;
    if (const auto found = node_ids_.find(input.first); found != node_ids_.end()) before.insert(found->second);
  }
  spec.control_inputs.assign(before.begin(), before.end());
}

void GraphMaker::find_written() {
  for (const WalkedNode& node : walk_.nodes()) {
    const std::size_t count = std::min(count_written(node.view.op()), node.inputs.size());
    for (std::size_t at = 0; at < count; ++at) written_.insert(walk_.source(node.inputs[at]));
  }
  // What a view makes of a variable changes with it.
  for (std::uint32_t at : walk_.order()) {
    const WalkedNode& node = walk_.nodes()[at];
    if (!is_view_of_input(node.view.op()) || node.inputs.empty()) continue;
    if (written_.contains(walk_.source(node.inputs.front()))) written_.insert({at, 0});
  }
}

std::string GraphMaker::domain_of(std::uint32_t at) const {
  const NodeView& view = walk_.nodes()[at].view;
  if (view.value(kept::kDomain) != nullptr) return std::string(view.text(kept::kDomain, ""));
  // Nothing may be proven about a graph with tensors of unknown size.
  const auto is_unsized = [&](const Output& input) { return unsized_.contains(walk_.source(input).first); };
  const std::vector<Output>& inputs = walk_.nodes()[at].inputs;
  if (unsized_.contains(at) || std::any_of(inputs.begin(), inputs.end(), is_unsized)) return "tensorflow.unsized";
  const auto is_written = [&](const Output& input) { return written_.contains(walk_.source(input)); };
  return std::any_of(inputs.begin(), inputs.end(), is_written) ? "tensorflow.once" : "tensorflow";
}

Result<void> GraphMaker::add_nodes() {
  for (std::uint32_t at : walk_.order()) {
    const WalkedNode& node = walk_.nodes()[at];
    if (!is_node(node.kind)) continue;
    const std::vector<std::string_view> names = kept_texts(node.view, kept::kNames);
    GraphBuilder::NodeSpec spec{.name = std::string(names.empty() ? node.view.name() : names.front()),
                                .domain = domain_of(at),
                                .type = std::string(node.view.text(kept::kType, node.view.op()))};
    LOWTIDE_TRY(const std::vector<std::int64_t> positions, kept_inputs(node.view, node.inputs.size()));
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const auto found = tensors_.find(walk_.source(node.inputs[input]));
      if (!positions.empty()) spec.inputs.resize(static_cast<std::size_t>(positions[input]));
      spec.inputs.push_back(found == tensors_.end() ? std::nullopt : std::optional(found->second));
    }
    if (!positions.empty()) spec.inputs.resize(static_cast<std::size_t>(positions.back()));
    for (std::uint32_t port = 0; port < node.outputs.size(); ++port) {
      const auto found = tensors_.find({at, port});
      spec.outputs.push_back(found == tensors_.end() ? std::nullopt : std::optional(found->second));
    }
    add_controls(at, spec);
    add_attributes(node.view, spec);
    node_ids_[at] = builder_.add_node(std::move(spec));
  }
  return {};
}

// The outputs that the nodes state, by their positions, or else those that no node reads.
Result<void> GraphMaker::set_outputs() {
  std::map<std::int64_t, TensorId> outputs;
  bool are_stated = false;
  for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
    const NodeView& view = walk_.nodes()[at].view;
    are_stated = are_stated || view.value(kept::kOutputs) != nullptr;
    const Extents pairs = view.integers(kept::kOutputs);
    for (std::size_t one = 0; one + 1 < pairs.size(); one += 2) {
      const auto port = static_cast<std::uint32_t>(std::clamp<std::int64_t>(pairs[one], 0, UINT32_MAX));
      const auto found = tensors_.find({at, port});
      if (found != tensors_.end() && outputs.emplace(pairs[one + 1], found->second).second) continue;
      return Error{ErrorCode::invalid,
                   "its attribute '" + std::string(kept::kOutputs) +
                       "' names an output that it does not have, or one "
                       "place twice",
                   shown_node(view)};
    }
  }
  if (!are_stated) {
    set_unread_outputs();
    return {};
  }
  std::vector<TensorId> in_order;
  for (const auto& [position, tensor] : outputs) in_order.push_back(tensor);
  builder_.set_outputs(std::move(in_order));
  return {};
}

void GraphMaker::set_unread_outputs() {
  std::vector<TensorId> outputs;
  for (const auto& [output, tensor] : tensors_) {
    const WalkedNode& node = walk_.nodes()[output.first];
    const bool is_read = output.second < node.is_read.size() && node.is_read[output.second];
    if (is_node(node.kind) && !is_read && output.second == 0) outputs.push_back(tensor);
  }
  if (!outputs.empty()) {
    notes_.push_back("a GraphDef does not say what is fetched; outputs are the results that no node reads: " +
                     std::to_string(outputs.size()));
  }
  builder_.set_outputs(std::move(outputs));
}

void GraphMaker::note_devices() {
  std::set<std::string> devices;
  for (const WalkedNode& node : walk_.nodes()) {
    if (!node.view.device().empty()) devices.insert(quoted(node.view.device(), 60));
  }
  if (devices.size() < 2) return;
  notes_.push_back("the graph uses " + std::to_string(devices.size()) + " devices (" +
                   listed_first(devices, kShownNames) + "); a plan puts the tensors of all of them into one arena");
}

bool is_binary_graphdef(std::string_view bytes) {
  bool has_node = false;
  while (!bytes.empty()) {
    const std::optional<RawProtoField> field = take_raw_field(bytes);
    if (!field) return has_node;
    if (!fits_schema(kGraphSchema, *field)) return false;
    if (field->number != graph_field::kNode || has_node) continue;
    bool has_op = false;
    for (std::string_view node = field->bytes; !node.empty();) {
      const std::optional<RawProtoField> inner = take_raw_field(node);
      if (!inner) break;  // the begin of a file may end in a tag
      if (!inner->has_length) return false;
      has_op = has_op || inner->number == node_field::kOp;
    }
    if (!has_op) return false;
    has_node = true;
  }
  return has_node;
}

}  // namespace
}  // namespace graphdef_internal

bool is_graphdef(std::string_view begin) {
  if (const std::optional<std::string_view> field = first_field_of_text(begin)) {
    return *field == "node" || *field == "versions" || *field == "version";
  }
  return graphdef_internal::is_binary_graphdef(begin);
}

Result<ProtoMessage> read_graphdef(std::string_view bytes) {
  return is_proto_text(bytes) ? read_proto_text(graphdef_internal::kGraphSchema, bytes)
                              : read_proto_binary(graphdef_internal::kGraphSchema, bytes);
}

Result<GraphOfGraphDef> graph_of_graphdef(const ProtoMessage& graphdef, const GraphDefOptions& options) {
  graphdef_internal::NodeWalk walk(graphdef, options);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  return graphdef_internal::GraphMaker(options, walk).make();
}

}  // namespace lowtide
