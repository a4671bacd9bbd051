// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/opsets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/runtime_operators.h"

namespace lowtide::import_internal {

namespace {
constexpr int kLayerNormalizationOpset = 17;
}  // namespace

std::string normalized_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

bool is_foreign_domain(const std::string& domain) {
  return domain == "caffe2" || domain.starts_with("caffe2.") || domain == "tensorflow" ||
         domain.starts_with("tensorflow.");
}

std::size_t OpsetScopes::index_of(const onnx::NodeProto& node) const {
  if (index_of_.empty()) return 0;
  const auto found = index_of_.find(&node);
  return found == index_of_.end() ? 0 : found->second;
}

std::size_t OpsetScopes::add(OpsetImports imports) {
  const auto same = std::find(sets_.begin(), sets_.end(), imports);
  if (same != sets_.end()) return static_cast<std::size_t>(same - sets_.begin());
  sets_.push_back(std::move(imports));
  return sets_.size() - 1;
}

void OpsetScopes::assign(const onnx::NodeProto& node, std::size_t index) {
  index_of_.erase(&node);  // the address may be that of a node that was removed
  if (index != 0) index_of_[&node] = index;
}

const onnx::OpSchema* find_schema(const std::string& type, int version, const std::string& domain) {
  if (is_runtime_domain(domain)) return runtime_operator(domain, type);
  // ONNX Runtime had this operator first, and writes it into optimized models of any version.
  if (domain.empty() && type == "LayerNormalization") version = std::max(version, kLayerNormalizationOpset);
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(type, version, domain);
  if (schema == nullptr) return runtime_operator(domain, type);
  if (!schema->Deprecated() || schema->SinceVersion() == 1) return schema;
  const onnx::OpSchema* last = onnx::OpSchemaRegistry::Schema(type, schema->SinceVersion() - 1, domain);
  return last != nullptr ? last : schema;
}

std::string why_unknown(const std::string& type, int version, const std::string& domain) {
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = known.find(domain);
  const bool is_ranged = range != known.end() && !is_runtime_domain(domain);
  const onnx::OpSchema* newest =
      is_ranged ? onnx::OpSchemaRegistry::Schema(type, range->second.second, domain) : nullptr;
  if (newest == nullptr) return "Lowtide does not know it";
  int first = version + 1;
  while (onnx::OpSchemaRegistry::Schema(type, first, domain) == nullptr) ++first;
  return "it exists since version " + std::to_string(first) + " of its domain, and the model imports version " +
         std::to_string(version);
}

Result<OpsetImports> opset_imports_from(const OpsetField& field) {
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  OpsetImports imports;
  for (const onnx::OperatorSetIdProto& import : field) {
    const std::string domain = normalized_domain(import.domain());
    const std::string shown = "opset_import of domain " + quoted(domain.empty() ? "ai.onnx" : domain) + ": version " +
                              std::to_string(import.version());
    if (import.version() < 1 || import.version() > std::numeric_limits<int>::max()) {
      return Error{ErrorCode::invalid, shown + " does not exist", ""};
    }
    const auto version = static_cast<int>(import.version());
    const auto range = known.find(domain);
    if (range != known.end() && version > range->second.second) {
      return Error{ErrorCode::unsupported,
                   shown + " is newer than " + std::to_string(range->second.second) +
                       ", the newest known version; export the model with that one",
                   ""};
    }
    if (domain.empty() && version < kOldestOpset) {
      return Error{ErrorCode::unsupported,
                   shown + " is older than " + std::to_string(kOldestOpset) +
                       ", the oldest supported version; convert the model with onnx.version_converter",
                   ""};
    }
    const auto [earlier, is_new] = imports.try_emplace(domain, version);
    if (!is_new && earlier->second != version) {
      return Error{ErrorCode::invalid,
                   shown + " contradicts version " + std::to_string(earlier->second) + " of an earlier import", ""};
    }
  }
  return imports;
}

}  // namespace lowtide::import_internal
