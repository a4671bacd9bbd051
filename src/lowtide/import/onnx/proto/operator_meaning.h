// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "lowtide/graph/attribute.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

// A graph has no opset versions, but some operators changed their meaning without another signature: Softmax-11 works
// on all axes from `axis` on, Softmax-13 on one. Returns the attribute kSinceAttribute (graph/lowered.h) for a node
// that has an older meaning than the newest one, and nullopt for every other node. Requires: check_operators()
// succeeded.
[[nodiscard]] std::optional<Attribute> older_meaning_of(const onnx::NodeProto& node, const OpsetImports& opsets);

}  // namespace lowtide::import_internal
