// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Measures what one core can do, for bench/roofline.py: multiply-accumulates of 32-bit floats in registers, and reading
// from the second cache, the third cache and memory. Prints a JSON object: {"macs_per_second": N, "levels":
// [{"bytes": N, "bytes_per_second": N}, ...]}. A level holds `bytes`, and memory holds 2^62. Each number is the best of
// many tries. Virtual machines state the third caches of all cores together, so its size is taken to be 16 MiB.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kTries = 200;
constexpr int kSums = 12;  // as many as hide the latency of two operations per clock
constexpr int kSteps = 20'000;
constexpr std::int64_t kThirdBytes = std::int64_t{1} << 24;
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;

volatile float sink = 0;

template <typename Lane, int kBytes>
using Vector [[gnu::vector_size(kBytes)]] = Lane;

// The sums begin with different numbers, or a compiler would compute only one of them.
template <int kBytes>
[[gnu::always_inline]] inline void multiply() {
  Vector<float, kBytes> sums[kSums];
  for (int at = 0; at < kSums; ++at) sums[at] = Vector<float, kBytes>{} + static_cast<float>(at);
  const Vector<float, kBytes> factor = Vector<float, kBytes>{} + (1 + sink);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int at = 0; at < kSums; ++at) sums[at] = sums[at] * factor + factor;
  }
  for (const auto& sum : sums) sink = sum[0];
}

template <int kBytes>
[[gnu::always_inline]] inline void read(const std::vector<std::uint64_t>& words) {
  constexpr std::size_t kLanes = kBytes / sizeof(std::uint64_t);
  Vector<std::uint64_t, kBytes> sums[4] = {};
  for (std::size_t at = 0; at + 4 * kLanes <= words.size(); at += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < 4; ++part) {
      Vector<std::uint64_t, kBytes> loaded;
      std::memcpy(&loaded, &words[at + part * kLanes], kBytes);
      sums[part] += loaded;
    }
  }
  const auto sum = sums[0] + sums[1] + sums[2] + sums[3];
  sink = static_cast<float>(sum[0]);
}

// Loops over vectors of one width.
struct Loops {
  int lanes;  // floats of a vector
  void (*multiply)();
  void (*read)(const std::vector<std::uint64_t>& words);
};

void multiply_128() { multiply<16>(); }
void read_128(const std::vector<std::uint64_t>& words) { read<16>(words); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_256() { multiply<32>(); }
[[gnu::target("avx2,fma")]] void read_256(const std::vector<std::uint64_t>& words) { read<32>(words); }
[[gnu::target("avx512f")]] void multiply_512() { multiply<64>(); }
[[gnu::target("avx512f")]] void read_512(const std::vector<std::uint64_t>& words) { read<64>(words); }
#endif

Loops widest_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {16, multiply_512, read_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {8, multiply_256, read_256};
#endif
  return {4, multiply_128, read_128};
}

// The least seconds of all tries.
template <typename Work>
double least_seconds(int tries, const Work& work) {
  double least = 1e9;
  for (int at = 0; at < tries; ++at) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

double read_rate(const Loops& loops, std::int64_t bytes) {
  const std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1);
  // Several rounds in one try, so that the clock is a small part of it.
  const std::int64_t rounds = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / bytes);
  const double seconds = least_seconds(bytes > (std::int64_t{1} << 26) ? 10 : kTries, [&] {
    for (std::int64_t round = 0; round < rounds; ++round) loops.read(words);
  });
  return static_cast<double>(bytes) * static_cast<double>(rounds) / seconds;
}

}  // namespace

int main() {
  const Loops loops = widest_loops();
  const double seconds = least_seconds(kTries, loops.multiply);
  const std::int64_t macs_of_step = std::int64_t{kSums} * loops.lanes;
  const double macs = static_cast<double>(macs_of_step * kSteps) / seconds;
  const std::int64_t stated = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::int64_t second = stated > 0 ? stated : 1 << 20;
  std::printf("{\"macs_per_second\": %.4g, \"levels\": [", macs);
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}, ", static_cast<long long>(second),
              read_rate(loops, second / 2));
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}, ", static_cast<long long>(kThirdBytes),
              read_rate(loops, kThirdBytes / 2));
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}]}\n", 1LL << 62, read_rate(loops, kMemoryBytes));
  return 0;
}
