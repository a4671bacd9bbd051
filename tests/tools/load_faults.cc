// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Loads a model again and again, and lets one allocation of each load fail: the first, the second, and so on. Each load
// has a process of its own. It must end with an error or, where an allocation was not needed, with a session that runs
// the same plan.
//
//   load_faults [--every K] [--cold] MODEL
//
// MODEL may be a prepared file. All its plans are opened, and the last one runs. Weights without a file and inputs are
// synthetic. With --every K, only each K-th allocation fails. A load follows one
// that succeeded, so that what a program allocates once is there already, and nothing may be allocated after a failure.
// With --cold, it is the first load of its process, and what stays allocated is not counted. The program prints one
// JSON object:
//
//   {"model", "allocations", "tried",                 of one load, and how many of them failed, one at a time
//    "no_memory", "succeeded",                        how the loads ended
//    "other_errors": {message: count},                errors that do not say that memory is missing
//    "defects": [{"allocation", "what", "stack"}],    a crash, an escaped exception, or memory that stays allocated
//    "foreign": [{"what", "library", "count"}]}       the same, where a library asked for the allocation that failed
//
// Another plan is a defect also where a library asked for the allocation.
//
// The exit code is 1 if there are defects, and 2 if the model cannot be loaded at all.

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/engine/range.h"
#include "lowtide/plan/plan_json.h"
#include "lowtide/runtime/session.h"
#include "lowtide/weights/synthetic.h"

namespace {

// What a process says about its load. The parent has the same code at the same addresses.
struct Report {
  std::array<void*, 48> stack = {};  // of the allocation that failed
  int depth = 0;
  int outcome = -1;                    // an Outcome; -1: the process ended before
  std::array<char, 120> message = {};  // of an error other than no_memory
  std::int64_t allocations = 0;
  std::int64_t kept = 0;  // allocations that are there after the load and were not before
  std::size_t plan = 0;   // a hash of the plan, if the load succeeded
};

std::atomic<bool> is_counting = false;
std::atomic<std::int64_t> allocations = 0;
std::atomic<std::int64_t> live = 0;
std::atomic<std::int64_t> failing = 0;  // the number of the allocation that fails; 0: none
Report report;

// Whether this allocation fails.
bool note_allocation() {
  if (!is_counting.load(std::memory_order_relaxed)) return false;
  if (++allocations != failing) {
    ++live;
    return false;
  }
  is_counting = false;  // backtrace() may allocate memory
  report.depth = backtrace(report.stack.data(), static_cast<int>(report.stack.size()));
  is_counting = true;
  return true;
}

void note_free(const void* memory) {
  if (memory != nullptr && is_counting.load(std::memory_order_relaxed)) --live;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) { return note_allocation() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return note_allocation() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, std::size_t size) {
  if (note_allocation()) return nullptr;
  note_free(old);
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return note_allocation() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  *at = memalign(alignment, size);
  return *at == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  note_free(memory);
  __libc_free(memory);
}
}

namespace lowtide::testing {
namespace {

using Json = nlohmann::ordered_json;

enum class Outcome : std::uint8_t { succeeded, no_memory, other_error, exception };

// A session that has run once, or the error.
Result<void> load_and_run(const std::string& path) {
  OpenOptions opening;
  opening.plan = {.order = "as_given", .order_effort = 0, .allocate_effort = 0};
  opening.synthetic_seed = 1;
  const Result<OpenedRange> range = open_range(path, opening);
  if (!range) return range.error();
  const OpenedModel& model = range->members.back();
  const Executable& executable = *model.executable;
  const Result<Arena> arena = Arena::allocate(executable.required_bytes());
  if (!arena) return arena.error();
  Result<Session> session = Session::open(model.executable, *arena);
  if (!session) return session.error();
  is_counting = false;  // only the load is of interest
  std::vector<std::vector<std::byte>> inputs;
  bool is_right = true;
  for (const Port& port : executable.inputs()) {
    std::vector<std::byte>& bytes = inputs.emplace_back(static_cast<std::size_t>(port.size.count()));
    const ConstantSource source{port.name, port.dtype, port.shape, port.size, ConstantSource::Computed{}};
    is_right = is_right && fill_synthetic(source, 1, bytes).ok() &&
               session->bind_input(port.name, {port.dtype, port.shape.extents(), bytes}).ok();
  }
  is_right = is_right && session->run().ok();
  inputs.clear();
  inputs.shrink_to_fit();
  is_counting = true;
  if (!is_right) return Error{ErrorCode::invalid, "the session that was loaded does not run", ""};
  is_counting = false;
  report.plan = std::hash<std::string>()(write_plan_json(executable.plan(), labels_of(executable.graph())));
  is_counting = true;
  return {};
}

Outcome outcome_of_load(const std::string& path) {
  try {
    const Result<void> loaded = load_and_run(path);
    if (loaded.ok()) return Outcome::succeeded;
    if (loaded.error().code == ErrorCode::no_memory) return Outcome::no_memory;
    loaded.error().message.copy(report.message.data(), report.message.size() - 1);
    return Outcome::other_error;
  } catch (...) {
    return Outcome::exception;
  }
}

// Loads the model and completes the report.
void count_load(const std::string& path) {
  allocations = 0;
  live = 0;
  is_counting = true;
  const Outcome outcome = outcome_of_load(path);
  is_counting = false;
  report.outcome = static_cast<int>(outcome);
  report.allocations = allocations;
  report.kept = live;
}

bool has_succeeded(const Report& said) { return said.outcome == static_cast<int>(Outcome::succeeded); }

// Loads the model in a process of its own. Allocation `number` fails; 0: none. Returns the report, and the signal that
// ended the process or 0.
std::pair<Report, int> load_in_child(const std::string& path, std::int64_t number) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    // A crash must not lose the stack, so the handler of a failure writes what is known.
    failing = number;
    static int to_parent = ends[1];
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
      std::signal(signal, [](int raised) {
        static_cast<void>(!write(to_parent, &report, sizeof report));
        std::signal(raised, SIG_DFL);
        std::raise(raised);
      });
    }
    count_load(path);
    static_cast<void>(!write(to_parent, &report, sizeof report));
    _exit(0);
  }
  close(ends[1]);
  Report said;
  static_cast<void>(!read(ends[0], &said, sizeof said));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {said, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

// The names of the functions that asked for an allocation. Only functions with external names are known.
std::vector<std::string> names_of(const Report& said) {
  std::vector<std::string> names;
  for (int at = 2; at < said.depth; ++at) {
    Dl_info info{};
    if (dladdr(said.stack[static_cast<std::size_t>(at)], &info) == 0) continue;
    const std::string_view file = info.dli_fname;
    const std::string library(file.substr(file.rfind('/') + 1));
    names.push_back(library + ":" + (info.dli_sname == nullptr ? "?" : info.dli_sname));
  }
  return names;
}

// The library on the stack, if there is one that is not Lowtide's.
std::string foreign_library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const auto& [mark, library] :
         {std::pair{"libcrypto", "openssl"}, std::pair{"libprotobuf", "protobuf"}, std::pair{"libdnnl", "onednn"},
          std::pair{"6google8protobuf", "protobuf"}, std::pair{"4onnx", "onnx"}}) {
      if (name.find(mark) != std::string::npos) return library;
    }
  }
  return "";
}

// A load of which no allocation fails.
struct Measured {
  std::int64_t allocations = 0;
  std::int64_t kept = 0;
  std::size_t plan = 0;
};

constexpr std::string_view kOtherPlan = "another plan runs";

// What is wrong with a load; empty if nothing is.
std::string fault_of(const Report& said, int signal, const Measured& measured) {
  if (signal != 0) return "ends with signal " + std::to_string(signal);
  if (said.outcome == static_cast<int>(Outcome::exception)) return "an exception escapes";
  if (has_succeeded(said) && said.plan != measured.plan) return std::string(kOtherPlan);
  if (said.kept > measured.kept) return "memory stays allocated";
  return "";
}

struct Options {
  std::int64_t every = 1;
  bool is_cold = false;
  std::string model;
};

// nullopt: the model cannot be loaded. Without --cold, this process has loaded it afterwards.
std::optional<Measured> measure(const Options& options) {
  if (options.is_cold) {
    const Report said = load_in_child(options.model, 0).first;
    if (!has_succeeded(said)) return std::nullopt;
    return Measured{said.allocations, std::numeric_limits<std::int64_t>::max(), said.plan};
  }
  count_load(options.model);  // makes what stays
  count_load(options.model);
  if (!has_succeeded(report)) return std::nullopt;
  return Measured{report.allocations, report.kept, report.plan};
}

// Loads once more for each allocation that fails.
Json try_all(const Options& options, const Measured& measured) {
  std::map<int, int> outcomes;
  std::map<std::string, int> others;
  std::map<std::pair<std::string, std::string>, int> foreign;
  Json defects = Json::array();
  int tried = 0;
  for (std::int64_t number = 1; number <= measured.allocations; number += options.every) {
    const auto [said, signal] = load_in_child(options.model, number);
    ++tried;
    ++outcomes[said.outcome];
    if (said.outcome == static_cast<int>(Outcome::other_error)) ++others[said.message.data()];
    const std::string fault = fault_of(said, signal, measured);
    if (fault.empty()) continue;
    const std::vector<std::string> names = names_of(said);
    const std::string library = foreign_library(names);
    if (library.empty() || fault == kOtherPlan) {
      defects.push_back({{"allocation", number}, {"what", fault}, {"stack", names}});
    } else {
      ++foreign[{fault, library}];
    }
  }
  Json listed = Json::array();
  for (const auto& [what, times] : foreign) {
    listed.push_back({{"what", what.first}, {"library", what.second}, {"count", times}});
  }
  const auto with = [&](Outcome outcome) { return outcomes[static_cast<int>(outcome)]; };
  return {{"model", options.model}, {"allocations", measured.allocations},
          {"tried", tried},         {"no_memory", with(Outcome::no_memory)},
          {"other_errors", others}, {"succeeded", with(Outcome::succeeded)},
          {"defects", defects},     {"foreign", listed}};
}

int run(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--every" && at + 1 < words.size()) {
      options.every = std::stoll(words[++at]);
    } else if (words[at] == "--cold") {
      options.is_cold = true;
    } else {
      options.model = words[at];
    }
  }
  backtrace(report.stack.data(), 1);  // loads what it needs
  initialize();
  const std::optional<Measured> measured = measure(options);
  if (!measured) {
    std::cerr << "load_faults: " << options.model << " cannot be loaded\n";
    return 2;
  }
  const Json result = try_all(options, *measured);
  std::cout << result.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  return result["defects"].empty() ? 0 : 1;
}

}  // namespace
}  // namespace lowtide::testing

int main(int count, char** words) { return lowtide::testing::run({words + 1, words + count}); }
