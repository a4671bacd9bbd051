// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/kernels/kernel.h"

namespace lowtide::testing {

// An operand or a result in memory of its own.
struct TensorData {
  DType dtype = DType::f32;
  std::vector<std::int64_t> extents;
  std::vector<std::byte> bytes;
  bool is_present = true;
  bool is_dynamic = false;
};

template <typename T>
TensorData tensor_data(DType dtype, std::vector<std::int64_t> extents, const std::vector<T>& values) {
  TensorData data{
      .dtype = dtype, .extents = std::move(extents), .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  return data;
}

template <typename T>
std::vector<T> values_of(const TensorData& data) {
  std::vector<T> values(data.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), data.bytes.data(), values.size() * sizeof(T));
  return values;
}

// Memory for a tensor of the graph, with upper bounds as capacity.
inline TensorData space_for(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return {.dtype = tensor.dtype,
          .extents = tensor.shape.extents(),
          .bytes = std::vector<std::byte>(static_cast<std::size_t>(tensor.size.count())),
          .is_dynamic = tensor.shape.has_upper_bounds()};
}

// The smallest caches that a target can have.
inline const CacheSizes kLeastCaches{Bytes(8 * 1024), Bytes(128 * 1024)};

// Runs a kernel of one node of a graph, by default of the first one. `reads` has one entry per entry of Node::inputs.
// The results replace `writes`; the extents of dynamic results are those that the kernel stored. With `over`, output 0
// has the memory of this input. Constants are operands of the role constant, with the bytes of `reads`.
class KernelRun {
 public:
  explicit KernelRun(const Graph& graph, std::string_view kernel = "plain") : graph_(graph), kernel_(kernel) {}

  std::vector<TensorData> writes;
  std::optional<int> over;
  int threads = 1;       // that the kernel is prepared for
  Team* team = nullptr;  // that runs it; nullptr: one thread
  CacheSizes caches;     // that its tiles fit
  NodeId id = NodeId(0);

  RunStatus run(std::vector<TensorData> reads) {
    const Node& node = graph_.node(id);
    const auto constant = [&](TensorId tensor) -> std::span<const std::byte> {
      for (std::size_t at = 0; at < node.inputs.size(); ++at) {
        if (node.inputs[at] == tensor && graph_.tensor(tensor).role == Role::constant) return reads[at].bytes;
      }
      return {};
    };
    Result<std::unique_ptr<PreparedKernel>> prepared = prepare({.graph = graph_,
                                                                .node = id,
                                                                .kernel = kernel_,
                                                                .constant = constant,
                                                                .overwritten_input = over,
                                                                .threads = threads,
                                                                .caches = caches});
    if (!prepared) throw std::runtime_error(prepared.error().describe());
    writes.clear();
    for (const std::optional<TensorId>& output : node.outputs) {
      writes.push_back(output ? space_for(graph_, *output) : TensorData{.is_present = false});
    }
    return bind_and_run(**prepared, reads);
  }

 private:
  RunStatus bind_and_run(const PreparedKernel& prepared, std::vector<TensorData>& reads) {
    std::vector<std::byte*> cells(reads.size() + writes.size());
    std::vector<BoundTensor> tensors;
    for (std::vector<TensorData>* list : {&reads, &writes}) {
      for (TensorData& data : *list) {
        std::byte*& cell = cells[tensors.size()];
        cell = data.bytes.data();
        tensors.push_back(data.is_present ? bound(data, &cell) : BoundTensor{});
      }
    }
    if (over) cells[reads.size()] = cells[static_cast<std::size_t>(*over)];
    const std::vector<Kernel> offered = offered_kernels(graph_, id, threads, caches);
    std::int64_t scratch_bytes = 0;
    for (const Kernel& kernel : offered) {
      if (kernel.name == kernel_) scratch_bytes = kernel.scratch.count();
    }
    const AlignedBytes scratch(scratch_bytes);
    const AlignedBytes object(prepared.bound_bytes().count());
    const std::span<const BoundTensor> all = tensors;
    BoundKernel* kernel =
        prepared.bind(object.data(), all.first(reads.size()), all.subspan(reads.size()), scratch.data());
    SoloTeam alone;
    const RunStatus status = kernel->run(kernel, team != nullptr ? *team : alone);
    if (kernel->destroy != nullptr) kernel->destroy(kernel);
    if (over) writes[0].bytes = reads[static_cast<std::size_t>(*over)].bytes;
    return status;
  }

  static BoundTensor bound(TensorData& data, std::byte* const* cell) {
    return {.bytes = cell,
            .extents = data.extents.data(),
            .rank = static_cast<std::int32_t>(data.extents.size()),
            .dtype = data.dtype,
            .is_dynamic = data.is_dynamic,
            .capacity_bytes = static_cast<std::int64_t>(data.bytes.size())};
  }

  // Bytes at a multiple of 64.
  class AlignedBytes {
   public:
    explicit AlignedBytes(std::int64_t count) : bytes_(static_cast<std::size_t>(count) + 64) {}
    [[nodiscard]] std::byte* data() const {
      const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
      return bytes_.data() + (64 - address % 64) % 64;
    }

   private:
    mutable std::vector<std::byte> bytes_;
  };

  const Graph& graph_;
  std::string_view kernel_;
};

}  // namespace lowtide::testing
