// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/caches.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "lowtide/base/parse_number.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKibi = 1024;
// With less, the smallest tiles do not fit.
constexpr Bytes kLeastFirst(8 * kKibi);
constexpr Bytes kLeastSecond(128 * kKibi);

constexpr const char* kSystemFolder = "/sys/devices/system/cpu/cpu0/cache";
constexpr int kMostCaches = 8;  // that the folder lists: two at the first level, and some more

Bytes usable(std::int64_t bytes, Bytes least, Bytes most) {
  const auto rounded = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  return std::clamp(Bytes(rounded), least, most);
}

std::string word_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "1024K"
std::optional<std::int64_t> size_in(const std::string& path) {
  const std::string word = word_in(path);
  if (word.empty() || word.back() != 'K') return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const std::optional<std::int64_t> count = parse_number(std::string_view(word).substr(0, word.size() - 1));
  return count && *count > 0 && *count < kMost ? std::optional(*count * kKibi) : std::nullopt;
}

// The sizes that a folder states.
struct Stated {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> second;
};

Stated stated_in(const std::string& folder) {
  Stated stated;
  for (int at = 0; at < kMostCaches; ++at) {
    const std::string cache = folder + "/index" + std::to_string(at);
    if (word_in(cache + "/type") == "Instruction") continue;
    const std::string level = word_in(cache + "/level");
    if (level == "1") stated.first = size_in(cache + "/size");
    if (level == "2") stated.second = size_in(cache + "/size");
  }
  return stated;
}

// Where the system has no such folder, the C library may know the processor.
void ask_c_library([[maybe_unused]] Stated& stated) {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const auto known = [](int name) {
    const std::int64_t bytes = sysconf(name);
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
  };
  if (!stated.first) stated.first = known(_SC_LEVEL1_DCACHE_SIZE);
  if (!stated.second) stated.second = known(_SC_LEVEL2_CACHE_SIZE);
#endif
}

CacheSizes usable(const Stated& stated) {
  const CacheSizes most;
  CacheSizes caches;
  if (stated.first) caches.first = usable(*stated.first, kLeastFirst, most.first);
  if (stated.second) caches.second = usable(*stated.second, kLeastSecond, most.second);
  return caches;
}

}  // namespace

CacheSizes caches_in_folder(const std::string& folder) { return usable(stated_in(folder)); }

CacheSizes machine_caches() {
  static const CacheSizes caches = [] {
    Stated stated = stated_in(kSystemFolder);
    ask_c_library(stated);
    return usable(stated);
  }();
  return caches;
}

std::string to_text(const CacheSizes& caches) {
  return std::to_string(caches.first.count() / kKibi) + "K+" + std::to_string(caches.second.count() / kKibi) + "K";
}

std::optional<CacheSizes> parse_caches(std::string_view text) {
  const std::size_t plus = text.find('+');
  if (plus == std::string_view::npos || plus < 2 || text.size() < plus + 3) return std::nullopt;
  const std::optional<std::int64_t> first = parse_number(text.substr(0, plus - 1));
  const std::optional<std::int64_t> second = parse_number(text.substr(plus + 1, text.size() - plus - 2));
  const std::int64_t most = CacheSizes().second.count() / kKibi;
  if (!first || !second || *first < 1 || *second < 1 || *first > most || *second > most) return std::nullopt;
  const CacheSizes caches = usable(Stated{*first * kKibi, *second * kKibi});
  return to_text(caches) == text ? std::optional(caches) : std::nullopt;
}

}  // namespace lowtide
