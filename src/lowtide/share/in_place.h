// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "lowtide/analysis/chosen_kernels.h"
#include "lowtide/base/interval.h"
#include "lowtide/graph/graph.h"
#include "lowtide/share/alias_classes.h"
#include "lowtide/share/alias_forest.h"

namespace lowtide::share_internal {

// What take_over_inputs() needs to know, for one order.
struct InPlaceInput {
  const Graph& graph;
  const ChosenKernels& kernels;
  const std::vector<NodeId>& order;
  bool parts = true;                          // AliasOptions::parts
  const IdVector<TensorId, Lifespan>& lives;  // from each tensor's write to its last use, as if it shared nothing
};

// Goes through the order. Joins the result of each computing node with an input that its kernel may overwrite and that
// no later step uses. The number of tensors examined is limited; beyond the limit, some joins are skipped.
// O(order log tensors), plus the limit, which is linear in the number of tensors.
void take_over_inputs(const InPlaceInput& input, const IdVector<NodeId, StepKind>& step_kinds, AliasForest& forest);

}  // namespace lowtide::share_internal
