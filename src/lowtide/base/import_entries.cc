// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/import_entries.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

namespace lowtide {
namespace {

// What the loader writes into a word: the address of a function that is called, of a symbol that is used, and of a
// symbol in the data of the library, to which a constant may be added.
#ifdef __aarch64__
constexpr std::uint64_t kCalled = R_AARCH64_JUMP_SLOT;
constexpr std::uint64_t kUsed = R_AARCH64_GLOB_DAT;
constexpr std::uint64_t kInData = R_AARCH64_ABS64;
#elif defined(__x86_64__)
constexpr std::uint64_t kCalled = R_X86_64_JUMP_SLOT;
constexpr std::uint64_t kUsed = R_X86_64_GLOB_DAT;
constexpr std::uint64_t kInData = R_X86_64_64;
#else
#error "the relocations of this architecture are not known"
#endif

// The loader states addresses as integers.
template <typename Object>
Object* object_at(ElfW(Addr) address) {
  return reinterpret_cast<Object*>(address);  // NOLINT(performance-no-int-to-ptr)
}

ElfW(Addr) begin_of_page(ElfW(Addr) address) {
  const auto page_bytes = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  return address / page_bytes * page_bytes;
}

// Where a loaded library keeps its imports.
struct ImportTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::array<const ElfW(Rela)*, 2> rows = {};  // of functions called through stubs, and of other addresses
  std::array<std::size_t, 2> sizes = {};       // in bytes
  // The pages that the loader makes read-only after it has filled them.
  ElfW(Addr) sealed_begin = 0;
  ElfW(Addr) sealed_end = 0;
};

void read_dynamic(const ElfW(Dyn) * entry, ElfW(Addr) base, ImportTables& tables) {
  // glibc has made the addresses absolute. Other loaders leave them relative to the library.
  const auto absolute = [base](ElfW(Addr) address) { return address < base ? base + address : address; };
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = object_at<const ElfW(Sym)>(absolute(entry->d_un.d_ptr)); break;
      case DT_STRTAB: tables.names = object_at<const char>(absolute(entry->d_un.d_ptr)); break;
      case DT_JMPREL: tables.rows[0] = object_at<const ElfW(Rela)>(absolute(entry->d_un.d_ptr)); break;
      case DT_PLTRELSZ: tables.sizes[0] = entry->d_un.d_val; break;
      case DT_RELA: tables.rows[1] = object_at<const ElfW(Rela)>(absolute(entry->d_un.d_ptr)); break;
      case DT_RELASZ: tables.sizes[1] = entry->d_un.d_val; break;
      default: break;
    }
  }
}

ImportTables tables_of(const dl_phdr_info& image) {
  ImportTables tables;
  for (ElfW(Half) i = 0; i < image.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image.dlpi_phdr[i];
    const ElfW(Addr) begin = image.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO) {
      tables.sealed_begin = begin_of_page(begin);
      tables.sealed_end = begin_of_page(begin + segment.p_memsz);
    }
    if (segment.p_type == PT_DYNAMIC) read_dynamic(object_at<const ElfW(Dyn)>(begin), image.dlpi_addr, tables);
  }
  return tables;
}

// The symbol whose address the row puts into a word, if it is that of another library.
const ElfW(Sym) * import_of(const ElfW(Rela) & row, const ImportTables& tables) {
  const std::uint64_t type = ELF64_R_TYPE(row.r_info);
  if (type != kCalled && type != kUsed && (type != kInData || row.r_addend != 0)) return nullptr;
  const ElfW(Sym)* symbol = tables.symbols + ELF64_R_SYM(row.r_info);
  return symbol->st_shndx == SHN_UNDEF && symbol->st_name != 0 ? symbol : nullptr;
}

struct Visits {
  const std::function<void(const LoadedLibrary&)>& visit;
  std::exception_ptr thrown = nullptr;
};

// The loader, which is C, calls this, so no exception leaves it.
int visit_image(dl_phdr_info* image, std::size_t /*size*/, void* visits) noexcept {
  auto& all = *static_cast<Visits*>(visits);
  try {
    all.visit(LoadedLibrary(*image));
    return 0;
  } catch (...) {
    all.thrown = std::current_exception();
    return 1;  // which ends the visits
  }
}

int read_count(dl_phdr_info* image, std::size_t /*size*/, void* count) {
  *static_cast<std::uint64_t*>(count) = image->dlpi_adds;
  return 1;  // which ends the search
}

}  // namespace

void* address_in(const ImportEntry& entry) { return std::atomic_ref<void*>(*entry.word).load(); }

bool replace_import(const ImportEntry& entry, void* address) {
  if (!entry.is_sealed) {
    std::atomic_ref<void*>(*entry.word).store(address);
    return true;
  }
  static std::mutex pages;  // another caller must not close the page between both calls of mprotect
  const std::scoped_lock lock(pages);
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* page = object_at<std::byte>(begin_of_page(reinterpret_cast<ElfW(Addr)>(entry.word)));
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref<void*>(*entry.word).store(address);
  return mprotect(page, page_bytes, PROT_READ) == 0;
}

std::string_view LoadedLibrary::file_name() const {
  const std::string_view path = image_->dlpi_name == nullptr ? "" : image_->dlpi_name;
  return path.substr(path.rfind('/') + 1);  // 0 without a slash
}

bool LoadedLibrary::contains(const void* address) const {
  const auto inside = reinterpret_cast<ElfW(Addr)>(address);
  for (ElfW(Half) i = 0; i < image_->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image_->dlpi_phdr[i];
    const ElfW(Addr) begin = image_->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && inside >= begin && inside - begin < segment.p_memsz) return true;
  }
  return false;
}

std::vector<ImportEntry> LoadedLibrary::imports(std::span<const std::string_view> names) const {
  std::vector<ImportEntry> found;
  const ImportTables tables = tables_of(*image_);
  if (tables.symbols == nullptr || tables.names == nullptr) return found;
  for (std::size_t table = 0; table < tables.rows.size(); ++table) {
    const std::size_t rows = tables.rows[table] == nullptr ? 0 : tables.sizes[table] / sizeof(ElfW(Rela));
    for (std::size_t i = 0; i < rows; ++i) {
      const ElfW(Rela)& row = tables.rows[table][i];
      const ElfW(Sym)* symbol = import_of(row, tables);
      if (symbol == nullptr) continue;
      const std::string_view name = tables.names + symbol->st_name;
      if (std::ranges::find(names, name) == names.end()) continue;
      const ElfW(Addr) address = image_->dlpi_addr + row.r_offset;
      if (address % alignof(void*) != 0) continue;  // cannot be replaced at once
      ImportEntry entry{.name = name,
                        .word = object_at<void*>(address),
                        .is_sealed = address >= tables.sealed_begin && address < tables.sealed_end};
      const void* held = address_in(entry);
      if (held == nullptr) continue;  // no library has the symbol, which the library permits
      entry.is_filled = !contains(held);
      found.push_back(entry);
    }
  }
  return found;
}

void for_each_loaded_library(const std::function<void(const LoadedLibrary&)>& visit) {
  Visits visits{visit};
  dl_iterate_phdr(&visit_image, &visits);
  if (visits.thrown) std::rethrow_exception(visits.thrown);
}

std::uint64_t count_of_loads() {
  std::uint64_t count = 0;
  dl_iterate_phdr(&read_count, &count);
  return count;
}

}  // namespace lowtide
