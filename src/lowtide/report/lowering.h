// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>

#include "lowtide/pipeline/lowering_facts.h"
#include "lowtide/report/styled_text.h"

namespace lowtide {

// A paragraph: how many nodes became what, and what the model needs as written.
[[nodiscard]] std::string lowering_text(const LoweringFacts& facts);

// A table of the nodes that run instead of several nodes of the model: those that replace most of them first, up to
// `rows`. Empty if there are none. If `wide`, all names are whole.
[[nodiscard]] StyledText rewrites_text(const LoweringFacts& facts, std::size_t rows, bool wide);

}  // namespace lowtide
