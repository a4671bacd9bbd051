// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/measure/measure.h"
#include "lowtide/earlier/baselines/net/blobs.h"

// The planners of runtimes for small devices. Their arenas have the inputs and outputs of the graph. Inputs are live
// from before the first node to their last reader, and outputs to the end of the run.
namespace lowtide::baselines_internal {

// TFLite Micro. The arena also has the scratch of the nodes (`options.workspaces.shared`), rounded up to
// `options.alignment`. Places buffers from large to small. Of equals, scratch comes first, then tensors, both from the
// last to the first. Errors: those of lowest_free_offsets, and of lay_out_workspaces. Requires: `options.alignment` is
// set.
[[nodiscard]] Result<Decision> tflite_micro_greedy(const BlobNet& net, const BaselineOptions& options);

// ExecuTorch. Places buffers from large to small. Of equals, those that are written last come first, followed by the
// inputs from the last to the first. Each bucket is a block. Errors: those of bucket_offsets.
[[nodiscard]] Result<Decision> executorch_greedy(const BlobNet& net, const BaselineOptions& options);

// ExecuTorch without sharing: one arena with the inputs first, then the tensors in the order of their writes.
[[nodiscard]] Result<Decision> executorch_naive(const BlobNet& net, const BaselineOptions& options);

}  // namespace lowtide::baselines_internal
