// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/onnx_messages.h"

#include <bit>
#include <type_traits>
#include <utility>
#include <variant>

namespace lowtide::conversion_internal {
namespace {

constexpr std::uint64_t kIrVersion = 8;
constexpr std::uint64_t kOpset = 18;  // the builder's users write operators as this version defines them

void add_numbers(ProtoMessage& to, std::uint32_t field, std::vector<std::uint64_t> numbers,
                 ProtoWire wire = ProtoWire::varint) {
  to.fields.push_back({.number = field, .wire = wire, .content = std::move(numbers)});
}

void add_number(ProtoMessage& to, std::uint32_t field, std::uint64_t number) { add_numbers(to, field, {number}); }

std::uint64_t float_bits(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

// The fields of AttributeProto, and the number of its type.
ProtoMessage attribute_message(const Attribute& attribute) {
  ProtoMessage to;
  add_text(to, 1, attribute.name);
  const auto write = [&](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) {
      add_numbers(to, 2, {float_bits(value)}, ProtoWire::fixed32);
      add_number(to, 20, 1);
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
      add_number(to, 3, static_cast<std::uint64_t>(value));
      add_number(to, 20, 2);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      add_text(to, 4, value);
      add_number(to, 20, 3);
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      std::vector<std::uint64_t> bits;
      for (double one : value) bits.push_back(float_bits(one));
      add_numbers(to, 7, std::move(bits), ProtoWire::fixed32);
      add_number(to, 20, 6);
    } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
      add_numbers(to, 8, {value.begin(), value.end()});
      add_number(to, 20, 7);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      for (const std::string& one : value) add_text(to, 9, one);
      add_number(to, 20, 8);
    }
  };
  std::visit(write, attribute.value);
  return to;
}

ProtoMessage head_of_tensor(const std::string& name, const OnnxType& type) {
  ProtoMessage tensor;
  add_numbers(tensor, 1, {type.extents.begin(), type.extents.end()});
  add_number(tensor, 2, static_cast<std::uint64_t>(onnx_number_of(type.dtype)));
  add_text(tensor, 8, name);
  return tensor;
}

ProtoMessage entry_message(std::string key, std::string value) {
  ProtoMessage entry;
  add_text(entry, 1, std::move(key));
  add_text(entry, 2, std::move(value));
  return entry;
}

}  // namespace

ProtoMessage node_message(const OnnxNode& node) {
  ProtoMessage to;
  for (const std::string& input : node.inputs) add_text(to, 1, input);
  for (const std::string& output : node.outputs) add_text(to, 2, output);
  if (!node.outputs.empty()) add_text(to, 3, node.outputs.front());
  add_text(to, 4, node.type);
  for (const Attribute& attribute : node.attributes) add_message(to, 5, attribute_message(attribute));
  return to;
}

ProtoMessage value_message(const std::string& name, const OnnxType& type) {
  ProtoMessage shape;
  for (std::int64_t extent : type.extents) {
    ProtoMessage dim;
    add_number(dim, 1, static_cast<std::uint64_t>(extent));
    add_message(shape, 1, std::move(dim));
  }
  ProtoMessage of_tensor;
  add_number(of_tensor, 1, static_cast<std::uint64_t>(onnx_number_of(type.dtype)));
  add_message(of_tensor, 2, std::move(shape));
  ProtoMessage of_value;
  add_message(of_value, 1, std::move(of_tensor));
  ProtoMessage to;
  add_text(to, 1, name);
  add_message(to, 2, std::move(of_value));
  return to;
}

ProtoMessage tensor_message(const std::string& name, const OnnxType& type, std::string_view bytes) {
  ProtoMessage tensor = head_of_tensor(name, type);
  add_text(tensor, 9, std::string(bytes));
  return tensor;
}

ProtoMessage external_message(const std::string& name, const OnnxType& type, std::size_t offset, std::size_t size) {
  ProtoMessage tensor = head_of_tensor(name, type);
  add_message(tensor, 13, entry_message("location", std::string(OnnxForm::kConstantsFile)));
  add_message(tensor, 13, entry_message("offset", std::to_string(offset)));
  add_message(tensor, 13, entry_message("length", std::to_string(size)));
  add_number(tensor, 14, 1);
  return tensor;
}

ProtoMessage model_message(ProtoMessage graph) {
  ProtoMessage opset;
  add_text(opset, 1, "");
  add_number(opset, 2, kOpset);
  ProtoMessage model;
  add_number(model, 1, kIrVersion);
  add_text(model, 2, "lowtide");
  add_message(model, 7, std::move(graph));
  add_message(model, 8, std::move(opset));
  return model;
}

}  // namespace lowtide::conversion_internal
