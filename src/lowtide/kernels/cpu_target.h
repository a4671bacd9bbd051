// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/target/target.h"

namespace lowtide {

struct CpuOptions {
  int threads = 1;                                  // that run one kernel together: 1 to limits::kMaxTeamThreads
  std::optional<CacheSizes> caches = std::nullopt;  // nullopt: machine_caches()
};

// Errors (unsupported): fewer than 1 thread, or more than limits::kMaxTeamThreads. These are as many as the cores of
// the largest processors. Shares of a kernel are of equal size and wait for the slowest one, so a team of several
// processors gains little, and scratch and tables grow with the number.
[[nodiscard]] Result<void> check_threads(int threads);

// The machine that this program runs on, with the kernels of this room (offered_kernels). One region "arena" without
// capacity and with alignment 64, and one worker. The scratch of a kernel of oneDNN comes from oneDNN's own
// description, and Target::machine_key says what it depends on. A node without kernel gets one whose memory is not
// known, as an unknown operator does; prepare() refuses it. Errors: those of check_threads.
[[nodiscard]] Result<Target> cpu_target(const CpuOptions& options = {});

// What scratch, formats and packed constants of a plan depend on.
struct MachineKey {
  std::string isa;      // instruction set that oneDNN uses: "avx512_core_bf16", or "any" without it
  std::string library;  // "onednn 3.2.0", or "none"
  std::string kernels;  // raised when scratch, formats or packing of any kernel change
  int threads = 1;
  CacheSizes caches = {};
  friend bool operator==(const MachineKey&, const MachineKey&) = default;
};
[[nodiscard]] MachineKey machine_key(const CpuOptions& options = {});

// The key as sorted texts: "caches=32K+1024K", "isa=avx2", "kernels=N", "library=onednn 3.2.0", "threads=1".
[[nodiscard]] std::vector<std::string> texts_of(const MachineKey& key);
// The number of threads that such texts state; nullopt if they do not.
[[nodiscard]] std::optional<int> threads_of(const std::vector<std::string>& texts);
// The options of a target with such texts, if they are those of a key. What they do not state is as in CpuOptions, but
// with the caches of CacheSizes, which kernels of a plan without a key have.
[[nodiscard]] CpuOptions options_of_key(const std::vector<std::string>& texts);

// Whether a plan with these texts of a key and these kernels can run on this machine with `threads` threads. Caches may
// differ, because the kernels have tiles for those of the key. A plan
// without kernels of oneDNN depends on MachineKey::kernels and threads alone, and oneDNN is not loaded to
// answer. prepare() refuses a kernel whose instructions this machine does not have.
[[nodiscard]] bool runs_here(const std::vector<std::string>& texts, int threads,
                             std::span<const std::string_view> kernels);

// Whether texts are the key of this machine, for any number of threads that check_threads() allows and for any caches.
// Formats depend on everything else of the key.
[[nodiscard]] bool is_key_of_machine(const std::vector<std::string>& texts);

}  // namespace lowtide
