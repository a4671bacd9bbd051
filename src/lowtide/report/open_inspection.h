// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lowtide/analysis/node_figures.h"
#include "lowtide/base/bytes.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// What a model contains whose sizes are not all known.
struct OpenInspection {
  struct TypedName {
    std::string name;
    std::string type;  // "f32[batch,3,h,w]"
  };
  std::vector<TypedName> inputs;
  std::vector<TypedName> outputs;
  Bytes constants;
  std::vector<OperatorTotals> operators;  // only their nodes and constants count
  std::size_t open = 0;                   // tensors of unknown size
  std::string reason;                     // a line for each size where the others begin, with what binds it
};

[[nodiscard]] StyledText open_inspection_summary(const ModelFacts& model, const OpenInspection& inspection,
                                                 const SummaryOptions& options = {});

}  // namespace lowtide
