// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/base/result.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/import/imported.h"

namespace lowtide {

// Reads a NetDef in either form. Errors: those of read_net, with the path in the place; io; over_limit; no_memory.
[[nodiscard]] Result<NetFile> read_net_file(const std::string& path);

// Whether import_model() reads the file as a NetDef. Errors: io.
[[nodiscard]] Result<bool> is_net_path(const std::string& path);

struct ImportedNet {
  NetFile file;
  NetGraph graph;
};

// Reads a NetDef and makes its graph, as import_model does, but also returns the net, so that it can be changed and
// written. Errors: those of import_model for a NetDef.
[[nodiscard]] Result<ImportedNet> import_net_file(const std::string& path, const ImportOptions& options = {});

}  // namespace lowtide
