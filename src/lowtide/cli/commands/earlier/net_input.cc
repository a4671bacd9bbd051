// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/net_input.h"

#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/formats/net_file.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"

namespace lowtide::cli_internal {
NetInput read_net_input(const std::string& path, const ImportOptions& options) {
  if (is_prepared_file(path)) {
    throw Stop(ExitCode::bad_input,
               shown_path(path) + ": this is a prepared file; 'run' and 'bench' take it, and this command a model");
  }
  if (path.ends_with(".graph")) {
    const std::string text = take(read_text_file(path, limits::kMaxFileBytes));
    return {.format = "graph", .net = std::nullopt, .graph = take(parse_graph(text, shown_path(path)))};
  }
  if (take(is_net_path(path))) {
    NetFile net = take(read_net_file(path));
    return {.format = std::string(to_string(net.form)), .net = std::move(net), .graph = std::nullopt};
  }
  ImportedModel model = take(import_model(path, options));
  return {
      .format = model.format, .net = std::nullopt, .graph = std::move(model.graph), .notes = std::move(model.notes)};
}

}  // namespace lowtide::cli_internal
