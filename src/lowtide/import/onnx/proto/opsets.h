// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

inline constexpr int kOldestIrVersion = 3;
inline constexpr int kOldestOpset = 7;  // of the standard domain

// "" for the standard domain, under whichever of its names.
[[nodiscard]] std::string normalized_domain(const std::string& domain);

// Version of each domain that a model or function imports; "" is the standard domain.
using OpsetImports = std::map<std::string, int, std::less<>>;

// Which opset versions a node follows: those of the model, or where it came out of a function those of the function.
class OpsetScopes {
 public:
  // Require: imports of the model.
  explicit OpsetScopes(OpsetImports model) { sets_.push_back(std::move(model)); }

  [[nodiscard]] const OpsetImports& of_model() const { return sets_.front(); }
  [[nodiscard]] const OpsetImports& of(const onnx::NodeProto& node) const { return sets_[index_of(node)]; }
  [[nodiscard]] std::size_t index_of(const onnx::NodeProto& node) const;

  // Registers a set and gives its index; equal sets share one.
  std::size_t add(OpsetImports imports);
  void assign(const onnx::NodeProto& node, std::size_t index);

 private:
  std::vector<OpsetImports> sets_;
  std::unordered_map<const onnx::NodeProto*, std::size_t> index_of_;  // only where it is not 0
};

using OpsetField = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

// Reads and checks the imports of a model or function. Domains that the onnx library does not know may be imported, and
// only matter where a node uses them. Errors: two versions for one domain, a version below 1 (invalid); a version that
// is newer than the library knows, or of the standard domain older than kOldestOpset (unsupported).
[[nodiscard]] Result<OpsetImports> opset_imports_from(const OpsetField& field);

}  // namespace lowtide::import_internal
