// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/engine/prepared_file.h"
#include "lowtide/engine/range.h"
#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/batched_model.h"
#include "tests/engine/prepared_bytes.h"

namespace lowtide {
namespace {

using testing::batched_model;
using testing::batches;
using testing::bytes_field;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::node;
using testing::number_field;
using testing::run_session;
using testing::write_of_test;

OpenedRange opened_range(const std::string& model, const std::vector<std::int64_t>& extents) {
  const std::string path = write_of_test("batched.onnx", model);
  const Result<OpenedRange> range = open_range(path, batches(extents));
  std::filesystem::remove(path);
  EXPECT_TRUE(range.ok()) << range.error().describe();
  return *range;
}

std::string prepared_range(const std::vector<std::int64_t>& extents, const std::string& model = batched_model()) {
  return bytes_of(*prepared_file(opened_range(model, extents)));
}

// y = Add(x, Neg(Expand(k, Shape(x)))). Load-time work repeats k for each row, so each size has another constant.
std::string expanded_model() {
  const std::string k = number_field(1, 4) + number_field(2, 1) + bytes_field(8, "k") + testing::given_k();
  const std::string expand = bytes_field(1, "k") + bytes_field(1, "s") + bytes_field(2, "e") + bytes_field(4, "Expand");
  const std::string add = bytes_field(1, "x") + bytes_field(1, "n") + bytes_field(2, "y") + bytes_field(4, "Add");
  const std::string graph = bytes_field(1, node("Shape", "x", "s")) + bytes_field(1, expand) +
                            bytes_field(1, node("Neg", "e", "n")) + bytes_field(1, add) + bytes_field(2, "expanded") +
                            bytes_field(5, k) + bytes_field(11, testing::rows("x")) +
                            bytes_field(12, testing::rows("y"));
  return number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17));
}

// 1 - k, 1 - k and so on: what both models give for zeros or ones.
std::vector<float> one_minus_k(std::int64_t rows) {
  std::vector<float> expected;
  for (std::int64_t row = 0; row < rows; ++row) expected.insert(expected.end(), {0, -1, -2, -3});
  return expected;
}

std::vector<float> run_member(const OpenedModel& member, const Arena& arena, float x) {
  Session session = *Session::open(member.executable, arena);
  const auto elements = static_cast<std::size_t>(member.executable->inputs()[0].size.count()) / sizeof(float);
  return run_session(session, std::vector<float>(elements, x));
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string minus_k() {
  const std::array<float, 4> numbers{-1, -2, -3, -4};
  return {reinterpret_cast<const char*>(numbers.data()), sizeof numbers};
}

Error range_refusal(const std::string& bytes) {
  const Result<OpenedRange> opened = open_range(write_of_test("refused.prepared", bytes));
  EXPECT_FALSE(opened.ok());
  return opened.ok() ? Error{} : opened.error();
}

// The texts of a file: facts, graph and plan of each plan in turn.
std::vector<std::string> texts_of(const std::string& bytes) {
  std::istringstream line(bytes.substr(0, bytes.find('\n')));
  std::string mark;
  int version = 0;
  std::size_t plans = 0;
  line >> mark >> version >> plans;
  std::vector<std::string> texts;
  std::size_t at = bytes.find('\n') + 1;
  for (std::size_t part = 0; part < 3 * plans; ++part) {
    std::size_t size = 0;
    line >> size;
    texts.push_back(bytes.substr(at, size));
    at += size;
  }
  return texts;
}

// A file with these texts and the right digest. Its constants are the 16 bytes of w.
std::string file_of(const std::vector<std::string>& texts, const std::string& plans) {
  std::string line = "lowtide-prepared 2 " + plans;
  std::string all;
  for (const std::string& text : texts) {
    line += " " + std::to_string(text.size());
    all += text;
  }
  std::string head = line + " " + text_digest(all) + "\n" + all;
  head.resize((head.size() + 63) / 64 * 64, '\n');
  return head + minus_k();
}

// The file for the batches 1 and 2 with another text in the plan for 2, and the right digest for it.
std::string with_other_plan(const std::string& from, const std::string& to) {
  std::vector<std::string> texts = texts_of(prepared_range({1, 2}));
  bool is_found = from.empty();
  for (std::size_t part = 3; part < 6 && !is_found; ++part) {
    const std::size_t at = texts[part].find(from);
    if (at == std::string::npos) continue;
    texts[part].replace(at, from.size(), to);
    is_found = true;
  }
  EXPECT_TRUE(is_found) << from;
  return file_of(texts, "2");
}

TEST(PreparedRange, RunsEachShapeInOneArenaWithoutTheModel) {
  const std::string bytes = prepared_range({1, 2, 40});
  EXPECT_EQ(bytes.substr(0, bytes.find(' ', 19)), "lowtide-prepared 2 3");
  EXPECT_EQ(occurrences(bytes, minus_k()), 1U);
  const std::string path = write_of_test("batched.prepared", bytes);
  EXPECT_TRUE(is_prepared_file(path));
  EXPECT_TRUE(is_prepared_range(path));
  const Result<OpenedRange> range = open_range(path);
  ASSERT_TRUE(range.ok()) << range.error().describe();
  ASSERT_EQ(range->members.size(), 3U);
  EXPECT_EQ(range->required_bytes(), Bytes(40 * 16));
  EXPECT_EQ(range->find({{"x", {40, 4}}}), &range->members[2]);
  EXPECT_EQ(range->find({{"x", {3, 4}}}), nullptr);
  const Arena arena = *Arena::allocate(range->required_bytes());
  for (const std::size_t at : {2, 0, 1}) {
    const OpenedModel& member = range->members[at];
    EXPECT_EQ(member.executable->shared_weights(), range->members[0].executable->shared_weights());
    EXPECT_EQ(run_member(member, arena, 0), one_minus_k(std::array{1, 2, 40}.at(at)));
    EXPECT_EQ(member.model_nodes, 3);
    EXPECT_EQ(member.load_time_arena, Bytes(0));
  }
}

TEST(PreparedRange, OfAPreparedRangeIsTheSameFile) {
  for (const std::string& model : {batched_model(), expanded_model()}) {
    const std::string bytes = prepared_range({1, 3}, model);
    EXPECT_TRUE(prepared_range({1, 3}, model) == bytes);
    const Result<OpenedRange> range = open_range(write_of_test("again.prepared", bytes));
    ASSERT_TRUE(range.ok()) << range.error().describe();
    EXPECT_TRUE(bytes_of(*prepared_file(*range)) == bytes);
  }
}

TEST(PreparedRange, WithOneMemberIsTheFileOfThatModel) {
  const OpenedRange range = opened_range(batched_model(), {3});
  const std::string bytes = bytes_of(*prepared_file(range));
  EXPECT_TRUE(bytes == bytes_of(*prepared_file(range.members[0])));
  EXPECT_EQ(bytes.substr(0, 19), "lowtide-prepared 1 ");
  const std::string path = write_of_test("one.prepared", bytes);
  EXPECT_FALSE(is_prepared_range(path));
  const Result<OpenedRange> opened = open_range(path);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->members.size(), 1U);
}

// The ids of results of load-time work are equal, and the constants are not.
TEST(PreparedRange, KeepsConstantsOfMembersApart) {
  const Result<OpenedRange> range =
      open_range(write_of_test("expanded.prepared", prepared_range({1, 3, 2}, expanded_model())));
  ASSERT_TRUE(range.ok()) << range.error().describe();
  const Arena arena = *Arena::allocate(range->required_bytes());
  for (const std::size_t at : {0, 1, 2}) {
    EXPECT_EQ(run_member(range->members[at], arena, 1), one_minus_k(std::array{1, 3, 2}.at(at)));
  }
  EXPECT_NE(range->members[0].executable->shared_weights(), range->members[1].executable->shared_weights());
}

// Members that were opened one by one have their weights in other places.
TEST(PreparedRange, HasEqualBytesOnce) {
  OpenedRange range = opened_range(batched_model(), {1});
  range.members.push_back(opened_range(batched_model(), {2}).members[0]);
  EXPECT_NE(range.members[0].executable->shared_weights(), range.members[1].executable->shared_weights());
  EXPECT_TRUE(bytes_of(*prepared_file(range)) == prepared_range({1, 2}));
}

TEST(PreparedRange, OpensTheMembersThatSizesChoose) {
  const std::string path = write_of_test("chosen.prepared", prepared_range({1, 2, 4}));
  const auto rows_of = [](const OpenedModel& model) { return model.executable->inputs()[0].shape[0]; };
  OpenOptions options;
  options.import.dims["batch"] = 2;
  Result<OpenedModel> opened = open_model(path, options);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(rows_of(*opened), 2);
  OpenOptions shaped;
  shaped.import.shapes["x"] = {4, -1};
  opened = open_model(path, shaped);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(rows_of(*opened), 4);
  OpenOptions given;
  given.import.given = {{{"x", {1, 4}}, {"x=1", {9}}}};
  opened = open_model(path, given);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(rows_of(*opened), 1);
  const Result<OpenedRange> one = open_range(path, given);
  ASSERT_TRUE(one.ok()) << one.error().describe();
  EXPECT_EQ(one->members.size(), 1U);
  const Result<OpenedRange> two = open_range(path, batches({4, 1}));
  ASSERT_TRUE(two.ok()) << two.error().describe();
  EXPECT_EQ(rows_of(two->members[0]), 4);
  EXPECT_EQ(rows_of(two->members[1]), 1);
  EXPECT_EQ(two->members[0].executable->shared_weights(), two->members[1].executable->shared_weights());
}

TEST(PreparedRange, NamesItsSizesIfNoneIsChosen) {
  const std::string path = write_of_test("unchosen.prepared", prepared_range({1, 2}));
  const Result<OpenedModel> any = open_model(path);
  ASSERT_FALSE(any.ok());
  EXPECT_EQ(any.error().code, ErrorCode::invalid);
  EXPECT_EQ(any.error().message,
            "this prepared file has plans for 'batch=1' and 'batch=2'; choose one by its sizes or by inputs, or open "
            "all of them with open_range() or RangeSession");
  OpenOptions options;
  options.import.dims["batch"] = 3;
  const Error none = open_model(path, options).error();
  EXPECT_EQ(none.code, ErrorCode::invalid);
  EXPECT_THAT(none.message, HasSubstr("there is no plan for 'batch=3' in this prepared file, which has plans for "
                                      "'batch=1' and 'batch=2'"));
  OpenOptions given;
  given.import.given = {{{"x", {3, 4}}}};
  EXPECT_THAT(open_range(path, given).error().message, HasSubstr("there is no plan for 'x=[3,4]'"));
  EXPECT_THAT(open_range(path, batches({1, 3})).error().message, HasSubstr("there is no plan for 'batch=3'"));
  OpenOptions decided;
  decided.plan.budget = Bytes(1 << 20);
  EXPECT_THAT(open_range(path, decided).error().message, HasSubstr("'lowtide prepare' takes them"));
}

TEST(PreparedRange, IsRefusedIfOneByteOfItsHeadIsAnother) {
  const std::string bytes = prepared_range({1, 2});
  const std::size_t head = bytes.size() - 16;
  const std::size_t padding = bytes.find_last_not_of('\n', head - 1) + 2;  // the last line ends in a newline
  const std::size_t line = bytes.find('\n');
  for (std::size_t at = 0; at < padding; at += at <= line ? 1 : 37) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(open_range(write_of_test("damaged.prepared", other)).ok()) << "byte " << at;
  }
}

TEST(PreparedRange, IsRefusedIfItIsShorter) {
  const std::string bytes = prepared_range({1, 2});
  for (std::size_t size = 0; size < bytes.size(); size += size < 256 || size + 128 > bytes.size() ? 1 : 41) {
    EXPECT_FALSE(open_range(write_of_test("short.prepared", bytes.substr(0, size))).ok()) << size;
  }
}

TEST(PreparedRange, HasANumberOfPlansThatFitsItsLine) {
  const std::vector<std::string> texts = texts_of(prepared_range({1, 2}));
  EXPECT_TRUE(open_range(write_of_test("same.prepared", file_of(texts, "2"))).ok());
  for (const char* plans :
       {"0", "1", "3", "16", "17", "-2", "", "two", "9223372036854775807", "99999999999999999999"}) {
    EXPECT_EQ(range_refusal(file_of(texts, plans)).code, ErrorCode::malformed) << plans;
  }
  const std::vector<std::string> one(texts.begin(), texts.begin() + 3);
  EXPECT_EQ(range_refusal(file_of(one, "1")).code, ErrorCode::malformed);
  const std::string bytes = file_of(texts, "2");
  const std::string size = " " + std::to_string(texts[0].size()) + " ";
  for (const char* other : {" 4294967297 ", " 4294967296 ", " 9223372036854775807 ", " -1 ", " x "}) {
    std::string changed = bytes;
    changed.replace(changed.find(size), size.size(), other);
    EXPECT_EQ(range_refusal(changed).code, ErrorCode::malformed) << other;
  }
}

TEST(PreparedRange, HasAtMostSixteenPlans) {
  OpenedRange range = opened_range(batched_model(), {1, 2});
  while (range.members.size() < 16) range.members.push_back(range.members[1]);
  const Result<OpenedRange> opened = open_range(write_of_test("sixteen.prepared", bytes_of(*prepared_file(range))));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(opened->members.size(), 16U);
  range.members.push_back(range.members[1]);
  const Result<PreparedFile> refused = prepared_file(range);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::over_limit);
  EXPECT_THAT(refused.error().message, HasSubstr("there are 17 plans, and a prepared file has at most 16"));
}

TEST(PreparedRange, ChecksEachPlanAsThatOfAnyFile) {
  EXPECT_TRUE(open_range(write_of_test("same.prepared", with_other_plan("", ""))).ok());
  const Error plan = range_refusal(with_other_plan("\"load\": ", "\"load\": 1"));
  EXPECT_EQ(plan.code, ErrorCode::mismatch);
  EXPECT_THAT(plan.message, HasSubstr("the plan is wrong for this model"));
  EXPECT_EQ(range_refusal(with_other_plan("\"kernels=", "\"kernels=9")).code, ErrorCode::mismatch);
  EXPECT_EQ(range_refusal(with_other_plan("f32[4]\", 0]", "f32[4]\", 64]")).code, ErrorCode::invalid);
  EXPECT_THAT(range_refusal(with_other_plan("f32[4]\", 0]", "f32[4]\", 1]")).message,
              HasSubstr("not a multiple of 64"));
  EXPECT_EQ(range_refusal(with_other_plan("f32[4]\", 0]", "f32[3]\", 0]")).code, ErrorCode::invalid);
  const Error graph = range_refusal(with_other_plan("graph \"", "graph "));
  EXPECT_EQ(graph.code, ErrorCode::malformed);
  EXPECT_THAT(graph.place, HasSubstr("refused.prepared: plan 1 (graph)"));
  // 40 million entries of a table would take gigabytes.
  EXPECT_EQ(range_refusal(with_other_plan("[1, \"", "[40000000, \"")).code, ErrorCode::invalid);
}

}  // namespace
}  // namespace lowtide
