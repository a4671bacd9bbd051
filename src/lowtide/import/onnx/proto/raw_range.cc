// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/raw_range.h"

#include <cstring>

namespace lowtide::import_internal {

std::string reference_to(const RawRange& range) {
  std::string text(sizeof(range), '\0');
  std::memcpy(text.data(), &range, sizeof(range));
  return text;
}

std::optional<RawRange> raw_range_of(const onnx::TensorProto& tensor) {
  RawRange range;
  if (tensor.doc_string().size() != sizeof(range) || !tensor.raw_data().empty()) return std::nullopt;
  std::memcpy(&range, tensor.doc_string().data(), sizeof(range));
  return range;
}

}  // namespace lowtide::import_internal
