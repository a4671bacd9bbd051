// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/open_weights.h"

#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/engine/load_time.h"

namespace lowtide {

Result<std::shared_ptr<const ModelWeights>> open_weights(const std::string& path, const Lowered& lowered,
                                                         ConstantTable table,
                                                         std::optional<std::uint64_t> synthetic_seed) {
  const auto first_computed = static_cast<std::uint32_t>(table.sources.size());
  engine_internal::add_computed(lowered.load, table);
  LOWTIDE_TRY(
      ModelWeights opened,
      ModelWeights::open(path, std::move(table), {.synthetic_seed = synthetic_seed, .makes_synthetic_later = true}));
  const auto weights = std::make_shared<ModelWeights>(std::move(opened));
  const std::vector<ConstantId> kept = engine_internal::constants_of(lowered.graph);
  LOWTIDE_TRY(const Bytes arena, engine_internal::run_load_time(lowered.load, first_computed, weights, kept));
  static_cast<void>(arena);
  for (ConstantId id : kept) LOWTIDE_RETURN_IF_ERROR(weights->hold(id));
  return std::shared_ptr<const ModelWeights>(weights);
}

}  // namespace lowtide
