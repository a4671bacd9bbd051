// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// The first difference between two graphs, or "" if they are equal: ids, names, types, roles, order, attributes to the
// last bit, content and bodies. Ids of operators may differ.
[[nodiscard]] std::string difference(const Graph& a, const Graph& b);

}  // namespace lowtide::testing
