// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lowtide/kernels/supported.h"
#include "tests/kernels/kernel_run.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The elements of an operand, as bytes. A list of integers becomes the type that the graph declares.
struct Elements {
  Elements(std::initializer_list<std::int64_t> values) : integers(values) {}
  explicit Elements(std::vector<std::byte> raw) : bytes(std::move(raw)) {}
  std::vector<std::int64_t> integers;
  std::vector<std::byte> bytes;
};
template <typename T>
Elements raw_elements(const std::vector<T>& values) {
  return Elements(tensor_data(DType::u8, {}, values).bytes);
}
inline Elements floats(const std::vector<float>& values) { return raw_elements(values); }
inline Elements halves(const std::vector<std::uint16_t>& bits) { return raw_elements(bits); }

// A graph of one node, and a kernel of this node that runs. Operands have the roles `input`.
class OneNode {
 public:
  explicit OneNode(const std::string& text) : graph_(std::make_unique<Graph>(graph_of(text))), run_(*graph_) {}

  std::optional<int> over;  // the operand whose memory result 0 gets
  Team* team = nullptr;     // that runs the kernel; nullptr: one thread

  // `reads` has one entry per entry of Node::inputs. The first extent of a dynamic operand follows from its elements.
  RunStatus run(const std::vector<Elements>& reads) {
    const Node& node = graph_->node(NodeId(0));
    std::vector<TensorData> operands;
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (!node.inputs[at]) {
        operands.push_back({.is_present = false});
        continue;
      }
      TensorData data = space_for(*graph_, *node.inputs[at]);
      data.bytes = bytes_of(reads[at], data.dtype);
      if (data.is_dynamic) data.extents[0] = first_extent(data);
      operands.push_back(std::move(data));
    }
    run_.over = over;
    run_.team = team;
    run_.threads = team == nullptr ? 1 : team->threads();
    return run_.run(std::move(operands));
  }
  void run_ok(const std::vector<Elements>& reads) { EXPECT_EQ(run(reads), RunStatus()); }

  // The elements of a result; of a dynamic one, those within the extents of this run.
  template <typename T>
  [[nodiscard]] std::vector<T> result(std::size_t at = 0) const {
    std::vector<T> values = values_of<T>(run_.writes[at]);
    std::int64_t count = 1;
    for (std::int64_t extent : run_.writes[at].extents) count *= extent;
    values.resize(std::min(values.size(), static_cast<std::size_t>(count)));
    return values;
  }
  [[nodiscard]] const std::vector<std::int64_t>& extents(std::size_t at = 0) const { return run_.writes[at].extents; }
  // Why the node has no kernel.
  [[nodiscard]] std::string missing() const {
    const std::vector<UnsupportedNode> nodes = unsupported(*graph_);
    return nodes.empty() ? "" : nodes[0].missing;
  }

 private:
  static std::vector<std::byte> bytes_of(const Elements& elements, DType dtype) {
    if (!elements.bytes.empty()) return elements.bytes;
    const auto unit = static_cast<std::size_t>(*bits_of(dtype) / 8);
    std::vector<std::byte> bytes(elements.integers.size() * unit);
    for (std::size_t at = 0; at < elements.integers.size(); ++at) {
      const auto as_float = static_cast<float>(elements.integers[at]);
      const void* from = &elements.integers[at];
      if (dtype == DType::f32) from = &as_float;
      std::memcpy(bytes.data() + at * unit, from, unit);
    }
    return bytes;
  }
  static std::int64_t first_extent(const TensorData& data) {
    std::int64_t others = *bits_of(data.dtype) / 8;
    for (std::size_t axis = 1; axis < data.extents.size(); ++axis) others *= data.extents[axis];
    return static_cast<std::int64_t>(data.bytes.size()) / others;
  }

  std::unique_ptr<Graph> graph_;  // the run refers to it
  KernelRun run_;
};

// one_node("x : f32[2], y : f32[2]", "Add(x, y)", "f32[2]"). Several results: "i64[2], f32[2]".
inline OneNode one_node(const std::string& operands, const std::string& call, const std::string& results) {
  std::string text = "graph \"g\" {\n";
  const auto split = [](const std::string& list) {  // at the commas between two tensors
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : list) {
      depth += c == '[' ? 1 : (c == ']' ? -1 : 0);
      if (c == ',' && depth == 0) {
        parts.emplace_back();
      } else if (c != ' ' || !parts.back().empty()) {
        parts.back() += c;
      }
    }
    return parts;
  };
  for (const std::string& operand : split(operands)) text += operand.empty() ? "" : "  input " + operand + "\n";
  std::string names;
  const std::vector<std::string> types = split(results);
  for (std::size_t at = 0; at < types.size(); ++at) {
    names += (at == 0 ? "" : ", ") + ("result" + std::to_string(at));
  }
  text += "  " + names + " = " + call + " : " + results + "\n  output " + names + "\n}";
  return OneNode(text);
}

}  // namespace lowtide::testing
