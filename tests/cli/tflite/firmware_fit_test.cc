// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/tflite/firmware_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lowtide/base/random.h"

namespace lowtide::cli_internal {
namespace {

using testing::ElementsAre;

// An arena of 20 bytes. Two of them have a head of 12 and a tail of 9.
constexpr MicroArena kArena{
    .tail = Bytes(9), .smallest = Bytes(20), .separate_head = Bytes(12), .separate_tail = Bytes(9)};
constexpr Bytes kFile(30);

Machine machine_of(const std::vector<Region>& regions) {
  Machine machine;
  machine.regions = regions;
  machine.workers.push_back({.name = "core"});
  return machine;
}

Region ram(std::optional<Bytes> capacity) { return {.name = "ram", .capacity = capacity}; }
Region flash(std::optional<Bytes> capacity) { return {.name = "flash", .capacity = capacity, .is_read_only = true}; }

// "model of 30 in flash", for each region.
std::vector<std::string> shown(const FirmwareFit& fit) {
  std::vector<std::string> lines;
  for (const RegionUse& use : fit.uses) {
    std::string line;
    for (const std::string& part : use.holds) line += part + " ";
    lines.push_back(line + "of " + std::to_string(use.needed.count()) + " in " + use.region);
  }
  return lines;
}

TEST(FirmwareFit, TheWholeArenaMayBeInALaterRegion) {
  const FirmwareFit fit = fit_firmware(machine_of({ram(Bytes(19)), ram(Bytes(20)), flash(Bytes(30))}), kArena, kFile);
  EXPECT_EQ(fit.fits(), true);
  EXPECT_THAT(shown(fit), ElementsAre("arena of 20 in ram", "model of 30 in flash"));
  EXPECT_EQ(fit.uses[0].capacity, Bytes(20));
}

TEST(FirmwareFit, HeadAndTailArePartedIfNoRegionHoldsBoth) {
  const FirmwareFit fit = fit_firmware(machine_of({ram(Bytes(9)), ram(Bytes(12)), flash({})}), kArena, kFile);
  EXPECT_EQ(fit.fits(), true);
  EXPECT_THAT(shown(fit), ElementsAre("tail of 9 in ram", "head of 12 in ram", "model of 30 in flash"));
}

TEST(FirmwareFit, WithoutAPlaceForTheFileNothingIsKnown) {
  const FirmwareFit fit = fit_firmware(machine_of({ram({})}), kArena, kFile);
  EXPECT_FALSE(fit.has_place_for_file);
  EXPECT_EQ(fit.fits(), std::nullopt);
  EXPECT_EQ(fit_firmware(machine_of({ram(Bytes(19))}), kArena, kFile).fits(), false);
}

TEST(FirmwareFit, TheFileMayBeInAnyReadOnlyRegion) {
  const FirmwareFit fit = fit_firmware(machine_of({ram({}), flash(Bytes(29)), flash(Bytes(30))}), kArena, kFile);
  EXPECT_EQ(fit.fits(), true);
  EXPECT_EQ(fit.uses[1].capacity, Bytes(30));
}

// The region of the constants is writable, so the arena has what the file leaves.
TEST(FirmwareFit, TheFileTakesBytesFromTheArena) {
  Machine machine = machine_of({ram(Bytes(49)), ram(Bytes(11))});
  machine.constants = RegionId(0);
  const FirmwareFit fit = fit_firmware(machine, kArena, kFile);
  EXPECT_EQ(fit.fits(), true);
  EXPECT_THAT(shown(fit), ElementsAre("model head of 42 in ram", "tail of 9 in ram"));
  machine.regions[1].capacity = Bytes(8);
  EXPECT_EQ(fit_firmware(machine, kArena, kFile).fits(), false);
}

Machine drawn(Random& random) {
  std::vector<Region> regions;
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    const auto capacity = Bytes(static_cast<std::int64_t>(1 + random.below(60)));
    regions.push_back(random.chance(30) ? flash(capacity) : ram(capacity));
    if (random.chance(5)) regions.back().capacity.reset();
  }
  regions.insert(regions.begin() + static_cast<std::ptrdiff_t>(random.below(regions.size() + 1)),
                 ram(Bytes(static_cast<std::int64_t>(1 + random.below(25)))));
  Machine machine = machine_of(regions);
  if (random.chance(30)) machine.constants = RegionId(static_cast<std::uint32_t>(random.below(regions.size())));
  return machine;
}

// Whether there is an assignment of file, arena, or head and tail to regions, by trying all of them. nullopt: there is
// one without the file, which has no place.
std::optional<bool> fits_by_brute_force(const Machine& machine, const MicroArena& arena, Bytes file) {
  const auto regions = static_cast<std::uint32_t>(machine.regions.size());
  const auto may_write = [&](std::uint32_t region) { return !machine.regions[region].is_read_only; };
  const auto may_hold_file = [&](std::uint32_t region) {
    return machine.constants ? machine.constants == RegionId(region) : machine.regions[region].is_read_only;
  };
  bool has_place = false;
  bool fits = false;
  for (std::uint32_t at = 0; at < regions; ++at) has_place = has_place || may_hold_file(at);
  for (std::uint32_t of_file = 0; of_file < regions; ++of_file) {
    if (has_place && !may_hold_file(of_file)) continue;
    for (std::uint32_t head = 0; head < regions; ++head) {
      for (std::uint32_t tail = 0; tail < regions; ++tail) {
        if (!may_write(head) || !may_write(tail)) continue;
        std::vector<Bytes> used(regions);
        if (has_place) used[of_file] += file;
        used[head] += head == tail ? arena.smallest : arena.separate_head;
        if (head != tail) used[tail] += arena.separate_tail;
        bool all = true;
        for (std::uint32_t at = 0; at < regions; ++at) {
          all = all && (!machine.regions[at].capacity || used[at] <= *machine.regions[at].capacity);
        }
        fits = fits || all;
      }
    }
  }
  if (!fits) return false;
  return has_place ? std::optional(true) : std::nullopt;
}

TEST(FirmwareFit, AgreesWithABruteForceSearch) {
  Random random(11);
  int fitting = 0;
  int parted = 0;
  for (int round = 0; round < 5000; ++round) {
    const Machine machine = drawn(random);
    const FirmwareFit fit = fit_firmware(machine, kArena, kFile);
    EXPECT_EQ(fit.fits(), fits_by_brute_force(machine, kArena, kFile)) << "round " << round;
    const auto lines = shown(fit);
    fitting += fit.fits() == true ? 1 : 0;
    parted += fit.fits() == true && testing::Value(lines, testing::Contains(testing::HasSubstr("tail "))) ? 1 : 0;
  }
  EXPECT_GT(fitting, 500);
  EXPECT_GT(parted, 20);
}

}  // namespace
}  // namespace lowtide::cli_internal
