// Copies in bulk: what they move, where a swizzle puts it, and mistakes with them.

#include <numeric>

#include "tests/sim/fixture.h"
#include "warpsim/tensor_map.h"

namespace warpsim::test {
namespace {

constexpr int kRounds = 5;

struct Bulk : Fixture {
  Bulk() : Fixture("bulk") {}
  LaunchReport twice(int fault) {
    in = ramp(256 * kRounds);
    out = empty("out", in.size() * sizeof(float));
    return launch("twice", {1}, {256}, buffer("in", in), out, kRounds, fault);
  }
  std::vector<float> in;
  uint64_t out = 0;
};

TEST_CASE("Loads and stores in bulk, two stages deep, move what they are told to") {
  Bulk f;
  const LaunchReport r = f.twice(0);
  REQUIRE(is_clean(r));
  const std::vector<float> out = f.read<float>(f.out, f.in.size());
  for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == 2 * f.in[i]);
  CHECK(r.counters.bulk_load_requests == kRounds);
  CHECK(r.counters.bulk_load_bytes == 1024 * kRounds);
  CHECK(r.counters.bulk_store_requests == kRounds);
  CHECK(r.counters.bulk_store_bytes == 1024 * kRounds);
}

TEST_CASE("Every mistake with copies in bulk is named, at its line") {
  struct Row {
    int fault;
    const char* code;
    Cause cause;
    const char* line;
    const char* other;
  };
  for (const Row& row : {Row{1, "phase", Cause::kNotWaited, "read", "load"},
                         Row{2, "async-proxy", Cause::kNone, "store", "put"},
                         Row{3, "race-shared", Cause::kNone, "load", "read"},
                         Row{4, "race-shared", Cause::kNone, "put", "store"},
                         Row{5, "phase", Cause::kWrongParity, "read", "load"},
                         Row{6, "deadlock", Cause::kBytesTooMany, "wait", "expect"},
                         Row{7, "misaligned-access", Cause::kBulkSize, "load", ""},
                         Row{8, "misaligned-access", Cause::kBulkAlignment, "load", ""},
                         Row{9, "out-of-bounds-global", Cause::kPastEnd, "load", ""},
                         Row{10, "phase", Cause::kEndsInFlight, "load", ""}}) {
    CAPTURE(row.fault);
    Bulk f;
    const LaunchReport r = f.twice(row.fault);
    CAPTURE(describe(r));
    const Diagnostic* d = find(r, row.code);
    REQUIRE(d != nullptr);
    CHECK(d->cause == row.cause);
    CHECK(d->line == f.line(row.line));
    CHECK(!d->message.empty());
    if (row.fault == 6) {  // 512 bytes announced, and what has come instead
      REQUIRE(d->shares.size() == 1);
      CHECK(d->shares[0].kind == ShareKind::kCopy);
      CHECK(d->shares[0].line == f.line("load"));
      CHECK(d->shares[0].amount == 1024);
      CHECK(d->shares[0].array == "tile");
      CHECK(d->shares[0].place == 0);
    }
    if (*row.other == '\0') continue;
    REQUIRE(d->other);
    CHECK(d->other->line == f.line(row.other));
  }
}

// A tensor of words, innermost dimension first, each the number of its place.
struct Tensor {
  std::vector<uint32_t> size;
  std::vector<uint32_t> words;
  TensorMap map;
  explicit Tensor(std::vector<uint32_t> sizes, std::vector<uint16_t> box, uint8_t swizzle)
      : size(std::move(sizes)) {
    uint32_t count = 1;
    map.dimensions = uint8_t(size.size());
    map.element_bytes = 4;
    map.swizzle = swizzle;
    for (size_t i = 0; i < size.size(); ++i) {
      map.size[i] = size[i] - 1;
      map.box[i] = box[i];
      map.step[i] = 1;
      count *= size[i];
      if (i + 1 < size.size()) map.stride[i] = uint64_t{count} * 4;
    }
    words.resize(count);
    std::iota(words.begin(), words.end(), 1);
  }
  // The word at these indices, 0 outside.
  uint32_t word(std::vector<int> at) const {
    uint32_t place = 0, step = 1;
    for (size_t i = 0; i < size.size(); ++i) {
      if (at[i] < 0 || at[i] >= int(size[i])) return 0;
      place += uint32_t(at[i]) * step;
      step *= size[i];
    }
    return words[place];
  }
};

struct MapBytes {
  alignas(64) std::byte bytes[TensorMap::kBytes] = {};
  explicit MapBytes(const TensorMap& map) { std::memcpy(bytes, &map, sizeof map); }
};

TEST_CASE("A box of a matrix lies as its swizzle says, with zeros for what is outside") {
  // Chunks of 16 bytes by row of 32, 64 or 128 bytes, as the CUDA programming guide draws them.
  for (uint8_t swizzle : {0, 1, 2, 3}) {
    for (const auto& [x, y] : {std::pair{0, 0}, {8, 5}, {-4, -3}, {40, 60}}) {
      CAPTURE(int(swizzle), x, y);
      Bulk f;
      const uint16_t columns = swizzle == 0 ? 12 : uint16_t(4u << swizzle), rows = 16;
      Tensor t({44, 64}, {columns, rows}, swizzle);
      t.map.address = f.buffer("in", t.words);
      REQUIRE(check_tensor_map(t.map).empty());
      const uint32_t bytes = 4u * columns * rows;
      const uint64_t out = f.empty("out", bytes);
      f.next.dynamic_shared_bytes = bytes;
      REQUIRE(is_clean(f.launch("box2", {1}, {64}, MapBytes(t.map), out, x, y, bytes)));
      const std::vector<uint32_t> got = f.read<uint32_t>(out, bytes / 4);
      for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t column = 0; column < columns; ++column) {
          const uint32_t chunk = (row * columns + column) / 4;
          const uint32_t line = chunk / 8, place = chunk % 8;  // of 128 bytes
          const uint32_t moved = swizzle == 3   ? place ^ (line % 8)
                                 : swizzle == 2 ? place ^ (line % 4)
                                 : swizzle == 1 ? place ^ (line % 2)
                                                : place;
          const uint32_t at = (line * 8 + moved) * 4 + column % 4;
          REQUIRE(got[at] == t.word({x + int(column), y + int(row)}));
        }
      }
    }
  }
}

TEST_CASE("A box that leaves the memory of its tensor is told with what the map says") {
  Bulk f;
  Tensor t({44, 64}, {12, 16}, 0);
  t.map.address = f.buffer("in", std::vector<uint32_t>(44 * 60));
  const uint64_t out = f.empty("out", 768);
  f.next.dynamic_shared_bytes = 768;
  const LaunchReport r = f.launch("box2", {1}, {64}, MapBytes(t.map), out, 0, 50, 768u);
  const Diagnostic* d = find(r, "out-of-bounds-global");
  REQUIRE(d != nullptr);
  REQUIRE(d->shares.size() == 1);
  CHECK(d->shares[0].parameter == 0);
  CHECK(d->shares[0].sizes == std::vector<uint64_t>{44, 64});
  CHECK(d->shares[0].box == std::vector<uint32_t>{12, 16});
  CHECK(d->shares[0].pitch == 44 * 4);
}

TEST_CASE("Boxes of one, three and five dimensions") {
  Bulk f;
  Tensor line({100}, {32}, 0);
  line.map.address = f.buffer("line", line.words);
  uint64_t out = f.empty("out", 128);
  f.next.dynamic_shared_bytes = 128;
  REQUIRE(is_clean(f.launch("box1", {1}, {32}, MapBytes(line.map), out, 80, 128)));
  std::vector<uint32_t> got = f.read<uint32_t>(out, 32);
  for (int i = 0; i < 32; ++i) REQUIRE(got[size_t(i)] == line.word({80 + i}));

  Tensor cube({8, 6, 5}, {4, 3, 2}, 0);
  cube.map.address = f.buffer("cube", cube.words);
  out = f.empty("out", 96);
  f.next.dynamic_shared_bytes = 96;
  REQUIRE(is_clean(f.launch("box3", {1}, {32}, MapBytes(cube.map), out, 4, 4, 4, 96)));
  got = f.read<uint32_t>(out, 24);
  for (int i = 0; i < 24; ++i)
    REQUIRE(got[size_t(i)] == cube.word({4 + i % 4, 4 + i / 4 % 3, 4 + i / 12}));

  Tensor five({4, 3, 3, 3, 3}, {4, 2, 2, 2, 2}, 0);
  five.map.address = f.buffer("five", five.words);
  out = f.empty("out", 256);
  f.next.dynamic_shared_bytes = 256;
  REQUIRE(is_clean(f.launch("box5", {1}, {32}, MapBytes(five.map), out, 0, 1, 2, -1, 1, 256)));
  got = f.read<uint32_t>(out, 64);
  for (int i = 0; i < 64; ++i) {
    REQUIRE(got[size_t(i)] ==
            five.word({i % 4, 1 + i / 4 % 2, 2 + i / 8 % 2, -1 + i / 16 % 2, 1 + i / 32}));
  }
}

TEST_CASE("A store of a box leaves out what is outside the tensor") {
  Bulk f;
  Tensor t({44, 64}, {32, 8}, 3);
  t.map.address = f.buffer("out", t.words);
  REQUIRE(is_clean(f.launch("put2", {1}, {32}, MapBytes(t.map), 20, 60)));
  const std::vector<uint32_t> got = f.read<uint32_t>(t.map.address, t.words.size());
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 44; ++x) {
      const bool inside = x >= 20 && y >= 60;
      const uint32_t row = y - 60, column = x - 20;
      const uint32_t word = 1000 + row * 32 + (column / 4 ^ row % 8) * 4 + column % 4;
      REQUIRE(got[y * 44 + x] == (inside ? word : t.words[y * 44 + x]));
    }
  }
}

TEST_CASE("A kernel that has no tensor map, or one of other dimensions, is stopped") {
  Bulk f;
  Tensor t({44, 64}, {32, 8}, 0);
  t.map.address = f.buffer("in", t.words);
  const uint64_t out = f.empty("out", 1024);
  f.next.dynamic_shared_bytes = 1024;
  const LaunchReport other = f.launch("box1", {1}, {32}, MapBytes(t.map), out, 0, 1024);
  REQUIRE(find(other, "misaligned-access") != nullptr);
  CHECK(find(other, "misaligned-access")->cause == Cause::kTensorDimensions);
  t.map.magic = 0;
  const LaunchReport none = f.launch("box2", {1}, {32}, MapBytes(t.map), out, 0, 0, 1024);
  REQUIRE(find(none, "misaligned-access") != nullptr);
  CHECK(find(none, "misaligned-access")->cause == Cause::kNoTensorMap);
}

TEST_CASE("A tensor map that a kernel has made up itself is none") {
  Bulk f;
  const uint64_t out = f.empty("out", 1024);
  f.next.dynamic_shared_bytes = 1024;
  const auto stops = [&](auto change) {
    Tensor t({44, 64}, {32, 8}, 0);
    t.map.address = f.buffer("in", t.words);
    change(t.map);
    const LaunchReport r = f.launch("box2", {1}, {32}, MapBytes(t.map), out, 0, 0, 1024);
    const Diagnostic* d = find(r, "misaligned-access");
    return d != nullptr && d->cause == Cause::kNoTensorMap;
  };
  CHECK(stops([](TensorMap& m) { m.element_bytes = 0; }));
  CHECK(stops([](TensorMap& m) { m.box[0] = 0xFFFF; }));
  CHECK(stops([](TensorMap& m) { m.step[1] = 0; }));
}

TEST_CASE("Dynamic shared memory is aligned as it is declared, where copies in bulk rely on it") {
  Fixture f("unaligned");
  Tensor t({32, 8}, {32, 8}, 0);
  t.map.address = f.buffer("in", t.words);
  const uint64_t out = f.empty("out", 1024);
  f.next.dynamic_shared_bytes = 1024;
  REQUIRE(is_clean(f.launch("plain", {1}, {32}, t.map.address, out)));  // 16 bytes are promised
  CHECK(f.read<uint32_t>(out, 256) == t.words);
  const LaunchReport r = f.launch("box", {1}, {32}, MapBytes(t.map), out);
  const Diagnostic* d = find(r, "misaligned-access");
  REQUIRE(d != nullptr);
  CHECK(d->cause == Cause::kBulkAlignment);
  CHECK((d->amount == 16 && d->limit == 128));
}

TEST_CASE("What no tensor map may have is refused when it is made") {
  Bulk f;
  const auto refused = [](auto change) {
    Tensor t({44, 64}, {32, 8}, 3);
    t.map.address = 4096;
    REQUIRE(check_tensor_map(t.map).empty());
    change(t.map);
    return check_tensor_map(t.map);
  };
  CHECK(refused([](TensorMap& m) { m.address += 8; }).find("multiple of 16") != std::string::npos);
  CHECK(refused([](TensorMap& m) { m.stride[0] += 4; }).find("globalStrides[0] is 180") !=
        std::string::npos);
  CHECK(refused([](TensorMap& m) { m.box[1] = 257; }).find("257") != std::string::npos);
  CHECK(refused([](TensorMap& m) { m.box[0] = 30; }).find("120") != std::string::npos);
  CHECK(refused([](TensorMap& m) { m.box[0] = 64; }).find("swizzle") != std::string::npos);
  CHECK(refused([](TensorMap& m) { m.step[0] = 0; }).find("elementStrides[0]") !=
        std::string::npos);
  CHECK(refused([](TensorMap& m) { m.dimensions = 6; }).find("1 to 5") != std::string::npos);
}

}  // namespace
}  // namespace warpsim::test
