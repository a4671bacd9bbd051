// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/flags.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// The tensors whose shapes ONNX Runtime knows before the run. It derives shapes from other shapes, from the content of
// initializers, and from simple arithmetic on both. It does not derive the content of a Concat. So it does not know the
// result of a Reshape whose new shape is the result of a Concat. Lowtide often knows more. Errs towards unknown.
// O(nodes + edges).
[[nodiscard]] Flags<TensorId> known_shapes(const Graph& graph);

}  // namespace lowtide::baselines_internal
