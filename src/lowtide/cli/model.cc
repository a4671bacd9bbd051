// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/model.h"

#include "lowtide/cli/outcome.h"
#include "lowtide/cli/progress.h"

namespace lowtide::cli_internal {

Result<LoadedModel> try_load_model(const std::string& path, const ImportOptions& bindings, Console& console) {
  const Stopwatch watch;
  Result<ImportedModel> imported = [&] {
    const Progress progress(console, "reading the model");
    return import_model(path, bindings);
  }();
  if (!imported.ok()) return imported.error();
  ImportedModel& model = *imported;
  for (const std::string& note : model.notes) {
    console.remark(StyledText("note: ", Style::dim).add(note).end_line());
  }
  ModelFacts facts{.path = path,
                   .format = model.format,
                   .sha256 = model.sha256,
                   .nodes = model.nodes,
                   .planned_nodes = model.graph.total_nodes(),
                   .tensors = model.graph.total_tensors()};
  return LoadedModel{std::move(model), std::move(facts), watch.seconds()};
}

LoadedModel load_model(const std::string& path, const ImportOptions& bindings, Console& console) {
  return take(try_load_model(path, bindings, console));
}

}  // namespace lowtide::cli_internal
