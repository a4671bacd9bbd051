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
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int kTries = 200;
constexpr int kSums = 12;  // as many as hide the latency of two operations per clock
constexpr int kSteps = 20'000;
constexpr std::int64_t kThirdBytes = std::int64_t{1} << 24;
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;

volatile float sink = 0;

// Loops over vectors of one width. The sums begin with different numbers, or a compiler would add only one of them.
struct Loops {
  void (*multiply)();
  int macs;  // of a step of `multiply`
  std::uint64_t (*read)(const std::uint64_t* words, std::size_t count);
};

void multiply_plain() {
  float sums[kSums][4] = {};
  for (int at = 0; at < kSums; ++at) sums[at][0] = static_cast<float>(at);
  const float factor = 1 + sink;
  for (int step = 0; step < kSteps; ++step) {
    for (auto& sum : sums) {
      for (float& lane : sum) lane = lane * factor + factor;
    }
  }
  for (const auto& sum : sums) sink = sum[0] + sum[1] + sum[2] + sum[3];
}

std::uint64_t read_plain(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sums[8] = {};
  for (std::size_t at = 0; at + 8 <= count; at += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += words[at + lane];
  }
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void multiply_256() {
  __m256 sums[kSums];
  for (int at = 0; at < kSums; ++at) sums[at] = _mm256_set1_ps(static_cast<float>(at));
  const __m256 factor = _mm256_set1_ps(1 + sink);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int at = 0; at < kSums; ++at) sums[at] = _mm256_fmadd_ps(sums[at], factor, factor);
  }
  for (const __m256& sum : sums) sink = _mm256_cvtss_f32(sum);
}

__attribute__((target("avx2,fma"))) std::uint64_t read_256(const std::uint64_t* words, std::size_t count) {
  __m256i sums[4] = {};
  for (std::size_t at = 0; at + 16 <= count; at += 16) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < 4; ++part) {
      const auto* from = reinterpret_cast<const __m256i*>(words + at + 4 * part);
      sums[part] = _mm256_add_epi64(sums[part], _mm256_loadu_si256(from));
    }
  }
  const __m256i sum = _mm256_add_epi64(_mm256_add_epi64(sums[0], sums[1]), _mm256_add_epi64(sums[2], sums[3]));
  return static_cast<std::uint64_t>(_mm256_extract_epi64(sum, 0));
}

__attribute__((target("avx512f"))) void multiply_512() {
  __m512 sums[kSums];
  for (int at = 0; at < kSums; ++at) sums[at] = _mm512_set1_ps(static_cast<float>(at));
  const __m512 factor = _mm512_set1_ps(1 + sink);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int at = 0; at < kSums; ++at) sums[at] = _mm512_fmadd_ps(sums[at], factor, factor);
  }
  for (const __m512& sum : sums) sink = _mm512_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) std::uint64_t read_512(const std::uint64_t* words, std::size_t count) {
  __m512i sums[4] = {};
  for (std::size_t at = 0; at + 32 <= count; at += 32) {
#pragma GCC unroll 4
    for (std::size_t part = 0; part < 4; ++part) {
      sums[part] = _mm512_add_epi64(sums[part], _mm512_loadu_si512(words + at + 8 * part));
    }
  }
  const __m512i sum = _mm512_add_epi64(_mm512_add_epi64(sums[0], sums[1]), _mm512_add_epi64(sums[2], sums[3]));
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sum));
}
#endif

Loops widest_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {multiply_512, 16 * kSums, read_512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_256, 8 * kSums, read_256};
#endif
  return {multiply_plain, 4 * kSums, read_plain};
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
    for (std::int64_t round = 0; round < rounds; ++round)
      sink = static_cast<float>(loops.read(words.data(), words.size()));
  });
  return static_cast<double>(bytes) * static_cast<double>(rounds) / seconds;
}

}  // namespace

int main() {
  const Loops loops = widest_loops();
  const double seconds = least_seconds(kTries, loops.multiply);
  const double macs = static_cast<double>(loops.macs) * kSteps / seconds;
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
