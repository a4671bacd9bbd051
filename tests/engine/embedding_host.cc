// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A host program that opens and runs a model, and looks from outside at what this does to its process. It checks the
// claims of docs/embedding.md.
//
//   embedding_host CASE     see kCases; prints what differs, and exits with 1 if a claim is wrong

#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/engine/engine.h"
#include "lowtide/engine/process.h"
#include "lowtide/runtime/inspect.h"
#include "lowtide/runtime/session.h"
#include "tests/engine/process_state.h"
#include "tests/engine/small_model.h"

namespace {

// Calls of functions of the C library, which this program replaces by its own.
struct Calls {
  std::atomic<int> dlopen = 0;
  std::atomic<int> malloc_trim = 0;
  std::atomic<int> memfd_create = 0;
  std::atomic<int> atfork = 0;
};
constinit Calls calls{};

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// NOLINTBEGIN: the names and parameters are those of the C library
extern "C" {
void* dlopen(const char* file, int mode) {
  if (file != nullptr && std::strstr(file, "dnnl") != nullptr) ++calls.dlopen;
  return next<void*(const char*, int)>("dlopen")(file, mode);
}
int malloc_trim(std::size_t pad) {
  ++calls.malloc_trim;
  return next<int(std::size_t)>("malloc_trim")(pad);
}
int memfd_create(const char* name, unsigned flags) {
  ++calls.memfd_create;
  return next<int(const char*, unsigned)>("memfd_create")(name, flags);
}
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void* handle) {
  ++calls.atfork;
  return next<int(void (*)(void), void (*)(void), void (*)(void), void*)>("__register_atfork")(prepare, parent, child,
                                                                                               handle);
}
}
// NOLINTEND

namespace lowtide::testing {
namespace {

void expect(bool is_right, const std::string& claim) {
  if (!is_right) throw std::runtime_error("wrong: " + claim);
}

void expect_changes(const ProcessState& before, const std::set<std::string>& expected) {
  const std::set<std::string> found = changes(before, state_of_process());
  for (const std::string& one : found) expect(expected.contains(one), one + " does not change");
  for (const std::string& one : expected) expect(found.contains(one), one + " changes");
}

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().describe());
  return *std::move(result);
}

constexpr std::int64_t kSide = 64;

// y = MatMul(x, x) of f32[64,64], for which oneDNN has a kernel that several threads share.
std::string model_file() {
  const auto side = static_cast<std::uint64_t>(kSide);
  const auto square = [&](const char* name) {
    const std::string shape = bytes_field(1, number_field(1, side)) + bytes_field(1, number_field(1, side));
    const std::string tensor = number_field(1, 1) + bytes_field(2, shape);
    return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor));
  };
  const std::string product =
      bytes_field(1, "x") + bytes_field(1, "x") + bytes_field(2, "y") + bytes_field(4, "MatMul");
  const std::string graph =
      bytes_field(1, product) + bytes_field(2, "square") + bytes_field(11, square("x")) + bytes_field(12, square("y"));
  const std::string folder = std::filesystem::temp_directory_path().string();
  return write_temporary(folder, "embedding_" + std::to_string(getpid()) + ".onnx",
                         number_field(1, 8) + bytes_field(7, graph) + bytes_field(8, number_field(2, 17)));
}

// The model, opened for a number of threads.
class Host {
 public:
  explicit Host(int threads = 1, std::optional<int> system_threads = std::nullopt) {
    const std::string path = model_file();
    OpenOptions options;
    options.cpu.threads = threads;
    options.system_threads = system_threads;
    Result<OpenedModel> opened = open_model(path, options);
    std::filesystem::remove(path);
    executable_ = take(std::move(opened)).executable;
    arena_ = take(Arena::allocate(executable_->required_bytes()));
    session_ = take(Session::open(executable_, *arena_));
    for (std::size_t at = 0; at < x_.size(); ++at) x_[at] = static_cast<float>(at * 7919 % 1009) / 504.5F - 1;
    if (!session_->bind_input("x", input()).ok()) throw std::runtime_error("x cannot be bound");
  }

  // Runs the model, and checks its result against the definition.
  void run() {
    expect(session_->run().ok(), "the model runs");
    const auto* y = reinterpret_cast<const float*>(session_->output(0).bytes.data());
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t column = 0; column < kSide; ++column) {
        double sum = 0;
        for (std::size_t at = 0; at < kSide; ++at) {
          sum += static_cast<double>(x_[row * kSide + at]) * static_cast<double>(x_[at * kSide + column]);
        }
        expect(std::abs(sum - static_cast<double>(y[row * kSide + column])) < 1e-4, "the result is that of the model");
      }
    }
  }

  [[nodiscard]] TensorRef input() const { return {DType::f32, extents_, std::as_bytes(std::span(x_))}; }
  [[nodiscard]] const Executable& executable() const { return *executable_; }
  [[nodiscard]] bool has_onednn_kernels() const {
    for (const std::string_view name : kernel_names(executable_->plan())) {
      if (is_onednn_kernel(name)) return true;
    }
    return false;
  }

 private:
  std::vector<float> x_ = std::vector<float>(std::size_t{kSide} * kSide);
  std::array<std::int64_t, 2> extents_{kSide, kSide};
  std::shared_ptr<const Executable> executable_;
  std::optional<Arena> arena_;
  std::optional<Session> session_;
};

void by_default() {
  initialize();  // oneDNN is an object of the process from now on
  const ProcessState before = state_of_process();
  {
    Host host;
    for (int run = 0; run < 10; ++run) host.run();
    expect(tasks().size() == 1, "one thread needs no other one");
    expect_changes(before, {});
  }
  expect_changes(before, {});
  expect(calls.malloc_trim > 0, "the heap is given back");
  expect(calls.memfd_create == 0, "one thread needs no memory file");
  expect(calls.atfork == 0, "one thread needs no handler of fork");
  expect(calls.dlopen <= 1, "the library is loaded once");
}

void runs_off_heap() {
  initialize();
  const ProcessState before = state_of_process();
  configure_process({.kernels = {.keeps_runs_off_heap = true}});
  Host host;
  host.run();
  const std::set<std::string> found = changes(before, state_of_process());
  std::set<std::string> names;
  for (const std::string& one : found) {
    expect(one.starts_with("import ") && one.find(" of libdnnl.so.3") != std::string::npos, one + " does not change");
    names.insert(one.substr(7, one.find(' ', 7) - 7));
  }
  const std::set<std::string> five{"malloc", "free", "posix_memalign", "_Znwm", "_ZdlPv"};
  // Another release of the library may import other functions. Then is_quiet says so.
  if (!host.has_onednn_kernels()) return;
  expect(onednn_memory().is_quiet == (names == five), "five imports change, or is_quiet says that they do not");
  expect(!names.empty(), "the option has an effect");
}

// Blocks all signals that another thread may handle.
void expect_blocked_signals(const std::string& task) {
  std::ifstream file("/proc/self/task/" + task + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("SigBlk:")) continue;
    const std::uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      expect((blocked >> (static_cast<unsigned>(own) - 1U) & 1U) == 0, "a worker has the signals of its own faults");
    }
    for (const int other : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM}) {
      expect((blocked >> (static_cast<unsigned>(other) - 1U) & 1U) == 1, "a worker takes no other signal");
    }
    return;
  }
  throw std::runtime_error("no mask of task " + task);
}

void threads() {
  initialize();
  const ProcessState before = state_of_process();
  {
    Host alone(4, 1);
    alone.run();
    expect(tasks().size() == 1 && calls.atfork == 0, "system_threads = 1 starts nothing");
  }
  {
    Host host(4, 3);
    host.run();
    const std::set<std::string> all = tasks();
    expect(all.size() == 3, "two threads are started");
    for (const std::string& task : all) {
      if (task != std::to_string(getpid())) expect_blocked_signals(task);
    }
    expect(calls.atfork == 1, "there is one handler of fork");
    expect_changes(before, {});
  }
  expect(tasks().size() == 1, "the threads end with the executable");
  Host again(2, 2);
  again.run();
  expect(calls.atfork == 1, "there is one handler of fork");
  expect(calls.memfd_create > 0 || !again.has_onednn_kernels(), "a trial has a memory file");
}

void no_memory_files() {
  configure_process({.kernels = {.makes_memory_files = false}});
  Host host(2, 2);
  host.run();
  expect(calls.memfd_create == 0, "no memory file is made");
}

void no_library() {
  configure_process({.kernels = {.loads_onednn = false}});
  Host host;
  host.run();
  expect(calls.dlopen == 0, "the library is not loaded");
  expect(!host.has_onednn_kernels(), "the plan has no kernel of oneDNN");
}

void no_trim() {
  configure_process({.trims_heap = false});
  Host host;
  host.run();
  expect(calls.malloc_trim == 0, "the heap is left as it is");
}

void file_faults() {
  initialize();
  const ProcessState before = state_of_process();
  configure_process({.catches_file_faults = true});
  Host host;
  host.run();
  expect_changes(before, {"handler of signal " + std::to_string(SIGBUS)});
}

void guarded_runs() {
  initialize();
  const ProcessState before = state_of_process();
  const Host host;
  const std::array inputs{host.input()};
  expect(run_guarded(host.executable(), inputs).ok(), "a guarded run succeeds");
  expect_changes(before, {});
}

void fork_in_the_middle() {
  Host host(2, 2);
  host.run();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a hang ends the child
    int code = 0;
    try {
      host.run();
      Host own(2, 2);
      own.run();
    } catch (const std::exception&) {
      code = 1;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child runs the model, and opens it again");
  host.run();
}

const std::map<std::string_view, std::function<void()>> kCases = {
    {"default", by_default},      {"runs_off_heap", runs_off_heap},
    {"threads", threads},         {"no_memory_files", no_memory_files},
    {"no_library", no_library},   {"no_trim", no_trim},
    {"file_faults", file_faults}, {"guarded_runs", guarded_runs},
    {"fork", fork_in_the_middle}};

int check(const std::string& name) {
  try {
    kCases.at(name)();
    return 0;
  } catch (const std::exception& error) {
    std::cout << name << ": " << error.what() << std::endl;
    return 1;
  }
}

}  // namespace
}  // namespace lowtide::testing

int main(int count, char** words) { return lowtide::testing::check(count > 1 ? words[1] : ""); }
