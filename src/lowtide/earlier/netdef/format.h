// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "lowtide/earlier/proto/schema.h"

// The messages of Caffe2's NetDef, as caffe2.proto numbers and names their fields. Messages that Lowtide does not look
// into are in the schema as well, so that the text form of a whole net can be read and written.
namespace lowtide::netdef_internal {

namespace net_field {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kOp = 2;
inline constexpr std::uint32_t kType = 3;
inline constexpr std::uint32_t kDevice = 5;
inline constexpr std::uint32_t kArgument = 6;
inline constexpr std::uint32_t kExternalInput = 7;
inline constexpr std::uint32_t kExternalOutput = 8;
inline constexpr std::uint32_t kOther = 9;  // profiles or partitions, by the version of Caffe2; kept as it is
}  // namespace net_field

namespace op_field {
inline constexpr std::uint32_t kInput = 1;
inline constexpr std::uint32_t kOutput = 2;
inline constexpr std::uint32_t kName = 3;
inline constexpr std::uint32_t kType = 4;
inline constexpr std::uint32_t kArgument = 5;
inline constexpr std::uint32_t kDevice = 6;
inline constexpr std::uint32_t kEngine = 7;
inline constexpr std::uint32_t kControlInput = 8;
inline constexpr std::uint32_t kDebugInfo = 10;
}  // namespace op_field

namespace argument_field {
inline constexpr std::uint32_t kName = 1;
inline constexpr std::uint32_t kReal = 2;
inline constexpr std::uint32_t kInteger = 3;
inline constexpr std::uint32_t kText = 4;
inline constexpr std::uint32_t kReals = 5;
inline constexpr std::uint32_t kIntegers = 6;
inline constexpr std::uint32_t kTexts = 7;
inline constexpr std::uint32_t kNet = 8;
inline constexpr std::uint32_t kNets = 9;
}  // namespace argument_field

namespace device_field {
inline constexpr std::uint32_t kType = 1;
inline constexpr std::uint32_t kId = 2;
}  // namespace device_field

extern const ProtoSchema kNetSchema;

// TensorProto.DataType: names in capitals, and numbers.
[[nodiscard]] std::span<const ProtoEnumValue> data_types();

}  // namespace lowtide::netdef_internal
