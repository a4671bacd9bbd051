// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"

namespace lowtide {

// Names are those of the model; the escapes with which messages print a name (base/quote.h) are understood too.
struct ImportOptions {
  std::map<std::string, std::int64_t> dims;                 // symbol -> extent, e.g. {"batch", 8}
  std::map<std::string, std::vector<std::int64_t>> shapes;  // graph input -> extents; -1 keeps what the file says
};

// What came out of a model file.
struct ImportedModel {
  Graph graph;
  std::int64_t nodes = 0;          // of all graphs of the file, after inlining; the graph lacks Constant nodes
  std::string sha256;              // of the file's bytes, lower-case hex
  std::string format;              // "onnx"
  std::vector<std::string> notes;  // worth telling the user: nodes that were sorted, sizes that are upper bounds
};

// An ordering problem without operators: one output a node, which lives from its node to the last that reads it.
struct ImportedOrderGraph {
  Graph graph;
  IdVector<NodeId, std::int64_t> index;  // number of a node in the file, counted from 0
  std::vector<std::string> notes;
};

}  // namespace lowtide
