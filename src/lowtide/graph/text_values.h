// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/graph/attribute.h"

namespace lowtide::graph_internal {

// The text form of an attribute: "3", "0.5", "[1, 2]", "int[]" for an empty list of integers.
[[nodiscard]] std::string print_attribute_value(const AttributeValue& value);

// "[2, 3]": the content of a tensor that is known before the run.
[[nodiscard]] std::string print_known_integers(const std::vector<std::int64_t>& integers);

}  // namespace lowtide::graph_internal
