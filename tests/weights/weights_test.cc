// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/weights.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder with a model file of 100 bytes: 0, 1, 2 and so on.
class ModelWeightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("weights_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
    std::string bytes;
    for (int value = 0; value < 100; ++value) bytes.push_back(static_cast<char>(value));
    write("model.onnx", bytes);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string model() const { return (folder_ / "model.onnx").string(); }

  // u8[4] at byte 10 of the model file, f32[2] at byte 4 of external data, i32[1] inline, f32[1] computed.
  static ConstantTable table() {
    ConstantTable table;
    const ConstantFileId model = table.files.push_back("");
    const ConstantFileId data = table.files.push_back("data.bin");
    table.sources.push_back(
        {"w", DType::u8, Shape({4}), Bytes(4), ConstantSource::InFile{.file = model, .offset = 10}});
    table.sources.push_back({"e", DType::f32, Shape({2}), Bytes(8), ConstantSource::InFile{.file = data, .offset = 4}});
    table.sources.push_back(
        {"i", DType::i32, Shape({1}), Bytes(4), ConstantSource::Inline{std::vector<std::byte>(4, std::byte{1})}});
    table.sources.push_back({"c", DType::f32, Shape({1}), Bytes(4), ConstantSource::Computed{}});
    return table;
  }

  std::filesystem::path folder_;
};

std::vector<int> numbers(std::span<const std::byte> bytes) {
  std::vector<int> out;
  for (std::byte one : bytes) out.push_back(std::to_integer<int>(one));
  return out;
}

TEST_F(ModelWeightsTest, ReadsTheModelFileExternalDataAndInlineBytes) {
  write("data.bin", "....abcdefgh");
  Result<ModelWeights> weights = ModelWeights::open(model(), table());
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  const ModelWeights moved = std::move(*weights);
  EXPECT_THAT(numbers(*moved.bytes(ConstantId(0))), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(numbers(*moved.bytes(ConstantId(1))), ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
  EXPECT_THAT(numbers(*moved.bytes(ConstantId(2))), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(moved.bytes(ConstantId(3)), std::nullopt);
  EXPECT_TRUE(moved.is_mapped(ConstantId(1)));
  EXPECT_FALSE(moved.is_mapped(ConstantId(2)));
  EXPECT_EQ(moved.table(), table());
}

TEST_F(ModelWeightsTest, HoldsTheResultsOfLoadTimeWork) {
  write("data.bin", "....abcdefgh");
  Result<ModelWeights> weights = ModelWeights::open(model(), table());
  ASSERT_TRUE(weights.ok());
  const std::vector<std::byte> result(4, std::byte{7});
  ASSERT_TRUE(weights->set_computed(ConstantId(3), result).ok());
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(3))), ElementsAre(7, 7, 7, 7));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weights->bytes(ConstantId(3))->data()) % 64, 0U);
  EXPECT_THROW((void)weights->set_computed(ConstantId(3), result), InvariantViolation);
}

// The arena has d at its begin and c at byte 100,000. All between them goes back to the system.
TEST_F(ModelWeightsTest, TakesTheArenaOfLoadTimeWork) {
  write("data.bin", "....abcdefgh");
  ConstantTable more = table();
  more.sources.push_back({"d", DType::u8, Shape({2}), Bytes(2), ConstantSource::Computed{}});
  Result<ModelWeights> weights = ModelWeights::open(model(), more);
  ASSERT_TRUE(weights.ok());
  OwnedBytes arena = *OwnedBytes::allocate(Bytes(200'000));
  std::ranges::fill(arena.bytes(), std::byte{7});
  const std::span<const std::byte> bytes = arena.bytes();
  const std::vector<ComputedPlace> places = {{ConstantId(3), 100'000}, {ConstantId(4), 0}};
  weights->adopt_computed(std::move(arena), places);
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(3))), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(4))), ElementsAre(7, 7));
  EXPECT_EQ(weights->bytes(ConstantId(3))->data(), bytes.data() + 100'000);
  EXPECT_FALSE(weights->is_mapped(ConstantId(3)));
  EXPECT_EQ(bytes[65'536], std::byte{0});
  EXPECT_EQ(bytes[199'999], std::byte{0});
}

TEST_F(ModelWeightsTest, RefusesAFileThatIsTooShortOrAbsent) {
  const Result<ModelWeights> absent = ModelWeights::open(model(), table());
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::io);
  EXPECT_THAT(absent.error().describe(), HasSubstr("data.bin: cannot be read: No such file"));
  write("data.bin", "....abcdefg");
  const Result<ModelWeights> shorter = ModelWeights::open(model(), table());
  ASSERT_FALSE(shorter.ok());
  EXPECT_EQ(shorter.error().code, ErrorCode::invalid);
  EXPECT_THAT(shorter.error().describe(),
              HasSubstr("data.bin: the file has 11 bytes, but constant 'e' ends at byte 12"));
}

// The expected numbers come from the same formula in Python.
TEST_F(ModelWeightsTest, FillsAbsentFilesWithSyntheticValues) {
  Result<ModelWeights> weights = ModelWeights::open(model(), table(), {.synthetic_seed = 1});
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  float values[2] = {};
  std::memcpy(values, weights->bytes(ConstantId(1))->data(), sizeof values);
  EXPECT_EQ(values[0], 0.0201732032F);
  EXPECT_EQ(values[1], 0.0754052624F);
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(0))), ElementsAre(10, 11, 12, 13));
}

TEST_F(ModelWeightsTest, MakesSyntheticValuesWhenTheyAreNeeded) {
  const WeightsOptions later{.synthetic_seed = 1, .makes_synthetic_later = true};
  Result<ModelWeights> weights = ModelWeights::open(model(), table(), later);
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  const Result<ModelWeights> at_once = ModelWeights::open(model(), table(), {.synthetic_seed = 1});
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(weights->bytes(ConstantId(1)), std::nullopt);
    ASSERT_TRUE(weights->make_synthetic(ConstantId(1)).ok());
    EXPECT_EQ(numbers(*weights->bytes(ConstantId(1))), numbers(*at_once->bytes(ConstantId(1))));
    weights->release(ConstantId(1));
  }
  // This one is in a file that is there.
  ASSERT_TRUE(weights->make_synthetic(ConstantId(0)).ok());
  weights->release(ConstantId(0));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(0))), ElementsAre(10, 11, 12, 13));
}

TEST_F(ModelWeightsTest, SyntheticVariancesArePositiveAndIntegersZero) {
  ConstantTable absent;
  const ConstantFileId file = absent.files.push_back("absent.bin");
  absent.sources.push_back(
      {"bn.running_var", DType::f32, Shape({50}), Bytes(200), ConstantSource::InFile{.file = file}});
  absent.sources.push_back({"index", DType::i64, Shape({2}), Bytes(16), ConstantSource::InFile{.file = file}});
  Result<ModelWeights> weights = ModelWeights::open(model(), absent, {.synthetic_seed = 3});
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  std::vector<float> variances(50);
  std::memcpy(variances.data(), weights->bytes(ConstantId(0))->data(), 200);
  for (float variance : variances) {
    EXPECT_GE(variance, 0.5F);
    EXPECT_LT(variance, 1.5F);
  }
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(1))), ::testing::Each(0));
  absent.sources.push_back({"h", DType::f8e5m2, Shape({1}), Bytes(1), ConstantSource::InFile{.file = file}});
  EXPECT_THAT(ModelWeights::open(model(), absent, {.synthetic_seed = 3}).error().describe(),
              HasSubstr("constant 'h': there are no synthetic values of type f8e5m2"));
}

TEST_F(ModelWeightsTest, DroppedPagesAreReadAgain) {
  write("data.bin", std::string(20'000, 'x') + std::string(8, 'y'));
  ConstantTable large = table();
  large.sources.push_back(
      {"l", DType::u8, Shape({20'000}), Bytes(20'000), ConstantSource::InFile{.file = ConstantFileId(1)}});
  Result<ModelWeights> weights = ModelWeights::open(model(), large);
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  weights->drop(ConstantId(4));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(4))), ::testing::Each('x'));
  weights->drop_files();
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(4))), ::testing::Each('x'));
}

// Pages are given back while the rest is copied, so parts must not be lost where they meet.
TEST_F(ModelWeightsTest, CopiesLongConstantsInParts) {
  constexpr std::int64_t kSize = 3'000'001;
  std::string content;
  for (std::int64_t at = 0; at < kSize; ++at) content.push_back(static_cast<char>(at * 7 % 251));
  write("data.bin", "12345" + content);
  ConstantTable large = table();
  large.sources.push_back(
      {"l", DType::u8, Shape({kSize}), Bytes(kSize), ConstantSource::InFile{.file = ConstantFileId(1), .offset = 5}});
  Result<ModelWeights> weights = ModelWeights::open(model(), large);
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  std::string copy(content.size(), ' ');
  weights->copy_out(ConstantId(4), std::as_writable_bytes(std::span(copy)));
  EXPECT_TRUE(copy == content);
  std::vector<std::byte> few(4);
  weights->copy_out(ConstantId(2), few);
  EXPECT_THAT(numbers(few), ElementsAre(1, 1, 1, 1));
}

// w is short, and l is at an odd address. f is neither.
TEST_F(ModelWeightsTest, HoldsCopiesOfConstantsThatAreShortOrMisaligned) {
  write("data.bin", std::string(50'000, 'x'));
  ConstantTable more = table();
  const ConstantFileId data(1);
  more.sources.push_back({"l", DType::f32, Shape({2000}), Bytes(8000), ConstantSource::InFile{data, 4001}});
  more.sources.push_back({"f", DType::f32, Shape({2000}), Bytes(8000), ConstantSource::InFile{data, 20'000}});
  Result<ModelWeights> weights = ModelWeights::open(model(), more);
  ASSERT_TRUE(weights.ok()) << weights.error().describe();
  for (const std::uint32_t id : {0U, 2U, 4U, 5U}) ASSERT_TRUE(weights->hold(ConstantId(id)).ok());
  EXPECT_FALSE(weights->is_mapped(ConstantId(0)));
  EXPECT_FALSE(weights->is_mapped(ConstantId(4)));
  EXPECT_TRUE(weights->is_mapped(ConstantId(5)));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(0))), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(4))), ::testing::Each('x'));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(weights->bytes(ConstantId(4))->data()) % 64, 0U);
  weights->release(ConstantId(4));
  EXPECT_TRUE(weights->is_mapped(ConstantId(4)));
  EXPECT_THAT(numbers(*weights->bytes(ConstantId(4))), ::testing::Each('x'));
}

TEST_F(ModelWeightsTest, NoticesAFileThatChanged) {
  write("data.bin", "....abcdefgh");
  Result<ModelWeights> weights = ModelWeights::open(model(), table());
  ASSERT_TRUE(weights.ok());
  EXPECT_TRUE(weights->check_files().ok());
  write("data.bin", "....abcdefghi");
  const Result<void> changed = weights->check_files();
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::mismatch);
  EXPECT_THAT(changed.error().describe(), HasSubstr("it had 12 bytes and now has 13"));
}

// A deploy puts a new file at the path. The map is of the old one.
TEST_F(ModelWeightsTest, KeepsAFileWhosePathGoesToAnother) {
  write("data.bin", "....abcdefgh");
  Result<ModelWeights> weights = ModelWeights::open(model(), table());
  ASSERT_TRUE(weights.ok());
  std::filesystem::remove(folder_ / "data.bin");
  EXPECT_TRUE(weights->check_files().ok());
  write("data.bin", "....ABCDEFGHI");
  EXPECT_TRUE(weights->check_files().ok());
  write("new.bin", "....12345678");
  std::filesystem::rename(folder_ / "new.bin", folder_ / "data.bin");
  EXPECT_TRUE(weights->check_files().ok());
}

// The old file has a second name, by which it is written.
TEST_F(ModelWeightsTest, NoticesAChangeByAnotherName) {
  write("data.bin", "....abcdefgh");
  Result<ModelWeights> weights = ModelWeights::open(model(), table());
  ASSERT_TRUE(weights.ok());
  std::filesystem::create_hard_link(folder_ / "data.bin", folder_ / "other.bin");
  std::filesystem::remove(folder_ / "data.bin");
  write("other.bin", "....abcdefghi");
  EXPECT_EQ(weights->check_files().error().code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace lowtide
