// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

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

// Reads an ordering problem (JSON, docs/order-format.md). Errors: malformed, invalid (a cycle, a node that is not
// there), over_limit, io.
[[nodiscard]] Result<ImportedOrderGraph> import_order_graph(const std::string& path);

}  // namespace lowtide
