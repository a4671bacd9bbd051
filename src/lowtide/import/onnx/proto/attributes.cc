// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/attributes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/proto/constants.h"
#include "lowtide/import/onnx/proto/tensor_data.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

using onnx::AttributeProto;

std::string describe_tensor(const onnx::TensorProto& tensor) {
  const Result<DType> dtype = dtype_from_onnx(tensor.data_type());
  std::string text = dtype ? std::string(to_string(*dtype)) : std::string("?");
  const int shown = std::min(tensor.dims_size(), limits::kMaxRank);
  text += "[";
  for (int axis = 0; axis < shown; ++axis) text += (axis == 0 ? "" : ",") + std::to_string(tensor.dims(axis));
  return text + (shown < tensor.dims_size() ? ",...]" : "]");
}

OpaqueAttribute opaque(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::TENSOR: return {"tensor " + describe_tensor(attribute.t())};
    case AttributeProto::TENSORS: return {std::to_string(attribute.tensors_size()) + " tensors"};
    case AttributeProto::SPARSE_TENSOR: return {"sparse tensor"};
    case AttributeProto::SPARSE_TENSORS: return {std::to_string(attribute.sparse_tensors_size()) + " sparse tensors"};
    case AttributeProto::TYPE_PROTO: return {"type " + describe(attribute.tp())};
    default: return {std::to_string(attribute.type_protos_size()) + " types"};
  }
}

// The number of a tensor that has one element, such as the value of a ConstantOfShape.
std::optional<AttributeValue> number_in(const onnx::TensorProto& tensor) {
  ContentBudget one_element(1);
  const Result<TensorFact> fact = fact_from_tensor(tensor, one_element);
  if (!fact || fact->known.content == nullptr || fact->known.content->elements.size() != 1) return std::nullopt;
  const KnownElement& element = fact->known.content->elements.front();
  if (element.knowledge != Knowledge::exact) return std::nullopt;
  return is_float(fact->known.content->dtype) ? AttributeValue(element.real) : AttributeValue(element.integer);
}

// Returns nullopt for an attribute without a type.
std::optional<AttributeValue> value_of(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::FLOAT: return static_cast<double>(attribute.f());
    case AttributeProto::INT: return attribute.i();
    case AttributeProto::STRING: return attribute.s();
    case AttributeProto::FLOATS: return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case AttributeProto::INTS: return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case AttributeProto::TENSOR: {
      std::optional<AttributeValue> number = number_in(attribute.t());
      return number ? number : opaque(attribute);
    }
    case AttributeProto::UNDEFINED:
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS: return std::nullopt;
    default: return opaque(attribute);
  }
}

// The elements of a tensor, or nullopt if they are not in the model file or are neither numbers nor texts.
Result<std::optional<AttributeValue>> list_in(const onnx::TensorProto& tensor, const ByteSource& file) {
  ContentBudget no_content(-1);
  LOWTIDE_TRY(const TensorFact fact, fact_from_tensor(tensor, no_content));
  const DType dtype = *fact.known.dtype;
  const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if (dtype == DType::string && !is_external) {
    return std::optional<AttributeValue>(
        std::vector<std::string>(tensor.string_data().begin(), tensor.string_data().end()));
  }
  if (is_external || !is_readable(dtype)) return std::optional<AttributeValue>();
  std::int64_t count = 1;
  for (const KnownExtent& extent : *fact.known.extents) count *= extent.extent;  // check_tensor_data() has counted them
  LOWTIDE_TRY(const std::string raw, raw_data_of(tensor, &file));
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  for (const KnownElement& element : read_elements(tensor, raw, dtype, count)) {
    if (is_float(dtype)) {
      reals.push_back(element.real);
    } else {
      integers.push_back(element.integer);
    }
  }
  return std::optional(is_float(dtype) ? AttributeValue(std::move(reals)) : AttributeValue(std::move(integers)));
}

}  // namespace

const AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& one) { return one.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t integer_or(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const AttributeProto* attribute = attribute_of(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

bool is_graph_attribute(const AttributeProto& attribute) {
  return attribute.type() == AttributeProto::GRAPH || attribute.type() == AttributeProto::GRAPHS;
}

Result<std::vector<Attribute>> attributes_of(const onnx::NodeProto& node, const ByteSource& file) {
  std::vector<Attribute> attributes;
  attributes.reserve(static_cast<std::size_t>(node.attribute_size()));
  for (const AttributeProto& attribute : node.attribute()) {
    if (is_graph_attribute(attribute)) continue;
    std::optional<AttributeValue> value = value_of(attribute);
    if (!value) return Error{ErrorCode::invalid, "attribute " + quoted(attribute.name()) + " has no type", ""};
    if (attribute.has_t() && node.domain() == "ai.onnx.ml" && std::holds_alternative<OpaqueAttribute>(*value)) {
      Result<std::optional<AttributeValue>> list = list_in(attribute.t(), file);
      if (!list) {
        return Error{list.error().code, "attribute " + quoted(attribute.name()) + ": " + list.error().message, ""};
      }
      if (*list) value = **std::move(list);
    }
    attributes.push_back({attribute.name(), *std::move(value)});
  }
  return attributes;
}

}  // namespace lowtide::import_internal
