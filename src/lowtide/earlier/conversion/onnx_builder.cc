// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/conversion/onnx_builder.h"

#include <utility>

#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/conversion/onnx_messages.h"
#include "lowtide/earlier/proto/proto.h"

namespace lowtide {
namespace conversion_internal {
namespace {

// Constants with more bytes are external data. Shorter ones, such as shapes, are in the model.
constexpr std::size_t kMostBytesInModel = 4096;

std::vector<std::int64_t> axes_to_first(std::size_t rank) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return extents_in_first(axes);
}

std::vector<std::int64_t> axes_to_last(std::size_t rank) {
  std::vector<std::int64_t> axes = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  axes.push_back(1);
  return axes;
}

}  // namespace
}  // namespace conversion_internal

std::int64_t axis_in_first(std::int64_t axis, std::size_t rank) {
  if (rank < 3 || axis == 0) return axis;
  return axis + 1 == static_cast<std::int64_t>(rank) ? 1 : axis + 1;
}

std::vector<std::int64_t> extents_in_first(const std::vector<std::int64_t>& extents) {
  if (extents.size() < 3) return extents;
  std::vector<std::int64_t> first = {extents.front(), extents.back()};
  first.insert(first.end(), extents.begin() + 1, extents.end() - 1);
  return first;
}

bool OnnxBuilder::may_make(std::int64_t elements, std::int64_t bytes_per_element) {
  if (elements > made_left_ / bytes_per_element) return false;
  made_left_ -= elements * bytes_per_element;
  return true;
}

void OnnxBuilder::add_output(const std::string& name, const OnnxType& type) {
  if (output_names_.insert(name).second) outputs_.emplace_back(name, type);
}

void OnnxBuilder::add_constant(const std::string& name, const OnnxType& type, std::string_view bytes) {
  constants_.push_back({.name = name, .type = type, .begin = bytes_.size(), .size = bytes.size()});
  bytes_ += bytes;
  written_.insert(name);
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
  for (std::int64_t one : list) bytes += element_bytes_of_integer(dtype, one);
  return shared_constant("list", {dtype, {static_cast<std::int64_t>(list.size())}}, bytes);
}

std::string OnnxBuilder::number(DType dtype, double value) { return scalar(dtype, element_bytes(dtype, value)); }

std::string OnnxBuilder::scalar(DType dtype, std::string_view bytes) {
  return shared_constant("number", {dtype, {}}, bytes);
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
