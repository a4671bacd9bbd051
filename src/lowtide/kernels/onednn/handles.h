// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <new>

#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {

// Owners of oneDNN's objects. oneDNN's own C++ classes are not used, because they throw.

template <auto kDestroy>
struct Release {
  template <typename Object>
  void operator()(Object* object) const {
    (dnnl().*kDestroy)(object);
  }
};

using MemoryDescription = std::unique_ptr<dnnl_memory_desc, Release<&Dnnl::memory_desc_destroy>>;
using PrimitiveDescription = std::unique_ptr<dnnl_primitive_desc, Release<&Dnnl::primitive_desc_destroy>>;
using PrimitiveAttributes = std::unique_ptr<dnnl_primitive_attr, Release<&Dnnl::primitive_attr_destroy>>;
using PrimitiveOperations = std::unique_ptr<dnnl_post_ops, Release<&Dnnl::post_ops_destroy>>;
using Primitive = std::unique_ptr<dnnl_primitive, Release<&Dnnl::primitive_destroy>>;

// Throws std::bad_alloc if oneDNN got no memory. Then it has not refused what was asked for.
inline dnnl_status_t with_memory(dnnl_status_t status) {
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  return status;
}

// The object that `create` makes at the address that it gets. Returns nullptr if oneDNN refuses. Throws
// std::bad_alloc.
template <typename Owner, typename Create>
[[nodiscard]] Owner made_by(Create create) {
  typename Owner::pointer object = nullptr;
  return with_memory(create(&object)) == dnnl_success ? Owner(object) : Owner();
}

}  // namespace lowtide::kernels_internal
