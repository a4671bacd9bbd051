// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/net_input.h"

#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/read_file.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/import/net_file.h"

namespace lowtide::cli_internal {
namespace {

// The text form begins with the word "graph", behind blanks and comments.
bool is_graph_text(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with('#')) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text.starts_with("graph ");
}

}  // namespace

NetInput read_net_input(const std::string& path, const ImportOptions& options) {
  const std::string text = take(read_text_file(path, limits::kMaxFileBytes), path);
  if (is_graph_text(text)) {
    return {.format = "graph", .net = std::nullopt, .graph = take(parse_graph(text, shown_path(path)))};
  }
  if (is_net(text)) {
    NetFile net = take(read_net(text), path);
    return {.format = std::string(to_string(net.form)), .net = std::move(net), .graph = std::nullopt};
  }
  ImportedModel model = take(import_model(path, options));
  return {.format = model.format, .net = std::nullopt, .graph = std::move(model.graph)};
}

}  // namespace lowtide::cli_internal
