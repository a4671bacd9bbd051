// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/report/page_packings.h"

#include <limits>
#include <string>

#include "lowtide/allocate/allocate.h"
#include "lowtide/base/random.h"
#include "tests/report/page_plans.h"

namespace lowtide {
namespace {

constexpr std::int64_t kKib = 1024;

PackingSketch packed(PackingProblem problem) {
  Packing packing = allocate(problem, {.effort = 1'000'000}).value();
  return {std::move(problem), std::move(packing)};
}

void add(PackingProblem& problem, const std::string& name, PackingBuffer buffer) {
  problem.buffers.push_back(std::move(buffer));
  problem.names.push_back(name);
}

}  // namespace

PackingSketch small_packing() {
  PackingSketch sketch;
  PackingProblem& problem = sketch.problem;
  add(problem, "fixed", {.lifespan = {0, 80}, .size = Bytes(64 * kKib), .fixed_offset = Offset(0)});
  add(problem, "low", {.lifespan = {0, 60}, .size = Bytes(64 * kKib), .alignment = Bytes(4096)});
  add(problem, "resting", {.lifespan = {0, 90}, .gaps = {{30, 60}}, .size = Bytes(64 * kKib)});
  add(problem, "late", {.lifespan = {30, 60}, .size = Bytes(128 * kKib)});
  problem.capacity = Bytes(256 * kKib);
  for (std::int64_t kib : {0, 64, 128, 128}) sketch.packing.offsets.push_back(Offset(kib * kKib));
  // At time 30, in KiB: 64 for `fixed`, 64 for `low` and 128 for `late`.
  sketch.packing.height = sketch.packing.bound = Bytes(256 * kKib);
  sketch.packing.proven_optimal = true;
  sketch.packing.strategy = "best_fit";
  sketch.packing.witness_time = 30;
  return sketch;
}

PackingSketch hostile_packing() {
  PackingProblem problem;
  for (const std::string& name : hostile_names()) add(problem, name, {.lifespan = {0, 2}, .size = Bytes(64)});
  return packed(std::move(problem));
}

std::vector<PageBand> small_bands() {
  return {{"forward", 0, 30}, {"backward", 30, 60}, {"forward", 60, 70, true}, {"update", 70, 80}};
}

std::vector<PageBand> many_bands(std::int64_t count, std::int64_t length) {
  std::vector<PageBand> bands;
  for (std::int64_t at = 0; at < count; ++at) {
    bands.push_back({at % 3 == 0 ? "forward" : "backward", at * length, (at + 1) * length, at % 4 == 3});
  }
  return bands;
}

PackingSketch empty_packing() { return packed({}); }

PackingSketch far_packing() {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  PackingProblem problem;
  add(problem, "first", {.lifespan = {0, 1}, .size = Bytes(5)});
  add(problem, "middle", {.lifespan = {most / 4, most / 2}, .size = Bytes(6)});
  add(problem, "last", {.lifespan = {most - 1, most}, .size = Bytes(7)});
  return packed(std::move(problem));
}

PackingSketch generated_packing(std::uint32_t buffers, std::uint64_t seed) {
  Random random(seed);
  PackingProblem problem;
  for (std::uint32_t at = 0; at < buffers; ++at) {
    const std::int64_t begin = 1000 * static_cast<std::int64_t>(at) + random.between(0, 999);
    const std::int64_t length = 500 + (std::int64_t{1} << random.between(8, 17));
    const std::int64_t size = std::int64_t{1} << random.between(10, 18);
    PackingBuffer buffer{.lifespan = {begin, begin + length}, .size = Bytes(size)};
    if (random.chance(5)) buffer.gaps.push_back({begin + length / 4, begin + length / 2});
    add(problem, "block" + std::to_string(at % 97) + "/buffer" + std::to_string(at), std::move(buffer));
  }
  return packed(std::move(problem));
}

}  // namespace lowtide
