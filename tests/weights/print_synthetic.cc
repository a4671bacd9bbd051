// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Writes the synthetic values of one constant as raw bytes to standard output, for compare_synthetic.py.
// usage: print_synthetic NAME DTYPE SEED EXTENT...

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/weights/weights.h"

int main(int count, char** arguments) {
  using namespace lowtide;
  if (count < 4) return 2;
  const std::optional<DType> dtype = from_string<DType>(arguments[2]);
  if (!dtype) return 2;
  std::vector<std::int64_t> extents;
  for (int at = 4; at < count; ++at) extents.push_back(std::atoll(arguments[at]));
  const Shape shape(std::move(extents));
  ConstantTable table;
  const ConstantFileId file = table.files.push_back("absent.bin");
  const ConstantId id = table.sources.push_back(
      {arguments[1], *dtype, shape, *dense_size(*dtype, shape), ConstantSource::InFile{.file = file}});
  const Result<ModelWeights> weights = ModelWeights::open("/nowhere/model.onnx", std::move(table),
                                                          {.synthetic_seed = std::strtoull(arguments[3], nullptr, 10)});
  if (!weights) {
    std::fprintf(stderr, "%s\n", weights.error().describe().c_str());
    return 1;
  }
  const std::span<const std::byte> bytes = *weights->bytes(id);
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}
