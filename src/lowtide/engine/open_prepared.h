// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "lowtide/engine/engine.h"
#include "lowtide/engine/range.h"

namespace lowtide::engine_internal {

// open_model() for a prepared file. Threads are those of the file. If the file has several plans, the sizes of
// options.import choose one (choose_prepared). Errors, beside those of read_prepared_heads, choose_prepared and
// ModelWeights::open: (invalid) options that a prepared file has decided, or none of several plans is chosen;
// (mismatch) the file is for another machine, a plan is wrong, or the file changed meanwhile.
[[nodiscard]] Result<OpenedModel> open_prepared(const std::string& path, const OpenOptions& options);

// open_members() for a prepared file. A single entry of `options` opens all plans that it chooses, and each of several
// entries the first one. The file is read once, and plans share the weights (PreparedTables). Errors: those of
// open_prepared().
[[nodiscard]] Result<OpenedRange> open_prepared_members(const std::string& path, std::span<const OpenOptions> options);

}  // namespace lowtide::engine_internal
