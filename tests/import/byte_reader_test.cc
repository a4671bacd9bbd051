// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/byte_reader.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace lowtide::import_internal {
namespace {

std::string digest_of(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

TEST(ByteReader, ReadsOneWindowAfterAnother) {
  std::string text;
  for (std::size_t line = 0; text.size() < 3 * ByteReader::kWindowBytes; ++line) text += std::to_string(line) + "\n";
  const TextBytes source(text);
  ByteReader reader(source);
  std::string copy(1, reader.next());
  copy.resize(1 + 200'000);
  reader.take(200'000, copy.data() + 1);
  EXPECT_EQ(copy, text.substr(0, 200'001));
  reader.take(100'000, nullptr);
  EXPECT_EQ(reader.at(), 300'001U);
  EXPECT_EQ(reader.next(), text[300'001]);
  reader.take(text.size() - reader.at(), nullptr);
  EXPECT_EQ(reader.sha256(), digest_of(text));
  EXPECT_FALSE(reader.error());
}

TEST(ByteReader, ReadsAnEmptySource) {
  const TextBytes source("");
  ByteReader reader(source);
  EXPECT_EQ(reader.size(), 0U);
  EXPECT_EQ(reader.sha256(), digest_of(""));
}

// A source whose second window cannot be read.
class Broken final : public ByteSource {
 public:
  [[nodiscard]] std::int64_t size() const override { return 2 * std::int64_t{ByteReader::kWindowBytes}; }
  [[nodiscard]] Result<void> read(std::int64_t offset, std::span<char> to) const override {
    if (offset > 0) return Error{ErrorCode::io, "broken", ""};
    std::fill(to.begin(), to.end(), 'a');
    return {};
  }
};

TEST(ByteReader, KeepsTheFirstError) {
  const Broken source;
  ByteReader reader(source);
  std::string bytes(ByteReader::kWindowBytes + 2, '?');
  reader.take(bytes.size(), bytes.data());
  ASSERT_TRUE(reader.error());
  EXPECT_EQ(reader.error()->message, "broken");
  EXPECT_EQ(bytes.substr(bytes.size() - 3), std::string("a\0\0", 3));
}

}  // namespace
}  // namespace lowtide::import_internal
