// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "lowtide/kernels/library/dnnl.h"

namespace lowtide::kernels_internal {

// Owners of the library's objects. The library's own C++ classes are not used, because they throw.

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

// The object that `create` makes at the address that it gets. Returns nullptr if the library refuses.
template <typename Owner, typename Create>
[[nodiscard]] Owner made_by(Create create) {
  typename Owner::pointer object = nullptr;
  return create(&object) == dnnl_success ? Owner(object) : Owner();
}

}  // namespace lowtide::kernels_internal
