// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/model_hints.h"

#include <utility>

#include "lowtide/base/quote.h"

namespace lowtide {

std::string refusal_text(const RefusedHint& hint) {
  return "the hint '" + std::string(to_string(hint.request.kind)) + "' for " + quoted(hint.request.name) +
         " cannot be honoured: " + hint.reason;
}

Result<ModelHints> model_hints(const ImportedModel& model, const Graph& lowered, const std::vector<HintRequest>& given,
                               bool has_link) {
  ModelHints hints;
  std::vector<HintRequest> requests = given;
  if (given.empty() && !model.hints.empty()) {
    Result<std::vector<HintRequest>> read = parse_hints(model.hints, std::string(kHintsKey));
    if (read) {
      requests = *std::move(read);
    } else {
      hints.notes.push_back("the hints in the metadata of the model are ignored: " + read.error().describe());
    }
  }
  ResolvedHints resolved = resolve_hints(lowered, requests, {.written = &model.graph, .has_link = has_link});
  hints.accepted = std::move(resolved.accepted);
  hints.names = std::move(resolved.names);
  std::string all;
  for (const RefusedHint& refused : resolved.refused) {
    if (given.empty()) hints.notes.push_back(refusal_text(refused));
    all += (all.empty() ? "" : "\n  ") + refusal_text(refused);
  }
  if (!given.empty() && !all.empty()) return Error{ErrorCode::invalid, all, ""};
  return hints;
}

}  // namespace lowtide
