// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/strided_product.h"

#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"

namespace lowtide::kernels_internal {

PrimitiveDescription describe(const StridedProduct& product) {
  if (product.rows < 1 || product.inner < 1 || product.columns < 1) return nullptr;
  const SingleThread single;
  dnnl_engine_t engine = onednn_engine();
  const PrimitiveAttributes attributes = caller_scratchpad();
  const auto matrix = [](std::int64_t rows, std::int64_t columns, const Strides& strides) {
    return tensor_with_strides({rows, columns}, {strides.row, strides.column});
  };
  const MemoryDescription left = matrix(product.rows, product.inner, product.left);
  const MemoryDescription right = matrix(product.inner, product.columns, product.right);
  const MemoryDescription result = matrix(product.rows, product.columns, product.result);
  if (attributes == nullptr || left == nullptr || right == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().matmul_primitive_desc_create(made, engine, left.get(), right.get(), nullptr, result.get(),
                                               attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
