// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/onnx_builder.h"

#include <bit>
#include <utility>

#include "lowtide/earlier/conversion/onnx_messages.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace conversion_internal {
namespace {

// Constants with more bytes are external data. Shorter ones, such as shapes, are in the model.
constexpr std::size_t kMostBytesInModel = 4096;

std::vector<std::int64_t> axes_to_first(std::size_t rank) {
  std::vector<std::int64_t> axes = {0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

std::vector<std::int64_t> axes_to_last(std::size_t rank) {
  std::vector<std::int64_t> axes = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  axes.push_back(1);
  return axes;
}

template <typename Number>
std::string little_endian_bytes(Number bits) {
  std::string bytes;
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(bits) >> (8U * byte)) & 0xFFU);
  }
  return bytes;
}

// To the nearest value, with ties to even. Values above the largest one become infinite.
std::uint16_t half_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x33000000U) return sign;
  const bool is_small = magnitude < 0x38800000U;
  const std::uint32_t exponent = magnitude >> 23U;
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | (is_small ? 0x800000U : 0);
  const std::uint32_t shift = is_small ? 126U - exponent : 13U;
  const std::uint32_t whole = is_small ? mantissa : ((exponent - 112U) << 23U) | mantissa;
  const std::uint32_t rounded = (whole >> shift) + ((whole >> (shift - 1U)) & 1U);
  const bool is_tie = (whole & ((1U << shift) - 1U)) == (1U << (shift - 1U));
  return static_cast<std::uint16_t>(sign | (is_tie ? rounded & ~1U : rounded));
}

}  // namespace
}  // namespace conversion_internal

using conversion_internal::little_endian_bytes;

std::string element_bytes(DType dtype, double value) {
  switch (dtype) {
    case DType::f64: return little_endian_bytes(std::bit_cast<std::uint64_t>(value));
    case DType::f32: return little_endian_bytes(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    case DType::f16: return little_endian_bytes(conversion_internal::half_bits(value));
    case DType::i64:
    case DType::u64: return little_endian_bytes(static_cast<std::int64_t>(value));
    case DType::i32:
    case DType::u32: return little_endian_bytes(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
    case DType::i16:
    case DType::u16: return little_endian_bytes(static_cast<std::uint16_t>(static_cast<std::int64_t>(value)));
    default: return little_endian_bytes(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
  }
}

void OnnxBuilder::add_output(const std::string& name, const OnnxType& type) {
  if (output_names_.insert(name).second) outputs_.emplace_back(name, type);
}

void OnnxBuilder::add_constant(const std::string& name, const OnnxType& type, std::string_view bytes) {
  constants_.push_back({.name = name, .type = type, .begin = bytes_.size(), .size = bytes.size()});
  bytes_ += bytes;
}

std::string OnnxBuilder::shared_constant(const std::string& base, const OnnxType& type, std::string_view bytes) {
  std::string key(to_string(type.dtype));
  for (std::int64_t extent : type.extents) key += "," + std::to_string(extent);
  key += ":";
  key += bytes;
  const auto [at, is_new] = shared_.try_emplace(std::move(key));
  if (!is_new) return at->second;
  at->second = fresh(base);
  add_constant(at->second, type, bytes);
  return at->second;
}

std::string OnnxBuilder::integers(const std::vector<std::int64_t>& list) { return list_of(DType::i64, list); }

std::string OnnxBuilder::list_of(DType dtype, const std::vector<std::int64_t>& list) {
  std::string bytes;
  for (std::int64_t one : list) {
    bytes += dtype == DType::i64 ? little_endian_bytes(one) : element_bytes(dtype, static_cast<double>(one));
  }
  return shared_constant("list", {dtype, {static_cast<std::int64_t>(list.size())}}, bytes);
}

std::string OnnxBuilder::number(DType dtype, double value) {
  return shared_constant("number", {dtype, {}}, element_bytes(dtype, value));
}

std::string OnnxBuilder::fresh(const std::string& base) {
  if (taken_.insert(base).second) return base;
  for (std::size_t& number = next_number_[base];;) {
    std::string name = base + "_" + std::to_string(++number + 1);
    if (taken_.insert(name).second) return name;
  }
}

std::string OnnxBuilder::make(const std::string& base, OnnxNode node) {
  node.outputs = {fresh(base)};
  std::string name = node.outputs.front();
  add(std::move(node));
  return name;
}

std::string OnnxBuilder::channels_first(const std::string& name, std::size_t rank) {
  if (rank < 3) return name;
  if (const auto found = first_.find(name); found != first_.end()) return found->second;
  std::string made =
      make(name + "/channels_first", {.type = "Transpose",
                                      .inputs = {name},
                                      .outputs = {},
                                      .attributes = {{"perm", conversion_internal::axes_to_first(rank)}}});
  first_.emplace(name, made);
  return made;
}

void OnnxBuilder::channels_last(const std::string& first, std::size_t rank, const std::string& name) {
  if (rank < 3) return add({.type = "Identity", .inputs = {first}, .outputs = {name}});
  add({.type = "Transpose",
       .inputs = {first},
       .outputs = {name},
       .attributes = {{"perm", conversion_internal::axes_to_last(rank)}}});
  first_.emplace(name, first);
}

// Goes from the outputs to the inputs, because writers come before readers.
std::unordered_set<std::string> OnnxBuilder::needed_names(std::vector<bool>& is_needed) const {
  std::unordered_set<std::string> needed = output_names_;
  for (std::size_t at = nodes_.size(); at > 0; --at) {
    const OnnxNode& node = nodes_[at - 1];
    for (const std::string& output : node.outputs) is_needed[at - 1] = is_needed[at - 1] || needed.contains(output);
    if (is_needed[at - 1]) needed.insert(node.inputs.begin(), node.inputs.end());
  }
  return needed;
}

OnnxForm OnnxBuilder::finish(const std::string& graph_name) && {
  using namespace conversion_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  std::vector<bool> is_needed(nodes_.size(), false);
  const std::unordered_set<std::string> needed = needed_names(is_needed);
  ProtoMessage graph;
  add_text(graph, graph_field::kName, graph_name.empty() ? "net" : graph_name);
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    if (is_needed[at]) add_message(graph, graph_field::kNode, node_message(nodes_[at]));
  }
  for (const Constant& constant : constants_) {
    if (!needed.contains(constant.name)) continue;
    const std::string_view bytes = std::string_view(bytes_).substr(constant.begin, constant.size);
    add_message(graph, graph_field::kInitializer,
                constant.size <= kMostBytesInModel
                    ? tensor_message(constant.name, constant.type, bytes)
                    : external_message(constant.name, constant.type, constant.begin, constant.size));
  }
  for (const auto& [name, type] : inputs_) add_message(graph, graph_field::kInput, value_message(name, type));
  for (const auto& [name, type] : outputs_) add_message(graph, graph_field::kOutput, value_message(name, type));
  return {.model = write_proto_binary(model_message(std::move(graph))), .constants = std::move(bytes_)};
}

}  // namespace lowtide
