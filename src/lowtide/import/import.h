// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/packing.h"

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

// Reads a model file; the format is told from its content, never from its name. External data is never opened.
// Bad input never crashes or hangs: malformed, invalid, unsupported (every unsupported operator at once), over_limit,
// unresolved (every symbol that is left, with the options that bind it), io.
// Time and memory are near linear in the file's size. What reading a file may cost is bounded before it is parsed: the
// parsed form to 64 MB + 16 x the file, the inlined functions and computed contents likewise.
[[nodiscard]] Result<ImportedModel> import_model(const std::string& path, const ImportOptions& options = {});

// ImportedModel::sha256 of a file that need not be a model, nor one whose sizes are known. Errors: io, over_limit.
[[nodiscard]] Result<std::string> model_digest(const std::string& path);

// A packing problem in MiniMalloc's form: a header line, then one buffer a line. Columns by name, in any order:
// id, lower, upper, size, and optionally alignment, offset, gaps. `lower` and `upper` are half-open.
[[nodiscard]] Result<PackingProblem> import_packing(const std::string& path);

// An ordering problem without operators: one output a node, which lives from its node to the last that reads it.
struct ImportedOrderGraph {
  Graph graph;
  IdVector<NodeId, std::int64_t> index;  // number of a node in the file, counted from 0
  std::vector<std::string> notes;
};

// Reads an ordering problem (JSON, docs/order-format.md). Errors: malformed, invalid (a cycle, a node that is not
// there), over_limit, io.
[[nodiscard]] Result<ImportedOrderGraph> import_order_graph(const std::string& path);

}  // namespace lowtide
