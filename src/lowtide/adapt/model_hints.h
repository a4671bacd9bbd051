// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/import/imported.h"
#include "lowtide/pipeline/resolve_hints.h"
#include "lowtide/plan/hints.h"

namespace lowtide {

struct ModelHints {
  std::vector<NodeHint> accepted;
  std::vector<std::string> names;  // by accepted hint, as they were written
  std::vector<std::string> notes;  // remarks for the user: which hints of the file were refused, and why
};

// The hints for the graph that runs: the given ones, or without any those in the metadata of the file. Given hints that
// are refused are an Error (invalid) that lists all of them. Those of the file become notes, and the model can still be
// planned.
[[nodiscard]] Result<ModelHints> model_hints(const ImportedModel& model, const Graph& lowered,
                                             const std::vector<HintRequest>& given, bool has_link = false);

// A refusal as a line of text: "the hint 'recompute' for 'x' cannot be honoured: no node or tensor has this name".
[[nodiscard]] std::string refusal_text(const RefusedHint& hint);

}  // namespace lowtide
