// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx/opset.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/older_meaning.h"

namespace lowtide::export_internal {
namespace {

constexpr int kOldest = 7;  // that Lowtide reads
constexpr int kWidelyRead = 21;

struct VersionedNode {
  const onnx::NodeProto* node = nullptr;
  std::optional<std::int64_t> since;  // kSinceAttribute
};
using NodesByDomain = std::map<std::string, std::vector<VersionedNode>>;

// ONNX does not know this attribute.
std::optional<std::int64_t> take_since(onnx::NodeProto& node) {
  std::optional<std::int64_t> since;
  auto& attributes = *node.mutable_attribute();
  for (int at = attributes.size() - 1; at >= 0; --at) {
    if (attributes[at].name() != kSinceAttribute) continue;
    since = attributes[at].i();
    attributes.DeleteSubrange(at, 1);
  }
  return since;
}

// The recursion is as deep as the bodies.
void collect(onnx::GraphProto& graph, NodesByDomain& nodes) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    const bool is_standard = node.domain().empty() || node.domain() == "ai.onnx";
    const std::optional<std::int64_t> since = is_standard ? take_since(node) : std::nullopt;
    nodes[is_standard ? "" : node.domain()].push_back({&node, since});
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) collect(*attribute.mutable_g(), nodes);
    }
  }
}

// Split has one number of outputs until version 17, and afterwards it states it.
bool is_split_without_sizes(const onnx::NodeProto& node) {
  return node.op_type() == "Split" && node.input_size() < 2 &&
         std::none_of(node.attribute().begin(), node.attribute().end(),
                      [](const onnx::AttributeProto& one) { return one.name() == "num_outputs"; });
}

bool has_meaning(const VersionedNode& node, const onnx::OpSchema& schema) {
  if (node.since) return schema.SinceVersion() == *node.since;
  const std::optional<int> newest = opset_of_newest_meaning(node.node->op_type());
  if (newest && schema.SinceVersion() < *newest) return false;
  return schema.SinceVersion() < 18 || !is_split_without_sizes(*node.node);
}

bool accepts(const onnx::OpSchema& schema, const onnx::NodeProto& node) {
  try {
    schema.Verify(node);
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

bool fits(const std::string& domain, int version, const std::vector<VersionedNode>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const VersionedNode& one) {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(one.node->op_type(), version, domain);
    if (schema == nullptr || schema->Deprecated()) return false;
    return (!domain.empty() || has_meaning(one, *schema)) && accepts(*schema, *one.node);
  });
}

std::optional<int> version_of(const std::string& domain, int latest, const std::vector<VersionedNode>& nodes) {
  const int oldest = domain.empty() ? kOldest : 1;
  for (int version = std::min(latest, kWidelyRead); version >= oldest; --version) {
    if (fits(domain, version, nodes)) return version;
  }
  for (int version = kWidelyRead + 1; version <= latest; ++version) {
    if (fits(domain, version, nodes)) return version;
  }
  return std::nullopt;
}

}  // namespace

bool add_opset_imports(onnx::ModelProto& model) {
  NodesByDomain nodes;
  nodes[""];  // a model must import an opset
  collect(*model.mutable_graph(), nodes);
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  bool all_fit = true;
  for (const auto& [domain, of_domain] : nodes) {
    const auto known = ranges.find(domain);
    int version = 1;
    if (known != ranges.end()) {
      const int latest = known->second.second;
      const std::optional<int> found = version_of(domain, latest, of_domain);
      all_fit = all_fit && found;
      version = found.value_or(std::min(latest, kWidelyRead));
    }
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  return all_fit;
}

}  // namespace lowtide::export_internal
