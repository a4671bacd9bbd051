// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/kernels/initialize.h"
#include "lowtide/runtime/execute/session_memory.h"
#include "lowtide/runtime/execute/tensors.h"
#include "lowtide/runtime/threads/touch_thread.h"
#include "lowtide/runtime/touch.h"

namespace lowtide {
namespace {

using runtime_internal::dense_bytes;
using runtime_internal::GraphTables;
using runtime_internal::PreparedGraph;
using runtime_internal::RunTeam;
using runtime_internal::SessionArenas;
using runtime_internal::SessionMemory;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto begin = [](std::span<const std::byte> bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); };
  return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size() && begin(b) < begin(a) + a.size();
}

std::string names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(quoted(port.name));
  return names.empty() ? "none" : listed(names, "and");
}

const Port* find_port(const std::vector<Port>& ports, std::string_view name) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
  return found == ports.end() ? nullptr : &*found;
}

Error unknown_name(std::string_view what, std::string_view name, const std::vector<Port>& ports) {
  return Error{ErrorCode::invalid,
               "no " + std::string(what) + " has this name; the " + std::string(what) + "s are " + names_of(ports),
               std::string(what) + " " + quoted(name)};
}

// Whether a tensor of the caller has the extents of the port, or fewer where these are upper bounds.
bool is_within(std::span<const std::int64_t> extents, const Shape& shape) {
  if (static_cast<int>(extents.size()) != shape.rank()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
    if (extent != shape[axis] && (!shape.is_at_most(axis) || extent < 0 || extent > shape[axis])) return false;
  }
  return true;
}

// Checks the number of bytes and their address. Returns "" if both are right.
std::string fault_of_memory(const Port& port, const Shape& shape, std::span<const std::byte> bytes) {
  const std::int64_t expected = dense_bytes(port.dtype, shape.extents());
  if (static_cast<std::int64_t>(bytes.size()) != expected) {
    return std::to_string(bytes.size()) + " bytes are given, but " + print_tensor_type(port.dtype, shape) + " has " +
           std::to_string(expected);
  }
  const auto element = static_cast<std::uintptr_t>(std::max(bits_of(port.dtype).value_or(8) / 8, 1));
  const std::uintptr_t above = reinterpret_cast<std::uintptr_t>(bytes.data()) % element;
  if (above == 0) return "";
  return "the address is " + std::to_string(above) + " bytes above a multiple of " + std::to_string(element) +
         ", the size of an element; align it";
}

// Adds the seconds that each step of the main graph takes.
class StepTimer final : public runtime_internal::StepObserver {
 public:
  explicit StepTimer(IdVector<StepId, double>& seconds) : seconds_(seconds) {}

  void begin(PreparedGraphId /*graph*/) override {}
  void before(const RunPlace& place) override {
    if (place.graph == kMainGraph) begin_ = Clock::now();
  }
  [[nodiscard]] bool after(const RunPlace& place) override {
    if (place.graph == kMainGraph) {
      seconds_[place.step] += std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  IdVector<StepId, double>& seconds_;
  Clock::time_point begin_;
};

}  // namespace

struct Session::State {
  State(std::shared_ptr<const Executable> of, SessionArenas in, const std::atomic<bool>* stop)
      : executable(std::move(of)),
        arenas(std::move(in)),
        memory(executable->prepared(), arenas.arena.memory(), arenas.outside_memory()) {
    memory.control.stop_of_caller = stop;
    bound_inputs.resize(executable->inputs().size());
    bound_states.resize(executable->states().size());
    for (const Port& port : executable->states()) own_states.push_back(memory.main().base(port.tensor));
    for (const Port& port : executable->inputs()) {
      if (!port.is_in_arena && port.size == Bytes(0)) memory.main().set_input(port.tensor, {});
    }
  }

  // Where memory of the caller for `port` overlaps the arena or other bound memory; "" if nowhere.
  [[nodiscard]] std::string overlapped(const Port& port, std::span<const std::byte> bytes, bool with_inputs) const {
    if (overlap(bytes, arenas.arena.memory())) return "the arena";
    if (overlap(bytes, arenas.outside_memory())) return "the memory outside of the arena";
    const std::vector<Port>& states = executable->states();
    for (std::size_t at = 0; at < states.size(); ++at) {
      if (&states[at] != &port && overlap(bytes, bound_states[at])) return "state " + quoted(states[at].name);
    }
    const std::vector<Port>& inputs = executable->inputs();
    for (std::size_t at = 0; with_inputs && at < inputs.size(); ++at) {
      if (overlap(bytes, bound_inputs[at])) return "input " + quoted(inputs[at].name);
    }
    return "";
  }

  // The position of the first input that needs memory and has none.
  [[nodiscard]] std::optional<std::size_t> first_unbound() const {
    for (std::size_t at = 0; at < bound_inputs.size(); ++at) {
      const Port& port = executable->inputs()[at];
      if (!port.is_in_arena && port.size > Bytes(0) && bound_inputs[at].data() == nullptr) return at;
    }
    return std::nullopt;
  }

  [[nodiscard]] RunResult run() noexcept {
    if (const std::optional<std::size_t> input = first_unbound()) {
      return {{RunCode::unbound, static_cast<std::uint32_t>(*input)}, std::nullopt};
    }
    if (executable->weights().has_lost_bytes()) return {{RunCode::file_changed, 0}, std::nullopt};
    if (!arenas.acquire()) return {{RunCode::busy, 0}, std::nullopt};
    memory.control.is_stopped.store(false, std::memory_order_relaxed);
    RunResult result{run_graph(), std::nullopt};
    if (!result.ok()) result.place = runtime_internal::take_failed_place(memory.tables);
    if (executable->weights().has_lost_bytes()) result.status = {RunCode::file_changed, 0};
    if (result.ok()) note_states();
    arenas.release();
    return result;
  }

  RunStatus run_graph() noexcept {
    RunTeam team(executable->prepared().workers.get());
    return memory.main().run(team.team());
  }

  // A state has the extents of its new content from now on.
  void note_states() noexcept {
    const Graph& graph = executable->graph();
    for (const StateUpdate& update : graph.state_updates()) {
      if (!graph.tensor(update.state).shape.has_upper_bounds()) continue;
      memory.main().set_extents(update.state, memory.main().extents(update.next));
    }
  }

  std::shared_ptr<const Executable> executable;
  SessionArenas arenas;
  SessionMemory memory;
  std::vector<std::span<const std::byte>> bound_inputs;  // by port; empty: none
  std::vector<std::span<const std::byte>> bound_states;  // by port; empty: the session owns it
  std::vector<std::byte*> own_states;                    // by port: the memory of the session
};

namespace {

Result<void> check_size(const std::string& name, const Arena& arena, Bytes needed) {
  const Bytes given(static_cast<std::int64_t>(arena.memory().size()));
  if (given >= needed) return {};
  return Error{ErrorCode::over_limit,
               "the " + name + " has " + format_bytes(given) + ", but the plan needs " + format_bytes(needed), ""};
}

Result<SessionArenas> session_arenas(const Executable& executable, const Arena& arena, const SessionOptions& options) {
  const Bytes needed = executable.memory().outside;
  if (needed == Bytes(0)) return SessionArenas{arena, std::nullopt};
  if (!options.outside) {
    Result<Arena> own = Arena::allocate(needed);
    if (!own) return own.error();
    return SessionArenas{arena, *std::move(own)};
  }
  LOWTIDE_RETURN_IF_ERROR(check_size("memory outside of the arena", *options.outside, needed));
  if (overlap(arena.memory(), options.outside->memory())) {
    return Error{ErrorCode::invalid, "the memory outside of the arena overlaps the arena; use other memory", ""};
  }
  return SessionArenas{arena, options.outside};
}

}  // namespace

Result<Session> Session::open(std::shared_ptr<const Executable> executable, const Arena& arena,
                              const SessionOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_size("arena", arena, executable->required_bytes()));
  Result<SessionArenas> arenas = session_arenas(*executable, arena, options);
  if (!arenas) return arenas.error();
  try {
    auto state = std::make_unique<State>(std::move(executable), *std::move(arenas), options.stop);
    if (!options.touch || runtime_internal::touch(*state->executable, state->arenas, state->memory)) {
      return Session(std::move(state));
    }
    return Error{ErrorCode::invalid,
                 "another session runs in the arena; open this one between two runs, or without SessionOptions::touch",
                 ""};
  } catch (const std::bad_alloc&) {
    return no_memory_error([] {
      return Error{ErrorCode::no_memory, "the system has no memory for the tables of a session", ""};
    });
  }
}

void Session::prepare_thread() {
  initialize_kernels();
  runtime_internal::touch_thread();
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<void> Session::bind_input(std::string_view name, const TensorRef& tensor) {
  const std::vector<Port>& inputs = executable().inputs();
  const Port* port = find_port(inputs, name);
  if (port == nullptr) return unknown_name("input", name, inputs);
  const Shape given(std::vector<std::int64_t>(tensor.extents.begin(), tensor.extents.end()));
  std::string fault;
  if (port->is_in_arena) {
    fault = "is in the arena; write it to arena_input()";
  } else if (tensor.dtype != port->dtype || !is_within(tensor.extents, port->shape)) {
    fault = "has type " + print_tensor_type(port->dtype, port->shape) + ", but " +
            print_tensor_type(tensor.dtype, given) + " is given";
  } else {
    fault = fault_of_memory(*port, given, tensor.bytes);
  }
  if (fault.empty()) {
    const std::string other = state_->overlapped(*port, tensor.bytes, false);
    if (!other.empty()) fault = "its bytes overlap " + other + "; use other memory";
  }
  if (!fault.empty()) return Error{ErrorCode::invalid, fault, "input " + quoted(name)};
  const std::byte* address = state_->memory.main().set_input(port->tensor, tensor.bytes);
  state_->bound_inputs[static_cast<std::size_t>(port - inputs.data())] = {address, tensor.bytes.size()};
  state_->memory.main().set_extents(port->tensor, tensor.extents);
  return {};
}

Result<std::span<std::byte>> Session::arena_input(std::string_view name) {
  const Port* port = find_port(executable().inputs(), name);
  if (port == nullptr) return unknown_name("input", name, executable().inputs());
  if (!port->is_in_arena) {
    return Error{ErrorCode::invalid, "is not in the arena; use bind_input()", "input " + quoted(name)};
  }
  const Plan& plan = executable().plan();
  for (ValueId value : all_ids<ValueId>(plan.program.values.size())) {
    if (plan.program.values[value].tensor != port->tensor) continue;
    return std::span(state_->memory.main().address(value), static_cast<std::size_t>(port->size.count()));
  }
  return Error{ErrorCode::invalid, "has no value in the plan", "input " + quoted(name)};
}

Result<void> Session::bind_state(std::string_view name, std::span<std::byte> bytes) {
  const std::vector<Port>& states = executable().states();
  const Port* port = find_port(states, name);
  if (port == nullptr) return unknown_name("state", name, states);
  const auto at = static_cast<std::size_t>(port - states.data());
  if (bytes.data() == nullptr) {
    state_->bound_states[at] = {};
    state_->memory.main().set_base(port->tensor, state_->own_states[at]);
    return {};
  }
  std::string fault = fault_of_memory(*port, port->shape, bytes);
  if (fault.empty()) {
    const std::string other = state_->overlapped(*port, bytes, true);
    if (!other.empty()) fault = "its bytes overlap " + other + "; use other memory";
  }
  if (!fault.empty()) return Error{ErrorCode::invalid, fault, "state " + quoted(name)};
  state_->bound_states[at] = bytes;
  state_->memory.main().set_base(port->tensor, bytes.data());
  return {};
}

RunResult Session::run() noexcept { return state_->run(); }

RunResult Session::run_timed(IdVector<StepId, double>& seconds) noexcept {
  StepTimer timer(seconds);
  return run_observed(timer);
}

RunResult Session::run_observed(runtime_internal::StepObserver& observer) noexcept {
  runtime_internal::StepObserver* const before = std::exchange(state_->memory.control.observer, &observer);
  const RunResult result = state_->run();
  state_->memory.control.observer = before;
  return result;
}

OutputRef Session::output(std::size_t position) const {
  LOWTIDE_CHECK(position < executable().outputs().size(), "an output that is read is one of the outputs");
  const Port& port = executable().outputs()[position];
  const ValueId value = executable().plan().program.outputs[position];
  const GraphTables& main = state_->memory.main();
  const std::span<const std::int64_t> extents = main.extents(port.tensor);
  const auto bytes = static_cast<std::size_t>(dense_bytes(port.dtype, extents));
  return {.dtype = port.dtype, .extents = extents, .bytes = {main.address(value), bytes}};
}

std::vector<DynamicSize> Session::dynamic_sizes() const {
  std::vector<DynamicSize> sizes;
  for (const auto& tables : state_->memory.tables) {
    const PreparedGraph& of = tables->graph();
    for (std::size_t at = 0; at < of.dynamic_tensors.size(); ++at) {
      const Tensor& tensor = of.graph.tensor(of.dynamic_tensors[at]);
      if (tensor.is_captured) continue;
      sizes.push_back({of.path + tensor.name, tensor.size, Bytes(tables->seen_bytes()[at])});
    }
  }
  return sizes;
}

Result<void> Session::check_files() const {
  if (executable().memory().mapped == Bytes(0)) return {};
  return executable().weights().check_files();
}

void Session::stop() noexcept { state_->memory.control.is_stopped.store(true, std::memory_order_relaxed); }

const Executable& Session::executable() const { return *state_->executable; }

}  // namespace lowtide
