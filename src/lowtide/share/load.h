// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"

namespace lowtide {

// Returns the load of each step of an order: the live bytes of alias classes in the arena (is_in_arena), and scratch,
// each rounded up to the alignment. An order without nodes has one moment, in which all classes are live. O(nodes +
// classes + parts).
[[nodiscard]] std::vector<Bytes> load_profile(const AliasClasses& aliases, const ChosenKernels& kernels,
                                              const std::vector<NodeId>& order, const AliasOptions& options = {});

// Returns the largest load of a profile, or 0 if it is empty. O(steps).
[[nodiscard]] Bytes largest(const std::vector<Bytes>& profile);

}  // namespace lowtide
