// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/operator_meaning.h"

#include <string>

#include "lowtide/graph/lowered.h"
#include "lowtide/graph/older_meaning.h"

namespace lowtide::import_internal {
std::optional<Attribute> older_meaning_of(const onnx::NodeProto& node, const OpsetImports& opsets) {
  if (!normalized_domain(node.domain()).empty()) return std::nullopt;
  const std::optional<int> newest = opset_of_newest_meaning(node.op_type());
  if (!newest) return std::nullopt;
  const int since = find_schema(node.op_type(), opsets.find("")->second, "")->SinceVersion();
  if (since >= *newest) return std::nullopt;
  return Attribute{std::string(kSinceAttribute), std::int64_t{since}};
}

}  // namespace lowtide::import_internal
