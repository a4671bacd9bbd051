// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/lower/lower.h"
#include "lowtide/weights/weights.h"

namespace lowtide {

// Opens the weights of a lowered model, runs its load-time work with one thread, and gives each constant of the graph
// its bytes. `table` is that of the model, as lower() got it; its entries for results of load-time work are added here.
// Errors: those of ModelWeights::open, of the kernels of load-time work, and (no_memory).
[[nodiscard]] Result<std::shared_ptr<const ModelWeights>> open_weights(
    const std::string& path, const Lowered& lowered, ConstantTable table,
    std::optional<std::uint64_t> synthetic_seed = std::nullopt);

}  // namespace lowtide
