// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/tools/run_costs.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>

namespace {

std::atomic<bool> is_counting = false;
std::atomic<std::int64_t> allocations = 0;
std::atomic<std::int64_t> system_calls = 0;
std::atomic<int> first_call = -1;

void note_allocation() {
  if (is_counting) ++allocations;
}

}  // namespace

// This program's malloc counts its calls. Every library of the process calls it.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  note_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  note_allocation();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  note_allocation();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  *at = memalign(alignment, size);
  return *at == nullptr ? ENOMEM : 0;
}

// Makes a system call. The filter allows it, because it knows the address after the instruction.
long lowtide_test_call(long number, long a, long b, long c, long d, long e, long f);
extern const char lowtide_test_after_call[];
}

asm(R"(
  .text
  .globl lowtide_test_call
  .type lowtide_test_call, @function
lowtide_test_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
  .globl lowtide_test_after_call
lowtide_test_after_call:
  ret
)");

namespace lowtide::testing {
namespace {

void make_trapped_call(int /*signal*/, siginfo_t* info, void* context) {
  if (is_counting) {
    if (system_calls++ == 0) first_call = info->si_syscall;
  }
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RAX] = lowtide_test_call(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                         registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

std::int64_t faults_before = 0;

}  // namespace

// The handler cannot make calls that return twice or that end it, so these are allowed and not counted.
bool trap_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = make_trapped_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  const auto after = reinterpret_cast<std::uint64_t>(lowtide_test_after_call);
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kAddress = static_cast<std::uint32_t>(offsetof(seccomp_data, instruction_pointer));
  std::array<sock_filter, 11> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 5, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(after), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAddress + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(after >> 32U), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

void begin_counting() {
  allocations = 0;
  system_calls = 0;
  first_call = -1;
  faults_before = page_faults();
  is_counting = true;
}

RunCosts end_counting() {
  is_counting = false;
  const std::int64_t faults = page_faults() - faults_before;
  return {allocations, system_calls, faults, first_call};
}

}  // namespace lowtide::testing
