// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Measures what one core can do, for bench/roofline.py: multiply-accumulates of 32-bit floats in registers, and reading
// from each cache and from memory. Prints a JSON object: {"macs_per_second": N, "levels": [{"bytes": N,
// "bytes_per_second": N}, ...]}. A level holds `bytes`, and memory holds 2^62. Each number is the best of many tries.

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

volatile float sink = 0;

// A loop, and the multiply-accumulates of a step.
struct Loop {
  void (*run)();
  int macs;
};

template <int kLanes>
void plain_products() {
  float sums[kSums][kLanes] = {};
  float factor = 1 + sink;
  for (int step = 0; step < kSteps; ++step) {
    for (auto& sum : sums) {
      for (float& lane : sum) lane = lane * factor + factor;
    }
  }
  for (const auto& sum : sums) sink = sum[0];
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void products_256() {
  __m256 sums[kSums] = {};
  const __m256 factor = _mm256_set1_ps(1 + sink);
  for (int step = 0; step < kSteps; ++step) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  for (const __m256& sum : sums) sink = _mm256_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) void products_512() {
  __m512 sums[kSums] = {};
  const __m512 factor = _mm512_set1_ps(1 + sink);
  for (int step = 0; step < kSteps; ++step) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  }
  for (const __m512& sum : sums) sink = _mm512_cvtss_f32(sum);
}
#endif

Loop widest_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {products_512, 16 * kSums};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {products_256, 8 * kSums};
#endif
  return {plain_products<4>, 4 * kSums};
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

// Eight words of each line of 64 bytes, so that the loads and not the additions take the time.
std::uint64_t sum_of(const std::vector<std::uint64_t>& words) {
  std::uint64_t sums[32] = {};
  for (std::size_t at = 0; at + 32 <= words.size(); at += 32) {
    for (std::size_t lane = 0; lane < 32; ++lane) sums[lane] += words[at + lane];
  }
  std::uint64_t sum = 0;
  for (std::uint64_t one : sums) sum += one;
  return sum;
}

double read_rate(std::int64_t bytes) {
  const std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1);
  // Several rounds in one try, so that the clock is a small part of it.
  const std::int64_t rounds = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / bytes);
  const double seconds = least_seconds(bytes > (std::int64_t{1} << 26) ? 10 : kTries, [&] {
    for (std::int64_t round = 0; round < rounds; ++round) sink = static_cast<float>(sum_of(words));
  });
  return static_cast<double>(bytes) * static_cast<double>(rounds) / seconds;
}

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

int main() {
  const Loop loop = widest_loop();
  const double seconds = least_seconds(kTries, loop.run);
  const double macs = static_cast<double>(loop.macs) * kSteps / seconds;
  const std::int64_t second = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  const std::int64_t third = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 1 << 25);
  std::printf("{\"macs_per_second\": %.4g, \"levels\": [", macs);
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}, ", static_cast<long long>(second), read_rate(second / 2));
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}, ", static_cast<long long>(third), read_rate(third / 2));
  std::printf("{\"bytes\": %lld, \"bytes_per_second\": %.4g}]}\n", 1LL << 62, read_rate(8 * third));
  return 0;
}
