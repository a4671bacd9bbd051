// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/load_time.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "lowtide/graph/builder.h"
#include "lowtide/weights/file_faults.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using engine_internal::LoadTimeOptions;
using engine_internal::run_load_time;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Bytes kAllTogether{std::int64_t{1} << 40};

ConstantSource inline_floats(std::string name, const std::vector<float>& values) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  const auto count = static_cast<std::int64_t>(values.size());
  return {std::move(name), DType::f32, Shape({count}), Bytes(4 * count),
          ConstantSource::Inline{std::vector<std::byte>(bytes.begin(), bytes.end())}};
}

// w is in the table.
ConstantTable table_with_w() {
  ConstantTable table;
  table.sources.push_back(inline_floats("w", {-1, 2, -3, 4}));
  return table;
}

// The weights, with entries for the results of load-time work.
std::shared_ptr<ModelWeights> weights_for(const Graph& load, ConstantTable table, const std::string& path = "") {
  engine_internal::add_computed(load, table);
  return std::make_shared<ModelWeights>(
      *ModelWeights::open(path, std::move(table), {.synthetic_seed = 1, .makes_synthetic_later = true}));
}

std::vector<float> floats_of(const ModelWeights& weights, std::uint32_t id) {
  const std::span<const std::byte> bytes = *weights.bytes(ConstantId(id));
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(RunLoadTime, GivesComputedConstantsTheirBytes) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    v = Relu(w) : f32[4]
    output v
  })");
  const std::shared_ptr<ModelWeights> weights = weights_for(load, table_with_w());
  ASSERT_EQ(weights->table().sources.size(), 2U);
  EXPECT_EQ(weights->table().sources[ConstantId(1)].name, "v");
  const Result<Bytes> arena = run_load_time(load, 1, weights, {});
  ASSERT_TRUE(arena.ok()) << arena.error().describe();
  EXPECT_EQ(*arena, Bytes(64));  // v has 16 bytes, rounded up
  EXPECT_THAT(floats_of(*weights, 1), ElementsAre(0, 2, 0, 4));
}

// Each arena has one result. In one arena, both are there at the end.
TEST(RunLoadTime, NeedsTheArenaOfTheLargestJob) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    a = Relu(w) : f32[4]
    b = Neg(w) : f32[4]
    output a, b
  })");
  for (const bool is_divided : {true, false}) {
    const std::shared_ptr<ModelWeights> weights = weights_for(load, table_with_w());
    const Bytes small = is_divided ? Bytes(0) : kAllTogether;
    const Result<Bytes> arena = run_load_time(load, 1, weights, {}, {.small_jobs = small});
    ASSERT_TRUE(arena.ok()) << arena.error().describe();
    EXPECT_EQ(*arena, Bytes(is_divided ? 64 : 128));
    EXPECT_THAT(floats_of(*weights, 1), ElementsAre(0, 2, 0, 4));
    EXPECT_THAT(floats_of(*weights, 2), ElementsAre(1, -2, 3, -4));
  }
}

// The plan copies the view out of the constant.
TEST(RunLoadTime, CopiesViewsAndKeepsResultsWithoutBytes) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    constant n : f32[0] data 1
    constant shape : i64[2] = [2, 2]
    v = Reshape(w, shape) : f32[2,2]
    m = Neg(n) : f32[0]
    output v, m
  })");
  ConstantTable table = table_with_w();
  table.sources.push_back(inline_floats("n", {}));
  const std::shared_ptr<ModelWeights> weights = weights_for(load, std::move(table));
  const Result<Bytes> arena = run_load_time(load, 2, weights, {});
  ASSERT_TRUE(arena.ok()) << arena.error().describe();
  EXPECT_THAT(floats_of(*weights, 2), ElementsAre(-1, 2, -3, 4));
  EXPECT_THAT(floats_of(*weights, 3), ElementsAre());
}

// a is needed for x alone, b for both jobs, and c also for a run.
TEST(RunLoadTime, KeepsOnlyTheOperandsThatAreStillRead) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant a : f32[4] data 0
    constant b : f32[4] data 1
    constant c : f32[4] data 2
    x = Add(a, b) : f32[4]
    y = Add(b, c) : f32[4]
    output x, y
  })");
  ConstantTable table;
  const ConstantFileId file = table.files.push_back("absent.bin");
  for (const char* name : {"a", "b", "c"}) {
    table.sources.push_back({name, DType::f32, Shape({4}), Bytes(16), ConstantSource::InFile{.file = file}});
  }
  const std::shared_ptr<ModelWeights> weights = weights_for(load, std::move(table), "/nowhere/model.onnx");
  const Result<Bytes> arena = run_load_time(load, 3, weights, {ConstantId(2)}, {.small_jobs = Bytes(0)});
  ASSERT_TRUE(arena.ok()) << arena.error().describe();
  std::vector<bool> is_kept;
  for (std::uint32_t id = 0; id < 3; ++id) is_kept.push_back(weights->bytes(ConstantId(id)).has_value());
  EXPECT_THAT(is_kept, ElementsAre(false, false, true));
  ASSERT_TRUE(weights->make_synthetic(ConstantId(0)).ok());
  ASSERT_TRUE(weights->make_synthetic(ConstantId(1)).ok());
  EXPECT_EQ(floats_of(*weights, 3)[1], floats_of(*weights, 0)[1] + floats_of(*weights, 1)[1]);
}

TEST(RunLoadTime, NamesWorkWithoutKernel) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[4] data 0
    v = my.domain::Odd(w) : f32[4]
    output v
  })");
  const std::shared_ptr<ModelWeights> weights = weights_for(load, table_with_w());
  EXPECT_THAT(run_load_time(load, 1, weights, {}).error().message, HasSubstr("my.domain::Odd"));
}

// The second result alone is more than any system has. It is refused before the first one is computed.
TEST(RunLoadTime, RefusesResultsForWhichThereIsNoMemory) {
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[1] data 0
    constant shape : i64[1] = [35184372088830]
    a = Neg(w) : f32[1]
    b = Expand(w, shape) : f32[35184372088830]
    output a, b
  })");
  ConstantTable table;
  table.sources.push_back(inline_floats("w", {1}));
  const std::shared_ptr<ModelWeights> weights = weights_for(load, std::move(table));
  const Result<Bytes> arena = run_load_time(load, 1, weights, {}, {.small_jobs = Bytes(0)});
  ASSERT_FALSE(arena.ok());
  EXPECT_EQ(arena.error().code, ErrorCode::no_memory);
  EXPECT_THAT(arena.error().message, HasSubstr("for the results of load-time work"));
  EXPECT_EQ(weights->bytes(ConstantId(1)), std::nullopt);
}

TEST(ConstantsOf, IncludesThoseOfBodiesOnce) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input flag : bool[]
    constant u : f32[4] data 3
    constant v : f32[4] data 1
    y = If(flag) {
      then_branch = graph "yes" {
        constant w : f32[4] data 2
        a = Relu(w) : f32[4]
        output a
      },
      else_branch = graph "no" captures (v) {
        captured constant v : f32[4]
        constant w : f32[4] data 1
        a = Add(w, v) : f32[4]
        output a
      }
    } : f32[4]
    z = Relu(u) : f32[4]
    output y, z
  })");
  EXPECT_THAT(engine_internal::constants_of(graph), ElementsAre(ConstantId(1), ConstantId(2), ConstantId(3)));
}

// Without the handler, the first read behind the new end would end the process.
TEST(RunLoadTime, NoticesAFileThatBecomesShorter) {
  catch_file_faults();
  const Graph load = testing::graph_of(R"(graph "g" {
    constant w : f32[100000] data 0
    v = Neg(w) : f32[100000]
    output v
  })");
  const std::filesystem::path folder = ::testing::TempDir();
  const std::string path = (folder / "shorter.bin").string();
  std::ofstream(path, std::ios::binary) << std::string(400'000, 'x');
  ConstantTable table;
  const ConstantFileId file = table.files.push_back("shorter.bin");
  table.sources.push_back({"w", DType::f32, Shape({100'000}), Bytes(400'000), ConstantSource::InFile{.file = file}});
  const std::shared_ptr<ModelWeights> weights = weights_for(load, std::move(table), (folder / "model.onnx").string());
  std::filesystem::resize_file(path, 0);
  const Result<Bytes> arena = run_load_time(load, 1, weights, {});
  EXPECT_TRUE(weights->has_lost_bytes());
  ASSERT_FALSE(arena.ok());
  EXPECT_EQ(arena.error().code, ErrorCode::mismatch);
}

// Random work on constants: each node reads one or two tensors of the same size, and joins jobs by chance.
class RandomWork {
 public:
  explicit RandomWork(std::uint64_t seed) : random_(seed) {
    for (int at = 0; at < 6; ++at) add_constant();
    for (int at = 0; at < 25; ++at) add_node();
  }

  Graph graph() {
    std::vector<TensorId> outputs;
    for (const Made& one : made_) {
      if (one.is_computed && (outputs.empty() || random_.chance(50))) outputs.push_back(one.id);
    }
    builder_.set_outputs(std::move(outputs));
    return *std::move(builder_).build();
  }
  [[nodiscard]] const ConstantTable& table() const { return table_; }

 private:
  struct Made {
    TensorId id;
    std::int64_t count;
    bool is_computed;
  };

  TensorId add(std::int64_t count, std::optional<ConstantId> constant) {
    const std::string name = "t" + std::to_string(made_.size());
    const Role role = constant ? Role::constant : Role::temporary;
    const TensorId id = builder_.add_tensor({.name = name, .shape = Shape({count}), .constant = constant}, role);
    made_.push_back({id, count, !constant});
    return id;
  }

  // Some are in pages of their own, and some are not.
  void add_constant() {
    const std::int64_t count = random_.chance(50) ? 40'000 : random_.between(1, 3) * 5;
    std::vector<float> values;
    for (std::int64_t at = 0; at < count; ++at) values.push_back(static_cast<float>(random_.between(-1000, 1000)));
    add(count, table_.sources.push_back(inline_floats("t" + std::to_string(made_.size()), values)));
  }

  void add_node() {
    const Made first = made_[random_.below(made_.size())];
    const Made second = made_[random_.below(made_.size())];
    const bool is_binary = first.count == second.count;
    const char* unary = random_.chance(50) ? "Neg" : "Relu";
    GraphBuilder::NodeSpec spec{.type = is_binary ? "Add" : unary, .inputs = {first.id}};
    if (is_binary) spec.inputs.emplace_back(second.id);
    spec.outputs = {add(first.count, std::nullopt)};
    builder_.add_node(std::move(spec));
  }

  Random random_;
  GraphBuilder builder_{"random"};
  ConstantTable table_;
  std::vector<Made> made_;
};

TEST(RunLoadTime, GivesTheSameBitsInJobsAsInOne) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    RandomWork work(seed);
    const Graph load = work.graph();
    const auto first = static_cast<std::uint32_t>(work.table().sources.size());
    const std::shared_ptr<ModelWeights> whole = weights_for(load, work.table());
    ASSERT_TRUE(run_load_time(load, first, whole, {}, {.small_jobs = kAllTogether}).ok()) << seed;
    for (const Bytes small : {Bytes(0), Bytes(1000), LoadTimeOptions().small_jobs}) {
      const std::shared_ptr<ModelWeights> jobs = weights_for(load, work.table());
      ASSERT_TRUE(run_load_time(load, first, jobs, {}, {.small_jobs = small}).ok()) << seed;
      std::vector<bool> is_equal;
      for (std::uint32_t at = 0; at < load.outputs().size(); ++at) {
        is_equal.push_back(floats_of(*whole, first + at) == floats_of(*jobs, first + at));
      }
      EXPECT_THAT(is_equal, Each(true)) << seed;
    }
  }
}

}  // namespace
}  // namespace lowtide
