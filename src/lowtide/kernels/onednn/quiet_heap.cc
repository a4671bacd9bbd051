// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/quiet_heap.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

#include "lowtide/base/import_entries.h"
#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::size_t kPoolBytes = 4096;
constexpr std::size_t kPoolAlignment = 64;

// Has no constructor that runs, so that the first use on a thread allocates nothing.
struct BytePool {
  alignas(kPoolAlignment) std::byte bytes[kPoolBytes] = {};
  std::size_t used = 0;
  std::int64_t alive = 0;  // objects in the pool
  bool is_open = false;
  QuietCounts counts;

  [[nodiscard]] bool has(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= bytes && byte < bytes + kPoolBytes;
  }

  // Returns nullptr if the scope is closed or the pool is full.
  void* take(std::size_t size, std::size_t alignment) {
    if (!is_open) return nullptr;
    const std::size_t begin = (used + alignment - 1) / alignment * alignment;
    if (alignment > kPoolAlignment || begin > kPoolBytes || size > kPoolBytes - begin) {
      ++counts.from_heap;
      return nullptr;
    }
    used = begin + std::max<std::size_t>(size, 1);
    ++alive;
    ++counts.from_pool;
    counts.most_bytes = std::max(counts.most_bytes, static_cast<std::int64_t>(used));
    return bytes + begin;
  }

  // Whether the object was in the pool.
  bool give_back(const void* address) {
    if (!has(address)) return false;
    --alive;
    return true;
  }
};
thread_local constinit BytePool pool{};

// What the imports were before. Written before the imports change, and constant afterwards.
struct Originals {
  void* (*allocate)(std::size_t);
  void (*release)(void*);
  int (*allocate_aligned)(void**, std::size_t, std::size_t);
  void* (*make)(std::size_t);
  void (*destroy)(void*);
};
constinit Originals originals{};

void* quiet_malloc(std::size_t size) {
  void* taken = pool.take(size, alignof(std::max_align_t));
  return taken != nullptr ? taken : originals.allocate(size);
}
void quiet_free(void* address) {
  if (!pool.give_back(address)) originals.release(address);
}
int quiet_memalign(void** address, std::size_t alignment, std::size_t size) {
  void* taken = pool.take(size, alignment);
  if (taken == nullptr) return originals.allocate_aligned(address, alignment, size);
  *address = taken;
  return 0;
}
void* quiet_new(std::size_t size) {
  void* taken = pool.take(size, alignof(std::max_align_t));
  return taken != nullptr ? taken : originals.make(size);
}
void quiet_delete(void* address) {
  if (!pool.give_back(address)) originals.destroy(address);
}

// An import of oneDNN: its name, what replaces it, and where its original is kept.
struct Import {
  std::string_view name;
  void* replacement;
  void** original;
};

template <typename Function>
Import import_of(std::string_view name, Function* replacement, Function*& original) {
  return {name, reinterpret_cast<void*>(replacement), reinterpret_cast<void**>(&original)};
}

std::array<Import, 5> imports() {
  return {import_of("malloc", &quiet_malloc, originals.allocate), import_of("free", &quiet_free, originals.release),
          import_of("posix_memalign", &quiet_memalign, originals.allocate_aligned),
          import_of("_Znwm", &quiet_new, originals.make), import_of("_ZdlPv", &quiet_delete, originals.destroy)};
}

bool replace_imports() {
  const std::array<Import, 5> all = imports();
  std::array<std::string_view, all.size()> names;
  std::ranges::transform(all, names.begin(), &Import::name);
  const void* inside = dnnl().version();  // loads the library, which is not allowed during the visits
  std::vector<ImportEntry> found;
  for_each_loaded_library([&](const LoadedLibrary& library) {
    if (library.contains(inside)) found = library.imports(names);
  });
  // With as many entries as names, each name has exactly one.
  if (found.size() != all.size()) return false;
  std::array<ImportEntry, all.size()> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto entry = std::ranges::find(found, all[i].name, &ImportEntry::name);
    if (entry == found.end() || !entry->is_filled) return false;
    entries[i] = *entry;
    *all[i].original = address_in(*entry);
  }
  // Functions that release come first, so that no object of a pool reaches an original.
  for (std::size_t i : {1U, 4U, 0U, 2U, 3U}) {
    if (!replace_import(entries[i], all[i].replacement)) return false;
  }
  return true;
}

std::atomic<bool> all_replaced = false;

}  // namespace

void install_quiet_heap() {
  static std::once_flag once;
  std::call_once(once, [] { all_replaced = replace_imports(); });
}

bool is_quiet() { return all_replaced; }

// A volatile write is not left out.
void touch_quiet_pool() {
  for (const std::size_t at : {std::size_t{0}, kPoolBytes - 1}) {
    volatile std::byte& touched = pool.bytes[at];
    touched = pool.bytes[at];
  }
}

QuietCounts quiet_counts() { return pool.counts; }

QuietScope::QuietScope() { pool.is_open = true; }

QuietScope::~QuietScope() {
  pool.is_open = false;
  pool.counts.kept += pool.alive;
  if (pool.alive == 0) pool.used = 0;
}

}  // namespace lowtide::kernels_internal
