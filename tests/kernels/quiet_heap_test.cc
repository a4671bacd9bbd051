// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <thread>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "lowtide/kernels/initialize.h"
#include "lowtide/kernels/onednn/parts.h"
#include "lowtide/kernels/onednn/quiet_heap.h"
#include "tests/kernels/onednn_convolutions.h"
#include "tests/kernels/product_kernel.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LOWTIDE_TEST_OTHER_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define LOWTIDE_TEST_OTHER_MALLOC
#endif

namespace {
thread_local constinit bool is_counting = false;
thread_local constinit int allocations = 0;
}  // namespace

// This program's malloc counts its calls. Every library of the process calls it. A sanitizer has a malloc of its own.
#ifndef LOWTIDE_TEST_OTHER_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  allocations += is_counting ? 1 : 0;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  allocations += is_counting ? 1 : 0;
  return __libc_calloc(count, size);
}
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  allocations += is_counting ? 1 : 0;
  *at = __libc_memalign(alignment, size);
  return *at == nullptr ? ENOMEM : 0;
}
}
#endif

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int count);

namespace lowtide {
namespace {

using kernels_internal::quiet_counts;
using kernels_internal::QuietCounts;
using testing::Floats;
using testing::SquareConv;

// The kernel of a graph of one node, bound to memory of its own, where all operands are 0.
class BoundNode {
 public:
  explicit BoundNode(const Graph& graph, int threads = 1) {
    const Node& node = graph.node(NodeId(0));
    const Kernel offered = offered_kernels(graph, NodeId(0), threads).at(0);
    prepared_ =
        *prepare({.graph = graph, .node = NodeId(0), .kernel = offered.name, .constant = {}, .threads = threads});
    std::size_t bytes = static_cast<std::size_t>(offered.scratch.count() + prepared_->bound_bytes().count()) + 128;
    for (const Tensor& tensor : graph.tensors()) bytes += static_cast<std::size_t>(tensor.size.count()) + 64;
    memory_.resize(bytes);
    void* next = memory_.data();
    std::size_t left = memory_.size();
    const auto take = [&](Bytes size) {
      auto* taken = static_cast<std::byte*>(std::align(64, static_cast<std::size_t>(size.count()), next, left));
      next = taken + size.count();
      left -= static_cast<std::size_t>(size.count());
      return taken;
    };
    cells_.reserve(node.inputs.size() + node.outputs.size());
    std::vector<BoundTensor> tensors;
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const std::optional<TensorId>& id : *list) {
        cells_.push_back(take(graph.tensor(*id).size));
        tensors.push_back({.bytes = &cells_.back()});
      }
    }
    std::byte* const scratch = take(offered.scratch);
    const std::span<const BoundTensor> all = tensors;
    kernel_ = prepared_->bind(take(prepared_->bound_bytes()), all.first(node.inputs.size()),
                              all.subspan(node.inputs.size()), scratch);
  }
  BoundNode(const BoundNode&) = delete;
  BoundNode& operator=(const BoundNode&) = delete;
  ~BoundNode() { kernel_->destroy(kernel_); }

  RunCode run() { return kernel_->run(kernel_, team_).code; }
  void rebind() {
    if (kernel_->rebind != nullptr) kernel_->rebind(kernel_);
  }
  // The address of an operand, or of a result after all operands.
  std::byte*& cell(std::size_t at) { return cells_[at]; }

 private:
  std::unique_ptr<PreparedKernel> prepared_;
  std::vector<std::byte> memory_;
  std::vector<std::byte*> cells_;
  SoloTeam team_;
  BoundKernel* kernel_ = nullptr;
};

bool is_of_library(const Graph& graph) { return offered_kernels(graph, NodeId(0)).at(0).name.starts_with("onednn."); }

// Kernels of every kind that networks use: blocked, first layer, 1 x 1, depthwise, NHWC, products, packing.
std::vector<Graph> kernels_of_a_network() {
  std::vector<Graph> graphs;
  for (const SquareConv& conv :
       {SquareConv{.channels = 64, .size = 14, .results = 64, .window = 3, .pad = 1},
        SquareConv{.channels = 3, .size = 32, .results = 64, .window = 7, .stride = 2, .pad = 3},
        SquareConv{.channels = 24, .size = 14, .results = 48, .window = 1},
        SquareConv{.channels = 96, .size = 14, .results = 96, .window = 3, .pad = 1, .group = 96}}) {
    for (const FormatOption& option : kernels_internal::options_of_convolution(conv.graph(), NodeId(0))) {
      graphs.push_back(conv_graph(conv, option));
    }
  }
  for (const char* product :
       {"input a : f32[197,768]; input b : f32[768,64]; y = MatMul(a, b) : f32[197,64]",
        "input a : f32[1,768]; input b : f32[768,100]; y = MatMul(a, b) : f32[1,100]",
        "input a : f32[12,50,64]; input b : f32[12,64,50]; y = MatMul(a, b) : f32[12,50,50]",
        "input a : f32[4,64]; input b : f32[10,64]; input c : f32[10]; y = Gemm(a, b, c) {transB = 1} : f32[4,10]",
        "input x : u8[1,64,14,14]; input xs : f32[]; input xz : u8[]; input w : i8[32,64,3,3]; input ws : f32[]; "
        "input wz : i8[]; input ys : f32[]; input yz : u8[]; y = QLinearConv(x, xs, xz, w, ws, wz, ys, yz) : "
        "u8[1,32,12,12]"}) {
    graphs.push_back(testing::graph_of(std::string("graph \"g\" {\n") + product + "\noutput y\n}"));
  }
  const SquareConv conv{.channels = 24, .size = 14, .results = 48, .window = 1};
  for (const FormatOption& option : kernels_internal::options_of_convolution(conv.graph(), NodeId(0))) {
    graphs.push_back(pack_graph(conv, *option.weights));
  }
  // Without registers of 16 numbers, oneDNN has no products that this library uses.
  std::erase_if(graphs, [](const Graph& graph) { return !is_of_library(graph); });
  return graphs;
}

TEST(QuietHeap, ReplacesAllImportsIfTheProgramAsks) {
  initialize_kernels();
  EXPECT_FALSE(onednn_memory().is_quiet);
  set_kernel_process({.keeps_runs_off_heap = true});
  EXPECT_TRUE(onednn_memory().is_quiet);
}

// Many runs of one kernel, some of them after a change of addresses.
void expect_no_allocation(const Graph& graph, int threads) {
  constexpr int kRuns = 1000;
  SCOPED_TRACE(std::to_string(threads) + " threads: " + print_graph(graph));
  BoundNode node(graph, threads);
  ASSERT_EQ(node.run(), RunCode::ok);
  const QuietCounts before = quiet_counts();
  allocations = 0;
  is_counting = true;
  for (int run = 0; run < kRuns; ++run) {
    if (run % 100 == 0) node.rebind();
    static_cast<void>(node.run());
  }
  is_counting = false;
  EXPECT_EQ(allocations, 0);
  const QuietCounts after = quiet_counts();
  EXPECT_GE(after.from_pool - before.from_pool, 5 * kRuns) << "oneDNN makes 5 to 9 objects per run";
  EXPECT_EQ(after.from_heap, before.from_heap);
  EXPECT_EQ(after.kept, 0);
  EXPECT_LE(after.most_bytes, 1024);
}

// A kernel that is prepared for two threads runs both parts on this one.
TEST(QuietHeap, LetsNoAllocationOfARunReachMalloc) {
  set_kernel_process({.keeps_runs_off_heap = true});  // before the library is loaded
  initialize_kernels();
  prepare_kernel_thread();
  for (const Graph& graph : kernels_of_a_network()) {
    for (const int threads : {1, 2}) expect_no_allocation(graph, threads);
  }
}

#ifndef LOWTIDE_TEST_OTHER_MALLOC
// Without the pool the same run is counted, so the test above can fail.
TEST(QuietHeap, CountsAllocationsOutsideOfARun) {
  is_counting = true;
  const auto attributes = kernels_internal::onednn_formats();
  const Floats values(100, 1);
  is_counting = false;
  EXPECT_GE(allocations, 1);
}
#endif

TEST(QuietHeap, ServesSeveralThreads) {
  set_kernel_process({.keeps_runs_off_heap = true});
  const std::vector<Graph> graphs = kernels_of_a_network();
  std::array<bool, 2> is_good = {};
  const auto work = [&](std::size_t thread) {
    bool is_ok = true;
    for (const Graph& graph : graphs) {
      BoundNode node(graph);
      for (int run = 0; run < 50; ++run) is_ok = is_ok && node.run() == RunCode::ok;
    }
    is_good[thread] = is_ok && quiet_counts().from_pool > 0 && quiet_counts().kept == 0;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_TRUE(is_good[0]);
  EXPECT_TRUE(is_good[1]);
}

TEST(QuietHeap, RestoresTheThreadsOfTheHost) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  BoundNode node(kernels_of_a_network().front());
  ASSERT_EQ(node.run(), RunCode::ok);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

#if defined(__GLIBC__) && !defined(LOWTIDE_TEST_OTHER_MALLOC)
// oneDNN keeps the primitives of kernels that are gone, about 6 KB each, beside their generated code.
TEST(ReleaseKernelCaches, GivesBackWhatGoneKernelsLeft) {
  if (!testing::has_library_products()) GTEST_SKIP() << "oneDNN has no such products on this machine";
  const auto make_and_drop = [](std::int64_t channels) {
    const std::string count = std::to_string(channels);
    const BoundNode node(testing::graph_of("graph \"g\" {\n input a : f32[5," + count + "]\n input b : f32[" + count +
                                           ",7]\n y = MatMul(a, b) : f32[5,7]\n output y\n}"));
  };
  make_and_drop(16);
  release_kernel_caches();
  const std::size_t before = mallinfo2().uordblks;
  for (std::int64_t channels = 17; channels < 67; ++channels) make_and_drop(channels);
  const std::size_t kept = mallinfo2().uordblks - before;
  release_kernel_caches();
  const std::size_t left = mallinfo2().uordblks - before;
  EXPECT_GE(kept, 50U * 2'000);
  EXPECT_LE(left, kept / 10);
}
#endif

TEST(ReleaseKernelCaches, LeavesKernelsThatExist) {
  const std::vector<Graph> graphs = kernels_of_a_network();
  BoundNode before(graphs.front());
  release_kernel_caches();
  EXPECT_EQ(before.run(), RunCode::ok);
  BoundNode after(graphs.front());
  EXPECT_EQ(after.run(), RunCode::ok);
}

TEST(OnednnKernel, FollowsOtherAddressesInAllParts) {
  const Graph graph = testing::graph_of(
      "graph \"g\" {\n input a : f32[64,64]\n input b : f32[64,64]\n y = MatMul(a, b) : f32[64,64]\n output y\n}");
  if (!is_of_library(graph)) GTEST_SKIP() << "oneDNN has no such product on this machine";
  BoundNode node(graph, 2);
  const kernels_internal::Product product{.left = {64, 64}, .right = {64, 64}, .bias = {}, .result = {64, 64}};
  ASSERT_EQ(kernels_internal::parts_of(product, 2).size(), 2U);
  Floats a = testing::numbers(4096, 1);
  Floats unit(4096);
  for (std::size_t at = 0; at < 64; ++at) unit[at * 65] = 1;
  Floats y(4096);
  node.cell(0) = reinterpret_cast<std::byte*>(a.data());
  node.cell(1) = reinterpret_cast<std::byte*>(unit.data());
  node.cell(2) = reinterpret_cast<std::byte*>(y.data());
  node.rebind();
  ASSERT_EQ(node.run(), RunCode::ok);
  EXPECT_EQ(y, a);
}

// The second matrix puts the columns of the first one into another order.
TEST(OnednnKernel, FollowsAnotherAddressAfterRebind) {
  const Graph graph = testing::graph_of(
      "graph \"g\" {\n input a : f32[2,30]\n input b : f32[30,30]\n y = MatMul(a, b) : f32[2,30]\n output y\n}");
  if (!is_of_library(graph)) GTEST_SKIP() << "oneDNN has no such product on this machine";
  BoundNode node(graph);
  Floats a(60);
  std::iota(a.begin(), a.end(), 1.0F);
  Floats order(900);  // column c is column c + 1 of the first matrix, and the last one is the first
  for (std::size_t column = 0; column < 30; ++column) order[(column + 1) % 30 * 30 + column] = 1;
  Floats y(60);
  node.cell(0) = reinterpret_cast<std::byte*>(a.data());
  node.cell(1) = reinterpret_cast<std::byte*>(order.data());
  node.cell(2) = reinterpret_cast<std::byte*>(y.data());
  node.rebind();
  ASSERT_EQ(node.run(), RunCode::ok);
  Floats expected(60);
  for (std::size_t at = 0; at < 60; ++at) expected[at] = a[at / 30 * 30 + (at + 1) % 30];
  EXPECT_EQ(y, expected);
}

}  // namespace
}  // namespace lowtide
