// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/caches.h"
#include "lowtide/kernels/team.h"
#include "lowtide/target/target.h"

namespace lowtide {

// A kernel goes through three stages:
//
//   offered_kernels(graph, node)   what a plan may choose: name, scratch, in-place rules, cost
//   prepare(input)                 one per step of a plan: attributes are read, constants packed, code generated
//   PreparedKernel::bind           one per step and session: knows the places of its operands and can run
//
// Only the last stage belongs to a session. Nothing after bind() allocates memory or can throw.

// How a run, or the run of one kernel, ended.
enum class RunCode : std::uint8_t {
  ok,
  index_out_of_range,  // an index in the data is outside of the tensor
  size_exceeds_plan,   // a result is larger than the bytes that the plan reserves
  division_by_zero,    // of integers
  bad_extents,         // extents that the data decide differ from those that the model declares
  unbound,             // an input has no memory yet; detail: its position in Executable::inputs()
  stopped,             // Session::stop() was called
  busy,                // another session runs in the same arena
  file_changed,        // the file of a constant shrank under its map
  kernel_failed,       // for another reason
};

template <>
inline constexpr auto kEnumNames<RunCode> = enum_names<RunCode>({{RunCode::ok, "ok"},
                                                                 {RunCode::index_out_of_range, "index_out_of_range"},
                                                                 {RunCode::size_exceeds_plan, "size_exceeds_plan"},
                                                                 {RunCode::division_by_zero, "division_by_zero"},
                                                                 {RunCode::bad_extents, "bad_extents"},
                                                                 {RunCode::unbound, "unbound"},
                                                                 {RunCode::stopped, "stopped"},
                                                                 {RunCode::busy, "busy"},
                                                                 {RunCode::file_changed, "file_changed"},
                                                                 {RunCode::kernel_failed, "kernel_failed"}});

// Trivially copyable. Text is made after the run (runtime/run_error.h).
struct RunStatus {
  RunCode code = RunCode::ok;
  std::uint32_t detail = 0;  // a number that explains the code, such as the position of the operand
  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

// One operand or result of a kernel in the memory of one session: dense, row-major, at any multiple of the element
// size. `bytes` points to a cell that holds the address, because a caller may bind other memory before each run.
struct BoundTensor {
  std::byte* const* bytes = nullptr;  // nullptr: an omitted optional operand or result
  std::int64_t* extents = nullptr;    // `rank` numbers; the kernel writes those of a dynamic result, and no others
  std::int32_t rank = 0;
  DType dtype = DType::f32;
  bool is_dynamic = false;          // its extents are known only during the run; the graph has upper bounds
  std::int64_t capacity_bytes = 0;  // what the plan reserves for the tensor, >= its size in any run
  // The upper bounds of the extents of a dynamic tensor, which scratch and other results are sized for. nullptr: only
  // the capacity counts.
  const std::int64_t* bounds = nullptr;
};

// First member of every bound object. The functions get the object itself.
struct BoundKernel {
  // Computes all results. Before it returns, it stores the extents of its dynamic results. It writes no result beyond
  // its capacity, and returns size_exceeds_plan instead. After any other code than ok the results are undefined.
  RunStatus (*run)(BoundKernel* self, Team& team) = nullptr;
  // Called between runs if an address in a cell has changed. nullptr: the kernel reads the cells in each run.
  void (*rebind)(BoundKernel* self) = nullptr;
  // Ends the object's life. nullptr: nothing to do.
  void (*destroy)(BoundKernel* self) = nullptr;
};

// A kernel of one node. Immutable; shared by all sessions, which it must outlive.
class PreparedKernel {
 public:
  PreparedKernel() = default;
  PreparedKernel(const PreparedKernel&) = delete;
  PreparedKernel& operator=(const PreparedKernel&) = delete;
  virtual ~PreparedKernel() = default;

  // The bytes that bind() needs.
  [[nodiscard]] virtual Bytes bound_bytes() const = 0;
  // Makes the object that runs, at `at`, which has bound_bytes() and alignment 64. `reads` has one entry per entry of
  // Node::inputs, and `writes` one per entry of Node::outputs. The spans are valid only during the call; what their
  // pointers point to outlives the object. `scratch` has the bytes of Kernel::scratch and alignment 64. All memory
  // except `at` has undefined content.
  virtual BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                            std::byte* scratch) const = 0;
};

// The bytes of a constant operand. An empty span: it is not a constant, or it has no bytes.
using ConstantBytes = std::function<std::span<const std::byte>(TensorId)>;

// Everything in it is valid only during prepare().
struct PrepareInput {
  const Graph& graph;
  NodeId node;
  std::string_view kernel;  // a name that offered_kernels() has for the node
  ConstantBytes constant;
  std::optional<int> overwritten_input;  // the input whose bytes output 0 has in the plan (Kernel::in_place)
  // The threads for which the kernel was offered. A team of another size runs it with the same bits.
  int threads = 1;
  CacheSizes caches = {};
};

// The kernels of this machine for a node on a team of this many threads, the fastest one first. Empty if there is none:
// `unsupported` says why. Their names depend neither on the number of threads nor on the caches. Their scratch may.
[[nodiscard]] std::vector<Kernel> offered_kernels(const Graph& graph, NodeId node, int threads = 1,
                                                  const CacheSizes& caches = {});

// Checks that the extents and element types that a graph declares for a node are those that its operator gives from its
// operands, attributes and constants. Kernels and plans rely on them. Extents that the data decide are checked in each
// run, and here only in their number. Errors (invalid): the contradiction, with the tensor, what it is declared as, and
// what the operator gives. O(extents of the node).
[[nodiscard]] Result<void> check_extents(const Graph& graph, NodeId node, const ConstantBytes& constant);

// Makes a kernel. The name "dense" means "plain", so that a plan for the target `dense` can run. Errors (unsupported):
// the node has no kernel of this name; (invalid) those of check_extents(); attributes or constants that the operator
// does not allow.
[[nodiscard]] Result<std::unique_ptr<PreparedKernel>> prepare(const PrepareInput& input);

// Whether a kernel of this name is one of oneDNN.
[[nodiscard]] bool is_onednn_kernel(std::string_view name);

// A prepared kernel, with what offered_kernels() says of it.
struct PreparedOffer {
  Kernel offer;
  std::unique_ptr<PreparedKernel> kernel;
};

// prepare(), for a caller that checks a plan against the offer.
[[nodiscard]] Result<PreparedOffer> prepare_offer(const PrepareInput& input);

}  // namespace lowtide
