// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/fresh_names.h"

namespace lowtide::import_internal {

void FreshNames::reserve_all(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) used_.insert(input.name());
  for (const auto& tensor : graph.initializer()) used_.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) used_.insert(tensor.values().name());
  for (const auto& output : graph.output()) used_.insert(output.name());
  for (const onnx::NodeProto& node : graph.node()) {
    used_.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) reserve_all(attribute.g());
      for (const onnx::GraphProto& body : attribute.graphs()) reserve_all(body);
    }
  }
}

std::string FreshNames::make(const std::string& wanted) {
  if (used_.insert(wanted).second) return wanted;
  std::int64_t& next = next_[wanted];
  while (true) {
    std::string name = wanted + "_" + std::to_string(++next + 1);
    if (used_.insert(name).second) return name;
  }
}

}  // namespace lowtide::import_internal
