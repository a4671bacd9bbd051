// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

struct dl_phdr_info;  // of <link.h> NOLINT(readability-identifier-naming)

namespace lowtide {

// A loaded library calls functions of other libraries through words of memory, which hold their addresses (in ELF, the
// global offset table). The loader fills these words. This file finds and replaces them, so that a single library calls
// another function, and no other code of the process sees the change.

// A word that holds the address of a symbol of another library. It is there as long as the library stays loaded.
struct ImportEntry {
  std::string_view name;  // of the symbol
  void** word = nullptr;
  bool is_filled = false;  // otherwise the loader fills it at the first call, and it now leads to the loader
  bool is_sealed = false;  // the loader has made its page read-only
};

// What the entry holds now.
[[nodiscard]] void* address_in(const ImportEntry& entry);

// Replaces what the entry holds, also while other threads call the function. An entry that is not filled is filled
// afterwards, so the loader does not change it. Returns false if the system does not let the page be written.
[[nodiscard]] bool replace_import(const ImportEntry& entry, void* address);

// A library, or the program itself, during a visit of for_each_loaded_library().
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const dl_phdr_info& image) : image_(&image) {}

  // The last part of the path. Empty for the program itself.
  [[nodiscard]] std::string_view file_name() const;
  // Whether the address is in the code or in the data of the library.
  [[nodiscard]] bool contains(const void* address) const;
  // All entries of the symbols with these names, those of calls first. A symbol may have several: one for calls, one
  // for its address, and words in tables of functions. A symbol that the library itself defines has none.
  [[nodiscard]] std::vector<ImportEntry> imports(std::span<const std::string_view> names) const;

 private:
  const dl_phdr_info* image_;
};

// Calls `visit` once per loaded library. None of them is unloaded meanwhile, because the loader is locked: `visit` must
// neither load libraries nor look symbols up (dlsym). If it throws, the visits end, and the exception is passed on.
void for_each_loaded_library(const std::function<void(const LoadedLibrary&)>& visit);

// How many libraries have been loaded so far, including those that are unloaded. While the number stays the same, no
// library is new.
[[nodiscard]] std::uint64_t count_of_loads();

}  // namespace lowtide
