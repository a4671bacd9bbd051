// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/random.h"
#include "lowtide/graph/graph.h"

namespace lowtide::testing {

// A name of any bytes: plain words, reserved words, quotes, control bytes, invalid UTF-8.
[[nodiscard]] std::string random_name(Random& random);

// A random valid graph with every feature of graphs: unusual names, shuffled ids, omitted inputs, control inputs,
// attributes of all kinds, known content, upper bounds, and bodies up to `nesting` deep with captures.
[[nodiscard]] Graph random_graph(Random& random, int nesting = 2);

}  // namespace lowtide::testing
