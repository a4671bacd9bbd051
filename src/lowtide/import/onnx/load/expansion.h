// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lowtide/import/onnx/load/fresh_names.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

[[nodiscard]] onnx::AttributeProto integer_attribute_of(const char* name, std::int64_t value);
[[nodiscard]] onnx::AttributeProto integers_attribute_of(const char* name, std::span<const std::int64_t> values);
[[nodiscard]] onnx::AttributeProto float_attribute_of(const char* name, float value);

// Whether an input is there and not omitted, and its name; "" if it is omitted.
[[nodiscard]] bool has_input(const onnx::NodeProto& node, int at);
[[nodiscard]] std::string input_of(const onnx::NodeProto& node, int at);

// The constants that a graph and the graphs around it have, by name.
using ConstantsByName = std::unordered_map<std::string, const onnx::TensorProto*>;

// A node, and the nodes that replace it. All that it refers to must outlive it.
class Expansion {
 public:
  // `graph`: the one of the node, which gets further constants.
  Expansion(const onnx::NodeProto& node, FreshNames& names, const ConstantsByName& constants, onnx::GraphProto& graph);

  [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
  // The nodes so far, in an order in which they can run.
  [[nodiscard]] std::vector<onnx::NodeProto>& made() { return made_; }
  // nullptr: no constant of the model has this name.
  [[nodiscard]] const onnx::TensorProto* constant(const std::string& name) const;

  // Appends a node, and returns the name of its result: the given one, or a fresh one. An empty input is omitted.
  std::string add(const char* type, std::vector<std::string> inputs, std::vector<onnx::AttributeProto> attributes = {},
                  std::string result = "");

  // Adds another result to the last node, and returns its name.
  std::string add_result(const char* what);

  // Appends a node with the name and results of the replaced one, and with those of its attributes that are listed.
  onnx::NodeProto& add_like(const char* type, std::span<const std::string_view> attributes);

  // Appends the node that makes real numbers of the integers of an input, whose scale and zero point follow it. Returns
  // the name of its result.
  std::string add_real(int at, std::vector<onnx::AttributeProto> attributes = {});

  // The name of the same constant as a number, if it has one element along one axis. The operators that are replaced
  // take either, but to DequantizeLinear an axis means one scale per entry. Any other name is returned as it is.
  std::string as_number(const std::string& name);

 private:
  const onnx::NodeProto& node_;
  FreshNames& names_;
  const ConstantsByName& constants_;
  onnx::GraphProto& graph_;
  std::string prefix_;
  std::vector<onnx::NodeProto> made_;
};

}  // namespace lowtide::import_internal
