// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/library_context.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"

namespace lowtide::import_internal {
namespace {

void set_extent(const KnownExtent& extent, BoundsAs bounds, onnx::TensorShapeProto::Dimension& dim) {
  if (extent.knowledge == Knowledge::exact || (extent.knowledge == Knowledge::at_most && bounds == BoundsAs::value)) {
    dim.set_dim_value(extent.extent);
  } else if (!extent.symbol.empty()) {
    dim.set_dim_param(extent.symbol);
  }
}

// Whether the library may see the element as a number.
bool is_shown(const KnownElement& element, BoundsAs bounds) {
  return element.knowledge == Knowledge::exact ||
         (element.knowledge == Knowledge::at_most && bounds == BoundsAs::value);
}

// Puts a content into the list that ONNX prescribes for its type.
bool set_data(const KnownContent& content, onnx::TensorProto& tensor) {
  switch (content.dtype) {
    case DType::f32:
      for (const KnownElement& element : content.elements) tensor.add_float_data(static_cast<float>(element.real));
      return true;
    case DType::f64:
      for (const KnownElement& element : content.elements) tensor.add_double_data(element.real);
      return true;
    case DType::i64:
      for (const KnownElement& element : content.elements) tensor.add_int64_data(element.integer);
      return true;
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u16:
    case DType::u8:
    case DType::boolean:
      for (const KnownElement& element : content.elements) {
        tensor.add_int32_data(static_cast<std::int32_t>(element.integer));
      }
      return true;
    case DType::u32:
    case DType::u64:
      for (const KnownElement& element : content.elements) {
        tensor.add_uint64_data(static_cast<std::uint64_t>(element.integer));
      }
      return true;
    default: return false;
  }
}

}  // namespace

onnx::TypeProto type_of(const TensorFact& fact, BoundsAs bounds) {
  if (!fact.is_tensor) return fact.type;
  onnx::TypeProto type;
  auto* tensor = type.mutable_tensor_type();
  if (fact.known.dtype) tensor->set_elem_type(static_cast<int>(onnx_number_of(*fact.known.dtype)));
  if (fact.known.extents) {
    auto* shape = tensor->mutable_shape();
    for (const KnownExtent& extent : *fact.known.extents) set_extent(extent, bounds, *shape->add_dim());
  }
  return type;
}

Result<TensorFact> fact_of_type(const onnx::TypeProto& type, const std::string& symbol) {
  TensorFact fact;
  if (type.value_case() != onnx::TypeProto::kTensorType) {
    fact.is_tensor = type.value_case() == onnx::TypeProto::VALUE_NOT_SET;
    fact.type = type;
    return fact;
  }
  const onnx::TypeProto::Tensor& tensor = type.tensor_type();
  if (tensor.elem_type() != onnx::TensorProto::UNDEFINED) {
    fact.known.dtype = dtype_of_onnx_number(tensor.elem_type());
    if (!fact.known.dtype) {
      return Error{
          ErrorCode::unsupported,
          "element type " + std::to_string(tensor.elem_type()) + " (see TensorProto.DataType) is not supported", ""};
    }
  }
  if (!tensor.has_shape()) return fact;
  if (tensor.shape().dim_size() > limits::kMaxRank) {
    return Error{ErrorCode::over_limit,
                 "rank " + std::to_string(tensor.shape().dim_size()) + " of output " + quoted(symbol) +
                     " is above the limit of " + std::to_string(limits::kMaxRank) + " (kMaxRank)",
                 ""};
  }
  std::vector<KnownExtent>& extents = fact.known.extents.emplace();
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    const auto& dim = tensor.shape().dim(axis);
    KnownExtent& extent = extents.emplace_back();
    if (dim.has_dim_value() && dim.dim_value() > limits::kMaxTensorBytes) {
      return Error{ErrorCode::over_limit,
                   "extent " + std::to_string(dim.dim_value()) + " of axis " + std::to_string(axis) + " of output " +
                       quoted(symbol) + " is above the limit of " + std::to_string(limits::kMaxTensorBytes) +
                       " (kMaxTensorBytes)",
                   ""};
    }
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      extent.knowledge = Knowledge::exact;
      extent.extent = dim.dim_value();
    } else {
      extent.symbol = dim.dim_param().empty() ? extent_symbol(symbol, static_cast<std::size_t>(axis)) : dim.dim_param();
    }
  }
  return fact;
}

// Passes the types of a body's inputs to `infer_body` as facts, and returns its facts as types.
class FactContext::BodyInferencer final : public onnx::GraphInferencer {
 public:
  BodyInferencer(FactContext& context, const onnx::GraphProto& body) : context_(context), body_(body) {}

  std::vector<const onnx::TypeProto*> doInferencing(const std::vector<const onnx::TypeProto*>& input_types,
                                                    const std::vector<const onnx::TensorProto*>& /*data*/) override {
    std::vector<TensorFact> inputs;
    for (std::size_t i = 0; i < input_types.size(); ++i) {
      if (input_types[i] == nullptr) {
        inputs.emplace_back();
        continue;
      }
      inputs.push_back(kept(fact_of_type(*input_types[i], body_.name() + ":" + std::to_string(i))));
    }
    const std::vector<TensorFact> outputs = kept(context_.infer_body_(body_, inputs));
    types_.clear();
    types_.reserve(outputs.size());
    for (const TensorFact& output : outputs) types_.push_back(type_of(output, context_.bounds_));
    std::vector<const onnx::TypeProto*> pointers;
    for (const onnx::TypeProto& type : types_) pointers.push_back(&type);
    return pointers;
  }

 private:
  // Only an exception can pass through the library, so the context keeps the error.
  template <typename T>
  T kept(Result<T> result) {
    if (!result.ok()) {
      context_.body_error_ = result.error();
      throw std::runtime_error(result.error().message);
    }
    return std::move(result).value();
  }

  FactContext& context_;
  const onnx::GraphProto& body_;
  std::vector<onnx::TypeProto> types_;
};

FactContext::FactContext(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, BoundsAs bounds,
                         const InferBody& infer_body)
    : node_(node),
      inputs_(inputs),
      bounds_(bounds),
      infer_body_(infer_body),
      types_(inputs.size()),
      outputs_(static_cast<std::size_t>(node.output_size())) {}

FactContext::~FactContext() = default;

const onnx::AttributeProto* FactContext::getAttribute(const std::string& name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const onnx::TypeProto* FactContext::getInputType(size_t index) const {
  if (index >= inputs_.size()) throw std::runtime_error("input " + std::to_string(index) + " is missing");
  const TensorFact* fact = inputs_[index];
  if (fact == nullptr || (fact->is_tensor && !fact->known.dtype)) return nullptr;
  std::unique_ptr<onnx::TypeProto>& type = types_[index];
  if (type == nullptr) type = std::make_unique<onnx::TypeProto>(type_of(*fact, bounds_));
  return type.get();
}

bool FactContext::hasInput(size_t index) const { return index < inputs_.size() && getInputType(index) != nullptr; }

const onnx::TensorProto* FactContext::getInputData(size_t index) const {
  if (index >= inputs_.size()) throw std::runtime_error("input " + std::to_string(index) + " is missing");
  const TensorFact* fact = inputs_[index];
  if (fact == nullptr || fact->known.content == nullptr) return nullptr;
  const KnownContent& content = *fact->known.content;
  const bool is_known = std::all_of(content.elements.begin(), content.elements.end(),
                                    [&](const KnownElement& element) { return is_shown(element, bounds_); });
  if (!is_known) return nullptr;
  tensors_.resize(inputs_.size());
  std::unique_ptr<onnx::TensorProto>& tensor = tensors_[index];
  if (tensor != nullptr) return tensor.get();
  auto made = std::make_unique<onnx::TensorProto>();
  made->set_data_type(static_cast<int>(onnx_number_of(content.dtype)));
  for (const std::int64_t extent : content.extents) made->add_dims(extent);
  if (!set_data(content, *made)) return nullptr;
  tensor = std::move(made);
  return tensor.get();
}

const onnx::TensorShapeProto* FactContext::getSymbolicInput(size_t index) const {
  if (index >= inputs_.size()) throw std::runtime_error("input " + std::to_string(index) + " is missing");
  const TensorFact* fact = inputs_[index];
  if (fact == nullptr || fact->known.content == nullptr) return nullptr;
  const KnownContent& content = *fact->known.content;
  if (content.extents.size() != 1 || content.dtype != DType::i64) return nullptr;
  symbolic_.resize(inputs_.size());
  std::unique_ptr<onnx::TensorShapeProto>& shape = symbolic_[index];
  if (shape != nullptr) return shape.get();
  shape = std::make_unique<onnx::TensorShapeProto>();
  for (const KnownElement& element : content.elements) {
    auto* dim = shape->add_dim();
    if (is_shown(element, bounds_)) {
      dim->set_dim_value(element.integer);
    } else if (!element.symbol.empty()) {
      dim->set_dim_param(element.symbol);
    }
  }
  return shape.get();
}

onnx::TypeProto* FactContext::getOutputType(size_t index) {
  if (index >= outputs_.size()) throw std::runtime_error("output " + std::to_string(index) + " is missing");
  return &outputs_[index];
}

bool FactContext::hasOutput(size_t index) {
  return index < outputs_.size() && !node_.output(static_cast<int>(index)).empty();
}

onnx::GraphInferencer* FactContext::getGraphAttributeInferencer(const std::string& attribute_name) {
  const onnx::AttributeProto* attribute = getAttribute(attribute_name);
  if (attribute == nullptr || !attribute->has_g()) {
    throw std::runtime_error("attribute '" + attribute_name + "' is not a graph");
  }
  bodies_.push_back(std::make_unique<BodyInferencer>(*this, attribute->g()));
  return bodies_.back().get();
}

}  // namespace lowtide::import_internal
