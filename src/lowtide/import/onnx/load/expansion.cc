// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/expansion.h"

#include <utility>

#include "lowtide/import/onnx/proto/attributes.h"

namespace lowtide::import_internal {

using onnx::AttributeProto;
using onnx::NodeProto;
using onnx::TensorProto;

bool has_input(const NodeProto& node, int at) { return at < node.input_size() && !node.input(at).empty(); }
std::string input_of(const NodeProto& node, int at) { return at < node.input_size() ? node.input(at) : ""; }

AttributeProto integer_attribute_of(const char* name, std::int64_t value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

AttributeProto integers_attribute_of(const char* name, std::span<const std::int64_t> values) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
  return attribute;
}

AttributeProto float_attribute_of(const char* name, float value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

Expansion::Expansion(const NodeProto& node, FreshNames& names, const ConstantsByName& constants,
                     onnx::GraphProto& graph)
    : node_(node),
      names_(names),
      constants_(constants),
      graph_(graph),
      prefix_(node.name().empty() ? node.op_type() : node.name()) {}

const TensorProto* Expansion::constant(const std::string& name) const {
  const auto found = constants_.find(name);
  return found == constants_.end() ? nullptr : found->second;
}

std::string Expansion::add(const char* type, std::vector<std::string> inputs, std::vector<AttributeProto> attributes,
                           std::string result) {
  if (result.empty()) result = names_.make(prefix_ + "/" + type);
  NodeProto& added = made_.emplace_back();
  added.set_op_type(type);
  added.set_name(prefix_ + "/" + type);
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  for (std::string& input : inputs) added.add_input(std::move(input));
  added.add_output(result);
  for (AttributeProto& attribute : attributes) *added.add_attribute() = std::move(attribute);
  return result;
}

std::string Expansion::add_result(const char* what) {
  std::string name = names_.make(prefix_ + "/" + what);
  made_.back().add_output(name);
  return name;
}

NodeProto& Expansion::add_like(const char* type, std::span<const std::string_view> attributes) {
  NodeProto& added = made_.emplace_back();
  added.set_op_type(type);
  added.set_name(node_.name());
  *added.mutable_output() = node_.output();
  for (std::string_view name : attributes) {
    if (const AttributeProto* given = attribute_of(node_, name)) *added.add_attribute() = *given;
  }
  return added;
}

std::string Expansion::add_real(int at, std::vector<AttributeProto> attributes) {
  return add("DequantizeLinear",
             {node_.input(at), as_number(input_of(node_, at + 1)), as_number(input_of(node_, at + 2))},
             std::move(attributes));
}

std::string Expansion::as_number(const std::string& name) {
  const TensorProto* vector = constant(name);
  if (vector == nullptr || vector->dims_size() != 1 || vector->dims(0) != 1) return name;
  TensorProto number = *vector;
  number.clear_dims();
  number.set_name(names_.make(name + "/number"));
  *graph_.add_initializer() = number;
  return number.name();
}

}  // namespace lowtide::import_internal
