// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/base/result.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/lowering_facts.h"
#include "lowtide/pipeline/plan_options.h"

namespace lowtide {

// What lowering for the kernels of this machine changed. `lowering` has the options that made `lowered` from `model`.
// nullopt if none of those passes was on. Unless the model is too large, plans it as written, on one stream and for the
// target `dense`. The effort is that of `options` up to a limit. Errors: those of lower and plan_graph. A wrong plan is
// a bug and throws InvariantViolation.
[[nodiscard]] Result<std::optional<LoweringFacts>> lowering_facts(const Graph& model, const Lowered& lowered,
                                                                  const LowerOptions& lowering,
                                                                  const PlanOptions& options);

}  // namespace lowtide
