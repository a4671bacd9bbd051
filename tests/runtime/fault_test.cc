// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/lower/lower.h"
#include "lowtide/runtime/run_error.h"
#include "lowtide/weights/file_faults.h"
#include "tests/runtime/prepared_graph.h"

namespace lowtide {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::HasSubstr;
using testing::must_open;
using testing::must_prepare;
using testing::plan_for;
using testing::ref;
using testing::values_of;

using Floats = std::vector<float>;

// Decides what a kernel of the domain `test` does. Otherwise the kernel copies its input.
using Behave = std::function<RunStatus()>;

class TestKernel final : public PreparedKernel {
 public:
  explicit TestKernel(const Behave& behave) : behave_(behave) {}
  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(sizeof(Bound)); }
  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* /*scratch*/) const override {
    return new (at) Bound{{.run = &Bound::call}, &behave_, reads[0], writes[0]};
  }

 private:
  struct Bound : BoundKernel {
    const Behave* behave;
    BoundTensor input;
    BoundTensor result;
    static RunStatus call(BoundKernel* self, Team& /*team*/) {
      const auto* bound = static_cast<const Bound*>(self);
      const RunStatus status = (*bound->behave)();
      if (status.code == RunCode::ok)
        std::copy_n(*bound->input.bytes, bound->input.capacity_bytes, *bound->result.bytes);
      return status;
    }
  };
  const Behave& behave_;
};

ExecutableOptions with_kernel(const Behave& behave) {
  return {.own_kernel = [&behave](const PrepareInput& input) -> std::unique_ptr<PreparedKernel> {
    if (input.graph.op(input.node).domain != "test") return nullptr;
    return std::make_unique<TestKernel>(behave);
  }};
}

constexpr std::array<std::int64_t, 1> kFour{4};

// Runs `x -> Relu -> test::Work -> Neg -> y` three times. The kernel misbehaves in run `wrong`. Its body is that of a
// loop with one iteration if `in_loop`. Returns the result of this run; the other runs must succeed.
RunResult run_with_fault(int wrong, bool in_loop, const Behave& fault, std::string& message) {
  int run = 0;
  const Behave behave = [&] { return run == wrong ? fault() : RunStatus{}; };
  Graph graph = graph_of(in_loop ? R"(graph "g" {
    input x : f32[4]
    constant n : i64[] = [1]
    a = Relu(x) : f32[4]
    b = Loop(n, _, a) "loop" {
      body = graph "b" {
        input i : i64[]
        input c : bool[]
        input p : f32[4]
        q = test::Work(p) "work" : f32[4]
        output c, q
      }
    } : f32[4]
    y = Neg(b) : f32[4]
    output y
  })"
                                 : R"(graph "g" {
    input x : f32[4]
    a = Relu(x) : f32[4]
    b = test::Work(a) "work" : f32[4]
    y = Neg(b) : f32[4]
    output y
  })");
  Plan plan = plan_for(graph);
  const auto executable =
      *Executable::prepare(std::move(graph), std::move(plan), testing::weights_for(), with_kernel(behave));
  Session session = must_open(executable);
  const Floats x{-1, 2, -3, 4};
  EXPECT_TRUE(session.bind_input("x", ref(x, kFour)).ok());
  RunResult faulty;
  for (run = 1; run <= 3; ++run) {
    const RunResult result = session.run();
    if (run == wrong) {
      faulty = result;
      if (!result.ok()) message = describe(*executable, result).describe();
    } else {
      EXPECT_TRUE(result.ok());
      EXPECT_THAT(values_of(session.output(0)), ElementsAre(0, -2, 0, -4));
    }
  }
  return faulty;
}

TEST(FaultyKernel, EndsItsRunAndNoOther) {
  const Behave throws = []() -> RunStatus { throw std::runtime_error("a bug"); };
  const Behave throws_number = []() -> RunStatus { throw 5; };
  const Behave fails = [] { return RunStatus{RunCode::kernel_failed, 0}; };
  const Behave divides = [] { return RunStatus{RunCode::division_by_zero, 0}; };
  for (const int wrong : {1, 2}) {
    for (const bool in_loop : {false, true}) {
      std::string message;
      for (const Behave& fault : {throws, throws_number, fails}) {
        EXPECT_EQ(run_with_fault(wrong, in_loop, fault, message).status.code, RunCode::kernel_failed);
        EXPECT_THAT(message, HasSubstr("'work' (test::Work): the kernel failed"));
        EXPECT_THAT(message, HasSubstr(in_loop ? "graph 'b' (loop/body): step 0" : "graph 'g': step 1"));
      }
      EXPECT_EQ(run_with_fault(wrong, in_loop, divides, message).status.code, RunCode::division_by_zero);
      EXPECT_THAT(message, HasSubstr("an integer is divided by zero"));
    }
  }
}

// open() runs each kernel once on zeros.
TEST(FaultyKernel, MayThrowWhileASessionOpens) {
  bool is_open = false;
  const Behave behave = [&]() -> RunStatus {
    if (!is_open) throw std::bad_alloc();
    return {};
  };
  Graph graph = graph_of(R"(graph "g" { input x : f32[4]; y = test::Work(x) : f32[4]; output y })");
  Plan plan = plan_for(graph);
  Session session =
      must_open(*Executable::prepare(std::move(graph), std::move(plan), testing::weights_for(), with_kernel(behave)));
  is_open = true;
  const Floats x{1, 2, 3, 4};
  ASSERT_TRUE(session.bind_input("x", ref(x, kFour)).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), ElementsAre(1, 2, 3, 4));
}

// 64 KiB of ones in a file of their own, which a test damages.
class ChangedFile : public ::testing::Test {
 protected:
  static constexpr std::int64_t kCount = 16384;

  void SetUp() override {
    catch_file_faults();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("changed_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
    write(std::vector<float>(kCount, 1));
    ConstantTable table;
    const ConstantFileId file = table.files.push_back("w.bin");
    table.sources.push_back({"w", DType::f32, Shape({kCount}), Bytes(4 * kCount), ConstantSource::InFile{file, 0}});
    Graph graph = graph_of(R"(graph "g" {
      input x : f32[16384]
      constant w : f32[16384] data 0
      a = test::Work(x) "work" : f32[16384]
      y = Add(a, w) : f32[16384]
      output y
    })");
    Plan plan = plan_for(graph);
    Result<ModelWeights> weights = ModelWeights::open((folder_ / "model.onnx").string(), table);
    ASSERT_TRUE(weights.ok()) << weights.error().describe();
    executable_ = *Executable::prepare(std::move(graph), std::move(plan),
                                       std::make_shared<const ModelWeights>(*std::move(weights)), with_kernel(behave_));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "w.bin"; }
  void write(const std::vector<float>& values) const {
    std::ofstream(file(), std::ios::binary).write(reinterpret_cast<const char*>(values.data()), 4 * kCount);
  }
  [[nodiscard]] TensorRef input() const { return ref(x_, extents_); }

  std::filesystem::path folder_;
  Behave behave_ = [] { return RunStatus{}; };
  std::shared_ptr<const Executable> executable_;
  Floats x_ = Floats(kCount, 2);
  std::array<std::int64_t, 1> extents_{kCount};
};

// Its second half is gone when the Add reads it.
TEST_F(ChangedFile, EndsARunInWhichItBecomesShorter) {
  Session session = must_open(executable_);
  ASSERT_TRUE(session.bind_input("x", input()).ok());
  ASSERT_TRUE(session.run().ok());
  EXPECT_THAT(values_of(session.output(0)), Each(3));
  EXPECT_TRUE(session.check_files().ok());
  behave_ = [&] {
    std::filesystem::resize_file(file(), 2 * kCount);
    return RunStatus{};
  };
  const RunResult result = session.run();
  EXPECT_EQ(result.status.code, RunCode::file_changed);
  EXPECT_EQ(describe(*executable_, result).code, ErrorCode::mismatch);
  EXPECT_THAT(describe(*executable_, result).message, HasSubstr("became shorter or cannot be read anymore"));
  EXPECT_FALSE(session.check_files().ok());

  // Its bytes do not come back, so no session with these weights runs again.
  behave_ = [] { return RunStatus{}; };
  write(std::vector<float>(kCount, 1));
  EXPECT_EQ(session.run().status.code, RunCode::file_changed);
  Session other = must_open(executable_);
  ASSERT_TRUE(other.bind_input("x", input()).ok());
  EXPECT_EQ(other.run().status.code, RunCode::file_changed);
}

TEST_F(ChangedFile, IsNoticedWhenASessionOpens) {
  std::filesystem::resize_file(file(), 0);
  Session session = must_open(executable_);
  ASSERT_TRUE(session.bind_input("x", input()).ok());
  EXPECT_EQ(session.run().status.code, RunCode::file_changed);
}

TEST_F(ChangedFile, IsNoticedAfterARun) {
  Session session = must_open(executable_);
  ASSERT_TRUE(session.bind_input("x", input()).ok());
  behave_ = [&] {
    write(std::vector<float>(kCount, 5));  // other numbers
    return RunStatus{};
  };
  ASSERT_TRUE(session.run().ok());
  const Result<void> checked = session.check_files();
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::mismatch);
  EXPECT_THAT(checked.error().describe(), HasSubstr("w.bin: changed after it was loaded"));
}

// A session with an input, an input in the arena, and an output in memory of the caller.
class WrongMemory : public ::testing::Test {
 protected:
  WrongMemory()
      : executable_(must_prepare(R"(graph "g" {
          input x : f32[4]
          input z : f32[4]
          state h : f32[4]
          state k : f32[4]
          a = Add(x, z) : f32[4]
          b = Add(a, h) : f32[4]
          output b
          update h = a
          update k = b
        })")),
        arena_(*Arena::allocate(executable_->required_bytes())),
        session_(must_open(executable_, arena_)) {}

  // The message of an operation that must fail.
  static std::string fault(const Result<void>& result) { return result.ok() ? "none" : result.error().describe(); }
  static std::span<std::byte> bytes_of(Floats& values) { return std::as_writable_bytes(std::span(values)); }

  // Binds what is right, and runs.
  void expect_usable() {
    ASSERT_TRUE(session_.bind_input("x", ref(x_, kFour)).ok());
    ASSERT_TRUE(session_.bind_input("z", ref(z_, kFour)).ok());
    ASSERT_TRUE(session_.bind_state("h", bytes_of(h_)).ok());
    std::ranges::fill(h_, 1.0F);
    ASSERT_TRUE(session_.run().ok());
    EXPECT_THAT(values_of(session_.output(0)), ElementsAre(7, 9, 11, 13));
    EXPECT_THAT(h_, ElementsAre(6, 8, 10, 12));
  }

  std::shared_ptr<const Executable> executable_;
  Arena arena_;
  Session session_;
  Floats x_{1, 2, 3, 4};
  Floats z_{5, 6, 7, 8};
  Floats h_ = Floats(4);
};

TEST_F(WrongMemory, IsRefusedAndTheSessionRunsNevertheless) {
  const std::array<std::int64_t, 1> five{5};
  const std::array<std::int64_t, 2> square{2, 2};
  Floats wide(8);
  const std::span<std::byte> bytes = bytes_of(wide);
  const auto input = [&](DType dtype, std::span<const std::int64_t> extents, std::span<const std::byte> at) {
    return fault(session_.bind_input("x", {dtype, extents, at}));
  };
  expect_usable();
  EXPECT_EQ(fault(session_.bind_input("y", ref(x_, kFour))),
            "input 'y': no input has this name; the inputs are 'x' and 'z'");
  EXPECT_EQ(fault(session_.bind_state("x", bytes.first(16))),
            "state 'x': no state has this name; the states are 'h' and 'k'");
  EXPECT_EQ(input(DType::f32, five, bytes.first(20)), "input 'x': has type f32[4], but f32[5] is given");
  EXPECT_EQ(input(DType::f32, square, bytes.first(16)), "input 'x': has type f32[4], but f32[2,2] is given");
  EXPECT_EQ(input(DType::f16, kFour, bytes.first(8)), "input 'x': has type f32[4], but f16[4] is given");
  EXPECT_EQ(input(DType::f32, kFour, bytes.first(15)), "input 'x': 15 bytes are given, but f32[4] has 16");
  EXPECT_THAT(input(DType::f32, kFour, bytes.subspan(2, 16)), HasSubstr("2 bytes above a multiple of 4"));
  EXPECT_EQ(fault(session_.bind_state("h", bytes.first(12))), "state 'h': 12 bytes are given, but f32[4] has 16");
  EXPECT_THAT(fault(session_.bind_state("h", bytes.subspan(1, 16))), HasSubstr("1 bytes above a multiple of 4"));
  expect_usable();
}

TEST_F(WrongMemory, MayNotOverlapWhatARunWrites) {
  expect_usable();
  Floats wide(8);
  const std::span<std::byte> bytes = bytes_of(wide);
  const std::span<std::byte> in_arena = arena_.memory();
  EXPECT_EQ(fault(session_.bind_input("x", {DType::f32, kFour, in_arena.first(16)})),
            "input 'x': its bytes overlap the arena; use other memory");
  EXPECT_EQ(fault(session_.bind_state("h", in_arena.last(16))),
            "state 'h': its bytes overlap the arena; use other memory");
  ASSERT_TRUE(session_.bind_state("k", bytes.first(16)).ok());
  EXPECT_EQ(fault(session_.bind_state("h", bytes.subspan(12, 16))),
            "state 'h': its bytes overlap state 'k'; use other memory");
  EXPECT_EQ(fault(session_.bind_input("x", {DType::f32, kFour, bytes.subspan(12, 16)})),
            "input 'x': its bytes overlap state 'k'; use other memory");
  EXPECT_EQ(fault(session_.bind_state("k", bytes_of(x_))), "state 'k': its bytes overlap input 'x'; use other memory");
  ASSERT_TRUE(session_.bind_input("z", ref(x_, kFour)).ok());  // two inputs may share memory
  ASSERT_TRUE(session_.bind_state("k", {}).ok());              // its own memory again
  ASSERT_TRUE(session_.bind_input("x", {DType::f32, kFour, bytes.first(16)}).ok());
  expect_usable();
}

}  // namespace
}  // namespace lowtide
