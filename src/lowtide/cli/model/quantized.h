// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/cli/model/model.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/pipeline/plan_options.h"
#include "lowtide/report/quantized.h"
#include "lowtide/target/target.h"

namespace lowtide::cli_internal {

// What a quantized model would need with integer kernels. nullopt if no operator is between DequantizeLinear and
// QuantizeLinear. Unless the model is too large, plans a second graph on one stream. Its effort is that of `options` up
// to a limit, so this takes a fraction of the time of the plan itself.
[[nodiscard]] std::optional<QuantizedFacts> quantized_facts(const LoadedModel& loaded, const LowerOptions& lowering,
                                                            const Target& target, const PlanOptions& options);

// null if there are none.
[[nodiscard]] Json json_of(const std::optional<QuantizedFacts>& facts);

}  // namespace lowtide::cli_internal
