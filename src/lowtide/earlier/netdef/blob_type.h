// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/dtype.h"

namespace lowtide {

struct BlobType {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  friend bool operator==(const BlobType&, const BlobType&) = default;
};

// "f32[2,3]"
[[nodiscard]] std::string shown_type(const BlobType& type);

// By the name of a blob.
using BlobTypes = std::map<std::string, BlobType, std::less<>>;

// Short lists of reals that are known before a run, such as the scales of a resize. By the name of a blob.
using BlobContents = std::map<std::string, std::vector<float>, std::less<>>;

// Reads the types of blobs from a CSV text, which must begin with this header:
//
//   name,shape,dtype
//   data,1x3x224x224,f32
//   label,1,i32           an empty shape is a scalar, an empty dtype is f32
//
// Errors: malformed, with the line as place; invalid, for a name that is there twice. O(bytes log lines).
[[nodiscard]] Result<BlobTypes> parse_blob_types(std::string_view csv);

// The types of the blobs that a net writes, if they follow from its operators alone. The net that fills the parameters
// of another one (Caffe2's init net) states them in this way. O(size of the net).
[[nodiscard]] Result<BlobTypes> types_written_by(const ProtoMessage& net);
// The contents of the blobs that it fills last with a list of at most 64 reals. O(size of the net).
[[nodiscard]] Result<BlobContents> contents_written_by(const ProtoMessage& net);

}  // namespace lowtide
