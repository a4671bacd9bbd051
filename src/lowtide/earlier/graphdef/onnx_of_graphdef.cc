// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/onnx_of_graphdef.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/graphdef/const_bytes.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/kept_facts.h"
#include "lowtide/earlier/graphdef/node_conversion.h"
#include "lowtide/earlier/graphdef/node_walk.h"
#include "lowtide/earlier/graphdef/why_not_run.h"

namespace lowtide {
namespace graphdef_internal {
namespace {

constexpr std::size_t kShownNodes = 8;

using Port = std::pair<std::uint32_t, std::uint32_t>;  // node and output

// What no conversion can work with. Empty: nothing.
std::string fault_of_operands(const NodeTypes& types) {
  const std::size_t least = least_operands(types.node.op());
  if (types.inputs.size() < least) {
    return "it has " + with_count(static_cast<std::int64_t>(types.inputs.size()), "input") +
           ", but its operator needs " + std::to_string(least);
  }
  for (const KnownTensor* one : types.inputs) {
    if (one->dtype && !has_element_bytes(*one->dtype)) return no_such_elements(*one->dtype);
  }
  for (const KnownTensor& one : types.outputs) {
    if (one.dtype && !has_element_bytes(*one.dtype)) return no_such_elements(*one.dtype);
  }
  return "";
}

class OnnxMaker {
 public:
  OnnxMaker(const GraphDefOptions& options, const NodeWalk& walk) : options_(options), walk_(walk) {}

  Result<OnnxOfGraphDef> make() && {
    LOWTIDE_RETURN_IF_ERROR(find_outputs());
    mark_needed();
    LOWTIDE_RETURN_IF_ERROR(check_nodes());
    LOWTIDE_RETURN_IF_ERROR(check_types());
    for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
      for (std::uint32_t port = 0; port < walk_.nodes()[at].outputs.size(); ++port) to_.reserve(name_of({at, port}));
    }
    for (std::uint32_t at : walk_.order()) LOWTIDE_RETURN_IF_ERROR(add_node(at));
    for (const Port& output : outputs_) to_.add_output(name_of(output), type_of(output));
    return OnnxOfGraphDef{std::move(to_).finish("graph"), std::move(notes_)};
  }

 private:
  [[nodiscard]] const KnownTensor& tensor(const Port& output) const {
    return walk_.nodes()[output.first].outputs[output.second];
  }
  [[nodiscard]] OnnxType type_of(const Port& output) const { return {*tensor(output).dtype, *tensor(output).extents}; }
  // Small integers that follow from shapes need no node.
  [[nodiscard]] bool is_folded(const Port& output) const {
    const WalkedNode& node = walk_.nodes()[output.first];
    const KnownTensor& known = tensor(output);
    return node.kind == NodeKind::ordinary && known.content && known.dtype && known.extents;
  }
  [[nodiscard]] std::string name_of(const Port& output) const;
  Result<void> find_outputs();
  Result<void> find_stated_outputs();
  void mark_needed();
  Result<void> check_nodes() const;
  Result<void> check_types() const;
  Result<void> add_node(std::uint32_t at);
  Result<void> add_const(std::uint32_t at);
  void add_folded(std::uint32_t at);
  Result<void> convert(std::uint32_t at);

  const GraphDefOptions& options_;
  const NodeWalk& walk_;
  OnnxBuilder to_;
  std::vector<Port> outputs_;
  std::set<Port> needed_;        // tensors
  std::vector<bool> is_needed_;  // by node: some result is needed and not folded
  std::vector<std::string> notes_;
};

std::string OnnxMaker::name_of(const Port& output) const {
  const NodeView& view = walk_.nodes()[output.first].view;
  const std::vector<std::string_view> names = kept_texts(view, kept::kNames);
  const std::size_t at = output.second + 1U;  // behind the name of the node
  return at < names.size() ? std::string(names[at]) : name_of_output(view, output.second);
}

// The outputs that graph_of_graphdef() has: those that the file states, or else results that no node reads.
Result<void> OnnxMaker::find_outputs() {
  std::map<std::int64_t, Port> stated;
  for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
    const WalkedNode& node = walk_.nodes()[at];
    const Extents pairs = node.view.integers(kept::kOutputs);
    for (std::size_t one = 0; one + 1 < pairs.size(); one += 2) {
      if (pairs[one] < 0 || pairs[one] >= static_cast<std::int64_t>(node.outputs.size())) {
        return Error{ErrorCode::invalid, "it states an output that it does not have", shown_node(node.view)};
      }
      stated.emplace(pairs[one + 1], Port{at, static_cast<std::uint32_t>(pairs[one])});
    }
    if (node.view.op() == "_Retval" && !node.inputs.empty()) outputs_.push_back(node.inputs.front());
  }
  if (!stated.empty()) outputs_.clear();
  for (const auto& [position, output] : stated) outputs_.push_back(output);
  if (!outputs_.empty()) return {};
  for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
    const WalkedNode& node = walk_.nodes()[at];
    const bool may_return = node.kind == NodeKind::ordinary || node.kind == NodeKind::same_state;
    if (may_return && !node.outputs.empty() && !node.is_read[0]) outputs_.push_back({at, 0});
  }
  if (outputs_.empty()) return Error{ErrorCode::unsupported, "the graph has no result to compute", ""};
  notes_.push_back("a GraphDef does not say what is fetched; outputs are the results that no node reads: " +
                   std::to_string(outputs_.size()));
  return {};
}

void OnnxMaker::mark_needed() {
  is_needed_.assign(walk_.nodes().size(), false);
  std::vector<Port> open = outputs_;
  while (!open.empty()) {
    const Port output = open.back();
    open.pop_back();
    if (!needed_.insert(output).second || is_folded(output)) continue;
    if (is_needed_[output.first]) continue;
    is_needed_[output.first] = true;
    const std::vector<Port>& inputs = walk_.nodes()[output.first].inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
}

Result<void> OnnxMaker::check_nodes() const {
  std::vector<std::string> problems;
  for (std::uint32_t at = 0; at < walk_.nodes().size(); ++at) {
    const WalkedNode& node = walk_.nodes()[at];
    if (node.view.name().empty()) return Error{ErrorCode::invalid, "a node has no name", shown_node(node.view)};
    const bool has_effect = node.kind == NodeKind::no_output && count_written(node.view.op()) > 0;
    if (!is_needed_[at] && !has_effect) continue;
    const std::string reason = why_not_run(node);
    if (!reason.empty()) problems.push_back(shown_node(node.view) + " " + reason);
  }
  if (problems.empty()) return {};
  return Error{
      ErrorCode::unsupported,
      "the graph cannot run here: " + listed_first(problems, kShownNodes) +
          "; docs/graphdef.md lists the operators that run, and commands without --target cpu plan such a graph",
      ""};
}

Result<void> OnnxMaker::check_types() const {
  std::vector<std::string> unknown;
  std::vector<std::string> unread;
  const auto check = [&](const Port& output) {
    if (tensor(output).dtype && tensor(output).extents) return;
    const NodeView& view = walk_.nodes()[output.first].view;
    const std::string type = tensor(output).dtype ? "" : unread_type(view);
    const std::string shown = quoted(name_of(output), 60) + " of " + shown_node(view);
    if (!type.empty()) unread.push_back(shown + " is " + type);
    unknown.push_back(shown);
  };
  for (std::uint32_t at : walk_.order()) {
    if (!is_needed_[at]) continue;
    const std::size_t before = unknown.size();
    for (const Port& input : walk_.nodes()[at].inputs) {
      if (!tensor(input).dtype || !tensor(input).extents) unknown.emplace_back();
    }
    const bool reads_unknown = unknown.size() > before;
    unknown.resize(before);
    if (reads_unknown) continue;
    for (std::uint32_t port = 0; port < walk_.nodes()[at].outputs.size(); ++port) {
      if (port == 0 || needed_.contains({at, port})) check({at, port});
    }
  }
  if (!unread.empty()) {
    return Error{ErrorCode::unsupported,
                 "the graph has elements that no kernel has: " + listed_first(unread, kShownNodes) +
                     "; replace their type by a wider one",
                 ""};
  }
  if (unknown.empty()) return {};
  return Error{ErrorCode::unresolved,
               "the sizes of some tensors are not known: " + listed_first(unknown, kShownNodes) +
                   "; set shapes with --shape NAME=AxB",
               ""};
}

Result<void> OnnxMaker::add_node(std::uint32_t at) {
  const WalkedNode& node = walk_.nodes()[at];
  if (node.kind == NodeKind::input) {
    const KnownTensor& known = tensor({at, 0});
    if (known.dtype && known.extents) to_.add_input(name_of({at, 0}), type_of({at, 0}));
    return {};
  }
  if (node.kind == NodeKind::constant) return is_needed_[at] ? add_const(at) : Result<void>();
  if (is_needed_[at]) return convert(at);
  add_folded(at);
  return {};
}

Result<void> OnnxMaker::add_const(std::uint32_t at) {
  const WalkedNode& node = walk_.nodes()[at];
  const ProtoMessage* value = node.view.value("value");
  const ProtoMessage* tensor = value == nullptr ? nullptr : find_message(*value, value_field::kTensor);
  if (tensor == nullptr || node.view.is_set(kept::kNoContent)) {
    return Error{ErrorCode::unsupported, "the file does not have the content of this constant", shown_node(node.view)};
  }
  const OnnxType type = type_of({at, 0});
  const Result<std::string> bytes = const_bytes(*tensor, type.dtype, type.extents, to_);
  if (!bytes) return Error{bytes.error().code, bytes.error().message, shown_node(node.view)};
  to_.add_constant(name_of({at, 0}), type, *bytes);
  return {};
}

void OnnxMaker::add_folded(std::uint32_t at) {
  for (std::uint32_t port = 0; port < walk_.nodes()[at].outputs.size(); ++port) {
    const Port output{at, port};
    if (!needed_.contains(output) || !is_folded(output)) continue;
    const std::string list = to_.list_of(*tensor(output).dtype, *tensor(output).content);
    to_.add({.type = "Reshape",
             .inputs = {list, to_.integers(*tensor(output).extents)},
             .outputs = {name_of(output)},
             .attributes = {{"allowzero", std::int64_t{1}}}});
  }
}

Result<void> OnnxMaker::convert(std::uint32_t at) {
  const WalkedNode& node = walk_.nodes()[at];
  NodeTypes types{.node = node.view, .inputs = {}, .outputs = node.outputs};
  std::vector<std::string> operands;
  for (const Port& input : node.inputs) {
    types.inputs.push_back(&tensor(input));
    operands.push_back(name_of(input));
  }
  std::vector<std::string> results;
  for (std::uint32_t port = 0; port < node.outputs.size(); ++port) results.push_back(name_of({at, port}));
  NodeConversion conversion{.to = to_, .types = types, .operands = std::move(operands), .results = std::move(results)};
  conversion.fault = fault_of_operands(types);
  if (conversion.fault.empty()) conversion_of(node.view.op())(conversion);
  for (std::uint32_t port = 0; port < node.outputs.size() && conversion.fault.empty(); ++port) {
    if (!needed_.contains({at, port}) || to_.writes(conversion.results[port])) continue;
    conversion.fault = "its output " + std::to_string(port) + " has no conversion";
  }
  if (conversion.fault.empty()) return {};
  return Error{ErrorCode::unsupported, "this node cannot run here: " + conversion.fault, shown_node(node.view)};
}

}  // namespace
}  // namespace graphdef_internal

Result<OnnxOfGraphDef> onnx_of_graphdef(const ProtoMessage& graphdef, const GraphDefOptions& options) {
  graphdef_internal::NodeWalk walk(graphdef, options);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  return graphdef_internal::OnnxMaker(options, walk).make();
}

}  // namespace lowtide
