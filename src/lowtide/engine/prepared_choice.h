// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/engine/prepared_head.h"
#include "lowtide/import/imported.h"

namespace lowtide::engine_internal {

// The plans of a prepared file with several ones that have the sizes which `asked` gives, ascending: `dims` as they
// were given to 'prepare', `shapes` of inputs, and the shapes of `given`, which inputs with upper bounds take as well.
// Other options have no effect, and without sizes all plans are chosen. Errors (invalid): there is no such plan.
// O(plans x inputs).
[[nodiscard]] Result<std::vector<std::size_t>> choose_prepared(std::span<const PreparedHead> heads,
                                                               const ImportOptions& asked, const std::string& path);

// "'batch=1', 'batch=2' and 'batch=4'": the sizes that each plan was prepared for.
[[nodiscard]] std::string sizes_of_plans(std::span<const PreparedHead> heads);

}  // namespace lowtide::engine_internal
