// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

inline constexpr int kOldestIrVersion = 3;
inline constexpr int kOldestOpset = 7;  // version of the standard domain

// Returns "" for each name of the standard domain, and any other domain unchanged.
[[nodiscard]] std::string normalized_domain(const std::string& domain);

// Whether the operators of a domain are those of Caffe2 or TensorFlow. onnx_of_graph (export/onnx_of_graph.h) writes
// them for inspection, with the types of their results, because nothing here can infer them.
[[nodiscard]] bool is_foreign_domain(const std::string& domain);

// Version of each domain that a model or function imports; "" is the standard domain.
using OpsetImports = std::map<std::string, int, std::less<>>;

// Tells which opset versions apply to a node: those of the model, or those of the function that the node comes from.
class OpsetScopes {
 public:
  // `model`: the imports of the model.
  explicit OpsetScopes(OpsetImports model) { sets_.push_back(std::move(model)); }

  [[nodiscard]] const OpsetImports& of_model() const { return sets_.front(); }
  [[nodiscard]] const OpsetImports& of(const onnx::NodeProto& node) const { return sets_[index_of(node)]; }
  [[nodiscard]] std::size_t index_of(const onnx::NodeProto& node) const;

  // Registers imports and returns their index. Equal imports share an index.
  std::size_t add(OpsetImports imports);
  void assign(const onnx::NodeProto& node, std::size_t index);

 private:
  std::vector<OpsetImports> sets_;
  std::unordered_map<const onnx::NodeProto*, std::size_t> index_of_;  // only of nodes whose index is not 0
};

// Returns the definition of an operator in a version of its domain, or nullptr if the onnx library does not know it.
// For a deprecated operator it returns the last definition before the deprecation, because models still use it.
// LayerNormalization has its definition of version 17 in every earlier version, as in ONNX Runtime.
[[nodiscard]] const onnx::OpSchema* find_schema(const std::string& type, int version, const std::string& domain);

// Why find_schema() returns nullptr: the version is older than the operator, or Lowtide does not know it. Whether the
// domain has it is not known.
[[nodiscard]] std::string why_unknown(const std::string& type, int version, const std::string& domain);

using OpsetField = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

// Reads and checks the imports of a model or function. A domain that the onnx library does not know may be imported; it
// is an error only if a node uses it. Errors: two versions of one domain, or a version that is not a positive
// int (invalid); a version newer than the library knows, or a version of the standard domain older than kOldestOpset
// (unsupported).
[[nodiscard]] Result<OpsetImports> opset_imports_from(const OpsetField& field);

}  // namespace lowtide::import_internal
