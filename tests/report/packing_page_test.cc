// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/utf8.h"
#include "tests/report/page_packings.h"

namespace lowtide {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::string page_of(const PackingSketch& sketch, const PackingPageOptions& options = {.name = "some.csv"}) {
  return packing_page(sketch.problem, sketch.packing, options);
}

Json packing_json(const std::string& html) {
  const std::size_t begin = html.find(R"(id="sheets">)") + 12;
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

Json sheet_of(const PackingSketch& sketch) { return packing_json(page_of(sketch))["sheets"][0]; }

// A packing with all offsets 0, for buffers that are never live together. Only their times matter.
PackingSketch sketch_of(std::initializer_list<TimeSpan> lives) {
  PackingSketch sketch;
  for (const TimeSpan& life : lives) {
    sketch.problem.buffers.push_back({.lifespan = life, .size = Bytes(1)});
    sketch.packing.offsets.push_back(Offset(0));
  }
  return sketch;
}

TEST(PackingPage, IsOneHtmlDocument) {
  const std::string html = page_of(small_packing());
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, EndsWith("</html>\n"));
  EXPECT_THAT(html, HasSubstr("<title>some.csv - packing</title>"));
  EXPECT_THAT(page_of(empty_packing(), {}), HasSubstr("<title>Packing</title>"));
  EXPECT_TRUE(is_utf8(html));
}

TEST(PackingPage, IsTheSameForTheSamePacking) { EXPECT_EQ(page_of(small_packing()), page_of(small_packing())); }

TEST(PackingPage, HoldsBuffersAndTheirPieces) {
  const Json sheet = sheet_of(small_packing());
  EXPECT_EQ(sheet["packing"], true);
  // Something begins or ends at 0, 30, 60, 80 and 90.
  EXPECT_EQ(sheet["time"], Json::parse(R"({"epoch":"0","start":0,"bounds":[0,30,60,80,90],"names":null})"));
  EXPECT_EQ(sheet["whole"]["name"], (Json{"fixed", "low", "resting", "late"}));
  EXPECT_EQ(sheet["whole"]["size"], (Json{65536, 65536, 65536, 131072}));
  EXPECT_EQ(sheet["whole"]["alignment"], (Json{1, 4096, 1, 1}));
  EXPECT_EQ(sheet["whole"]["offset"], (Json{0, 65536, 131072, 131072}));
  EXPECT_EQ(sheet["whole"]["fixed"], (Json{1, 0, 0, 0}));
  EXPECT_EQ(sheet["whole"]["begin"], (Json{0, 0, 0, 1}));
  EXPECT_EQ(sheet["whole"]["end"], (Json{3, 2, 4, 2}));
  // `resting` is not live in [30, 60), so its pieces are [0, 30) and [60, 90).
  EXPECT_EQ(sheet["whole"]["pieces"], (Json{1, 1, 2, 1}));
  EXPECT_EQ(sheet["piece"]["begin"], (Json{0, 0, 0, 2, 1}));
  EXPECT_EQ(sheet["piece"]["end"], (Json{3, 2, 1, 4, 2}));
}

TEST(PackingPage, HoldsWhatIsKnown) {
  const Json page = packing_json(
      page_of(small_packing(),
              {.name = "a.csv", .tool = "lowtide 1", .is_verified = true, .figures = {{"Budget", "1 MiB", "<kept>"}}}));
  EXPECT_EQ(page["verified"], true);
  const Json& sheet = page["sheets"][0];
  EXPECT_EQ(sheet["facts"], Json::parse(R"({"graph":"a.csv","tool":"lowtide 1","sum":327680,"bound":262144,
      "bound_searched":false,"decisions":0,"strategy":"best_fit","optimal":true,"witness":1,
      "figures":[{"label":"Budget","value":"1 MiB","detail":"<kept>"}]})"));
  EXPECT_EQ(sheet["regions"], Json::parse(R"([{"name":"","capacity":262144,"alignment":1,"arena":262144}])"));
  EXPECT_EQ(packing_json(page_of(small_packing()))["verified"], false);
  EXPECT_EQ(sheet_of(empty_packing())["facts"]["witness"], nullptr);
}

TEST(PackingPage, HoldsBandsThatAreCounted) {
  const auto bands_of = [](const PackingSketch& sketch, std::vector<PageBand> bands) {
    return packing_json(page_of(sketch, {.bands = std::move(bands)}))["sheets"][0]["bands"];
  };
  EXPECT_EQ(bands_of(small_packing(), small_bands()), Json::parse(R"({"names":["forward","backward","update"],
      "name":[0,1,0,2],"begin":[0,30,60,70],"end":[30,60,70,80],"again":[0,0,1,0]})"));
  // Times are counted from the first one, 100; what is before it and behind the last one, 120, is cut off.
  const PackingSketch late = sketch_of({{100, 120}});
  EXPECT_EQ(bands_of(late, {{"a", 0, 100}, {"b", 100, 110}, {"a", 115, 900}, {"c", 900, 901}}),
            Json::parse(R"({"names":["b","a"],"name":[0,1],"begin":[0,15],"end":[10,20],"again":[0,0]})"));
  EXPECT_EQ(bands_of(late, {{"a", 0, 100}}), nullptr);
  // Not to scale, the second of four times is at 1.
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bands_of(sketch_of({{0, 1}, {far - 1, far}}), {{"a", 1, far - 1}}),
            Json::parse(R"({"names":["a"],"name":[0],"begin":[1],"end":[2],"again":[0]})"));
  EXPECT_EQ(bands_of(empty_packing(), {{"a", 0, 1}}), nullptr);
}

TEST(PackingPage, WithoutBandsIsAsBefore) {
  EXPECT_FALSE(sheet_of(small_packing()).contains("bands"));
  EXPECT_TRUE(packing_json(page_of(small_packing(), {.bands = small_bands()}))["sheets"][0].contains("bands"));
}

TEST(PackingPage, GivesABufferWithoutAnyTimeOnePiece) {
  PackingSketch sketch = sketch_of({{2, 9}});
  sketch.problem.buffers[PackingId(0)].gaps = {{2, 4}, {4, 9}};
  const Json sheet = sheet_of(sketch);
  EXPECT_EQ(sheet["whole"]["pieces"], Json{1});
  EXPECT_EQ(sheet["piece"]["begin"], sheet["piece"]["end"]);
}

TEST(PackingPage, CountsTimeFromTheFirst) {
  EXPECT_EQ(sheet_of(sketch_of({{100, 120}}))["time"],
            Json::parse(R"({"epoch":"0","start":100,"bounds":[0,20],"names":null})"));
  EXPECT_EQ(sheet_of(sketch_of({{-5, 5}}))["time"],
            Json::parse(R"({"epoch":"0","start":-5,"bounds":[0,10],"names":null})"));
  // Nanoseconds since 1970 exceed 2^53, but their span does not.
  EXPECT_EQ(sheet_of(sketch_of({{1'785'000'000'000'000'001, 1'785'000'000'000'000'004}}))["time"],
            Json::parse(R"({"epoch":"1785000000000000001","start":0,"bounds":[0,3],"names":null})"));
}

TEST(PackingPage, NamesTimesWhoseSpanIsTooLargeForAScript) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(sheet_of(sketch_of({{least, least + 1}, {most - 1, most}}))["time"], Json::parse(R"({
      "epoch":"0","start":0,"bounds":[0,1,2,3],
      "names":["-9223372036854775808","-9223372036854775807","9223372036854775806","9223372036854775807"]})"));
}

TEST(PackingPage, NumbersBuffersWithoutNames) {
  EXPECT_EQ(sheet_of(sketch_of({{0, 1}, {1, 2}}))["whole"]["name"], (Json{"0", "1"}));
}

TEST(PackingPage, NamesCannotEndTheScript) {
  const std::string html =
      page_of(hostile_packing(), {.name = "</title><script>document.body.dataset.owned='title'</script>"});
  EXPECT_THAT(html, HasSubstr("<title>&lt;/title&gt;&lt;script&gt;"));
  const std::string data = html.substr(html.find(R"(id="sheets">)") + 12);
  EXPECT_THAT(data.substr(0, data.find("</script>")), Not(HasSubstr("<")));
  EXPECT_TRUE(is_utf8(html));
}

TEST(PackingPage, RequiresOneOffsetPerBuffer) {
  PackingSketch sketch = small_packing();
  sketch.problem.buffers.push_back({.lifespan = {0, 1}});
  EXPECT_THROW(page_of(sketch), InvariantViolation);
}

}  // namespace
}  // namespace lowtide
