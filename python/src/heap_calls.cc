// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "heap_calls.h"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "call.h"
#include "lowtide/base/import_entries.h"
#include "placed_heap.h"
#include "requested_bytes.h"

namespace lowtide::python {
namespace {

// Blocks are as the heap gives them, so a block may be released by another library, and entries may be replaced and put
// back at any time.
constinit std::atomic<std::int64_t> live = 0;
constinit std::atomic<std::int64_t> peak = 0;

std::int64_t bytes_of(void* block) { return static_cast<std::int64_t>(malloc_usable_size(block)); }  // 0 of nullptr

void add(std::int64_t bytes) {
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t known = peak.load(std::memory_order_relaxed);
  while (now > known && !peak.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
  }
}

void* counted_malloc(std::size_t size) {
  void* block = malloc(size);
  add(bytes_of(block));
  note_request(block, plain_block_bytes(size));
  return block;
}
void* counted_calloc(std::size_t count, std::size_t size) {
  void* block = calloc(count, size);
  add(bytes_of(block));
  note_request(block, plain_block_bytes(count * size));
  return block;
}
// A placed block cannot grow where it is.
void* moved_to_heap(void* block, std::size_t placed, std::size_t size) {
  void* moved = size == 0 ? nullptr : malloc(size);
  if (moved == nullptr && size > 0) return nullptr;
  if (moved != nullptr) std::memcpy(moved, block, std::min(placed, size));
  release_placed(block);
  add(bytes_of(moved) - static_cast<std::int64_t>(placed));
  note_request(moved, plain_block_bytes(size));
  return moved;
}
// A block that moves exists twice for a moment, which is not counted.
void* counted_realloc(void* block, std::size_t size) {
  if (const std::size_t placed = placed_bytes(block); placed > 0) return moved_to_heap(block, placed, size);
  const std::int64_t before = bytes_of(block);
  forget_request(block);
  void* changed = realloc(block, size);
  if (changed != nullptr || size == 0) add(bytes_of(changed) - before);
  note_request(changed, plain_block_bytes(size));
  return changed;
}
void counted_free(void* block) {
  if (const std::size_t placed = release_placed(block); placed > 0) {
    live.fetch_sub(static_cast<std::int64_t>(placed), std::memory_order_relaxed);
    return;
  }
  note_released(block);
  forget_request(block);
  live.fetch_sub(bytes_of(block), std::memory_order_relaxed);
  free(block);
}
int counted_posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (void* placed = place_block(alignment, size); placed != nullptr) {
    *block = placed;
    add(static_cast<std::int64_t>(size));
    return 0;
  }
  const int error = posix_memalign(block, alignment, size);
  if (error != 0) return error;
  add(bytes_of(*block));
  note_request(*block, aligned_block_bytes(size));
  note_taken(*block, alignment, size);
  return 0;
}
void* counted_aligned_alloc(std::size_t alignment, std::size_t size) {
  void* block = aligned_alloc(alignment, size);
  add(bytes_of(block));
  note_request(block, aligned_block_bytes(size));
  return block;
}
void* counted_memalign(std::size_t alignment, std::size_t size) {
  void* block = memalign(alignment, size);
  add(bytes_of(block));
  note_request(block, aligned_block_bytes(size));
  return block;
}

// A function of the heap: its name, itself, and what replaces it.
struct HeapFunction {
  std::string_view name;
  void* original;
  void* in_library;  // differs from the original if the program, which takes its address, has a stub for it
  void* counted;
};

template <typename Function>
HeapFunction heap_function(const char* name, std::type_identity_t<Function>* original, Function* counted) {
  return {name, reinterpret_cast<void*>(original), dlsym(RTLD_NEXT, name), reinterpret_cast<void*>(counted)};
}

// operator new is not among them, because libstdc++ implements it by malloc.
const std::array<HeapFunction, 7>& heap_functions() {
  static const std::array<HeapFunction, 7> functions = {
      heap_function("malloc", &malloc, &counted_malloc),
      heap_function("calloc", &calloc, &counted_calloc),
      heap_function("realloc", &realloc, &counted_realloc),
      heap_function("free", &free, &counted_free),
      heap_function("posix_memalign", &posix_memalign, &counted_posix_memalign),
      heap_function("aligned_alloc", &aligned_alloc, &counted_aligned_alloc),
      heap_function("memalign", &memalign, &counted_memalign)};
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
    if (address_in(entry) == function.counted) static_cast<void>(replace_import(entry, function.original));
  }
}

enum class Redirect { none, part, whole };

// Returns which calls of the library are counted. Part of them are if other code has replaced the entries of the rest.
Redirect redirect(const LoadedLibrary& library) {
  // These must reach the originals.
  if (library.contains(reinterpret_cast<void*>(&counted_malloc))) return Redirect::none;
  std::size_t others = 0;
  std::vector<ImportEntry> replaced;
  const std::vector<ImportEntry> entries = heap_entries(library);
  for (const ImportEntry& entry : entries) {
    const HeapFunction& function = function_of(entry);
    if (address_in(entry) == function.counted) continue;
    if (!leads_to_heap(entry, function)) {
      ++others;
    } else if (replace_import(entry, function.counted)) {
      replaced.push_back(entry);
    } else {  // as before this call; what an earlier call has replaced may serve placed blocks
      for (const ImportEntry& one : replaced) static_cast<void>(replace_import(one, function_of(one).original));
      return Redirect::none;
    }
  }
  if (others == entries.size()) return Redirect::none;
  return others == 0 ? Redirect::whole : Redirect::part;
}

// A library is known by how its file name begins.
struct Redirected {
  bool is_found = false;  // and redirected
  bool is_whole = true;   // all calls of the heap are, in all libraries of this name
  bool is_for_good = false;
};

// The mutex guards the other members.
struct Redirection {
  std::mutex mutex;
  std::map<std::string, Redirected> names;
  std::uint64_t loads = 0;  // of libraries, when they were searched
};
// Never destroyed, as the entries stay replaced.
Redirection& redirection() {
  static auto& the_only = *new Redirection();
  return the_only;
}

// Calls `visit` for the loaded libraries whose file names begin with one of the names.
template <typename Visit>
void for_each_named(const std::map<std::string, Redirected>& names, const Visit& visit) {
  heap_functions();  // which looks symbols up, and this is not allowed during a visit
  for_each_loaded_library([&](const LoadedLibrary& library) {
    for (const auto& name : names) {
      if (library.file_name().starts_with(name.first)) return visit(library);
    }
  });
}

void search_libraries(std::map<std::string, Redirected>& names) {
  for (auto& name : names) name.second = {.is_for_good = name.second.is_for_good};
  for_each_named(names, [&](const LoadedLibrary& library) {
    const Redirect found = redirect(library);
    for (auto& name : names) {
      if (found == Redirect::none || !library.file_name().starts_with(name.first)) continue;
      name.second.is_found = true;
      name.second.is_whole &= found == Redirect::whole;
    }
  });
}

// A placed block must not reach functions that know only blocks of the heap.
void check_whole(const std::map<std::string, Redirected>& names) {
  for (const auto& [name, one] : names) {
    if (one.is_whole) continue;
    throw Failure({.code = ErrorCode::unsupported,
                   .message = "another tool has replaced calls of the heap in the library " + name +
                              ", such as a profiler of memory; use arena=False, or run without it"});
  }
}

}  // namespace

std::vector<std::string> redirect_heap_calls(const std::vector<std::string>& names, bool for_good) {
  if (std::ranges::find(names, std::string()) != names.end()) {
    throw Failure({.code = ErrorCode::invalid, .message = "a library has no name; give its first letters"});
  }
  Redirection& all = redirection();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t loads = count_of_loads();
  bool is_known = loads == all.loads;
  for (const std::string& name : names) {
    is_known &= !all.names.try_emplace(name).second;
  }
  if (!is_known) search_libraries(all.names);
  all.loads = loads;
  if (for_good) check_whole(all.names);
  for (const std::string& name : names) all.names.at(name).is_for_good |= for_good;
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found),
                       [&](const std::string& name) { return all.names.at(name).is_found; });
  return found;
}

void end_redirection() {
  Redirection& all = redirection();
  const std::lock_guard lock(all.mutex);
  const auto is_for_good = [](const auto& name) { return name.second.is_for_good; };
  for_each_named(all.names, [&](const LoadedLibrary& library) {
    const bool stays = std::ranges::any_of(
        all.names, [&](const auto& name) { return is_for_good(name) && library.file_name().starts_with(name.first); });
    if (!stays) put_back(library);
  });
  std::erase_if(all.names, [&](const auto& name) { return !is_for_good(name); });
}

std::int64_t heap_live() { return live.load(std::memory_order_relaxed); }
std::int64_t heap_peak() { return peak.load(std::memory_order_relaxed); }
void reset_heap_peak() { peak.store(live.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace lowtide::python
