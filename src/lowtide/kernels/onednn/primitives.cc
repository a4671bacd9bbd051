// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/primitives.h"

#include <optional>
#include <string>

namespace lowtide::kernels_internal {

bool fix_orders(Convolution& convolution, const PrimitiveDescription& whole) {
  std::optional<std::string> order = order_of(tensor_of(whole.get(), dnnl_query_weights_md));
  if (!order) return false;
  convolution.weights_order = *std::move(order);
  return true;
}

}  // namespace lowtide::kernels_internal
