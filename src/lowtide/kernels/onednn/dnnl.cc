// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/dnnl.h"

#include <dlfcn.h>

#include <atomic>
#include <new>
#include <optional>
#include <string_view>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/process_options.h"

namespace lowtide::kernels_internal {
namespace {

// The name of version 3 of oneDNN. The loader finds it by the run path of the program.
constexpr const char* kFile = "libdnnl.so.3";

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Whether the loader has found oneDNN and has no memory for it. The loader has only a text for this.
bool lacks_memory(std::string_view failure) {
  return failure.find("failed to map segment") != std::string_view::npos ||
         failure.find("cannot allocate") != std::string_view::npos ||
         failure.find("Cannot allocate memory") != std::string_view::npos;
}

std::optional<Dnnl> load() {
  if (!may_load_onednn()) return std::nullopt;
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const failure = dlerror();  // NOLINT(concurrency-mt-unsafe): its state is that of the thread
    if (failure != nullptr && lacks_memory(failure)) throw std::bad_alloc();
    return std::nullopt;
  }
  Dnnl found;
  bool has_all = true;
#define LOWTIDE_DNNL_FIND(name) has_all = has_all && find(library, "dnnl_" #name, found.name);
  LOWTIDE_DNNL_FUNCTIONS(LOWTIDE_DNNL_FIND)
#undef LOWTIDE_DNNL_FIND
  return has_all ? std::optional(found) : std::nullopt;
}

std::atomic<bool> is_loaded = false;

}  // namespace

const Dnnl* find_dnnl() {
  static const std::optional<Dnnl> loaded = load();
  is_loaded = loaded.has_value();
  return loaded ? &*loaded : nullptr;
}

bool is_dnnl_loaded() { return is_loaded; }

const Dnnl& dnnl() {
  const Dnnl* const found = find_dnnl();
  LOWTIDE_CHECK(found != nullptr, "oneDNN is called only where it is present");
  return *found;
}

}  // namespace lowtide::kernels_internal
