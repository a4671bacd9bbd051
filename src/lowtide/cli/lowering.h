// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/cli/json.h"
#include "lowtide/cli/model.h"
#include "lowtide/engine/lower_for_machine.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/lowering.h"

namespace lowtide::cli_internal {

// The choices of --without: the passes of options_for_kernels().
[[nodiscard]] std::vector<std::string> kernel_passes();

// The passes of a command that runs or plans kernels of this machine, without those of --without.
[[nodiscard]] LowerOptions read_kernel_lowering(const Arguments& arguments);
// The passes of --target and --without, and those of the other options of lowering.
[[nodiscard]] LowerOptions read_lowering(const Arguments& arguments);

// What decides about the formats of the kernels: --budget, where a command has it.
[[nodiscard]] FormatChoice read_format_choice(const Arguments& arguments);

// What lowering for the kernels of this machine changed. nullopt if none of its passes was on. Unless the model is too
// large, plans it as written, on one stream and for the target `dense`. The effort is that of `options` up to a limit.
[[nodiscard]] std::optional<LoweringFacts> lowering_facts(const LoadedModel& loaded, const LowerOptions& lowering,
                                                          const PlanOptions& options);

// null if there are none.
[[nodiscard]] Json json_of(const std::optional<LoweringFacts>& facts);

}  // namespace lowtide::cli_internal
