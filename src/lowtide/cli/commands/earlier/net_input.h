// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lowtide/earlier/netdef/net.h"
#include "lowtide/graph/graph.h"
#include "lowtide/import/imported.h"

namespace lowtide::cli_internal {

// A file of any format that has a graph: a NetDef, a GraphDef, a graph in Lowtide's text form (by its name, *.graph),
// or an ONNX model.
struct NetInput {
  std::string format;          // "netdef", "netdef_text", "graphdef", "graphdef_text", "graph" or "onnx"
  std::optional<NetFile> net;  // of a NetDef
  std::optional<Graph> graph;  // of the others
  std::vector<std::string> notes = {};
};

// Reads such a file. Sizes of an ONNX model come from the options. Stops with exit code 3 if it cannot.
[[nodiscard]] NetInput read_net_input(const std::string& path, const ImportOptions& options);

}  // namespace lowtide::cli_internal
