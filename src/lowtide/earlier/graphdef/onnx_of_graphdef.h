// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide {

struct OnnxOfGraphDef {
  OnnxForm form;
  std::vector<std::string> notes;
};

// Converts a GraphDef for inference to a model of ONNX that computes the same. Its tensors have the names that
// graph_of_graphdef() gives them. Sizes are fixed, and come from where graph_of_graphdef() has them, so work on shapes
// is done here. A Const is a constant. Images are in the order of axes that ONNX has, [N, C, H, W], from the first node
// that needs it to the last one that permits it; inputs and outputs keep their own order.
//
// Errors: those of graph_of_graphdef, and unsupported, which lists the nodes that cannot be converted, and why:
// variables that are not frozen, random operators, those for training, and those without a conversion. Only nodes that
// an output depends on are converted. O(size of the file, log).
[[nodiscard]] Result<OnnxOfGraphDef> onnx_of_graphdef(const ProtoMessage& graphdef,
                                                      const GraphDefOptions& options = {});

}  // namespace lowtide
