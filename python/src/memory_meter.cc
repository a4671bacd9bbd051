// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the bytes that chosen libraries of the process take from the heap of C. Their import entries for functions of
// the heap are replaced by functions that count and call the originals. Blocks are as before, so a block may be
// released by another library, and entries may be replaced and put back at any time.

#include <dlfcn.h>
#include <malloc.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bind.h"
#include "call.h"
#include "lowtide/base/import_entries.h"

namespace lowtide::python {
namespace {

constinit std::atomic<std::int64_t> live = 0;  // bytes; negative if more were released than taken
constinit std::atomic<std::int64_t> peak = 0;

std::int64_t bytes_of(void* block) { return static_cast<std::int64_t>(malloc_usable_size(block)); }  // 0 of nullptr

void add(std::int64_t bytes) {
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t known = peak.load(std::memory_order_relaxed);
  while (now > known && !peak.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
  }
}

void* metered_malloc(std::size_t size) {
  void* block = malloc(size);
  add(bytes_of(block));
  return block;
}
void* metered_calloc(std::size_t count, std::size_t size) {
  void* block = calloc(count, size);
  add(bytes_of(block));
  return block;
}
// A block that moves exists twice for a moment, which is not counted.
void* metered_realloc(void* block, std::size_t size) {
  const std::int64_t before = bytes_of(block);
  void* changed = realloc(block, size);
  if (changed != nullptr || size == 0) add(bytes_of(changed) - before);
  return changed;
}
void metered_free(void* block) {
  live.fetch_sub(bytes_of(block), std::memory_order_relaxed);
  free(block);
}
int metered_posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  const int error = posix_memalign(block, alignment, size);
  if (error == 0) add(bytes_of(*block));
  return error;
}
void* metered_aligned_alloc(std::size_t alignment, std::size_t size) {
  void* block = aligned_alloc(alignment, size);
  add(bytes_of(block));
  return block;
}
void* metered_memalign(std::size_t alignment, std::size_t size) {
  void* block = memalign(alignment, size);
  add(bytes_of(block));
  return block;
}

// A function of the heap: its name, itself, and what replaces it.
struct HeapFunction {
  std::string_view name;
  void* original;
  void* in_library;  // differs from the original if the program, which takes its address, has a stub for it
  void* metered;
};

template <typename Function>
HeapFunction heap_function(const char* name, std::type_identity_t<Function>* original, Function* metered) {
  return {name, reinterpret_cast<void*>(original), dlsym(RTLD_NEXT, name), reinterpret_cast<void*>(metered)};
}

// operator new is not among them, because libstdc++ implements it by malloc.
const std::array<HeapFunction, 7>& heap_functions() {
  static const std::array<HeapFunction, 7> functions = {
      heap_function("malloc", &malloc, &metered_malloc),
      heap_function("calloc", &calloc, &metered_calloc),
      heap_function("realloc", &realloc, &metered_realloc),
      heap_function("free", &free, &metered_free),
      heap_function("posix_memalign", &posix_memalign, &metered_posix_memalign),
      heap_function("aligned_alloc", &aligned_alloc, &metered_aligned_alloc),
      heap_function("memalign", &memalign, &metered_memalign)};
  return functions;
}

std::vector<ImportEntry> heap_entries(const LoadedLibrary& library) {
  std::array<std::string_view, 7> names;
  std::ranges::transform(heap_functions(), names.begin(), &HeapFunction::name);
  return library.imports(names);
}

const HeapFunction& function_of(const ImportEntry& entry) {
  return *std::ranges::find(heap_functions(), entry.name, &HeapFunction::name);
}

// Whether the entry leads to the heap. Entries that other code has replaced do not, and stay as they are.
bool leads_to_heap(const ImportEntry& entry, const HeapFunction& function) {
  const void* held = address_in(entry);
  return !entry.is_filled || held == function.original || held == function.in_library;
}

void put_back(const LoadedLibrary& library) {
  for (const ImportEntry& entry : heap_entries(library)) {
    const HeapFunction& function = function_of(entry);
    // Nothing can be done about a page that cannot be written any more. The function then counts further.
    if (address_in(entry) == function.metered) static_cast<void>(replace_import(entry, function.original));
  }
}

// Returns whether calls of the library are counted.
bool redirect(const LoadedLibrary& library) {
  if (library.contains(reinterpret_cast<void*>(&metered_malloc))) return false;  // these must reach the originals
  bool is_counted = false;
  for (const ImportEntry& entry : heap_entries(library)) {
    const HeapFunction& function = function_of(entry);
    if (address_in(entry) != function.metered) {
      if (!leads_to_heap(entry, function)) continue;
      if (!replace_import(entry, function.metered)) {
        put_back(library);
        return false;
      }
    }
    is_counted = true;
  }
  return is_counted;
}

// Which libraries are redirected. The mutex guards the other members.
struct Redirection {
  std::mutex mutex;
  std::map<std::string, bool> names;  // how file names begin, and whether such a library is redirected
  std::uint64_t loads = 0;            // of libraries, when they were searched
};
Redirection& redirection() {
  static Redirection the_only;
  return the_only;
}

// Calls `visit` for the loaded libraries whose file names begin with one of the names.
template <typename Visit>
void for_each_named(const std::map<std::string, bool>& names, const Visit& visit) {
  heap_functions();  // which looks symbols up, and this is not allowed during a visit
  for_each_loaded_library([&](const LoadedLibrary& library) {
    for (const auto& name : names) {
      if (library.file_name().starts_with(name.first)) return visit(library);
    }
  });
}

std::vector<std::string> meter_install(const std::vector<std::string>& names) {
  if (std::ranges::find(names, std::string()) != names.end()) {
    throw Failure({.code = ErrorCode::invalid, .message = "a library has no name; give its first letters"});
  }
  Redirection& all = redirection();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t loads = count_of_loads();
  bool is_known = loads == all.loads;
  for (const std::string& name : names) is_known &= !all.names.try_emplace(name, false).second;
  if (!is_known) {
    for (auto& name : all.names) name.second = false;
    for_each_named(all.names, [&](const LoadedLibrary& library) {
      if (!redirect(library)) return;
      for (auto& name : all.names) name.second |= library.file_name().starts_with(name.first);
    });
    all.loads = loads;
  }
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), [&](const std::string& name) { return all.names.at(name); });
  return found;
}

void meter_remove() {
  Redirection& all = redirection();
  const std::lock_guard lock(all.mutex);
  for_each_named(all.names, &put_back);
  all.names.clear();
}

}  // namespace

void bind_memory_meter(nb::module_& module) {
  module.def("meter_install", &meter_install, nb::arg("names"));
  module.def("meter_remove", &meter_remove);
  module.def("meter_live", [] { return live.load(std::memory_order_relaxed); });
  module.def("meter_peak", [] { return peak.load(std::memory_order_relaxed); });
  module.def("meter_reset", [] { peak.store(live.load(std::memory_order_relaxed), std::memory_order_relaxed); });
}

}  // namespace lowtide::python
