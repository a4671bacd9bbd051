// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/engine/engine.h"

namespace lowtide::engine_internal {

// open_model() for a prepared file. Threads are those of the file. Errors, beside those of read_prepared_head and
// ModelWeights::open: (invalid) options that a prepared file has decided; (mismatch) the file is for another machine,
// its plan is wrong, or it changed meanwhile.
[[nodiscard]] Result<OpenedModel> open_prepared(const std::string& path, const OpenOptions& options);

}  // namespace lowtide::engine_internal
