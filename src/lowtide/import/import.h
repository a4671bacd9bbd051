// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/plan/packing.h"

namespace lowtide {

// Does what all models need once per program: registers the operators of ONNX, and prepares the library that computes
// digests. Otherwise the first call of import_model() does both. They take 12 MB, whatever the model. Thread-safe.
void initialize_import();

// Computes digests without the system's configuration of libcrypto, which takes as long to read as 1 MB to digest. Only
// for the start of a program that uses libcrypto for nothing else, because it holds for the whole program.
void skip_digest_configuration();

// Reads a model file: ONNX, or one of ImportOptions::formats. External data is never opened. Raw data of constants
// above 256 bytes stay in the file (ImportedModel::constants), and only their digest is computed.
// Errors: malformed; invalid; unsupported, which lists every unsupported operator; over_limit; unresolved, which
// lists every open symbol with the options that bind it; io; no_memory.
// Time and memory are near linear in the size of the file. The memory for the parsed form is limited to 64 MB + 16
// times the file size before parsing starts. Inlined functions and computed contents have similar limits.
[[nodiscard]] Result<ImportedModel> import_model(const std::string& path, const ImportOptions& options = {});

// Imports an ONNX model from its bytes, as import_model() does from a file. The first file of
// ImportedModel::constants is `bytes`. Errors: those of import_model, without a path in the place.
[[nodiscard]] Result<ImportedModel> import_onnx_bytes(std::string_view bytes, const ImportOptions& options = {});

// Checks that each name of ImportOptions::overrides is an input of the graph. Errors (invalid): one is not, with the
// names of the inputs that have a default value, which are ImportedModel::default_inputs.
[[nodiscard]] Result<void> check_overrides(const Graph& graph, const std::vector<std::string>& default_inputs,
                                           const std::set<std::string>& overrides);

// Returns the SHA-256 digest of any file, as in ImportedModel::sha256. The file need not be a model. Errors: io,
// over_limit. O(bytes).
[[nodiscard]] Result<std::string> model_digest(const std::string& path);

// Returns the SHA-256 digest of a text, as 64 lower-case hex digits. O(bytes).
[[nodiscard]] std::string text_digest(std::string_view text);

// Returns the first `most` bytes of a file, or all if it has fewer. Errors: io. O(bytes).
[[nodiscard]] Result<std::string> read_beginning(const std::string& path, std::int64_t most);

// Reads a packing problem from a CSV file in the format of MiniMalloc: a header line, then one line per buffer
// (docs/packing-format.md). The columns are id, lower, upper and size, and optionally alignment, offset and gaps, in
// any order. A buffer is live in [lower, upper). Errors: malformed, invalid, unsupported (a window), over_limit, io.
// O(bytes).
[[nodiscard]] Result<PackingProblem> import_packing(const std::string& path);

// Reads an ordering problem from a JSON file (docs/order-format.md). Errors: malformed; invalid, such as a cycle or a
// node that does not exist; over_limit; io. O(bytes + (nodes + edges) log nodes).
[[nodiscard]] Result<ImportedOrderGraph> import_order_graph(const std::string& path,
                                                            const OrderFileOptions& options = {});

}  // namespace lowtide
