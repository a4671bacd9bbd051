// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/micro.h"

namespace lowtide {

// The name of the metadata with which a file states offsets.
inline constexpr char kOfflinePlanName[] = "OfflineMemoryAllocation";

// The offsets that a file states. `bytes` are those of the file. nullopt: it has no such metadata. Errors: malformed,
// if the list is not one of all tensors, or has a negative offset.
[[nodiscard]] Result<std::optional<MicroOffsets>> read_offline_plan(const TfliteModel& model, std::string_view bytes);

// The content of the metadata for these offsets, one per tensor of all subgraphs.
[[nodiscard]] std::string offline_plan_bytes(const TfliteModel& model, const MicroOffsets& offsets);

}  // namespace lowtide
