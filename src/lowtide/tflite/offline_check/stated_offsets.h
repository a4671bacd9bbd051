// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/offline_check/check_offline_plan.h"

namespace lowtide::offline_check_internal {

// Where the runtime puts a tensor.
struct StatedPlace {
  std::int64_t begin = 0;
  std::int64_t size = 0;  // above 0
};

// The tensors with an offset that counts, by subgraph and tensor.
using StatedPlaces = std::vector<std::vector<std::optional<StatedPlace>>>;

// Reads the list of a file. Adds what is wrong with it, and says in `check` what it has. The result is empty if the
// file has no list, or one that cannot be used.
[[nodiscard]] StatedPlaces read_stated_places(const TfliteModel& model, std::string_view bytes, OfflineCheck& check);

}  // namespace lowtide::offline_check_internal
