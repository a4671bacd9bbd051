// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/graph_of_net.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/net_walk.h"
#include "lowtide/graph/builder.h"

namespace lowtide {
namespace netdef_internal {
namespace {

constexpr std::size_t kShownNames = 8;
constexpr std::size_t kKeptValues = 64;

template <typename Element, typename Convert>
AttributeValue list_value(const std::vector<std::uint64_t>& bits, const std::string& what, Convert convert) {
  if (bits.size() > kKeptValues) return OpaqueAttribute{std::to_string(bits.size()) + " " + what};
  std::vector<Element> values;
  for (std::uint64_t one : bits) values.push_back(convert(one));
  return values;
}

double real_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
std::int64_t integer_of(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

AttributeValue value_of(const ProtoMessage& argument) {
  if (const auto bits = find_number(argument, argument_field::kInteger)) return integer_of(*bits);
  if (const auto bits = find_number(argument, argument_field::kReal)) return real_of(*bits);
  if (find_message(argument, argument_field::kNet) || find_message(argument, argument_field::kNets)) {
    return OpaqueAttribute{"net"};
  }
  if (const auto text = find_text(argument, argument_field::kText)) {
    return text->size() > 4096 ? AttributeValue(OpaqueAttribute{"text"}) : AttributeValue(std::string(*text));
  }
  const std::vector<std::uint64_t> integers = numbers_of(argument, argument_field::kIntegers);
  if (!integers.empty()) return list_value<std::int64_t>(integers, "integers", integer_of);
  const std::vector<std::uint64_t> reals = numbers_of(argument, argument_field::kReals);
  if (!reals.empty()) return list_value<double>(reals, "floats", real_of);
  std::vector<std::string> texts;
  for (std::string_view one : texts_of(argument, argument_field::kTexts)) texts.emplace_back(one);
  return texts;
}

class NetGraphMaker {
 public:
  NetGraphMaker(const ProtoMessage& net, const NetGraphOptions& options, const NetWalk& walk)
      : net_(net),
        options_(options),
        walk_(walk),
        builder_(std::string(find_text(net, net_field::kName).value_or(""))) {}

  Result<NetGraph> make() &&;

 private:
  Result<void> check_types() const;
  Role role_of(const NetVersion& version) const;
  bool is_state(const NetBlob& blob) const;
  void add_tensors();
  bool has_unsized_blob(const NetOp& op) const;
  Result<void> add_nodes();
  Result<Body> capturing_body(const NetOp& op) const;
  Result<void> set_outputs();
  void describe_blobs();
  std::uint32_t device_number(NetDevice device);
  void note(const std::string& text) { notes_.push_back(text); }

  const ProtoMessage& net_;
  const NetGraphOptions& options_;
  const NetWalk& walk_;
  GraphBuilder builder_;
  std::vector<TensorId> tensor_of_;  // by version
  std::map<NetDevice, std::uint32_t> device_numbers_ = {{NetDevice{}, 0}};
  NetFacts facts_;
  std::vector<std::string> notes_;
};

Result<NetGraph> NetGraphMaker::make() && {
  LOWTIDE_RETURN_IF_ERROR(check_types());
  add_tensors();
  LOWTIDE_RETURN_IF_ERROR(add_nodes());
  LOWTIDE_RETURN_IF_ERROR(set_outputs());
  describe_blobs();
  LOWTIDE_TRY(GraphBuilder::Built built, std::move(builder_).build_with_ids());
  facts_.op_of = IdVector<NodeId, std::uint32_t>(walk_.ops().size(), 0);
  for (std::uint32_t at = 0; at < walk_.ops().size(); ++at) {
    facts_.op_of[built.node_ids[NodeId(at)]] = walk_.ops()[at].at;
  }
  facts_.type = std::string(find_text(net_, net_field::kType).value_or(""));
  facts_.has_free = walk_.left_out() > 0;
  if (facts_.has_free) note(std::to_string(walk_.left_out()) + " Free operators are left out");
  if (facts_.device_names.size() > 1) {
    note("the net uses " + std::to_string(facts_.device_names.size()) + " devices (" + listed(facts_.device_names) +
         "); a plan puts the tensors of all of them into one arena, but Caffe2's rules keep them apart");
  }
  return NetGraph{std::move(built.graph), std::move(facts_), std::move(notes_)};
}

// Types that do not follow from others: those of external inputs, and of results whose operators have known inputs.
Result<void> NetGraphMaker::check_types() const {
  std::vector<std::string> inputs;
  std::vector<std::string> results;
  for (const NetVersion& version : walk_.versions()) {
    if (version.type || options_.unit_sizes) continue;
    const std::string name = quoted(walk_.blobs()[version.blob].name, 60);
    if (!version.writer) {
      inputs.push_back(name);
      continue;
    }
    const NetOp& op = walk_.ops()[*version.writer];
    const auto is_known = [&](std::optional<std::uint32_t> input) {
      return !input || walk_.versions()[*input].type.has_value();
    };
    if (!std::all_of(op.inputs.begin(), op.inputs.end(), is_known)) continue;
    results.push_back(name + " of " + shown_op(op.view, op.at));
  }
  if (inputs.empty() && results.empty()) return {};
  std::string message = "the sizes of some blobs are not known:";
  if (!inputs.empty())
    message += " external inputs " + listed_first(inputs, kShownNames) + (results.empty() ? "" : ";");
  if (!results.empty()) message += " results " + listed_first(results, kShownNames);
  message +=
      "; set them with --shape NAME=AxB, with --shapes FILE, or with --init-net FILE for parameters, or count each as "
      "one byte with --unit-sizes";
  return Error{ErrorCode::unresolved, message, ""};
}

bool NetGraphMaker::is_state(const NetBlob& blob) const {
  if (!blob.is_external || blob.versions.size() < 2) return false;
  return walk_.versions()[blob.versions.front()].type == walk_.versions()[blob.versions.back()].type;
}

Role NetGraphMaker::role_of(const NetVersion& version) const {
  if (version.writer) return Role::temporary;
  const NetBlob& blob = walk_.blobs()[version.blob];
  if (is_state(blob)) return Role::state;
  if (blob.is_written) return Role::input;
  return blob.is_weight || options_.parameters.contains(blob.name) ? Role::constant : Role::input;
}

std::uint32_t NetGraphMaker::device_number(NetDevice device) {
  const auto [at, is_new] = device_numbers_.emplace(device, static_cast<std::uint32_t>(device_numbers_.size()));
  if (is_new) facts_.device_names.push_back(shown_device(device));
  return at->second;
}

void NetGraphMaker::add_tensors() {
  const std::vector<std::string> names = names_of_versions(walk_);
  std::size_t unsized = 0;
  for (std::uint32_t id = 0; id < walk_.versions().size(); ++id) {
    const NetVersion& version = walk_.versions()[id];
    const NetBlob& blob = walk_.blobs()[version.blob];
    unsized += version.type ? 0 : 1;
    const BlobType type = version.type.value_or(BlobType{DType::u8, {1}});
    tensor_of_.push_back(
        builder_.add_tensor({.name = names[id], .dtype = type.dtype, .shape = Shape(type.extents)}, role_of(version)));
    facts_.blob_of.push_back(std::string(blob.name));
    facts_.devices.push_back(device_number(blob.device));
  }
  if (unsized > 0) note(std::to_string(unsized) + " tensors of unknown size count as one byte each");
  for (const NetBlob& blob : walk_.blobs()) {
    if (is_state(blob)) builder_.add_state_update(tensor_of_[blob.versions.front()], tensor_of_[blob.versions.back()]);
  }
}

// A body that stands for the nets inside an operator: it reads what they read.
Result<Body> NetGraphMaker::capturing_body(const NetOp& op) const {
  GraphBuilder builder("nets");
  Body body{.name = "nets", .graph = nullptr, .captures = {}};
  GraphBuilder::NodeSpec node{.domain = "caffe2", .type = "Net"};
  std::vector<std::uint32_t> captures = op.captures;
  std::sort(captures.begin(), captures.end());
  for (std::uint32_t version : captures) {
    const BlobType type = walk_.versions()[version].type.value_or(BlobType{DType::u8, {1}});
    const TensorId inner = builder.add_tensor({.name = "of " + std::to_string(version),
                                               .dtype = type.dtype,
                                               .shape = Shape(type.extents),
                                               .is_captured = true},
                                              Role::input);
    node.inputs.emplace_back(inner);
    body.captures.emplace_back(tensor_of_[version], inner);
  }
  builder.add_node(std::move(node));
  Result<Graph> graph = std::move(builder).build();
  // A captured tensor that no graph can have is found here first.
  if (!graph) return Error{graph.error().code, graph.error().message, shown_op(op.view, op.at)};
  body.graph = std::make_shared<const Graph>(*std::move(graph));
  return body;
}

// Nothing may be proven about a net with such a blob.
bool NetGraphMaker::has_unsized_blob(const NetOp& op) const {
  const auto is_unsized = [&](std::optional<std::uint32_t> version) {
    return version && !walk_.versions()[*version].type;
  };
  return std::any_of(op.inputs.begin(), op.inputs.end(), is_unsized) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), is_unsized) ||
         std::any_of(op.captures.begin(), op.captures.end(), is_unsized);
}

Result<void> NetGraphMaker::add_nodes() {
  for (const NetOp& op : walk_.ops()) {
    GraphBuilder::NodeSpec node{
        .name = std::string(op.view.name()), .domain = "caffe2", .type = std::string(op.view.type())};
    if (has_unsized_blob(op)) node.domain = "caffe2.unsized";
    for (std::optional<std::uint32_t> version : op.inputs) {
      node.inputs.push_back(version ? std::optional(tensor_of_[*version]) : std::nullopt);
    }
    for (std::optional<std::uint32_t> version : op.outputs) {
      node.outputs.push_back(version ? std::optional(tensor_of_[*version]) : std::nullopt);
    }
    for (std::uint32_t before : op.after) node.control_inputs.emplace_back(before);
    std::sort(node.control_inputs.begin(), node.control_inputs.end());
    node.control_inputs.erase(std::unique(node.control_inputs.begin(), node.control_inputs.end()),
                              node.control_inputs.end());
    for (const ProtoMessage* argument : op.view.arguments()) {
      const std::string name(find_text(*argument, argument_field::kName).value_or(""));
      node.attributes.push_back({name, value_of(*argument)});
    }
    if (!op.captures.empty()) {
      LOWTIDE_TRY(Body body, capturing_body(op));
      node.bodies.push_back(std::move(body));
    }
    builder_.add_node(std::move(node));
  }
  return {};
}

Result<void> NetGraphMaker::set_outputs() {
  LOWTIDE_TRY(const ReturnedVersions returned, returned_versions(net_, walk_));
  std::vector<TensorId> outputs;
  for (std::uint32_t version : returned.versions) {
    if (!is_state(walk_.blobs()[walk_.versions()[version].blob])) outputs.push_back(tensor_of_[version]);
  }
  if (!returned.are_listed && !outputs.empty()) {
    note("the net lists no external outputs, so " + std::to_string(outputs.size()) +
         " results that no operator reads are its outputs");
  }
  builder_.set_outputs(std::move(outputs));
  return {};
}

void NetGraphMaker::describe_blobs() {
  for (const NetBlob& blob : walk_.blobs()) {
    std::vector<TensorId> tensors;
    for (std::uint32_t version : blob.versions) tensors.push_back(tensor_of_[version]);
    if (blob.is_unshared) facts_.unshared.insert(facts_.unshared.end(), tensors.begin(), tensors.end());
    if (tensors.size() > 1) facts_.colocated.push_back(std::move(tensors));
  }
}

}  // namespace
}  // namespace netdef_internal

Result<NetGraph> graph_of_net(const ProtoMessage& net, const NetGraphOptions& options) {
  netdef_internal::NetWalk walk(net, options);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  for (const auto& [name, shape] : options.shapes) {
    if (walk.find_blob(name)) continue;
    return Error{ErrorCode::invalid, "the shape of " + quoted(name, 60) + " is given, but the net has no such blob",
                 ""};
  }
  return netdef_internal::NetGraphMaker(net, options, walk).make();
}

}  // namespace lowtide
