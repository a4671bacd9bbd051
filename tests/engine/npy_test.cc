// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/npy.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace lowtide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::span<const std::byte> as_bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// What numpy.save writes for numpy.arange(6, dtype=numpy.float32).reshape(2, 3), without the elements.
std::string numpy_head() {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary + "\n";
}

std::string fault_of(const std::string& file) {
  const Result<NpyHead> head = read_npy_head(as_bytes_of(file), "x.npy");
  return head.ok() ? "" : head.error().describe();
}

constexpr const char* kNoNumpy =
    "x.npy: is not a .npy file of NumPy with one array of numbers; numpy.save writes such a file";

TEST(Npy, ReadsWhatNumpyWrites) {
  const std::string file = numpy_head() + std::string(24, 'x');
  const Result<NpyHead> head = read_npy_head(as_bytes_of(file), "x.npy");
  ASSERT_TRUE(head.ok()) << head.error().describe();
  EXPECT_EQ(head->dtype, DType::f32);
  EXPECT_THAT(head->extents, ElementsAre(2, 3));
  EXPECT_EQ(head->begin, 128U);
}

// Other writers leave out blanks, or begin with another key.
TEST(Npy, ReadsDictionariesOfOtherForms) {
  for (std::string dictionary : {"{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
                                 "{ \"shape\" : ( 2 , 3 , ), 'descr': '<f4' , 'fortran_order' : False , }\n",
                                 "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}"}) {
    dictionary.resize(118, ' ');
    const std::string file = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary + std::string(24, 'x');
    const Result<NpyHead> head = read_npy_head(as_bytes_of(file), "x.npy");
    ASSERT_TRUE(head.ok()) << dictionary << head.error().describe();
    EXPECT_EQ(head->dtype, DType::f32);
    EXPECT_THAT(head->extents, ElementsAre(2, 3));
  }
}

TEST(Npy, ReadsWhatItWrites) {
  const std::vector<std::vector<std::int64_t>> shapes{{}, {4}, {2, 2}, {0, 7}};
  for (const std::vector<std::int64_t>& extents : shapes) {
    std::size_t count = 1;
    for (std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
    const std::vector<std::int16_t> elements(count, 259);
    const Result<std::string> file = write_npy(DType::i16, extents, std::as_bytes(std::span(elements)));
    ASSERT_TRUE(file.ok());
    const Result<NpyHead> head = read_npy_head(as_bytes_of(*file), "x.npy");
    ASSERT_TRUE(head.ok()) << head.error().describe();
    EXPECT_EQ(head->dtype, DType::i16);
    EXPECT_EQ(head->extents, extents);
    EXPECT_EQ(head->begin % 64, 0U);
    const std::span<const std::byte> written = as_bytes_of(*file).subspan(head->begin);
    EXPECT_TRUE(std::ranges::equal(written, std::as_bytes(std::span(elements))));
  }
  EXPECT_THAT(write_npy(DType::i4, {}, {}).error().message, HasSubstr("no element type for i4"));
}

// NumPy knows bf16 as two bytes of any content. Both signs before its code mean the same.
TEST(Npy, ReadsBrainFloatsOfMlDtypes) {
  const std::vector<std::uint16_t> elements{0x3F80, 0xC000};
  const Result<std::string> file =
      write_npy(DType::bf16, std::vector<std::int64_t>{2}, std::as_bytes(std::span(elements)));
  ASSERT_TRUE(file.ok());
  EXPECT_NE(file->find("'descr': '<V2'"), std::string::npos);
  std::string other = *file;
  other.replace(other.find("<V2"), 3, "|V2");
  for (const std::string& one : {*file, other}) {
    const Result<NpyHead> head = read_npy_head(as_bytes_of(one), "x.npy");
    ASSERT_TRUE(head.ok()) << head.error().describe();
    EXPECT_EQ(head->dtype, DType::bf16);
  }
}

TEST(Npy, RefusesOtherFilesAndWrongSizes) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string file = numpy_head() + std::string(24, 'x');
    return file.replace(file.find(from), from.size(), to);
  };
  EXPECT_EQ(fault_of(""), kNoNumpy);
  EXPECT_EQ(fault_of(numpy_head().substr(0, 100)), kNoNumpy);
  EXPECT_EQ(fault_of(with("(2, 3)", "(2,-3)")), kNoNumpy);
  EXPECT_EQ(fault_of(with("'shape'", "'descr'")), kNoNumpy);
  EXPECT_EQ(fault_of(with("'shape'", "'other'")), kNoNumpy);
  EXPECT_EQ(fault_of(with("(2, 3)", "(6)   ")), kNoNumpy);
  EXPECT_THAT(fault_of(with("False", "True ")), HasSubstr("column-major order"));
  EXPECT_EQ(fault_of(with("<f4", ">f4")),
            "x.npy: has elements of type '>f4', which is big-endian and not supported; save x.astype('<f4')");
  EXPECT_EQ(fault_of(with("<f4", "<U1")),
            "x.npy: has elements of type '<U1', which is not supported; save an array of numbers or booleans");
  EXPECT_EQ(fault_of(numpy_head() + std::string(23, 'x')), "x.npy: has 23 bytes of elements, but its shape needs 24");
}

}  // namespace
}  // namespace lowtide
