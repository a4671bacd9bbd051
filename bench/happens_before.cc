// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Makes the happens-before relation of a generated network, and prints its time as JSON. The network has WIDTH rows of
// nodes. Each node comes after the previous one in its row. With a chance of 25 %, it also comes after one of the WIDTH
// nodes before it.
//
//   happens_before NODES WIDTH

#include "lowtide/analysis/happens_before.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"

int main(int count, char** words) {
  using Index = lowtide::PartialOrder::Index;
  if (count != 3) {
    std::fprintf(stderr, "usage: happens_before NODES WIDTH\n");
    return 2;
  }
  const auto nodes = static_cast<Index>(std::strtoul(words[1], nullptr, 10));
  const auto width = static_cast<Index>(std::strtoul(words[2], nullptr, 10));
  if (nodes == 0 || width == 0) return 2;
  lowtide::Random random(1);
  std::vector<std::vector<Index>> before(nodes);
  for (Index at = width; at < nodes; ++at) {
    before[at].push_back(at - width);
    if (random.chance(25)) before[at].push_back(at - 1 - static_cast<Index>(random.below(width)));
  }
  const auto begin = std::chrono::steady_clock::now();
  const lowtide::PartialOrder order = lowtide::chains_of(std::move(before));
  const lowtide::Result<lowtide::HappensBefore> made = lowtide::HappensBefore::make(order);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().describe().c_str());
    return 1;
  }
  constexpr int kQuestions = 10'000'000;
  std::int64_t ordered = 0;
  const auto asked = std::chrono::steady_clock::now();
  for (int at = 0; at < kQuestions; ++at) {
    const auto a = static_cast<Index>(random.below(nodes));
    const auto b = static_cast<Index>(random.below(nodes));
    ordered += made->is_before(a, b) ? 1 : 0;
  }
  const std::chrono::duration<double> questions = std::chrono::steady_clock::now() - asked;
  std::printf(
      "{\"nodes\": %u, \"chains\": %u, \"seconds\": %.4f, \"nanoseconds_a_question\": %.1f, \"ordered\": %lld}\n",
      nodes, order.chains, seconds.count(), questions.count() * 1e9 / kQuestions, static_cast<long long>(ordered));
  return 0;
}
