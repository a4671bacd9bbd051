// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx_nodes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"

namespace lowtide {
namespace {

// The numbers of fields in onnx.proto.
constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kGraphNode = 1;
constexpr std::uint64_t kGraphOutput = 12;
constexpr std::uint64_t kNodeInput = 1;
constexpr std::uint64_t kNodeOutput = 2;
constexpr std::uint64_t kNodeAttribute = 5;
constexpr std::uint64_t kAttributeGraph = 6;
constexpr std::uint64_t kAttributeGraphs = 11;
constexpr std::uint64_t kValueName = 1;

struct WireField {
  std::uint64_t number = 0;
  bool is_delimited = false;
  std::string_view content = {};  // if it is delimited
  std::size_t begin = 0;          // in the file
  std::size_t end = 0;
};

// The fields of one message, one after another. Groups, which ONNX does not have, are refused.
class WireFields {
 public:
  WireFields(std::string_view file, std::string_view message)
      : file_(file), at_(static_cast<std::size_t>(message.data() - file.data())), end_(at_ + message.size()) {}

  // nullopt at the end.
  Result<std::optional<WireField>> next() {
    if (at_ == end_) return std::optional<WireField>();
    WireField field{.begin = at_};
    LOWTIDE_TRY(const std::uint64_t tag, varint());
    field.number = tag >> 3U;
    switch (tag & 7U) {
      case 0: {
        LOWTIDE_TRY([[maybe_unused]] const std::uint64_t value, varint());
        break;
      }
      case 1: LOWTIDE_RETURN_IF_ERROR(skip(8)); break;
      case 5: LOWTIDE_RETURN_IF_ERROR(skip(4)); break;
      case 2: {
        LOWTIDE_TRY(const std::uint64_t size, varint());
        field.is_delimited = true;
        const std::size_t from = at_;
        LOWTIDE_RETURN_IF_ERROR(skip(size));
        field.content = file_.substr(from, at_ - from);
        break;
      }
      default: return malformed("a field has a wire type that ONNX does not use");
    }
    field.end = at_;
    return std::optional(field);
  }

 private:
  Error malformed(const std::string& what) const {
    return {ErrorCode::malformed, "not an ONNX model: " + what, "byte " + std::to_string(at_)};
  }

  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return malformed("a number does not end in its message");
      const auto byte = static_cast<unsigned char>(file_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    return malformed("a number has more than ten bytes");
  }

  Result<void> skip(std::uint64_t size) {
    if (size > end_ - at_) return malformed("a field is longer than its message");
    at_ += static_cast<std::size_t>(size);
    return {};
  }

  const std::string_view file_;
  std::size_t at_;
  const std::size_t end_;
};

// Calls act(field) for each field of a message, until one call fails.
template <typename Act>
Result<void> for_each_field(std::string_view file, std::string_view message, Act act) {
  WireFields fields(file, message);
  while (true) {
    LOWTIDE_TRY(const std::optional<WireField> field, fields.next());
    if (!field) return {};
    LOWTIDE_RETURN_IF_ERROR(act(*field));
  }
}

enum class Nested : std::uint8_t { attribute, graph, node, value };

// What the bodies of an attribute read, whatever encloses them: names of inputs of nodes and of outputs of graphs.
Result<void> add_body_reads(std::string_view file, std::string_view attribute, std::vector<std::string_view>& reads) {
  std::vector<std::pair<Nested, std::string_view>> open = {{Nested::attribute, attribute}};
  while (!open.empty()) {
    const auto [kind, message] = open.back();
    open.pop_back();
    LOWTIDE_RETURN_IF_ERROR(for_each_field(file, message, [&](const WireField& field) -> Result<void> {
      if (!field.is_delimited) return {};
      const auto is = [&](Nested in, std::uint64_t number) { return kind == in && field.number == number; };
      if (is(Nested::attribute, kAttributeGraph) || is(Nested::attribute, kAttributeGraphs)) {
        open.emplace_back(Nested::graph, field.content);
      } else if (is(Nested::graph, kGraphNode)) {
        open.emplace_back(Nested::node, field.content);
      } else if (is(Nested::graph, kGraphOutput)) {
        open.emplace_back(Nested::value, field.content);
      } else if (is(Nested::node, kNodeAttribute)) {
        open.emplace_back(Nested::attribute, field.content);
      } else if ((is(Nested::node, kNodeInput) || is(Nested::value, kValueName)) && !field.content.empty()) {
        reads.push_back(field.content);
      }
      return {};
    }));
  }
  return {};
}

Result<OnnxFileNode> read_node(std::string_view file, const WireField& whole) {
  OnnxFileNode node{.field = {whole.begin, whole.end}, .reads = {}, .writes = {}};
  LOWTIDE_RETURN_IF_ERROR(for_each_field(file, whole.content, [&](const WireField& field) -> Result<void> {
    if (!field.is_delimited || field.content.empty()) return {};
    if (field.number == kNodeInput) node.reads.push_back(field.content);
    if (field.number == kNodeOutput) node.writes.push_back(field.content);
    if (field.number == kNodeAttribute) return add_body_reads(file, field.content, node.reads);
    return {};
  }));
  return node;
}

// By node: the nodes whose results it reads.
std::vector<std::vector<std::size_t>> producers_of(std::span<const OnnxFileNode> nodes) {
  std::unordered_map<std::string_view, std::size_t> makers;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    for (std::string_view name : nodes[at].writes) makers.emplace(name, at);
  }
  std::vector<std::vector<std::size_t>> producers(nodes.size());
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    for (std::string_view name : nodes[at].reads) {
      const auto found = makers.find(name);
      // A name that the node itself writes is one that a body defines again.
      if (found != makers.end() && found->second != at) producers[at].push_back(found->second);
    }
  }
  return producers;
}

}  // namespace

Result<std::vector<OnnxFileNode>> read_onnx_nodes(std::string_view file) {
  std::optional<std::string_view> graph;
  LOWTIDE_RETURN_IF_ERROR(for_each_field(file, file, [&](const WireField& field) -> Result<void> {
    if (field.number != kModelGraph || !field.is_delimited) return {};
    if (graph) return Error{ErrorCode::unsupported, "the graph of the model is divided into several fields", ""};
    graph = field.content;
    return {};
  }));
  std::vector<OnnxFileNode> nodes;
  if (!graph) return nodes;
  LOWTIDE_RETURN_IF_ERROR(for_each_field(file, *graph, [&](const WireField& field) -> Result<void> {
    if (field.number != kGraphNode || !field.is_delimited) return {};
    LOWTIDE_TRY(OnnxFileNode node, read_node(file, field));
    nodes.push_back(std::move(node));
    return {};
  }));
  return nodes;
}

Result<std::vector<std::size_t>> complete_order(std::span<const OnnxFileNode> nodes,
                                                std::span<const std::size_t> wanted) {
  enum class State : std::uint8_t { unseen, open, placed };
  const std::vector<std::vector<std::size_t>> producers = producers_of(nodes);
  std::vector<State> states(nodes.size(), State::unseen);
  std::vector<std::size_t> order;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // node, and the next of its producers
  const auto place = [&](std::size_t node) -> Result<void> {
    if (states[node] != State::unseen) return {};
    states[node] = State::open;
    open.assign(1, {node, 0});
    while (!open.empty()) {
      auto& [at, next] = open.back();
      if (next == producers[at].size()) {
        states[at] = State::placed;
        order.push_back(at);
        open.pop_back();
        continue;
      }
      const std::size_t producer = producers[at][next++];
      if (states[producer] == State::open) {
        return Error{ErrorCode::invalid, "the nodes of the model read each other in a cycle", ""};
      }
      if (states[producer] == State::placed) continue;
      states[producer] = State::open;
      open.emplace_back(producer, 0);
    }
    return {};
  };
  for (std::size_t node : wanted) LOWTIDE_RETURN_IF_ERROR(place(node));
  for (std::size_t node = 0; node < nodes.size(); ++node) LOWTIDE_RETURN_IF_ERROR(place(node));
  return order;
}

std::vector<std::string_view> with_node_order(std::string_view file, std::span<const OnnxFileNode> nodes,
                                              std::span<const std::size_t> order) {
  LOWTIDE_CHECK(order.size() == nodes.size(), "an order has each node of the file");
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    const Interval<std::size_t>& old = nodes[place].field;
    const Interval<std::size_t>& now = nodes[order[place]].field;
    if (old.begin > begin) pieces.push_back(file.substr(begin, old.begin - begin));
    pieces.push_back(file.substr(now.begin, now.end - now.begin));
    begin = old.end;
  }
  pieces.push_back(file.substr(begin));
  return pieces;
}

}  // namespace lowtide
