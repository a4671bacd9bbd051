// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Bytes of the model file.
struct RawRange {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  friend bool operator==(const RawRange&, const RawRange&) = default;
};

// A tensor whose raw data stay in the file has empty raw data and this text as its doc string. Doc strings that the
// file has are removed before protobuf parses it (load/skeleton.h), so a doc string is always such a reference.
[[nodiscard]] std::string reference_to(const RawRange& range);

// Returns where the raw data of a parsed tensor are in the file. Returns nullopt if the tensor has them itself.
[[nodiscard]] std::optional<RawRange> raw_range_of(const onnx::TensorProto& tensor);

}  // namespace lowtide::import_internal
