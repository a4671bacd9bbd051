// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/measure/measure.h"
#include "lowtide/earlier/baselines/net/blobs.h"

// The planners of AITemplate. Their arena has inputs and outputs. An input is live from its first use on, and an input
// without readers has no place. Outputs are live to the end. Views have the place of their base.
namespace lowtide::baselines_internal {

// All tensors back to back, in the order of their first use.
[[nodiscard]] Result<Decision> aitemplate_naive(const BlobNet& net, const BaselineOptions& options);

// largest_first_offsets along the order. Errors: those of largest_first_offsets.
[[nodiscard]] Result<Decision> aitemplate_greedy_by_size(const BlobNet& net, const BaselineOptions& options);

// largest_first_offsets for nodes in waves of at most `options.nodes_at_once`. All tensors that nodes of a wave use
// are live at the same time. Errors: those of largest_first_offsets.
[[nodiscard]] Result<Decision> aitemplate_multistream(const BlobNet& net, const BaselineOptions& options);

// Sets the offset of each constant in the second region, in the order of the graph, and the size of this region.
void lay_out_constants(const Graph& graph, Bytes alignment, BaselineOutcome& outcome);

}  // namespace lowtide::baselines_internal
