// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/import_entries.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

int seven() { return 7; }

// A probe (import_probe.cc), loaded as long as this object lives.
class Probe {
 public:
  explicit Probe(const std::string& path)
      : file_name_(path.substr(path.rfind('/') + 1)), library_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() {
    if (library_ != nullptr) dlclose(library_);
  }

  [[nodiscard]] bool is_loaded() const { return library_ != nullptr; }
  [[nodiscard]] int call(const char* function) const {
    return reinterpret_cast<int (*)()>(dlsym(library_, function))();
  }
  [[nodiscard]] const void* address(const char* function) const { return dlsym(library_, function); }

  [[nodiscard]] std::vector<ImportEntry> imports(std::string_view name) const {
    std::vector<ImportEntry> found;
    for_each_loaded_library([&](const LoadedLibrary& library) {
      if (library.file_name() == file_name_) found = library.imports(std::array{name});
    });
    return found;
  }

 private:
  std::string file_name_;
  void* library_;
};

std::vector<bool> filled(const std::vector<ImportEntry>& entries) {
  std::vector<bool> answer;
  for (const ImportEntry& entry : entries) answer.push_back(entry.is_filled);
  return answer;
}

void replace_all(const std::vector<ImportEntry>& entries, int (*function)()) {
  for (const ImportEntry& entry : entries) EXPECT_TRUE(replace_import(entry, reinterpret_cast<void*>(function)));
}

TEST(ImportEntries, SealedOnesAreReplacedAndPutBack) {
  const Probe probe(LOWTIDE_SEALED_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  const std::vector<ImportEntry> entries = probe.imports("getpagesize");
  ASSERT_THAT(filled(entries), ElementsAre(true, true));  // the call, and the table
  EXPECT_TRUE(entries[0].is_sealed);
  EXPECT_FALSE(entries[1].is_sealed);
  void* const original = address_in(entries[0]);
  EXPECT_EQ(original, address_in(entries[1]));

  replace_all(entries, &seven);
  EXPECT_EQ(probe.call("probe_call"), 7);
  EXPECT_EQ(probe.call("probe_call_of_table"), 7);
  EXPECT_EQ(getpagesize(), sysconf(_SC_PAGESIZE));  // this program calls the original

  for (const ImportEntry& entry : entries) EXPECT_TRUE(replace_import(entry, original));
  EXPECT_EQ(probe.call("probe_call"), getpagesize());
  EXPECT_EQ(probe.call("probe_call_of_table"), getpagesize());
}

TEST(ImportEntries, OnesWithoutACallYetAreNotFilled) {
  if (getenv("LD_BIND_NOW") != nullptr) GTEST_SKIP() << "the loader fills all entries at once";
  const Probe probe(LOWTIDE_LAZY_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  ASSERT_THAT(filled(probe.imports("getpagesize")), ElementsAre(false, true));
  EXPECT_FALSE(probe.imports("getpagesize")[0].is_sealed);
  EXPECT_EQ(probe.call("probe_call"), getpagesize());
  EXPECT_THAT(filled(probe.imports("getpagesize")), ElementsAre(true, true));
}

TEST(ImportEntries, OnesThatAreNotFilledAreReplaced) {
  const Probe probe(LOWTIDE_LAZY_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  replace_all(probe.imports("getpagesize"), &seven);
  EXPECT_EQ(probe.call("probe_call"), 7);
  EXPECT_EQ(probe.call("probe_call"), 7);  // the first call has not filled the entry
  replace_all(probe.imports("getpagesize"), &getpagesize);
  EXPECT_EQ(probe.call("probe_call"), getpagesize());
}

TEST(ImportEntries, OwnSymbolsAndUnknownOnesAreNoImports) {
  const Probe probe(LOWTIDE_LAZY_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  EXPECT_EQ(probe.call("probe_own"), 1);
  EXPECT_THAT(probe.imports("probe_own"), IsEmpty());
  EXPECT_THAT(probe.imports("getpagesiz"), IsEmpty());
  EXPECT_THAT(probe.imports(""), IsEmpty());
}

TEST(ImportEntries, ALibraryContainsItsFunctionsOnly) {
  const Probe probe(LOWTIDE_SEALED_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  std::vector<std::string> with_probe;
  std::vector<std::string> with_test;
  for_each_loaded_library([&](const LoadedLibrary& library) {
    if (library.contains(probe.address("probe_call"))) with_probe.emplace_back(library.file_name());
    if (library.contains(reinterpret_cast<void*>(&seven))) with_test.emplace_back(library.file_name());
  });
  const std::string path = LOWTIDE_SEALED_PROBE;
  EXPECT_THAT(with_probe, ElementsAre(path.substr(path.rfind('/') + 1)));
  EXPECT_THAT(with_test, ElementsAre(""));  // the program itself
}

TEST(ImportEntries, LoadsAreCounted) {
  const std::uint64_t before = count_of_loads();
  EXPECT_EQ(count_of_loads(), before);
  {
    const Probe probe(LOWTIDE_SEALED_PROBE);
    ASSERT_TRUE(probe.is_loaded()) << dlerror();
    EXPECT_EQ(count_of_loads(), before + 1);
  }
  EXPECT_EQ(count_of_loads(), before + 1);
}

// The system has no memory for what a visit keeps. The loader is free again afterwards.
TEST(ImportEntries, AnExceptionOfAVisitIsPassedOn) {
  int visits = 0;
  const auto fail = [&](const LoadedLibrary& /*library*/) {
    if (++visits == 2) throw std::bad_alloc();
  };
  EXPECT_THROW(for_each_loaded_library(fail), std::bad_alloc);
  EXPECT_EQ(visits, 2);
  const Probe probe(LOWTIDE_LAZY_PROBE);
  ASSERT_TRUE(probe.is_loaded()) << dlerror();
  EXPECT_FALSE(probe.imports("getpagesize").empty());
}

}  // namespace
}  // namespace lowtide
