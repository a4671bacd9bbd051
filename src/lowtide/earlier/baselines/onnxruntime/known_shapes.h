// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/earlier/baselines/onnxruntime/step_types.h"
#include "lowtide/graph/graph.h"

namespace lowtide::baselines_internal {

// The shapes that ONNX Runtime knows before the run. It derives shapes from other shapes, from the content of
// initializers, and from simple arithmetic on both. It does not derive the content of a Concat. So it does not know the
// result of a Reshape whose new shape is the result of a Concat, unless the file declares it. It does not compute with
// symbols, either: a convolution of [batch, 3, height, width] has an unknown height. Lowtide often knows more. Errs
// towards unknown. O((nodes + edges) log).
[[nodiscard]] IdVector<TensorId, std::optional<ShapeForm>> known_shapes(const Graph& graph,
                                                                        const OnnxRuntimeShapes& shapes);

}  // namespace lowtide::baselines_internal
