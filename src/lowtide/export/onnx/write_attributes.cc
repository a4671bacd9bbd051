// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx/write_attributes.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "lowtide/base/utf8.h"
#include "lowtide/export/onnx/types.h"
#include "lowtide/graph/integer_types.h"
#include "lowtide/graph/text.h"

namespace lowtide::export_internal {
namespace {

using onnx::AttributeProto;

constexpr std::int64_t kMostZeros = 1 << 20;  // bytes

// UNDEFINED: nothing is known of the attribute.
AttributeProto::AttributeType expected_type(const onnx::OpSchema* schema, const std::string& name) {
  if (schema == nullptr) return AttributeProto::UNDEFINED;
  const auto found = schema->attributes().find(name);
  return found == schema->attributes().end() ? AttributeProto::UNDEFINED : found->second.type;
}

// The type of the tensor in an attribute that was one number: that of the result, such as that of a ConstantOfShape.
DType type_of_result(const Graph& graph, NodeId id) {
  const std::vector<std::optional<TensorId>>& outputs = graph.node(id).outputs;
  return outputs.empty() || !outputs.front() ? DType::f32 : graph.tensor(*outputs.front()).dtype;
}

// "tensor f32[64,3]"
std::optional<onnx::TensorProto> zeros_of(std::string_view description) {
  constexpr std::string_view kTensor = "tensor ";
  if (!description.starts_with(kTensor)) return std::nullopt;
  const std::optional<TensorType> type = parse_tensor_type(description.substr(kTensor.size()));
  if (!type) return std::nullopt;
  const Result<Bytes> size = dense_size(type->dtype, type->shape);
  if (!size || size->count() > kMostZeros) return std::nullopt;
  return tensor_of_zeros(type->dtype, type->shape.extents());
}

struct AttributeWriter {
  const Graph& graph;
  NodeId id;
  AttributeProto::AttributeType expected = AttributeProto::UNDEFINED;
  bool is_known_operator = false;
  AttributeProto& to;
  std::set<std::string>& lost;

  // Each returns whether the attribute is written.
  bool operator()(std::int64_t value) const {
    if (expected == AttributeProto::TENSOR) return number(static_cast<double>(value), value);
    if (expected == AttributeProto::FLOAT) return (*this)(static_cast<double>(value));
    to.set_type(AttributeProto::INT);
    to.set_i(value);
    return true;
  }
  bool operator()(double value) const {
    if (expected == AttributeProto::TENSOR) {
      const bool is_whole = std::abs(value) < 0x1p62;
      return number(value, is_whole ? static_cast<std::int64_t>(value) : 0);
    }
    to.set_type(AttributeProto::FLOAT);
    to.set_f(real(value));
    return true;
  }
  bool operator()(const std::string& value) const {
    to.set_type(AttributeProto::STRING);
    to.set_s(value);
    return true;
  }
  bool operator()(const std::vector<std::int64_t>& values) const {
    // An empty list of numbers may be a list of anything.
    const bool is_other = values.empty() && (expected == AttributeProto::FLOATS || expected == AttributeProto::STRINGS);
    to.set_type(is_other ? expected : AttributeProto::INTS);
    for (std::int64_t value : values) to.add_ints(value);
    return true;
  }
  bool operator()(const std::vector<double>& values) const {
    to.set_type(AttributeProto::FLOATS);
    for (double value : values) to.add_floats(real(value));
    return true;
  }
  bool operator()(const std::vector<std::string>& values) const {
    to.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values) to.add_strings(value);
    return true;
  }
  bool operator()(const OpaqueAttribute& value) const {
    if (std::optional<onnx::TensorProto> zeros = zeros_of(value.description)) {
      lost.insert("the content of tensors in attributes");
      to.set_type(AttributeProto::TENSOR);
      *to.mutable_t() = *std::move(zeros);
      return true;
    }
    lost.insert("attributes that the graph only describes");
    if (is_known_operator) return false;
    return (*this)(value.description);
  }

  float real(double value) const {
    const auto narrow = static_cast<float>(value);
    if (static_cast<double>(narrow) != value && !std::isnan(value)) {
      lost.insert("digits of reals behind those of 32 bits");
    }
    return narrow;
  }

  bool number(double value, std::int64_t integer) const {
    const DType dtype = type_of_result(graph, id);
    to.set_type(AttributeProto::TENSOR);
    if (is_integer_of_bytes(dtype)) {
      *to.mutable_t() = tensor_of_integers(dtype, {1}, {integer});
    } else if (dtype == DType::f32) {
      to.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
      to.mutable_t()->add_dims(1);
      to.mutable_t()->add_float_data(real(value));
    } else if (dtype == DType::f64) {
      to.mutable_t()->set_data_type(onnx::TensorProto::DOUBLE);
      to.mutable_t()->add_dims(1);
      to.mutable_t()->add_double_data(value);
    } else {
      if (value != 0) lost.insert("the content of tensors in attributes");
      *to.mutable_t() = tensor_of_zeros(dtype, {1});
    }
    return true;
  }
};

}  // namespace

void write_attributes(const Graph& graph, NodeId id, onnx::NodeProto& to, std::set<std::string>& lost) {
  const Operator& op = graph.op(id);
  const onnx::OpSchema* schema =
      onnx::OpSchemaRegistry::Schema(op.type, std::numeric_limits<int>::max(), op.domain == "ai.onnx" ? "" : op.domain);
  std::set<std::string_view> known;
  for (const Body& body : graph.node(id).bodies) known.insert(body.name);
  for (const Attribute& attribute : graph.node(id).attributes) {
    if (!is_utf8(attribute.name) || attribute.name.empty() || !known.insert(attribute.name).second) {
      lost.insert("attributes whose names are not UTF-8, empty or not unique");
      continue;
    }
    AttributeProto made;
    made.set_name(attribute.name);
    const AttributeWriter writer{.graph = graph,
                                 .id = id,
                                 .expected = expected_type(schema, attribute.name),
                                 .is_known_operator = schema != nullptr,
                                 .to = made,
                                 .lost = lost};
    if (std::visit(writer, attribute.value)) *to.add_attribute() = std::move(made);
  }
}

}  // namespace lowtide::export_internal
