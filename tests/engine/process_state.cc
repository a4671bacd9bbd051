// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/engine/process_state.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstddef>
#include <filesystem>
#include <utility>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace lowtide::testing {
namespace {

std::string hex_of(const void* data, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) {
    const auto byte = static_cast<unsigned>(static_cast<const unsigned char*>(data)[at]);
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

template <typename Object>
std::string hex_of(const Object& object) {
  return hex_of(&object, sizeof object);
}

void note_signals(ProcessState& state) {
  for (int number = 1; number < 65; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0) {
      state["handler of signal " + std::to_string(number)] = hex_of(&action.sa_sigaction, sizeof action.sa_sigaction);
    }
  }
  sigset_t mask{};
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  state["signal mask"] = hex_of(&mask, 8);
}

template <typename Object>
const Object* object_at(ElfW(Addr) address) {
  return reinterpret_cast<const Object*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The import entries of a loaded object that the loader has sealed.
int note_imports(dl_phdr_info* image, std::size_t /*size*/, void* state) {
  ElfW(Addr) sealed = 0;
  ElfW(Addr) sealed_end = 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (ElfW(Half) i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = image->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_RELRO) {
      sealed = image->dlpi_addr + segment.p_vaddr;
      sealed_end = sealed + segment.p_memsz;
    }
    if (segment.p_type == PT_DYNAMIC) dynamic = object_at<ElfW(Dyn)>(image->dlpi_addr + segment.p_vaddr);
  }
  std::map<ElfW(Sxword), ElfW(Addr)> table;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) table[dynamic->d_tag] = dynamic->d_un.d_ptr;
  if (!table.contains(DT_SYMTAB) || table[DT_SYMTAB] < image->dlpi_addr) return 0;  // the system's own object
  const auto* symbols = object_at<ElfW(Sym)>(table[DT_SYMTAB]);
  const auto* names = object_at<char>(table[DT_STRTAB]);
  for (const auto& [rows, bytes] : {std::pair(DT_JMPREL, DT_PLTRELSZ), std::pair(DT_RELA, DT_RELASZ)}) {
    for (std::size_t at = 0; table.contains(rows) && at < table[bytes] / sizeof(ElfW(Rela)); ++at) {
      const ElfW(Rela)& row = object_at<ElfW(Rela)>(table[rows])[at];
      const ElfW(Addr) place = image->dlpi_addr + row.r_offset;
      if (ELF64_R_SYM(row.r_info) == 0 || place < sealed || place >= sealed_end) continue;
      const std::string key = "import " + std::string(names + symbols[ELF64_R_SYM(row.r_info)].st_name) + " of " +
                              std::filesystem::path(image->dlpi_name).filename().string() + " at " +
                              std::to_string(row.r_offset);
      (*static_cast<ProcessState*>(state))[key] = hex_of(object_at<void>(place), sizeof(void*));
    }
  }
  return 0;
}

}  // namespace

ProcessState state_of_process() {
  ProcessState state;
  note_signals(state);
  dl_iterate_phdr(&note_imports, &state);
  state["locale"] = std::setlocale(LC_ALL, nullptr);  // NOLINT(concurrency-mt-unsafe): no other thread sets it
  for (char** one = environ; *one != nullptr; ++one) state["environment " + std::string(*one)] = "set";
  state["folder"] = std::filesystem::current_path().string();
  const mode_t mask = umask(0);
  umask(mask);
  state["umask"] = std::to_string(mask);
  for (int limit = 0; limit < RLIMIT_NLIMITS; ++limit) {
    rlimit values{};
    getrlimit(static_cast<__rlimit_resource>(limit), &values);
    state["limit " + std::to_string(limit)] = std::to_string(values.rlim_cur) + " " + std::to_string(values.rlim_max);
  }
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(0, sizeof processors, &processors);
  state["processors"] = hex_of(processors);
  state["scheduler"] = std::to_string(sched_getscheduler(0)) + " " + std::to_string(getpriority(PRIO_PROCESS, 0));
#if defined(__x86_64__)
  state["mode of floats"] = std::to_string(__builtin_ia32_stmxcsr() & ~0x3FU);  // without the flags of past operations
#endif
  if (auto* threads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))) {
    state["threads of OpenMP"] = std::to_string(threads());
  }
  return state;
}

std::set<std::string> tasks() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

std::set<std::string> changes(const ProcessState& before, const ProcessState& after) {
  std::set<std::string> names;
  for (const auto& [key, value] : before) {
    const auto found = after.find(key);
    if (found == after.end() || found->second != value) names.insert(key);
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) names.insert(key);
  }
  return names;
}

}  // namespace lowtide::testing
