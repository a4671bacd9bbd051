// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_file.h"
#include "lowtide/adapt/prepared_mark.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/graph/text.h"
#include "lowtide/import/import.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/prepared_bytes.h"
#include "tests/engine/small_model.h"

namespace lowtide {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using testing::write_of_test;

// y[i] = x + 1 for 1,000 rows, where the ones are Relu(w), which load-time work computes.
OpenedModel added_ones(const CpuOptions& cpu = {}) {
  const std::string path = write_of_test("ones.onnx", testing::ones_added(1000, true));
  OpenOptions options;
  options.cpu = cpu;
  const Result<OpenedModel> opened = open_model(path, options);
  std::filesystem::remove(path);
  EXPECT_TRUE(opened.ok()) << opened.error().describe();
  return *opened;
}

std::string prepared_ones() { return bytes_of(*prepared_file(added_ones())); }

std::vector<float> run_prepared(const std::shared_ptr<const Executable>& executable) {
  const Arena arena = *Arena::allocate(executable->required_bytes());
  Session session = *Session::open(executable, arena);
  const std::vector<float> x = {1, 2, 3, 4};
  const std::array<std::int64_t, 1> extents{4};
  EXPECT_TRUE(session.bind_input("x", {DType::f32, extents, std::as_bytes(std::span(x))}).ok());
  EXPECT_TRUE(session.run().ok());
  const std::span<const std::byte> bytes = session.output(0).bytes;
  std::vector<float> y(bytes.size() / sizeof(float));
  std::memcpy(y.data(), bytes.data(), bytes.size());
  return y;
}

// The error for a file with these bytes.
Error refusal(const std::string& bytes) {
  const Result<OpenedModel> opened = open_model(write_of_test("refused.prepared", bytes));
  EXPECT_FALSE(opened.ok());
  return opened.ok() ? Error{} : opened.error();
}

TEST(PreparedFile, RunsWithoutTheModel) {
  const OpenedModel made = added_ones();
  const std::string path = write_of_test("ones.prepared", bytes_of(*prepared_file(made)));
  EXPECT_TRUE(is_prepared_file(path));
  const Result<OpenedModel> opened = open_model(path);
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  std::vector<float> expected;
  for (int row = 0; row < 1000; ++row) expected.insert(expected.end(), {2, 3, 4, 5});
  EXPECT_EQ(run_prepared(opened->executable), expected);
  EXPECT_EQ(run_prepared(made.executable), expected);
  EXPECT_EQ(print_graph(opened->executable->graph()), print_graph(made.executable->graph()));
  EXPECT_EQ(opened->model_nodes, made.model_nodes);
  EXPECT_GT(made.load_time_arena, Bytes(0));
  EXPECT_EQ(opened->load_time_arena, Bytes(0));  // no load-time work is left
  // 16,000 bytes of ones are mapped, and nothing is copied.
  EXPECT_EQ(opened->executable->memory().mapped, Bytes(16'000));
  EXPECT_EQ(opened->executable->memory().copied, Bytes(0));
  EXPECT_EQ(made.executable->memory().copied, Bytes(16'000));
}

TEST(PreparedFile, OfAPreparedFileIsTheSameFile) {
  const std::string bytes = prepared_ones();
  const Result<OpenedModel> opened = open_model(write_of_test("again.prepared", bytes));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_TRUE(bytes_of(*prepared_file(*opened)) == bytes);
}

TEST(PreparedFile, ConstantsBeginAtMultiplesOf64) {
  const std::string bytes = prepared_ones();
  const float one = 1;
  const std::string begin(reinterpret_cast<const char*>(&one), sizeof(one));
  const std::size_t at = bytes.find(begin + begin + begin + begin);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(at % 64, 0U);
  EXPECT_EQ(bytes.size(), at + 16'000);
}

TEST(PreparedFile, IsRefusedIfOneByteOfItsHeadIsAnother) {
  const std::string bytes = prepared_ones();
  const std::size_t head = bytes.size() - 16'000;
  const std::size_t padding = bytes.find_last_not_of('\n', head - 1) + 2;  // the last line ends in a newline
  for (std::size_t at = 0; at < padding; ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(open_model(write_of_test("damaged.prepared", other)).ok()) << "byte " << at;
  }
}

TEST(PreparedFile, IsRefusedIfItIsShorter) {
  const std::string bytes = prepared_ones();
  for (std::size_t size = 0; size < bytes.size(); size += size < 4096 ? 1 : 999) {
    EXPECT_FALSE(open_model(write_of_test("short.prepared", bytes.substr(0, size))).ok()) << size;
  }
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)).message, HasSubstr("get the complete file"));
}

TEST(PreparedFile, OfAnotherVersionIsRefusedByName) {
  std::string bytes = prepared_ones();
  bytes.replace(bytes.find(" 1 "), 3, " 3 ");
  const Error error = refusal(bytes);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.message, HasSubstr("has version '3', and this program reads the versions 1 and 2"));
}

// A file with another text in it, and the right digest for it.
std::string with_other_text(const std::string& from, const std::string& to,
                            const std::string& bytes = prepared_ones()) {
  std::istringstream line(bytes.substr(0, bytes.find('\n')));
  std::string magic;
  std::string version;
  std::array<std::size_t, 3> sizes = {};
  line >> magic >> version >> sizes[0] >> sizes[1] >> sizes[2];
  std::size_t at = bytes.find('\n') + 1;
  std::array<std::string, 3> parts;
  for (std::size_t part = 0; part < 3; ++part) {
    parts[part] = bytes.substr(at, sizes[part]);
    at += sizes[part];
    const std::size_t found = parts[part].find(from);
    if (found != std::string::npos) parts[part].replace(found, from.size(), to);
  }
  const std::string body = parts[0] + parts[1] + parts[2];
  std::string head = magic + " " + version;
  for (const std::string& part : parts) head += " " + std::to_string(part.size());
  head += " " + text_digest(body) + "\n" + body;
  head.resize((head.size() + 63) / 64 * 64, '\n');
  return head + bytes.substr(bytes.size() - 16'000);
}

TEST(PreparedFile, WithARightDigestIsCheckedAsAnyInput) {
  EXPECT_TRUE(open_model(write_of_test("same.prepared", with_other_text("nothing of this", ""))).ok());
  EXPECT_EQ(refusal(with_other_text("f32[1000,4]", "f32[1000,4000000000000]")).code, ErrorCode::malformed);
  EXPECT_EQ(refusal(with_other_text("f32[1000,4]", "f32[1000,")).code, ErrorCode::malformed);
  EXPECT_EQ(refusal(with_other_text("f32[1000,4]\", 0]", "f32[1000,4]\", 64]")).code, ErrorCode::invalid);
  EXPECT_THAT(refusal(with_other_text("f32[1000,4]\", 0]", "f32[1000,4]\", -64]")).message, HasSubstr("an offset"));
  EXPECT_THAT(refusal(with_other_text("f32[1000,4]\", 0]", "f32[999,4]\", 1]")).message,
              HasSubstr(" is at offset 1, which is not a multiple of 64; make it again with: lowtide prepare"));
  EXPECT_EQ(refusal(with_other_text("graph \"", "graph ")).code, ErrorCode::malformed);
  EXPECT_EQ(refusal(with_other_text("\"model_nodes\": 2", "\"model_nodes\": -2")).code, ErrorCode::invalid);
}

TEST(PreparedFile, WithAnIdThatAsksForMuchMemoryIsRefused) {
  const std::string text = prepared_ones();
  const std::size_t row = text.find("[", text.find("\"constants\""));
  const std::size_t id = text.find("[", row + 1);
  const std::string written = text.substr(id, text.find(",", id) - id);
  EXPECT_EQ(refusal(with_other_text(written + ", \"", "[40000000, \"")).code, ErrorCode::invalid);
}

TEST(PreparedFile, WithAWrongPlanIsRefused) {
  const std::string from = "\"load\": ";
  const std::string text = prepared_ones();
  ASSERT_NE(text.find(from), std::string::npos);
  const Error error = refusal(with_other_text(from, from + "1"));
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("the plan is wrong for this model"));
}

// The library and its instruction set count only for its kernels. This file has none.
TEST(PreparedFile, OfAnotherLibraryRunsIfNoKernelIsTheLibrarys) {
  const std::string other =
      with_other_text("\"isa=", "\"isa=other_", with_other_text("\"library=", "\"library=other_"));
  const Result<OpenedModel> opened = open_model(write_of_test("other.prepared", other));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(run_prepared(opened->executable), run_prepared(added_ones().executable));
}

TEST(PreparedFile, WithAKernelThatIsMissingHereIsOneOfAnotherMachine) {
  const std::string missing = with_other_text("\"plain\"", "\"blocks.other\"");
  EXPECT_EQ(refusal(missing).code, ErrorCode::unsupported);
  const Error error = refusal(with_other_text("\"isa=", "\"isa=other_", missing));
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("isa=other_"));
  const std::string of_library = with_other_text("\"plain\"", "\"onednn.other\"");
  EXPECT_EQ(refusal(of_library).code, ErrorCode::unsupported);
  EXPECT_EQ(refusal(with_other_text("\"library=", "\"library=other_", of_library)).code, ErrorCode::mismatch);
}

TEST(PreparedFile, ForAnotherMachineIsRefusedWithTheCommand) {
  const Error error = refusal(with_other_text("\"kernels=", "\"kernels=9"));
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, HasSubstr("prepared for a machine with "));
  EXPECT_THAT(error.message, HasSubstr("_ones.onnx' -o FILE"));
}

// The file decides how many threads share a kernel, and machines may have fewer.
TEST(PreparedFile, RunsWithTheThreadsThatItWasPreparedFor) {
  const std::vector<float> expected = run_prepared(added_ones().executable);
  for (const int threads : {2, 3, 4, 8}) {
    const std::string path =
        write_of_test("threads.prepared", bytes_of(*prepared_file(added_ones({.threads = threads}))));
    for (const int asked : {1, threads}) {
      OpenOptions options{.system_threads = 1 + threads / 2};
      options.cpu.threads = asked;
      const Result<OpenedModel> opened = open_model(path, options);
      ASSERT_TRUE(opened.ok()) << opened.error().describe();
      EXPECT_EQ(threads_of(opened->executable->plan().provenance.machine_key), threads);
      EXPECT_EQ(run_prepared(opened->executable), expected);
    }
    OpenOptions other;
    other.cpu.threads = threads + 1;
    EXPECT_THAT(open_model(path, other).error().message,
                HasSubstr("it was prepared for " + std::to_string(threads) + " threads; prepare it for " +
                          std::to_string(threads + 1) + " with: lowtide prepare --threads"));
  }
  OpenOptions many;
  many.cpu.threads = 257;
  EXPECT_THAT(open_model(write_of_test("one.prepared", prepared_ones()), many).error().message,
              HasSubstr("257 threads are not supported; choose a number from 1 to 256"));
}

TEST(PreparedFile, RunsOnMachinesWithOtherCaches) {
  const OpenedModel made = added_ones({.caches = CacheSizes{Bytes(16 * 1024), Bytes(256 * 1024)}});
  EXPECT_EQ(made.executable->plan().provenance.machine_key[0], "caches=16K+256K");
  const Result<OpenedModel> opened = open_model(write_of_test("caches.prepared", bytes_of(*prepared_file(made))));
  ASSERT_TRUE(opened.ok()) << opened.error().describe();
  EXPECT_EQ(run_prepared(opened->executable), run_prepared(made.executable));
  EXPECT_EQ(refusal(with_other_text("\"caches=", "\"caches=9")).code, ErrorCode::mismatch);
}

TEST(PreparedFile, HasDecidedWhatItsPlanDependsOn) {
  const std::string path = write_of_test("decided.prepared", prepared_ones());
  std::array<OpenOptions, 4> all;
  all[0].plan.budget = Bytes(1 << 20);
  all[1].cpu.threads = 2;
  all[2].lower.passes.insert(PassId::outputs_at_caller);
  all[3].import.dims["n"] = 4;
  for (const OpenOptions& options : all) {
    const Result<OpenedModel> refused = open_model(path, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("lowtide prepare"));
  }
}

TEST(PreparedFile, ThatIsReplacedStaysAsItWasInASession) {
  const std::string path = write_of_test("replaced.prepared", prepared_ones());
  const Result<OpenedModel> opened = open_model(path);
  ASSERT_TRUE(opened.ok());
  std::filesystem::remove(path);
  write_of_test("replaced.prepared", prepared_ones());
  const Arena arena = *Arena::allocate(opened->executable->required_bytes());
  const Session session = *Session::open(opened->executable, arena);
  EXPECT_TRUE(session.check_files().ok());
}

}  // namespace
}  // namespace lowtide
