// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tflite/flatbuffer/built_model.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "lowtide/tflite/flatbuffer/schema.h"

namespace lowtide::tflite_tests {
namespace {

namespace schema = flatbuffer_internal;
using flatbuffers::Offset;

schema::BuiltinOperator builtin_of(const std::string& type) {
  if (type.starts_with("custom:")) return schema::BuiltinOperator::CUSTOM;
  for (schema::BuiltinOperator one : schema::EnumValuesBuiltinOperator()) {
    if (schema::EnumNameBuiltinOperator(one) == type) return one;
  }
  throw std::invalid_argument("no operator " + type);
}

class Build {
 public:
  explicit Build(const BuiltModel& model) : model_(model) {
    buffers_.push_back("");
    for (const BuiltSubgraph& subgraph : model.subgraphs) subgraphs_.push_back(add(subgraph));
    for (const BuiltMetadata& one : model.metadata) {
      metadata_.push_back(schema::CreateMetadataDirect(to_, one.name.c_str(), new_buffer(one.data)));
    }
  }

  std::string finish() {
    std::vector<Offset<schema::Buffer>> buffers;
    for (const std::string& bytes : buffers_) {
      if (model_.has_bytes_outside && !bytes.empty()) {
        // The place is not known before the end.
        buffers.push_back(schema::CreateBuffer(to_, 0, kUnknown, bytes.size()));
        continue;
      }
      Offset<flatbuffers::Vector<std::uint8_t>> data;
      if (!bytes.empty()) {
        to_.ForceVectorAlignment(bytes.size(), 1, 16);
        data = to_.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      }
      buffers.push_back(schema::CreateBuffer(to_, data));
    }
    schema::FinishModelBuffer(
        to_, schema::CreateModelDirect(to_, model_.version, &codes_, &subgraphs_, "built", &buffers, nullptr,
                                       metadata_.empty() ? nullptr : &metadata_));
    std::string file(reinterpret_cast<const char*>(to_.GetBufferPointer()), to_.GetSize());
    if (model_.has_bytes_outside) append_outside(file);
    return file;
  }

 private:
  static constexpr std::uint64_t kUnknown = 7;

  void append_outside(std::string& file) const {
    std::string outside;
    const std::size_t inside = file.size();
    auto* root = flatbuffers::GetMutableRoot<schema::Model>(file.data());
    for (std::uint32_t at = 0; at < buffers_.size(); ++at) {
      if (buffers_[at].empty()) continue;
      const auto* buffer = reinterpret_cast<const flatbuffers::Table*>(root->buffers()->Get(at));
      const_cast<flatbuffers::Table*>(buffer)->SetField<std::uint64_t>(schema::Buffer::VT_OFFSET,
                                                                       inside + outside.size(), 0);
      outside += buffers_[at];
    }
    file += outside;
  }

  std::uint32_t new_buffer(const std::string& data) {
    buffers_.push_back(data);
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }

  Offset<schema::Tensor> add(const BuiltTensor& tensor) {
    const std::uint32_t buffer = tensor.buffer >= 0    ? static_cast<std::uint32_t>(tensor.buffer)
                                 : tensor.data.empty() ? 0
                                                       : new_buffer(tensor.data);
    Offset<schema::QuantizationParameters> quantization;
    if (!tensor.scales.empty() || !tensor.zero_points.empty()) {
      quantization =
          schema::CreateQuantizationParametersDirect(to_, &tensor.scales, &tensor.zero_points, 0, tensor.axis);
    }
    return schema::CreateTensorDirect(to_, &tensor.shape, static_cast<schema::TensorType>(tensor.type), buffer,
                                      tensor.name.c_str(), quantization, tensor.is_variable, 0,
                                      tensor.signature.empty() ? nullptr : &tensor.signature);
  }

  std::uint32_t code_of(const std::string& type) {
    const auto builtin = static_cast<std::int32_t>(builtin_of(type));
    const std::string custom = type.starts_with("custom:") ? type.substr(7) : "";
    const auto old = static_cast<std::int8_t>(std::min(builtin, 127));
    codes_.push_back(schema::CreateOperatorCodeDirect(
        to_, old, custom.empty() ? nullptr : custom.c_str(), 1,
        model_.has_old_codes ? schema::BuiltinOperator::ADD : static_cast<schema::BuiltinOperator>(builtin)));
    return static_cast<std::uint32_t>(codes_.size() - 1);
  }

  static std::int64_t option(const BuiltOperator& op, const std::string& name, std::int64_t otherwise = 0) {
    for (const auto& [key, value] : op.options) {
      if (key == name) return value;
    }
    return otherwise;
  }

  std::pair<schema::BuiltinOptions, Offset<void>> options_of(const BuiltOperator& op) {
    const auto number = [&](const char* name, std::int64_t otherwise = 0) {
      return static_cast<std::int32_t>(option(op, name, otherwise));
    };
    const auto padding = static_cast<schema::Padding>(number("padding"));
    if (op.type == "CONV_2D") {
      return {schema::BuiltinOptions::Conv2DOptions,
              schema::CreateConv2DOptions(to_, padding, number("stride_w", 1), number("stride_h", 1),
                                          schema::ActivationFunctionType::RELU6)
                  .Union()};
    }
    if (op.type == "IF") {
      return {schema::BuiltinOptions::IfOptions,
              schema::CreateIfOptions(to_, number("then_subgraph_index"), number("else_subgraph_index")).Union()};
    }
    if (op.type == "WHILE") {
      return {schema::BuiltinOptions::WhileOptions,
              schema::CreateWhileOptions(to_, number("cond_subgraph_index"), number("body_subgraph_index")).Union()};
    }
    if (op.type == "CALL_ONCE") {
      return {schema::BuiltinOptions::CallOnceOptions,
              schema::CreateCallOnceOptions(to_, number("init_subgraph_index")).Union()};
    }
    if (op.type == "SOFTMAX") {
      return {schema::BuiltinOptions::SoftmaxOptions,
              schema::CreateSoftmaxOptions(to_, static_cast<float>(number("beta", 1))).Union()};
    }
    if (op.type == "VAR_HANDLE") {
      return {
          schema::BuiltinOptions::VarHandleOptions,
          schema::CreateVarHandleOptionsDirect(to_, op.container ? op.container->c_str() : nullptr, op.handle.c_str())
              .Union()};
    }
    return {schema::BuiltinOptions::NONE, 0};
  }

  Offset<schema::Operator> add(const BuiltOperator& op) {
    const auto [kind, options] = options_of(op);
    const std::vector<std::uint8_t> custom(op.custom_options.begin(), op.custom_options.end());
    return schema::CreateOperatorDirect(to_, code_of(op.type), &op.inputs, &op.outputs, kind, options,
                                        custom.empty() ? nullptr : &custom);
  }

  Offset<schema::SubGraph> add(const BuiltSubgraph& subgraph) {
    std::vector<Offset<schema::Tensor>> tensors;
    for (const BuiltTensor& tensor : subgraph.tensors) tensors.push_back(add(tensor));
    std::vector<Offset<schema::Operator>> operators;
    for (const BuiltOperator& op : subgraph.operators) operators.push_back(add(op));
    return schema::CreateSubGraphDirect(to_, &tensors, &subgraph.inputs, &subgraph.outputs, &operators,
                                        subgraph.name.c_str());
  }

  const BuiltModel& model_;
  flatbuffers::FlatBufferBuilder to_;
  std::vector<std::string> buffers_;
  std::vector<Offset<schema::OperatorCode>> codes_;
  std::vector<Offset<schema::SubGraph>> subgraphs_;
  std::vector<Offset<schema::Metadata>> metadata_;
};

}  // namespace

std::string build(const BuiltModel& model) { return Build(model).finish(); }

std::string build(BuiltSubgraph subgraph) { return build(BuiltModel{.subgraphs = {std::move(subgraph)}}); }

std::string bytes_of(const std::vector<std::int32_t>& numbers) {
  std::string bytes(numbers.size() * sizeof(std::int32_t), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace lowtide::tflite_tests
