// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/tail.h"

// What kernels keep in the tail of the arena, and which tensors they describe while they are prepared.
namespace lowtide::micro_internal {

// Takes the memory that the preparation of one kernel needs, in its order.
class Preparation {
 public:
  Preparation(const TfliteSubgraph& subgraph, const TfliteOperator& op, MicroBuild build)
      : subgraph_(subgraph), op_(op), build_(build) {}
  virtual ~Preparation() = default;

  // Describes operands until the kernel is prepared. Each letter is one: a, b, c... inputs, A, B... results, * all
  // inputs. Operands that are omitted have no description.
  void describe(std::string_view letters);
  void describe_input(std::size_t at);
  virtual void keep(std::int64_t bytes) = 0;  // for good
  // The operator assigns its second input to the resource variable whose handle is its first input.
  virtual void assign() = 0;

  [[nodiscard]] const TfliteTensor* input(std::size_t at) const;   // nullptr: omitted
  [[nodiscard]] const TfliteTensor* output(std::size_t at) const;  // nullptr: omitted
  [[nodiscard]] const TfliteOperator& op() const { return op_; }
  [[nodiscard]] bool is_python() const { return build_ == MicroBuild::python; }

 protected:
  virtual void describe_tensor(const TfliteTensor& tensor) = 0;

 private:
  const TfliteSubgraph& subgraph_;
  const TfliteOperator& op_;
  MicroBuild build_;
};

struct Aligned {
  std::int64_t size = 0;
  std::int64_t alignment = 1;
};

// What one kernel has, for each build.
struct KernelData {
  std::string_view type;
  Aligned cortex_m_options = {};  // the options of the file as the runtime has them; size 0: none
  Aligned python_options = {};
  std::int64_t cortex_m_data = 0;  // the data of the kernel; 0: none
  std::int64_t python_data = 0;
  std::string_view described = {};                      // the argument of Preparation::describe()
  void (*prepare)(Preparation& preparation) = nullptr;  // what follows

  [[nodiscard]] Aligned options(MicroBuild build) const {
    return build == MicroBuild::python ? python_options : cortex_m_options;
  }
  [[nodiscard]] std::int64_t data(MicroBuild build) const {
    return build == MicroBuild::python ? python_data : cortex_m_data;
  }
};

// nullptr: not known. What the kernels of CMSIS-NN have follows from the sources of August 2026, for `cortex_m` alone.
[[nodiscard]] const KernelData* kernel_data(const TfliteOperator& op, const MicroFirmware& firmware);

}  // namespace lowtide::micro_internal
