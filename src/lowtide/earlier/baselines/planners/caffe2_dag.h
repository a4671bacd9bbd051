// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/base/result.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/measure/measure.h"
#include "lowtide/earlier/baselines/net/blobs.h"

// Caffe2's planners for nets whose branches may run at the same time. Each applies recycle_by_tokens. If the original
// stops, or if its result is wrong for some run that the dependencies permit, recycle_in_dag decides instead, and the
// decision says why. Errors: invalid, for ids outside the graph; those of both rules.
namespace lowtide::baselines_internal {

// optimize_inference_for_dag: all tensors that are not kept share.
[[nodiscard]] Result<Decision> caffe2_dag(const BlobNet& net, const BaselineOptions& options);
[[nodiscard]] Result<Decision> caffe2_dag_sized(const BlobNet& net, const BaselineOptions& options);

// share_grad_blobs: gradients share, also with forward tensors that the caller lists as hosts.
[[nodiscard]] Result<Decision> caffe2_gradients(const BlobNet& net, const BaselineOptions& options);
[[nodiscard]] Result<Decision> caffe2_gradients_sized(const BlobNet& net, const BaselineOptions& options);

}  // namespace lowtide::baselines_internal
