// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

namespace lowtide::kernels_internal {

// The functions of oneDNN that Lowtide calls, without their prefix `dnnl_`.
#define LOWTIDE_DNNL_FUNCTIONS(FUNCTION)              \
  FUNCTION(convolution_forward_primitive_desc_create) \
  FUNCTION(engine_create)                             \
  FUNCTION(fmt_tag2str)                               \
  FUNCTION(get_effective_cpu_isa)                     \
  FUNCTION(get_primitive_cache_capacity)              \
  FUNCTION(matmul_primitive_desc_create)              \
  FUNCTION(memory_create)                             \
  FUNCTION(memory_desc_create_with_strides)           \
  FUNCTION(memory_desc_create_with_tag)               \
  FUNCTION(memory_desc_destroy)                       \
  FUNCTION(memory_desc_equal)                         \
  FUNCTION(memory_desc_get_size)                      \
  FUNCTION(memory_desc_query)                         \
  FUNCTION(memory_destroy)                            \
  FUNCTION(memory_set_data_handle)                    \
  FUNCTION(post_ops_append_binary)                    \
  FUNCTION(post_ops_append_eltwise)                   \
  FUNCTION(post_ops_append_sum)                       \
  FUNCTION(post_ops_create)                           \
  FUNCTION(post_ops_destroy)                          \
  FUNCTION(primitive_attr_create)                     \
  FUNCTION(primitive_attr_destroy)                    \
  FUNCTION(primitive_attr_set_post_ops)               \
  FUNCTION(primitive_attr_set_scratchpad_mode)        \
  FUNCTION(primitive_create)                          \
  FUNCTION(primitive_desc_destroy)                    \
  FUNCTION(primitive_desc_next_impl)                  \
  FUNCTION(primitive_desc_query)                      \
  FUNCTION(primitive_desc_query_md)                   \
  FUNCTION(primitive_destroy)                         \
  FUNCTION(primitive_execute)                         \
  FUNCTION(primitive_get_primitive_desc)              \
  FUNCTION(reorder_primitive_desc_create)             \
  FUNCTION(set_primitive_cache_capacity)              \
  FUNCTION(stream_create)                             \
  FUNCTION(stream_destroy)                            \
  FUNCTION(version)

struct Dnnl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member cannot be in parentheses.
#define LOWTIDE_DNNL_MEMBER(name) decltype(&dnnl_##name) name = nullptr;
  LOWTIDE_DNNL_FUNCTIONS(LOWTIDE_DNNL_MEMBER)
#undef LOWTIDE_DNNL_MEMBER
};

// Loads oneDNN at the first call. A program that runs no model does not load it, because that takes 13 MB of
// memory. Returns nullptr if the system has no such library, or one without some of the functions. Throws
// std::bad_alloc if oneDNN is there and the system has no memory for it. Thread-safe.
[[nodiscard]] const Dnnl* find_dnnl();

// Whether a call of find_dnnl() has loaded oneDNN. Thread-safe.
[[nodiscard]] bool is_dnnl_loaded();

// Requires: find_dnnl() does not return nullptr.
[[nodiscard]] const Dnnl& dnnl();

}  // namespace lowtide::kernels_internal
