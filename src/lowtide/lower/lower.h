// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/lower/options.h"
#include "lowtide/target/formats.h"

namespace lowtide {

// The options for a machine that runs the kernels of room `kernels`: all passes that save memory or time there
// (PassUse::kernels), besides those that are always on.
[[nodiscard]] LowerOptions options_for_kernels(std::shared_ptr<const KernelFormats> machine = nullptr);

// Returns the graph that runs. The passes run in the order of passes.h. Errors: those of check_operand_types (invalid),
// if the options say so, and of GraphBuilder (over_limit). O((nodes + edges) log nodes) over all bodies, and the time
// of KernelFormats::options.
[[nodiscard]] Result<Lowered> lower(const Graph& graph, const LowerOptions& options = {});

// Whether some of the passes ask a machine, so that only an equal machine makes the same graph again.
[[nodiscard]] bool depend_on_machine(const std::vector<std::string>& passes);

// Returns the options that make the graph of a plan again, from Provenance::lowering. Errors: (unsupported) a pass that
// this program does not have; (invalid) passes that are not in their order, or one that is listed twice.
[[nodiscard]] Result<LowerOptions> lower_options(const std::vector<std::string>& passes,
                                                 std::shared_ptr<const KernelFormats> machine = nullptr);

}  // namespace lowtide
