// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"

namespace lowtide {

// The caches of one core, by which kernels choose the sizes of their tiles (kernels/common/tuning.h). Scratch depends
// on them, so they belong to the target, and the key of a plan states them (MachineKey). A plan runs on a machine with
// other caches as well: its kernels have the tiles of the plan, and the same bits.
//
// The values here are those of machines whose caches are unknown, and the largest ones. Kernels fill no more of a
// larger cache, because their scratch would grow with it, and were not found to gain from it.
struct CacheSizes {
  Bytes first = Bytes(std::int64_t{32} * 1024);  // of data
  Bytes second = Bytes(std::int64_t{1024} * 1024);
  friend bool operator==(const CacheSizes&, const CacheSizes&) = default;
};

// The caches of this machine: of its first processor, as the system states them, rounded down to a power of two, and at
// most those of CacheSizes. What the system does not state is as there. The first call reads some files of the system.
[[nodiscard]] CacheSizes machine_caches();

// machine_caches() from a folder with the form of /sys/devices/system/cpu/cpu0/cache.
[[nodiscard]] CacheSizes caches_in_folder(const std::string& folder);

// In KiB: "32K+1024K".
[[nodiscard]] std::string to_text(const CacheSizes& caches);
// Returns nullopt for anything that to_text() of machine_caches() cannot be.
[[nodiscard]] std::optional<CacheSizes> parse_caches(std::string_view text);

}  // namespace lowtide
