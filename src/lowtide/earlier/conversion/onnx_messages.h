// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/proto/message.h"

// The messages of ONNX that a converted model has, as onnx.proto numbers their fields.
namespace lowtide::conversion_internal {

namespace graph_field {
inline constexpr std::uint32_t kNode = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kInitializer = 5;
inline constexpr std::uint32_t kInput = 11;
inline constexpr std::uint32_t kOutput = 12;
}  // namespace graph_field

[[nodiscard]] ProtoMessage node_message(const OnnxNode& node);

[[nodiscard]] ProtoMessage value_message(const std::string& name, const OnnxType& type);

// A constant whose bytes are in the message.
[[nodiscard]] ProtoMessage tensor_message(const std::string& name, const OnnxType& type, std::string_view bytes);

// A constant whose bytes are in OnnxForm::constants.
[[nodiscard]] ProtoMessage external_message(const std::string& name, const OnnxType& type, std::size_t offset,
                                            std::size_t size);

[[nodiscard]] ProtoMessage model_message(ProtoMessage graph);

}  // namespace lowtide::conversion_internal
