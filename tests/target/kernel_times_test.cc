// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lowtide/target/cost.h"
#include "tests/testing/graphs.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWork = "Relu (f32[4]) -> (f32[4])";

KernelTimes sample() {
  return {.machine_key = {"isa=any", "threads=1"},
          .of_work = {{kWork, {{"a", {.picoseconds = 1000, .samples = 3}}, {"b", {.picoseconds = 7, .samples = 1}}}},
                      {"Tanh \"\xff\" (f32[1]) -> (f32[1])", {{"a", {.picoseconds = 5, .samples = 2}}}}}};
}

TEST(KernelTimes, AreReadAsTheyWereWritten) {
  const std::string text = print_kernel_times(sample());
  const Result<KernelTimes> read = parse_kernel_times(text, "t.json");
  ASSERT_TRUE(read.ok()) << read.error().describe();
  EXPECT_EQ(*read, sample());
  EXPECT_EQ(print_kernel_times(*read), text);
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = print_kernel_times(sample());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(KernelTimes, RefuseOtherTexts) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "t.json"},
      {"[]", "an object"},
      {changed("lowtide-kernel-times", "lowtide-plan"), "'lowtide-plan' is not 'lowtide-kernel-times'"},
      {changed("\"schema_version\": 1", "\"schema_version\": 2"), "this is version 2"},
      {changed("\"picoseconds\": 1000", "\"picoseconds\": 0"), "$.works[0].kernels[0].picoseconds"},
      {changed("\"picoseconds\": 1000", "\"picoseconds\": -1"), "$.works[0].kernels[0].picoseconds"},
      {changed("\"picoseconds\": 1000", "\"picoseconds\": 1.5"), "$.works[0].kernels[0].picoseconds"},
      {changed("\"picoseconds\": 1000", "\"picoseconds\": 9223372036854775808"), "$.works[0].kernels[0].picoseconds"},
      {changed("\"picoseconds\": 1000", "\"picoseconds\": 1125899906842625"), "$.works[0].kernels[0].picoseconds"},
      {changed("\"samples\": 3", "\"samples\": 0"), "$.works[0].kernels[0].samples"},
      {changed("\"name\": \"b\"", "\"name\": \"a\""), "the kernel 'a' is listed twice"},
      {changed("\"name\": \"b\"", "\"nam\": \"b\""), "nam"},
      {changed("\"machine_key\": [\"isa=any\", \"threads=1\"],", ""), "machine_key"}};
  for (const auto& [text, message] : texts) {
    const Result<KernelTimes> read = parse_kernel_times(text, "t.json");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().describe(), HasSubstr(message));
  }
  std::string twice = print_kernel_times(sample());
  const std::string tanh = "Tanh";
  const std::size_t begin = twice.find("{\"work\": \"Relu");
  const std::size_t end = twice.find("{\"work\": \"Tanh");
  twice.insert(begin, twice.substr(begin, end - begin));
  const Result<KernelTimes> read = parse_kernel_times(twice, "t.json");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().describe(), HasSubstr("is listed twice"));
}

TEST(KernelTimes, ReplaceRowsOfTheSameMachine) {
  KernelTimes times = sample();
  const KernelTimes more{.machine_key = times.machine_key,
                         .of_work = {{kWork, {{"a", {.picoseconds = 9, .samples = 4}}}},
                                     {"Neg (f32[1]) -> (f32[1])", {{"a", {.picoseconds = 1, .samples = 1}}}}}};
  ASSERT_TRUE(add_times(times, more).ok());
  EXPECT_EQ(times.of_work.size(), 3U);
  EXPECT_EQ(times.of_work[kWork]["a"].picoseconds, 9);
  EXPECT_EQ(times.of_work[kWork]["b"].picoseconds, 7);
  const KernelTimes other{.machine_key = {"isa=avx2", "threads=1"}, .of_work = {}};
  const Result<void> refused = add_times(times, other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::mismatch);
}

// Offers the kernels a, b and c for every node.
class Three final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph&, NodeId) const override {
    return {Kernel{.name = "a"}, Kernel{.name = "b", .cost_seconds = 5e-6}, Kernel{.name = "c"}};
  }
};

std::vector<std::string> order_with(std::map<std::string, KernelTime> kernels) {
  Target target = dense_target();
  target.machine_key = {"threads=1"};
  target.catalogue = std::make_shared<Three>();
  const Result<Target> timed =
      with_times(std::move(target), std::make_shared<const KernelTimes>(KernelTimes{
                                        .machine_key = {"threads=1"}, .of_work = {{kWork, std::move(kernels)}}}));
  EXPECT_TRUE(timed.ok());
  const Graph graph = graph_of("graph \"g\" {\n input x : f32[4]\n y = Relu(x) : f32[4]\n output y\n}");
  std::vector<std::string> names;
  for (const Kernel& kernel : timed->catalogue->kernels(graph, NodeId(0))) {
    names.push_back(kernel.name + (kernel.cost_source == CostSource::measured ? "!" : "") + " " +
                    std::to_string(estimated_picoseconds(graph, NodeId(0), kernel)));
  }
  return names;
}

// x and y have 16 bytes each, so the model says 1,000,000 + 32 x 100 picoseconds.
TEST(KernelTimes, SortKernelsIfAllAreKnown) {
  EXPECT_THAT(order_with({{"a", {300, 1}}, {"b", {200, 1}}, {"c", {100, 1}}}),
              ElementsAre("c! 100", "b! 200", "a! 300"));
  EXPECT_THAT(order_with({{"a", {300, 1}}, {"c", {100, 1}}}), ElementsAre("a! 300", "b 5000000", "c! 100"));
  EXPECT_THAT(order_with({}), ElementsAre("a 1003200", "b 5000000", "c 1003200"));
}

// 960 is 4 % less than 1,000, and 940 is 6 % less.
TEST(KernelTimes, SmallDifferencesKeepTheOrder) {
  EXPECT_THAT(order_with({{"a", {1000, 1}}, {"b", {960, 1}}, {"c", {1000, 1}}}),
              ElementsAre("a! 1000", "b! 960", "c! 1000"));
  EXPECT_THAT(order_with({{"a", {1000, 1}}, {"b", {940, 1}}, {"c", {1000, 1}}}),
              ElementsAre("b! 940", "a! 1000", "c! 1000"));
}

TEST(KernelTimes, OfAnotherMachineAreRefused) {
  const Result<Target> timed = with_times(dense_target(), std::make_shared<const KernelTimes>(sample()));
  ASSERT_FALSE(timed.ok());
  EXPECT_EQ(timed.error().code, ErrorCode::mismatch);
  EXPECT_THAT(timed.error().message, HasSubstr("isa=any"));
}

}  // namespace
}  // namespace lowtide::testing
