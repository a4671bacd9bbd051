// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/families.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/kernels/team.h"
#include "tests/testing/graphs.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

// Only the first node has a kernel. The branches have one unsupported node each.
constexpr const char* kMixed = R"(graph "g" {
  input c : bool[]
  input x : f32[4]
  input n : i64[4]
  a = Relu(x) "first" : f32[4]
  b = Sqrt(n) "second" : i64[4]
  d = my.domain::Odd(a) : f32[4]
  y = If(c) "choose" {
    then_branch = graph "t" captures (a) {
      captured input a : f32[4]
      p = my.domain::Odd(a) "inner" : f32[4]
      output p
    },
    else_branch = graph "e" captures (a) {
      captured input a : f32[4]
      p = Relu(a) : f32[4]
      output p
    }
  } : f32[4]
  output b, d, y
})";

TEST(Unsupported, NamesEveryNodeWithItsReason) {
  const Graph graph = testing::graph_of(kMixed);
  const std::vector<UnsupportedNode> nodes = unsupported(graph);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(unsupported_error(nodes).message,
            "3 nodes cannot run here:\n"
            "  Sqrt 'second': input 'n' is i64, and kernels have f64, f32, f16 or bf16\n"
            "  my.domain::Odd 'node that writes d': no kernel has this operator\n"
            "  my.domain::Odd 'choose/then_branch/inner': no kernel has this operator");
}

TEST(Unsupported, NamesTheWayOutForOptimizedModels) {
  const auto message = [](const std::string& op) {
    const Graph graph =
        testing::graph_of("graph \"g\" {\n  input x : f32[4]\n  y = " + op + "(x, x) : f32[4]\n  output y\n}");
    return unsupported_error(unsupported(graph)).message;
  };
  for (const std::string op : {"com.microsoft::FusedConv", "com.microsoft::FusedMatMul", "com.microsoft.nchwc::Conv"}) {
    EXPECT_EQ(message(op),
              "1 node cannot run here:\n"
              "  " +
                  op +
                  " 'node that writes y': no kernel has this operator\n"
                  "ONNX Runtime has optimized this model and saved it with operators of its own; run the model from "
                  "before that");
  }
  for (const std::string op : {"com.microsoft::Attention", "my.domain::FusedConv"})
    EXPECT_EQ(message(op), "1 node cannot run here:\n  " + op + " 'node that writes y': no kernel has this operator");
}

TEST(Unsupported, KnowsTheTypesOfAllOperators) {
  for (const SupportedOperator& one : supported_operators()) {
    if (!one.domain.empty()) continue;
    EXPECT_TRUE(operand_types(one.type)) << one.type;
  }
}

TEST(Unsupported, NamesTypesThatContradictEachOther) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[2,3]
    input s : i64[3]
    y = InstanceNormalization(x, s, s) "norm" : f32[2,3]
    output y
  })");
  const std::vector<UnsupportedNode> nodes = unsupported(graph);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].missing, "input 's' is i64, and has to have the type of input 'x', which is f32");
}

// Batch normalization may have a scale of another type than its data.
TEST(Unsupported, NamesRealNumbersThatKernelsDoNotHave) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[2,3]
    input s : f8e5m2[3]
    input m : f32[3]
    y = BatchNormalization(x, s, s, m, m) "norm" : f32[2,3]
    output y
  })");
  const std::vector<UnsupportedNode> nodes = unsupported(graph);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].missing, "input 's' is f8e5m2, and kernels have f64, f32, f16 or bf16");
}

// A kernel of f64 would read an f32 as if it had twice the bytes.
TEST(Unsupported, NamesOperandsOfF64BesideOthers) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f64[2,3]
    input s : f32[3]
    y = BatchNormalization(x, s, s, s, s) "norm" : f64[2,3]
    output y
  })");
  const std::vector<UnsupportedNode> nodes = unsupported(graph);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].missing, "it has operands of f64 and of other real numbers");
}

TEST(Unsupported, RefusesMoreAxesThanKernelsHave) {
  const Graph graph = testing::graph_of(R"(graph "g" {
    input x : f32[1,1,1,1,1,1,1,1,1]
    y = Relu(x) : f32[1,1,1,1,1,1,1,1,1]
    output y
  })");
  ASSERT_EQ(unsupported(graph).size(), 1U);
  EXPECT_EQ(unsupported(graph)[0].missing, "'x' has 9 axes, and kernels have at most 8");
}

TEST(CpuTarget, OffersThePlainKernelAndMarksUnknownMemory) {
  const Graph graph = testing::graph_of(kMixed);
  const Result<Target> target = cpu_target();
  ASSERT_TRUE(target.ok());
  const std::vector<Kernel> relu = target->catalogue->kernels(graph, NodeId(0));
  ASSERT_EQ(relu.size(), 1U);
  EXPECT_EQ(relu[0].name, "plain");
  EXPECT_TRUE(relu[0].is_memory_known);
  ASSERT_EQ(target->catalogue->kernels(graph, NodeId(2)).size(), 1U);
  EXPECT_FALSE(target->catalogue->kernels(graph, NodeId(2))[0].is_memory_known);
}

TEST(CpuTarget, HasTheKeyOfThisMachine) {
  EXPECT_EQ(cpu_target({.threads = 2})->machine_key, texts_of(machine_key({.threads = 2})));
}

constexpr std::array<std::string_view, 2> kOwn = {"blocks.conv", "plain"};
constexpr std::array<std::string_view, 2> kWithOnednn = {"onednn.matmul", "plain"};

TEST(MachineKey, OfAnotherLibraryCountsForItsKernelsAlone) {
  const std::vector<std::string> here = texts_of(machine_key());
  EXPECT_TRUE(runs_here(here, 1, kWithOnednn));
  EXPECT_TRUE(runs_here(here, 1, kOwn));
  EXPECT_FALSE(runs_here(here, 2, kWithOnednn));
  EXPECT_FALSE(runs_here(here, 2, kOwn));
  std::vector<std::string> other = here;
  other[1] = "isa=avx9";
  other[3] = "library=onednn 9.9.9";
  EXPECT_FALSE(runs_here(other, 1, kWithOnednn));
  EXPECT_TRUE(runs_here(other, 1, kOwn));
}

TEST(MachineKey, WithOtherKernelsOrOtherPartsDoesNotRunHere) {
  const std::vector<std::string> here = texts_of(machine_key());
  for (std::size_t at = 0; at < here.size(); ++at) {
    std::vector<std::string> changed = here;
    changed[at] = "memory=1";
    EXPECT_FALSE(runs_here(changed, 1, kOwn)) << at;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(runs_here(changed, 1, kOwn)) << at;
  }
  std::vector<std::string> other = here;
  other[2] = "kernels=0";
  EXPECT_FALSE(runs_here(other, 1, kOwn));
  EXPECT_FALSE(runs_here({}, 1, kOwn));
}

// Kernels have tiles for the caches of the plan, whatever those of the machine are.
TEST(MachineKey, WithOtherCachesRunsHere) {
  std::vector<std::string> other = texts_of(machine_key());
  ASSERT_EQ(other[0], "caches=" + to_text(machine_caches()));
  other[0] = other[0] == "caches=16K+256K" ? "caches=32K+1024K" : "caches=16K+256K";
  EXPECT_TRUE(runs_here(other, 1, kWithOnednn));
  EXPECT_TRUE(runs_here(other, 1, kOwn));
  EXPECT_TRUE(is_key_of_machine(other));
  EXPECT_EQ(cpu_target(options_of_key(other))->machine_key, other);
  other[0] = "caches=33K+256K";
  EXPECT_FALSE(runs_here(other, 1, kOwn));
  EXPECT_FALSE(is_key_of_machine(other));
}

// Formats do not depend on the number of threads, so plans for each number are plans for this machine.
TEST(MachineKey, OfAnyNumberOfThreadsIsOneOfThisMachine) {
  for (const int threads : {1, 2, 3, 4, 8, limits::kMaxTeamThreads}) {
    const std::vector<std::string> key = texts_of(machine_key({.threads = threads}));
    EXPECT_EQ(threads_of(key), threads);
    EXPECT_TRUE(is_key_of_machine(key)) << threads;
    EXPECT_TRUE(runs_here(key, threads, kWithOnednn)) << threads;
    EXPECT_FALSE(runs_here(key, threads + 1, kOwn)) << threads;
  }
  for (const int threads : {-1, 0, limits::kMaxTeamThreads + 1}) {
    EXPECT_FALSE(is_key_of_machine(texts_of(machine_key({.threads = threads})))) << threads;
  }
}

TEST(OnednnKernels, AreKnownByTheirNames) {
  EXPECT_TRUE(is_onednn_kernel("onednn.matmul"));
  EXPECT_TRUE(is_onednn_kernel("onednn.conv+chain"));
  EXPECT_FALSE(is_onednn_kernel("plain"));
  EXPECT_FALSE(is_onednn_kernel("onednn"));
}

TEST(CpuTarget, RefusesOtherNumbersOfThreads) {
  for (const int threads : {-1, 0, limits::kMaxTeamThreads + 1}) {
    EXPECT_THAT(cpu_target({.threads = threads}).error().message,
                HasSubstr(std::to_string(threads) + " threads are not supported; choose a number from 1 to 256"));
  }
  EXPECT_TRUE(cpu_target({.threads = limits::kMaxTeamThreads}).ok());
}

TEST(Prepare, NamesAKernelThatTheNodeDoesNotHave) {
  const Graph graph = testing::graph_of(kMixed);
  EXPECT_THAT(prepare({.graph = graph, .node = NodeId(0), .kernel = "fast.other"}).error().describe(),
              HasSubstr("graph 'g': node 0 'first': no kernel 'fast.other' for operator Relu"));
  EXPECT_TRUE(prepare({.graph = graph, .node = NodeId(0), .kernel = "dense"}).ok());
}

TEST(Families, AreSortedAndSupportedOperatorsListThem) {
  std::set<std::pair<std::string_view, std::string_view>> all;
  for (const kernels_internal::Family& family : kernels_internal::families()) {
    const auto key = [](const SupportedOperator& row) { return std::pair(row.domain, row.type); };
    EXPECT_TRUE(std::ranges::is_sorted(family.operators, {}, key)) << family.name;
    for (const SupportedOperator& row : family.operators) all.insert(key(row));
  }
  EXPECT_EQ(supported_operators().size(), all.size());
  EXPECT_TRUE(all.contains({"", "Relu"}));
}

}  // namespace
}  // namespace lowtide
