// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/caches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lowtide/kernels/common/tuning.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKibi = 1024;

CacheSizes caches(std::int64_t first, std::int64_t second) { return {Bytes(first * kKibi), Bytes(second * kKibi)}; }

// A cache as a folder of the system states it.
struct StatedCache {
  std::string level, type, size;
};

CacheSizes caches_of(const std::vector<StatedCache>& stated) {
  const std::filesystem::path folder = ::testing::TempDir() + "caches_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  for (std::size_t at = 0; at < stated.size(); ++at) {
    const std::filesystem::path path = folder / ("index" + std::to_string(at));
    std::filesystem::create_directory(path);
    std::ofstream(path / "level") << stated[at].level << "\n";
    std::ofstream(path / "type") << stated[at].type << "\n";
    std::ofstream(path / "size") << stated[at].size << "\n";
  }
  const CacheSizes found = caches_in_folder(folder.string());
  std::filesystem::remove_all(folder);
  return found;
}

TEST(Caches, AreThoseThatTheSystemStates) {
  EXPECT_EQ(caches_of({{"1", "Data", "16K"}, {"1", "Instruction", "64K"}, {"2", "Unified", "256K"}}), caches(16, 256));
  // Instructions come first here, and there is a third level.
  EXPECT_EQ(
      caches_of(
          {{"1", "Instruction", "32K"}, {"1", "Data", "32K"}, {"2", "Unified", "512K"}, {"3", "Unified", "32768K"}}),
      caches(32, 512));
}

TEST(Caches, AreRoundedDownAndLimited) {
  EXPECT_EQ(caches_of({{"1", "Data", "48K"}, {"2", "Unified", "2048K"}}), CacheSizes());
  EXPECT_EQ(caches_of({{"1", "Data", "24K"}, {"2", "Unified", "768K"}}), caches(16, 512));
  EXPECT_EQ(caches_of({{"1", "Data", "1K"}, {"2", "Unified", "1K"}}), caches(8, 128));
}

TEST(Caches, WithoutStatementsAreThoseOfTheTable) {
  EXPECT_EQ(caches_in_folder("/absent"), CacheSizes());
  for (const char* size : {"", "K", "0K", "-4K", "12", "1M", "99999999999999999999K", "2147483648000K"}) {
    EXPECT_EQ(caches_of({{"1", "Data", size}, {"2", "Unified", size}}), CacheSizes()) << size;
  }
  EXPECT_EQ(machine_caches(), machine_caches());
}

TEST(Caches, AreReadFromTheirText) {
  for (const CacheSizes& one : {CacheSizes(), caches(8, 128), caches(16, 512), machine_caches()}) {
    EXPECT_EQ(parse_caches(to_text(one)), one);
  }
  EXPECT_EQ(to_text(CacheSizes()), "32K+1024K");
  for (const char* text :
       {"", "+", "K+K", "32K", "32K+", "+1024K", "32K+1024", "32+1024K", "33K+1024K", "32K+1000K", "64K+1024K",
        "32K+2048K", "4K+128K", "8K+64K", "-8K+128K", "032K+1024K", "32K+1024K ", "9223372036854775807K+1024K"}) {
    EXPECT_FALSE(parse_caches(text)) << text;
  }
}

TEST(Tuning, FillsPartsOfTheCaches) {
  using namespace kernels_internal;
  EXPECT_EQ(kConvolutionCopy.bytes(CacheSizes()), 16 * kKibi);
  EXPECT_EQ(kConvolutionWeights.floats(CacheSizes()), 160 * kKibi);
  EXPECT_EQ(kConvolutionWeights.floats(caches(32, 256)), 40 * kKibi);
  EXPECT_EQ(kGatheredTile.bytes(caches(32, 512)), 256 * kKibi);
}

}  // namespace
}  // namespace lowtide
