// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/same_bits.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "lowtide/base/random.h"
#include "lowtide/kernels/common/process_options.h"
#include "lowtide/kernels/onednn/answers.h"
#include "lowtide/kernels/onednn/arguments.h"
#include "lowtide/kernels/onednn/onednn_kernel.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::size_t kAlignment = 64;

struct AlignedDelete {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t(kAlignment)); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

AlignedBytes aligned_bytes(std::int64_t size) {
  return AlignedBytes(new (std::align_val_t(kAlignment)) std::byte[static_cast<std::size_t>(size)]);
}

// Numbers in [-1, 1) that look random, as many as asked for. They repeat after 1 MiB. If the process may have memory
// files, the same memory is mapped again and again, so that the weights of a large model take no memory.
class DrawnNumbers {
 public:
  explicit DrawnNumbers(std::int64_t bytes)
      : size_((static_cast<std::size_t>(bytes) + kPeriod - 1) / kPeriod * kPeriod) {
    if (size_ == 0) return;
    const bool has_file = may_make_memory_files();
    if (has_file) {
      map_file();
    } else {
      map_own();
    }
    if (begin_ == nullptr) throw std::bad_alloc();
    write_period();
    for (std::size_t at = kPeriod; !has_file && at < size_; at += kPeriod) std::memcpy(begin_ + at, begin_, kPeriod);
  }
  DrawnNumbers(const DrawnNumbers&) = delete;
  DrawnNumbers& operator=(const DrawnNumbers&) = delete;
  ~DrawnNumbers() {
    if (begin_ != nullptr) munmap(begin_, size_);
  }

  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  static constexpr std::size_t kPeriod = std::size_t{1} << 20U;

  void write_period() {
    Random random(1);
    auto* numbers = reinterpret_cast<float*>(begin_);
    for (std::size_t at = 0; at < kPeriod / sizeof(float); ++at) {
      numbers[at] = static_cast<float>(random.below(1U << 24U)) / static_cast<float>(1U << 23U) - 1;
    }
  }

  void map_own() {
    void* all = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all != MAP_FAILED) begin_ = static_cast<std::byte*>(all);
  }

  void map_file() {
    const int file = memfd_create("lowtide-numbers", MFD_CLOEXEC);
    if (file < 0) return;
    map_again_and_again(file);
    close(file);
  }

  void map_again_and_again(int file) {
    if (ftruncate(file, kPeriod) != 0) return;
    void* all = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return;
    begin_ = static_cast<std::byte*>(all);
    for (std::size_t at = 0; at < size_; at += kPeriod) {
      if (mmap(begin_ + at, kPeriod, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) continue;
      munmap(begin_, size_);
      begin_ = nullptr;
      return;
    }
  }

  std::size_t size_ = 0;
  std::byte* begin_ = nullptr;
};

// What the primitives write, if all operands are at `numbers`. A sum begins with numbers, too.
AlignedBytes result_of(std::vector<PrimitivePart> parts, const std::vector<Argument>& arguments, Bytes size,
                       std::byte* numbers) {
  const AlignedBytes scratch = aligned_bytes(scratch_offsets(parts).back());
  const auto kernel = onednn_kernel(std::move(parts), arguments);
  if (!kernel) return nullptr;
  AlignedBytes result = aligned_bytes(size.count());
  std::memcpy(result.get(), numbers, static_cast<std::size_t>(size.count()));
  std::byte* written = result.get();
  std::size_t reads = 0;
  for (const Argument& argument : arguments) {
    if (argument.from == Argument::From::read) reads = std::max(reads, argument.index + 1);
  }
  const AlignedBytes memory = aligned_bytes((*kernel)->bound_bytes().count());
  BoundKernel* bound = (*kernel)->bind(memory.get(), std::vector<BoundTensor>(reads, BoundTensor{.bytes = &numbers}),
                                       std::vector<BoundTensor>(1, BoundTensor{.bytes = &written}), scratch.get());
  SoloTeam team;
  const RunStatus status = bound->run(bound, team);
  bound->destroy(bound);
  return status.code == RunCode::ok ? std::move(result) : nullptr;
}

template <typename Problem>
bool try_parts(const Problem& whole, const std::vector<Part<Problem>>& parts) {
  const std::vector<Argument> arguments = arguments_of(whole);
  std::vector<PrimitivePart> alone(1);
  alone[0].description = describe(whole);
  std::vector<PrimitivePart> divided;
  for (const Part<Problem>& part : parts) divided.push_back({describe(part.problem), part.offsets});
  Bytes result;
  Bytes most;
  for (const Argument& argument : arguments) {
    const Bytes size = size_of(tensor_of(alone[0].description.get(), argument.tensor, argument.number));
    most = std::max(most, size);
    if (argument.from == Argument::From::write) result = size;
  }
  const DrawnNumbers numbers(most.count());
  const AlignedBytes one = result_of(std::move(alone), arguments, result, numbers.begin());
  const AlignedBytes other = result_of(std::move(divided), arguments, result, numbers.begin());
  return one != nullptr && other != nullptr &&
         std::memcmp(one.get(), other.get(), static_cast<std::size_t>(result.count())) == 0;
}

// The same problem with other numbers in its epilogue, for which the answer is the same.
template <typename Problem>
Problem without_numbers(Problem problem) {
  for (PostOp& one : problem.after) one.alpha = one.beta = 0;
  return problem;
}

template <typename Problem>
bool answer(const Problem& whole, const std::vector<Part<Problem>>& parts, int threads) {
  static Answers<std::pair<Problem, int>, bool> answers;
  return answers.get({without_numbers(whole), threads}, [&] { return try_parts(whole, parts); });
}

}  // namespace

bool give_same_bits(const Convolution& convolution, const std::vector<Part<Convolution>>& parts, int threads) {
  return answer(convolution, parts, threads);
}
bool give_same_bits(const Product& product, const std::vector<Part<Product>>& parts, int threads) {
  return answer(product, parts, threads);
}

}  // namespace lowtide::kernels_internal
