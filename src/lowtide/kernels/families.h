// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// All families, with those of oneDNN even where it is missing. Families of faster kernels come before those of
// slower ones, because the kernels of a node have this order. Several families may implement one operator, under
// different names of kernels.
[[nodiscard]] std::span<const Family> families();

// The families with an operator, in the same order. The domains "" and "ai.onnx" are equal. O(log operators).
[[nodiscard]] std::span<const Family* const> families_with(const Operator& op);

}  // namespace lowtide::kernels_internal
