// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/integer_product.h"

#include <memory>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/kernels/onednn/dnnl.h"
#include "lowtide/kernels/onednn/engine.h"

namespace lowtide::kernels_internal {
namespace {

// Whether oneDNN uses instructions that add four products of 8 bits to a sum of 32 bits.
bool has_exact_sums() {
  const int isa = dnnl().get_effective_cpu_isa();
  const auto has = [&](int wanted) { return (isa & wanted) == wanted; };
  return has(dnnl_cpu_isa_avx512_core_vnni) || has(dnnl_cpu_isa_avx2_vnni);
}

MemoryDescription matrix(std::int64_t rows, std::int64_t columns, const ExtentList& strides, dnnl_data_type_t type) {
  const ExtentList extents = {rows, columns};
  return made_by<MemoryDescription>([&](dnnl_memory_desc_t* made) {
    return dnnl().memory_desc_create_with_strides(made, 2, extents.data(), type, strides.data());
  });
}

// The tensors of a product, in the order of its arguments.
constexpr std::array<std::pair<int, dnnl_query_t>, 4> kProductTensors{
    {{DNNL_ARG_SRC, dnnl_query_src_md},
     {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
     {DNNL_ARG_DST, dnnl_query_dst_md},
     {DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md}}};

// Whether the processor has AMX.
bool has_amx() {
  return (dnnl().get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx;
}

// Executes a product on memory of its own, while it may allocate. With AMX, the first execution in a process generates
// code that oneDNN keeps. During a run, its objects would be in the pool of a thread, and would fill it. Returns
// false if oneDNN refuses.
bool run_once(const Primitive& product) {
  std::array<std::vector<std::byte>, kProductTensors.size()> bytes;
  std::array<dnnl_exec_arg_t, kProductTensors.size()> arguments{};
  dnnl_stream_t stream = nullptr;
  bool is_good = dnnl().stream_create(&stream, onednn_engine(), dnnl_stream_in_order) == dnnl_success;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const auto& [name, which] = kProductTensors[at];
    const_dnnl_memory_desc_t tensor = tensor_of(description_of(product), which);
    bytes[at].resize(static_cast<std::size_t>(size_of(tensor).count()) + 64);
    void* begin = bytes[at].data();
    std::size_t space = bytes[at].size();
    std::align(64, 1, begin, space);
    arguments[at].arg = name;
    is_good = dnnl().memory_create(&arguments[at].memory, tensor, onednn_engine(), begin) == dnnl_success && is_good;
  }
  is_good = is_good && dnnl().primitive_execute(product.get(), stream, static_cast<int>(arguments.size()),
                                                arguments.data()) == dnnl_success;
  for (const dnnl_exec_arg_t& argument : arguments) dnnl().memory_destroy(argument.memory);
  dnnl().stream_destroy(stream);
  return is_good;
}

}  // namespace

PrimitiveDescription describe(const IntegerProduct& product) {
  if (product.rows < 1 || product.inner < 1 || product.columns < 1 || !has_exact_sums()) return nullptr;
  const SingleThread single;
  dnnl_engine_t engine = onednn_engine();
  const PrimitiveAttributes attributes = caller_scratchpad();
  const std::int64_t row_step = product.right_row_step == 0 ? product.columns : product.right_row_step;
  const std::int64_t column_step = product.right_column_step == 0 ? 1 : product.right_column_step;
  const dnnl_data_type_t left_type = product.is_left_signed ? dnnl_s8 : dnnl_u8;
  const MemoryDescription left = matrix(product.rows, product.inner, {product.inner, 1}, left_type);
  const MemoryDescription right = matrix(product.inner, product.columns, {row_step, column_step}, dnnl_s8);
  const MemoryDescription result = matrix(product.rows, product.columns, {product.columns, 1}, dnnl_s32);
  if (attributes == nullptr || left == nullptr || right == nullptr || result == nullptr) return nullptr;
  return first_suitable(made_by<PrimitiveDescription>([&](dnnl_primitive_desc_t* made) {
    return dnnl().matmul_primitive_desc_create(made, engine, left.get(), right.get(), nullptr, result.get(),
                                               attributes.get());
  }));
}

Primitive ready_primitive(const IntegerProduct& product) {
  const SingleThread single;
  Primitive made = primitive_of(describe(product));
  return made != nullptr && has_amx() && !run_once(made) ? nullptr : std::move(made);
}

ProductArguments product_arguments(const Primitive& product, const ProductPlaces& places) {
  const std::array<std::byte*, kProductTensors.size()> all{places.left, places.right, places.sums, places.scratchpad};
  ProductArguments arguments{};
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto& [name, which] = kProductTensors[at];
    dnnl_memory_t memory = nullptr;
    const dnnl_status_t made =
        dnnl().memory_create(&memory, tensor_of(description_of(product), which), onednn_engine(), all[at]);
    LOWTIDE_CHECK(made == dnnl_success, "oneDNN describes memory that exists");
    arguments[at] = {name, memory};
  }
  return arguments;
}

}  // namespace lowtide::kernels_internal
