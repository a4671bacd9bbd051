// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/proto/proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "lowtide/base/random.h"

namespace lowtide::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array<ProtoEnumValue, 2> kColors = {{{"RED", 0}, {"BLUE", -7}}};
extern const ProtoSchema kTree;
constexpr auto kTreeFields = std::to_array<ProtoFieldSchema>({
    {1, "name", ProtoType::text},
    {2, "child", ProtoType::message, true, &kTree},
    {3, "count", ProtoType::int32, true},
    {4, "size", ProtoType::int64},
    {5, "weight", ProtoType::f32, true},
    {6, "is_leaf", ProtoType::boolean},
    {7, "color", ProtoType::enumeration, false, nullptr, kColors},
    {8, "data", ProtoType::bytes, true},
    {9, "only", ProtoType::message, false, &kTree},
    {10, "precise", ProtoType::f64},
    {11, "seed", ProtoType::uint32},
});
const ProtoSchema kTree = {"Tree", kTreeFields};

ProtoMessage from_text(const std::string& text) {
  Result<ProtoMessage> message = read_proto_text(kTree, text);
  EXPECT_TRUE(message.ok()) << (message.ok() ? "" : message.error().describe());
  return message.ok() ? *std::move(message) : ProtoMessage();
}

std::string text_error(const std::string& text) {
  const Result<ProtoMessage> message = read_proto_text(kTree, text);
  return message.ok() ? "no error" : message.error().describe();
}

std::string binary_error(const std::string& bytes) {
  const Result<ProtoMessage> message = read_proto_binary(kTree, bytes);
  return message.ok() ? "no error" : message.error().describe();
}

const char* const kAllTypes = R"(name: "root"
child {
  name: "a\n\"\\\377"
  count: -3
  count: 4
  size: -9223372036854775808
  weight: 0.1
  weight: -inf
  is_leaf: true
}
color: BLUE
data: "\000\001"
only {
  precise: 1e-300
  seed: 4294967295
}
)";

TEST(ProtoText, WritesWhatItReads) {
  const Result<std::string> text = write_proto_text(kTree, from_text(kAllTypes));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, kAllTypes);
}

TEST(ProtoBinary, WritesWhatItReads) {
  const std::string bytes = write_proto_binary(from_text(kAllTypes));
  const Result<ProtoMessage> read = read_proto_binary(kTree, bytes);
  ASSERT_TRUE(read.ok()) << read.error().describe();
  EXPECT_EQ(write_proto_binary(*read), bytes);
  EXPECT_EQ(*write_proto_text(kTree, *read), kAllTypes);
}

// name is field 1 with a length: 0x0A. count is field 3 as a varint: 0x18; -1 has ten bytes.
TEST(ProtoBinary, HasTheBytesOfTheWireFormat) {
  EXPECT_EQ(write_proto_binary(from_text("name: 'ab' count: -1")),
            "\x0A\x02"
            "ab"
            "\x18\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
  EXPECT_EQ(write_proto_binary(from_text("weight: 1")), std::string("\x2D\x00\x00\x80\x3F", 5));
  EXPECT_EQ(write_proto_binary(from_text("child { } child { size: 5 }")), std::string("\x12\x00\x12\x02\x20\x05", 6));
}

TEST(ProtoText, AcceptsAllNotations) {
  const ProtoMessage message = from_text(
      "# a comment\n count: [1, 0x10, 010] , count: -2; name: 'one' \"two\" child < size: 3 > is_leaf: t\n"
      "weight: 1.5f weight: nan data: \"\\x41\\101\"");
  EXPECT_THAT(numbers_of(message, 3), ElementsAre(1, 16, 8, static_cast<std::uint64_t>(-2)));
  EXPECT_EQ(find_text(message, 1), "onetwo");
  EXPECT_EQ(find_number(*find_message(message, 2), 4), 3U);
  EXPECT_EQ(find_text(message, 8), "AA");
}

// U+1F600 has the bytes F0 9F 98 80, alone or as two surrogates.
TEST(ProtoText, ReadsCodePoints) {
  const ProtoMessage message = from_text("name: \"\\u0041\\u00e9\" data: \"\\U0001F600\\ud83d\\ude00\"");
  EXPECT_EQ(find_text(message, 1), "A\xC3\xA9");
  EXPECT_EQ(find_text(message, 8), "\xF0\x9F\x98\x80\xF0\x9F\x98\x80");
  for (const char* wrong : {"\\u004", "\\u00g1", "\\U00110000", "\\ud83d", "\\ud83d\\u0041", "\\ude00"}) {
    EXPECT_EQ(text_error("name: \"" + std::string(wrong) + "\""), ":1:7: the text has a malformed escape") << wrong;
  }
}

// Numbers of 64 bits without a sign, as a varint and as eight bytes.
TEST(ProtoText, HasUnsignedNumbersOf64Bits) {
  static constexpr std::array<ProtoFieldSchema, 2> kFields = {ProtoFieldSchema{1, "varint", ProtoType::uint64},
                                                              ProtoFieldSchema{2, "fixed", ProtoType::fixed64}};
  static const ProtoSchema kSchema = {"Wide", kFields};
  const std::string text = "varint: 18446744073709551615\nfixed: 18446744073709551615\n";
  const Result<ProtoMessage> message = read_proto_text(kSchema, text);
  ASSERT_TRUE(message.ok()) << message.error().describe();
  const std::string bytes = write_proto_binary(*message);
  EXPECT_EQ(bytes.size(), 1U + 10 + 1 + 8);
  EXPECT_EQ(*write_proto_text(kSchema, *read_proto_binary(kSchema, bytes)), text);
  EXPECT_FALSE(read_proto_text(kSchema, "fixed: -1").ok());
}

TEST(ProtoText, NamesThePlaceOfAnError) {
  EXPECT_EQ(text_error("name: \"x\"\n  sise: 3"), ":2:3: Tree has no field 'sise'");
  EXPECT_EQ(text_error("child {\n name: \"a\""), ":2:11: expected a field of Tree or '}', found the end of the text");
  EXPECT_EQ(text_error("size 3"), ":1:6: expected ':' after 'size', found '3'");
  EXPECT_EQ(text_error("size: 9223372036854775808"), ":1:7: '9223372036854775808' is no value of the field 'size'");
  EXPECT_EQ(text_error("seed: -1"), ":1:8: '-1' is no value of the field 'seed'");
  EXPECT_EQ(text_error("color: GREEN"), ":1:8: 'GREEN' is no value of the field 'color'");
  EXPECT_EQ(text_error("size: 1 size: 2"), ":1:9: the field 'size' has a second value");
  EXPECT_EQ(text_error("name: \"x"), ":1:7: expected a text for 'name', found 'a text without its closing quote'");
  EXPECT_EQ(text_error("name: \"\\q\""), ":1:7: the text has a malformed escape");
  EXPECT_EQ(text_error("count: [1 2]"), ":1:11: expected ',' or ']', found '2'");
  EXPECT_EQ(text_error("}"), ":1:1: expected a field of Tree, found '}'");
}

TEST(ProtoBinary, NamesTheByteOfAnError) {
  EXPECT_THAT(binary_error("\x0A\x05"
                           "ab"),
              HasSubstr("byte 2: the field Tree.name has length 5, but only 2 bytes"));
  EXPECT_THAT(binary_error(std::string(11, '\xFF')), HasSubstr("byte 0: a tag is cut off or longer than 10 bytes"));
  EXPECT_THAT(binary_error("\x0B"), HasSubstr("byte 0: field 1 of Tree has wire type 3"));
  EXPECT_THAT(binary_error(std::string("\x08\x01", 2)), HasSubstr("byte 0: the field Tree.name has wire type 0"));
  EXPECT_THAT(binary_error(std::string("\x22\x01\x01", 3)), HasSubstr("the field Tree.size has wire type 2"));
  EXPECT_THAT(binary_error(std::string("\x2D\x01", 2)), HasSubstr("byte 1: a number of 4 bytes is cut off"));
}

TEST(ProtoBinary, ReadsPackedNumbers) {
  const Result<ProtoMessage> message = read_proto_binary(kTree, std::string("\x1A\x03\x01\x96\x01", 5));
  ASSERT_TRUE(message.ok());
  EXPECT_THAT(numbers_of(*message, 3), ElementsAre(1, 150));
}

// Field 100 as a varint, and field 101 as bytes.
TEST(ProtoBinary, KeepsUnknownFields) {
  const std::string bytes("\xA0\x06\x05\xAA\x06\x01x", 7);
  const Result<ProtoMessage> message = read_proto_binary(kTree, bytes);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(write_proto_binary(*message), bytes);
  const Result<std::string> text = write_proto_text(kTree, *message);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("Tree has a field with the number 100"));
}

// A single message that is there twice is one message with the fields of both.
TEST(ProtoBinary, MergesASingleMessage) {
  const std::string bytes("\x4A\x02\x20\x01\x4A\x02\x30\x01", 8);
  const Result<ProtoMessage> message = read_proto_binary(kTree, bytes);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(*write_proto_text(kTree, *message), "only {\n  size: 1\n  is_leaf: true\n}\n");
}

// Its parts may be far apart.
TEST(ProtoBinary, MergesPartsOfASingleMessage) {
  std::string bytes;
  for (char part = 0; part < 100; ++part) bytes += std::string("\x4A\x02\x20") + part + "\x0A\x01" + "a";
  const Result<ProtoMessage> message = read_proto_binary(kTree, bytes);
  ASSERT_TRUE(message.ok());
  ASSERT_EQ(messages_of(*message, 9).size(), 1U);
  EXPECT_EQ(find_number(*messages_of(*message, 9)[0], 4), 99U);
  EXPECT_EQ(numbers_of(*messages_of(*message, 9)[0], 4).size(), 100U);
}

TEST(Proto, LimitsTheDepth) {
  const auto nested = [](int depth) {
    std::string text;
    for (int at = 0; at < depth; ++at) text += "child {";
    return text + std::string(static_cast<std::size_t>(depth), '}');
  };
  const std::string deepest = write_proto_binary(from_text(nested(kMaxProtoDepth)));
  EXPECT_EQ(binary_error(deepest), "no error");
  EXPECT_THAT(text_error(nested(kMaxProtoDepth + 1)), HasSubstr("kMaxProtoDepth"));
  EXPECT_THAT(text_error(nested(1'000'000)), HasSubstr("kMaxProtoDepth"));
  std::string bytes = deepest;
  bytes.insert(0, 1, static_cast<char>(bytes.size() & 0x7FU));  // not a valid length, but too deep before that matters
  std::string deep;
  for (int at = 0; at < 200; ++at) {
    std::string around = "\x12";
    std::size_t size = deep.size();
    for (; size >= 0x80; size >>= 7U) around += static_cast<char>((size & 0x7FU) | 0x80U);
    around += static_cast<char>(size);
    deep = around + deep;
  }
  EXPECT_THAT(binary_error(deep), HasSubstr("kMaxProtoDepth"));
}

// Each empty message takes 2 bytes in the file and about 24 in memory, and each text of 2 bytes about 48.
TEST(Proto, LimitsTheMemoryOfTheParsedForm) {
  std::string texts;
  for (int at = 0; at < 4'000'000; ++at) texts += std::string("\x0A\x00", 2);
  EXPECT_THAT(binary_error(texts), HasSubstr("the parsed form needs more than"));
}

TEST(Proto, RefusesOrReadsAnyDamage) {
  const std::string bytes = write_proto_binary(from_text(kAllTypes));
  Random random(5);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool is_text = random.chance(50);
    std::string damaged = is_text ? kAllTypes : bytes;
    for (std::uint64_t count = random.below(4) + 1; count > 0; --count) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    const Result<ProtoMessage> message = is_text ? read_proto_text(kTree, damaged) : read_proto_binary(kTree, damaged);
    if (!message.ok()) continue;
    ++read;
    const std::string again = write_proto_binary(*message);
    const Result<ProtoMessage> second = read_proto_binary(kTree, again);
    ASSERT_TRUE(second.ok()) << second.error().describe();
    EXPECT_EQ(write_proto_binary(*second), again);
  }
  EXPECT_GT(read, 2000);
}

TEST(ProtoText, IsRecognized) {
  EXPECT_EQ(first_field_of_text(" # name of the net\n\nname : \"x\""), "name");
  EXPECT_EQ(first_field_of_text("op{"), "op");
  EXPECT_FALSE(first_field_of_text("graph \"x\" {"));
  EXPECT_FALSE(first_field_of_text(std::string("\x0A\x03net", 5)));
  EXPECT_FALSE(first_field_of_text(""));
}

}  // namespace
}  // namespace lowtide::testing
