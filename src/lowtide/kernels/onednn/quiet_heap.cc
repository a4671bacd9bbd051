// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/quiet_heap.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>

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

// The loader states addresses as integers.
template <typename Object>
Object* object_at(ElfW(Addr) address) {
  return reinterpret_cast<Object*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Where a loaded library keeps its imports. The loader has made the addresses absolute.
struct ImportTables {
  ElfW(Addr) base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::array<const ElfW(Rela)*, 2> rows = {};  // of functions called through stubs, and of other addresses
  std::array<std::size_t, 2> sizes = {};       // in bytes
  // What the loader makes read-only after it has filled it. An entry outside is filled at the first call of its
  // function, so what it holds before is not the function.
  ElfW(Addr) sealed_begin = 0;
  ElfW(Addr) sealed_end = 0;
};

ImportTables tables_of(const dl_phdr_info& image) {
  ImportTables tables{.base = image.dlpi_addr};
  for (ElfW(Half) i = 0; i < image.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image.dlpi_phdr[i];
    if (segment.p_type == PT_GNU_RELRO) {
      tables.sealed_begin = image.dlpi_addr + segment.p_vaddr;
      tables.sealed_end = tables.sealed_begin + segment.p_memsz;
    }
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = object_at<const ElfW(Dyn)>(image.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB: tables.symbols = object_at<const ElfW(Sym)>(entry->d_un.d_ptr); break;
        case DT_STRTAB: tables.names = object_at<const char>(entry->d_un.d_ptr); break;
        case DT_JMPREL: tables.rows[0] = object_at<const ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: tables.sizes[0] = entry->d_un.d_val; break;
        case DT_RELA: tables.rows[1] = object_at<const ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_RELASZ: tables.sizes[1] = entry->d_un.d_val; break;
        default: break;
      }
    }
  }
  return tables;
}

// Returns 1, which ends the search, if the image contains oneDNN's version record.
int find_library(dl_phdr_info* image, std::size_t /*size*/, void* found) {
  const auto inside = reinterpret_cast<ElfW(Addr)>(dnnl().version());
  for (ElfW(Half) i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image->dlpi_phdr[i];
    const ElfW(Addr) begin = image->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || inside < begin || inside >= begin + segment.p_memsz) continue;
    *static_cast<ImportTables*>(found) = tables_of(*image);
    return 1;
  }
  return 0;
}

// The entry of one import, if it has exactly one and the loader has filled it.
void** slot_of(const ImportTables& tables, std::string_view name) {
  void** slot = nullptr;
  for (std::size_t table = 0; table < tables.rows.size(); ++table) {
    for (std::size_t i = 0; i < tables.sizes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& row = tables.rows[table][i];
      const auto type = ELF64_R_TYPE(row.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (name != tables.names + tables.symbols[ELF64_R_SYM(row.r_info)].st_name) continue;
      const ElfW(Addr) address = tables.base + row.r_offset;
      if (slot != nullptr || address < tables.sealed_begin || address >= tables.sealed_end) return nullptr;
      slot = object_at<void*>(address);
    }
  }
  return slot;
}

// The loader makes the table read-only, so its page becomes writable for the moment of the change.
bool replace(void** slot, void* replacement) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  auto* page = object_at<std::byte>(address / page_bytes * page_bytes);
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref<void*>(*slot).store(replacement);
  return mprotect(page, page_bytes, PROT_READ) == 0;
}

bool replace_imports() {
  ImportTables tables;
  dl_iterate_phdr(&find_library, &tables);
  if (tables.symbols == nullptr || tables.names == nullptr) return false;
  std::array<void**, 5> slots = {};
  const std::array<Import, 5> all = imports();
  for (std::size_t i = 0; i < all.size(); ++i) {
    slots[i] = slot_of(tables, all[i].name);
    if (slots[i] == nullptr) return false;
    *all[i].original = *slots[i];
  }
  // Functions that release come first, so that no object of a pool reaches an original.
  for (std::size_t i : {1U, 4U, 0U, 2U, 3U}) {
    if (!replace(slots[i], all[i].replacement)) return false;
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
