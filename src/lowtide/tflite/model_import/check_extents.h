// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::model_import_internal {

// Why the extents of an operator's result cannot be those that the file states. Empty: they can, or it is not known.
// Only rules that follow from extents and options alone are checked: results that have as many elements as an operand,
// convolutions, pools, and concatenations. O(extents).
[[nodiscard]] std::string extents_obstacle(const TfliteSubgraph& subgraph, const TfliteOperator& op);

}  // namespace lowtide::model_import_internal
