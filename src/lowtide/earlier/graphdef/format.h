// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/earlier/proto/schema.h"

// The messages of TensorFlow's GraphDef, as its .proto files number and name their fields.
namespace lowtide::graphdef_internal {

namespace graph_field {
inline constexpr std::uint32_t kNode = 1;
inline constexpr std::uint32_t kLibrary = 2;
}  // namespace graph_field

namespace node_field {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kOp = 2;
inline constexpr std::uint32_t kInput = 3;
inline constexpr std::uint32_t kDevice = 4;
inline constexpr std::uint32_t kAttribute = 5;
}  // namespace node_field

namespace entry_field {
inline constexpr std::uint32_t kKey = 1;
inline constexpr std::uint32_t kValue = 2;
}  // namespace entry_field

// The fields of a value, and of a list of values except for kList.
namespace value_field {
inline constexpr std::uint32_t kList = 1;
inline constexpr std::uint32_t kText = 2;
inline constexpr std::uint32_t kInteger = 3;
inline constexpr std::uint32_t kReal = 4;
inline constexpr std::uint32_t kBoolean = 5;
inline constexpr std::uint32_t kType = 6;
inline constexpr std::uint32_t kShape = 7;
inline constexpr std::uint32_t kTensor = 8;
}  // namespace value_field

namespace shape_field {
inline constexpr std::uint32_t kDim = 2;
inline constexpr std::uint32_t kUnknownRank = 3;
inline constexpr std::uint32_t kSize = 1;  // of a dim
}  // namespace shape_field

namespace tensor_field {
inline constexpr std::uint32_t kType = 1;
inline constexpr std::uint32_t kShape = 2;
inline constexpr std::uint32_t kContent = 4;
inline constexpr std::uint32_t kInts = 7;
inline constexpr std::uint32_t kInt64s = 10;
}  // namespace tensor_field

extern const ProtoSchema kGraphSchema;
extern const ProtoSchema kNodeSchema;
extern const ProtoSchema kValueSchema;
extern const ProtoSchema kShapeSchema;
extern const ProtoSchema kTensorSchema;
extern const ProtoSchema kEntrySchema;

}  // namespace lowtide::graphdef_internal
