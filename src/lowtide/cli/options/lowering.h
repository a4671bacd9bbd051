// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/adapt/lower_for_machine.h"
#include "lowtide/cli/options/arguments.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/lower/lower.h"
#include "lowtide/pipeline/lowering_facts.h"

namespace lowtide::cli_internal {

// The passes of a command that runs or plans kernels of this machine, without those of --without.
[[nodiscard]] LowerOptions read_kernel_lowering(const Arguments& arguments);
// The passes of --target, which is given, and --without, and those of the other options of lowering.
[[nodiscard]] LowerOptions read_lowering(const Arguments& arguments, const Target& target);

// What decides about the formats of the kernels of a target: --budget, where a command has it.
[[nodiscard]] FormatChoice read_format_choice(const Arguments& arguments, const Target& target);

// null if there are none.
[[nodiscard]] Json json_of(const std::optional<LoweringFacts>& facts);

}  // namespace lowtide::cli_internal
