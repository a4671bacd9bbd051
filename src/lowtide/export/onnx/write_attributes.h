// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>

#include "lowtide/export/onnx/onnx_headers.h"
#include "lowtide/graph/graph.h"

namespace lowtide::export_internal {

// Adds the attributes of a node, except for its bodies. A number is a tensor of one element if the operator asks for a
// tensor. A tensor of which the graph only knows the type is written with zeros, if it is small. `lost` gets what is
// not written.
void write_attributes(const Graph& graph, NodeId id, onnx::NodeProto& to, std::set<std::string>& lost);

}  // namespace lowtide::export_internal
