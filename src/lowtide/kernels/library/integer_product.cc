// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/integer_product.h"

#include "lowtide/kernels/library/dnnl.h"
#include "lowtide/kernels/library/engine.h"

namespace lowtide::kernels_internal {
namespace {

// Whether the library uses instructions that add four products of 8 bits to a sum of 32 bits.
bool has_exact_sums() {
  const int isa = dnnl().get_effective_cpu_isa();
  const auto has = [&](int wanted) { return (isa & wanted) == wanted; };
  return has(dnnl_cpu_isa_avx512_core_vnni) || has(dnnl_cpu_isa_avx2_vnni);
}

MemoryDescription matrix(std::int64_t rows, std::int64_t columns, dnnl_data_type_t type) {
  const ExtentList extents = {rows, columns};
  const ExtentList strides = {columns, 1};
  return made_by<MemoryDescription>([&](dnnl_memory_desc_t* made) {
    return dnnl().memory_desc_create_with_strides(made, 2, extents.data(), type, strides.data());
  });
}

}  // namespace

PrimitiveDescription describe(const IntegerProduct& product) {
  if (product.rows < 1 || product.inner < 1 || product.columns < 1 || !has_exact_sums()) return nullptr;
  const SingleThread single;
  dnnl_engine_t engine = library_engine();
  const PrimitiveAttributes attributes = caller_scratchpad();
  const MemoryDescription left = matrix(product.rows, product.inner, product.is_left_signed ? dnnl_s8 : dnnl_u8);
  const MemoryDescription right = matrix(product.inner, product.columns, dnnl_s8);
  const MemoryDescription result = matrix(product.rows, product.columns, dnnl_s32);
  if (attributes == nullptr || left == nullptr || right == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().matmul_primitive_desc_create(made, engine, left.get(), right.get(), nullptr, result.get(),
                                               attributes.get());
  }));
}

}  // namespace lowtide::kernels_internal
