#include "cudart/host_trace.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/catch.h"

using namespace tilewise;
using record::HostTrace;
using record::Tags;

namespace {

// As `solve` moves floats: through registers, not with memcpy.
__attribute__((noinline)) void copy_floats(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = from[i];
}

struct Square {
  explicit Square(size_t n, uint32_t tags = Tags::kAvailable) : trace(tags), m(n), n(n), p(n) {
    trace.add_array("M", m.data(), 4 * n, false);
    trace.add_array("N", this->n.data(), 4 * n, false);
    trace.add_array("P", p.data(), 4 * n, true);
  }
  HostTrace trace;
  std::vector<float> m, n, p;
};

}  // namespace

TEST_CASE("tags: moved words are found, computed ones are told apart") {
  Tags tags;
  std::vector<float> a(100), b(50);
  CHECK(*tags.mark(a.data(), a.size()) == 0);
  CHECK(*tags.mark(b.data(), b.size()) == 1);
  float moved[2];
  copy_floats(moved, &b[7], 1);
  uint32_t word;
  std::memcpy(&word, &moved[0], 4);
  REQUIRE(tags.find(word));
  CHECK(tags.find(word)->run == 1);
  CHECK(tags.find(word)->word == 7);

  volatile float one = 1.0f;
  for (float computed : {a[3] * one, one + a[3], a[3] * b[7], std::fma(a[3], one, one)}) {
    std::memcpy(&word, &computed, 4);
    CHECK_FALSE(tags.find(word));
    CHECK(tags.is_computed_from_tag(word));
  }
  for (uint32_t ordinary : {0u, 0x3F800000u, 0x7F800000u, 0x7FC00000u, 0xFFC00000u, 0xFFFFFFFFu}) {
    CHECK_FALSE(tags.find(ordinary));
    CHECK_FALSE(tags.is_computed_from_tag(ordinary));
  }
}

TEST_CASE(
    "tags: a small negative integer is not computed from a tag, however many were given out") {
  Tags tags;
  std::vector<uint32_t> words(Tags::kAvailable);
  REQUIRE(tags.mark(words.data(), words.size()));
  for (int32_t number : {-1, -2, -6, -1000, -65000}) {
    CHECK_FALSE(tags.is_computed_from_tag(static_cast<uint32_t>(number)));
    CHECK_FALSE(tags.is_computed_from_tag(static_cast<uint64_t>(int64_t{number})));
  }
}

TEST_CASE("tags: words that go on as the first one does") {
  Tags tags;
  std::vector<uint32_t> words(32);
  REQUIRE(tags.mark(words.data(), 10));
  REQUIRE(tags.mark(words.data() + 10, 10));  // goes on by number, and is another run
  CHECK(tags.same_from(words.data(), 20) == 10);
  CHECK(tags.same_from(words.data() + 4, 3) == 3);
  words[6] = 0;
  CHECK(tags.same_from(words.data(), 20) == 6);
  CHECK(tags.same_from(words.data() + 6, 20) == 1);
  Tags::mark_places(words.data() + 20, 12);
  CHECK(tags.same_from(words.data() + 20, 12) == 12);
  words[25] = words[24];  // moved: a place tag that lies elsewhere
  CHECK(tags.same_from(words.data() + 20, 12) == 5);
}

TEST_CASE("tags: all of them can be given out, both signs, and then no more") {
  Tags tags;
  std::vector<uint32_t> words(Tags::kAvailable);
  REQUIRE(tags.mark(words.data(), words.size()));
  CHECK_FALSE(tags.mark(words.data(), 1));
  for (size_t i : {size_t{0}, words.size() / 2 - 1, words.size() / 2, words.size() - 1}) {
    REQUIRE(tags.find(words[i]));
    CHECK(tags.find(words[i])->word == i);
  }
}

TEST_CASE("host trace: a copy from an input names it and the place") {
  Square s(64);
  auto segments = s.trace.describe(&s.n[8], 4 * 16);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].host == "N");
  CHECK(segments[0].offset == 32);
  CHECK(segments[0].bytes == 64);
}

TEST_CASE("host trace: data keeps its origin through memory of solve's own") {
  Square s(64);
  std::vector<float> padded(12, 0.0f);
  copy_floats(&padded[0], &s.m[0], 4);
  copy_floats(&padded[6], &s.m[4], 4);
  auto segments = s.trace.describe(padded.data(), 48);
  REQUIRE(segments.size() == 4);
  CHECK(segments[0].host == "M");
  CHECK(segments[0].bytes == 16);
  CHECK(segments[1].literal == std::vector<std::byte>(8));
  CHECK(segments[2].host == "M");
  CHECK(segments[2].offset == 16);
  CHECK(segments[3].literal == std::vector<std::byte>(8));
}

TEST_CASE("host trace: the copies that filled P are found, directly or through staging memory") {
  Square s(16);
  s.trace.add_read_back(s.p.data(), {.buffer = 5, .offset = 100, .bytes = 32});
  std::vector<float> staging(8);
  s.trace.add_read_back(staging.data(), {.buffer = 6, .offset = 0, .bytes = 32});
  copy_floats(&s.p[8], &staging[4], 4);
  copy_floats(&s.p[12], &staging[0], 4);
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK(plan.host_writes.count == 0);
  auto direct = s.trace.copies_of(0), staged = s.trace.copies_of(1);
  REQUIRE(direct.size() == 1);
  CHECK((direct[0].host == "P" && direct[0].offset == 0 && direct[0].buffer == 5 &&
         direct[0].buffer_offset == 100 && direct[0].bytes == 32));
  REQUIRE(staged.size() == 2);
  CHECK((staged[0].offset == 32 && staged[0].buffer_offset == 16 && staged[0].bytes == 16));
  CHECK((staged[1].offset == 48 && staged[1].buffer_offset == 0 && staged[1].bytes == 16));
}

TEST_CASE("host trace: what the host writes into P itself is counted") {
  Square s(16);
  s.trace.add_read_back(s.p.data(), {.buffer = 0, .offset = 0, .bytes = 64});
  s.p[3] = 1.0f;                     // a literal
  s.p[5] = s.p[5] * 2.0f;            // computed from a result
  copy_floats(&s.p[9], &s.m[9], 1);  // an input, not a result
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK(plan.host_writes.count == 3);
  CHECK(plan.host_writes.first == 3);
}

TEST_CASE("host trace: an untouched P has no writes and no copies") {
  Square s(16);
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK(plan.host_writes.count == 0);
  CHECK(plan.host_writes.first == -1);
  CHECK(plan.host.size() == 3);
}

TEST_CASE("host trace: a result that goes back to the device is staged") {
  Square s(16);
  std::vector<float> staging(8);
  s.trace.add_read_back(staging.data(), {.buffer = 2, .offset = 64, .bytes = 32});
  auto segments = s.trace.describe(&staging[2], 8);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].host == record::staging_name(0));
  CHECK(segments[0].offset == 8);
  plan::Plan plan;
  s.trace.finish(&plan);
  auto copies = s.trace.copies_of(0);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].host == record::staging_name(0));
  CHECK(copies[0].bytes == 32);
  CHECK(plan.host.back().name == record::staging_name(0));
}

TEST_CASE("host trace: rows of bytes that are no whole words are followed byte by byte") {
  Square s(16);  // rows of 15 bytes, one behind the other, in both directions
  const char* from = reinterpret_cast<char*>(s.m.data());
  char* to = reinterpret_cast<char*>(s.p.data());
  for (uint64_t row = 0; row < 3; ++row) {
    auto segments = s.trace.describe(from + 15 * row, 15);
    REQUIRE(segments.size() == 1);
    CHECK((segments[0].host == "M" && segments[0].offset == 15 * row && segments[0].bytes == 15));
    s.trace.add_read_back(to + 15 * row, {.buffer = 7, .offset = 512 * row, .bytes = 15});
  }
  auto segments = s.trace.describe(s.p.data(), 16);  // back to the device
  REQUIRE(segments.size() == 2);
  CHECK((segments[0].host == record::staging_name(0) && segments[0].bytes == 15));
  CHECK((segments[1].host == record::staging_name(1) && segments[1].bytes == 1));
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK(plan.host_writes.count == 0);
  for (size_t row = 0; row < 3; ++row) {
    auto copies = s.trace.copies_of(row);
    REQUIRE(copies.size() == (row < 2 ? 2 : 1));  // the first two also to their staging
    CHECK((copies.back().host == "P" && copies.back().offset == 15 * row));
    CHECK((copies.back().buffer_offset == 512 * row && copies.back().bytes == 15));
  }
}

TEST_CASE("host trace: a copy that ends within a word says nothing of the host") {
  Square s(16);
  s.trace.add_read_back(s.p.data(), {.buffer = 1, .offset = 0, .bytes = 25, .is_early = true});
  s.trace.arrived(0);
  s.p[10] = 1.0f;
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK((plan.host_writes.count == 1 && plan.host_writes.first == 10));
  REQUIRE(s.trace.copies_of(0).size() == 1);
  CHECK(s.trace.copies_of(0)[0].bytes == 25);
}

TEST_CASE("host trace: host arithmetic on results that goes to the device is counted") {
  HostTrace trace;
  std::vector<float> data(8);
  trace.add_read_back(data.data(), {.buffer = 0, .offset = 0, .bytes = 32});
  data[2] = data[2] + 1.0f;
  trace.describe(data.data(), 32);
  plan::Plan plan;
  trace.finish(&plan);
  CHECK(plan.host_writes.count == 1);
}

TEST_CASE("host trace: arguments that the host computed are counted, moved ones told apart") {
  Square s(4);
  std::vector<float> read(4);
  s.trace.add_read_back(read.data(), {.buffer = 1, .bytes = 16});
  volatile float two = 2;
  struct {
    double wide;
    float computed[3];
    int size;
  } made{two * static_cast<double>(read[0]), {read[0] * two, read[1] + read[2], 7.0f}, 4};
  CHECK_FALSE(s.trace.is_moved_argument(reinterpret_cast<std::byte*>(&made), sizeof made));
  float moved[2] = {1, 2};
  CHECK_FALSE(s.trace.is_moved_argument(reinterpret_cast<std::byte*>(moved), sizeof moved));
  copy_floats(&moved[1], &read[3], 1);
  CHECK(s.trace.is_moved_argument(reinterpret_cast<std::byte*>(moved), sizeof moved));
  plan::Plan plan;
  plan.signature = plan::Signature::kSquareHost;
  plan.j = plan.k = plan.l = 2;
  s.trace.finish(&plan);
  CHECK(plan.host_writes.count == 3);
}

TEST_CASE("tags: place tags say where a word was written, and no more") {
  Tags tags;
  std::vector<float> a(100);
  Tags::mark_places(a.data(), a.size());
  std::vector<uint32_t> words(100);
  std::memcpy(words.data(), a.data(), 400);
  const auto address = reinterpret_cast<uint64_t>(a.data());
  CHECK(Tags::is_place(words[3]));
  CHECK_FALSE(tags.find(words[3]));
  CHECK(Tags::is_place_of(words[3], address + 12));
  CHECK_FALSE(Tags::is_place_of(words[3], address + 16));
  float computed = a[3] * 2.0f;
  std::memcpy(&words[3], &computed, 4);
  CHECK_FALSE(Tags::is_place(words[3]));
  CHECK(tags.is_computed_from_tag(words[3]));
}

TEST_CASE("host trace: without tags, arrays are followed by address") {
  Square s(64, 0);
  auto segments = s.trace.describe(&s.n[8], 4 * 16);
  REQUIRE(segments.size() == 1);
  CHECK((segments[0].host == "N" && segments[0].offset == 32 && segments[0].bytes == 64));
  s.trace.add_read_back(&s.p[16], {.buffer = 5, .offset = 100, .bytes = 64});
  plan::Plan plan;
  s.trace.finish(&plan);
  auto copies = s.trace.copies_of(0);
  REQUIRE(copies.size() == 1);
  CHECK((copies[0].host == "P" && copies[0].offset == 64 && copies[0].buffer_offset == 100 &&
         copies[0].bytes == 64));
  CHECK(plan.host_writes.count == 0);
  CHECK(s.trace.lost_words() == 0);
}

TEST_CASE("host trace: without tags, a later read-back hides what it overwrote of an earlier one") {
  Square s(64, 0);
  s.trace.add_read_back(s.p.data(), {.buffer = 1, .offset = 0, .bytes = 4 * 64});
  s.trace.add_read_back(&s.p[16], {.buffer = 2, .offset = 0, .bytes = 4 * 16});
  s.trace.add_read_back(&s.p[24], {.buffer = 3, .offset = 0, .bytes = 4 * 4});
  plan::Plan plan;
  s.trace.finish(&plan);
  auto first = s.trace.copies_of(0), second = s.trace.copies_of(1), third = s.trace.copies_of(2);
  REQUIRE(first.size() == 2);
  CHECK((first[0].offset == 0 && first[0].bytes == 64));
  CHECK((first[1].offset == 128 && first[1].buffer_offset == 128 && first[1].bytes == 128));
  REQUIRE(second.size() == 2);
  CHECK((second[0].offset == 64 && second[0].bytes == 32));
  CHECK((second[1].offset == 112 && second[1].buffer_offset == 48 && second[1].bytes == 16));
  REQUIRE(third.size() == 1);
  CHECK((third[0].offset == 96 && third[0].bytes == 16));
}

TEST_CASE("host trace: without tags, results that stay where they were read are staged") {
  Square s(64, 0);
  std::vector<float> staging(8);
  s.trace.add_read_back(staging.data(), {.buffer = 2, .offset = 64, .bytes = 32});
  auto segments = s.trace.describe(&staging[2], 8);
  REQUIRE(segments.size() == 1);
  CHECK((segments[0].host == record::staging_name(0) && segments[0].offset == 8));
  CHECK(s.trace.lost_words() == 0);
}

TEST_CASE("host trace: without tags, what is moved is counted as lost") {
  Square s(64, 0);
  std::vector<float> staging(64);
  copy_floats(staging.data(), s.m.data(), 64);
  s.trace.describe(staging.data(), 4 * 60);
  CHECK(s.trace.lost_words() == 60);
  std::swap(s.n[3], s.n[5]);  // also within an array
  s.trace.describe(s.n.data(), 4 * 64);
  CHECK(s.trace.lost_words() == 62);

  s.trace.add_read_back(staging.data(), {.buffer = 1, .offset = 0, .bytes = 4 * 64});
  copy_floats(&s.p[7], &staging[9], 1);
  s.p[20] = 2.0f;
  plan::Plan plan;
  s.trace.finish(&plan);
  CHECK(s.trace.lost_words() == 63);
  CHECK(plan.host_writes.count == 1);  // the literal; what is lost is not held against solve
  CHECK(plan.host_writes.first == 20);
}

TEST_CASE("host trace: what still got tags is followed to wherever it goes") {
  Square s(64, 64);  // enough for M alone
  std::vector<float> staging(64);
  copy_floats(staging.data(), s.m.data(), 64);
  auto segments = s.trace.describe(staging.data(), 4 * 64);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].host == "M");
  CHECK(s.trace.lost_words() == 0);
}
