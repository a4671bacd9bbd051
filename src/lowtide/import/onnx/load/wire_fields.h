// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

namespace lowtide::import_internal {

// The messages of an ONNX file that can contain many fields.
enum Message : std::uint8_t {
  kOther,  // a message whose fields are all scalars or text, or a group
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,   // also the type of sparse tensors
  kWrappedType,  // sequence or optional
  kMapType,
  kShape,
  kFunction,
  kTraining,
  kAnnotation,
  kDevice,
  kSharding,
  kShardedDim,
  kMessages,
};

enum FieldContent : std::uint8_t { kText, kNested, kVarints, kFixed };

// What a length-delimited field contains, and the memory in bytes that it needs.
struct Field {
  Message parent = kOther;
  std::uint32_t number = 0;
  FieldContent content = kText;
  Message child = kOther;
  std::size_t cost = 0;
};

// The memory of a message whose type has no cost of its own.
inline constexpr std::size_t kDefaultMessageCost = 64 + 32;

// Returns the field with this number if it contains messages or numbers, and nullptr for every other field. O(1).
[[nodiscard]] const Field* find_field(Message parent, std::uint32_t number);

}  // namespace lowtide::import_internal
