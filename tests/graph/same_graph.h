// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// Where two graphs differ, or "" where they are the same in everything that Graph promises: ids, names, types, roles,
// order, attributes to the last bit, content, bodies. The numbering of operators may differ.
[[nodiscard]] std::string difference(const Graph& a, const Graph& b);

}  // namespace lowtide::testing
