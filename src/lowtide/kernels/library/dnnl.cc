// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/library/dnnl.h"

#include <dlfcn.h>

#include <optional>

#include "lowtide/base/check.h"

namespace lowtide::kernels_internal {
namespace {

// The name of version 3 of the library. The loader finds it by the run path of the program.
constexpr const char* kFile = "libdnnl.so.3";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Dnnl> load() {
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Dnnl found;
  bool has_all = true;
#define LOWTIDE_DNNL_FIND(name) has_all = has_all && find(library, "dnnl_" #name, found.name);
  LOWTIDE_DNNL_FUNCTIONS(LOWTIDE_DNNL_FIND)
#undef LOWTIDE_DNNL_FIND
  return has_all ? std::optional(found) : std::nullopt;
}

}  // namespace

const Dnnl* find_dnnl() {
  static const std::optional<Dnnl> loaded = load();
  return loaded ? &*loaded : nullptr;
}

const Dnnl& dnnl() {
  const Dnnl* const found = find_dnnl();
  LOWTIDE_CHECK(found != nullptr, "the library is called only where it is present");
  return *found;
}

}  // namespace lowtide::kernels_internal
