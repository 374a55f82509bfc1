// Textures and surfaces: which texels a fetch takes, with which weights, and what is found when
// they are misused. The expected values follow the formulas of the CUDA C++ Programming Guide.

#include "warpsim/machine/texture.h"

#include <bit>
#include <cmath>

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

using Edge = TextureObject::Edge;

TexelFormat words() {
  return {1, 4, TexelFormat::Kind::kFloat};
}

struct Textures : Fixture {
  Textures() : Fixture("texture") {}

  // An array of width x height x depth, each texel a number of its own; 0: no such dimension.
  TextureObject array(uint64_t width, uint64_t height = 0, uint64_t depth = 0) {
    TextureObject t;
    t.storage.format = words();
    t.storage.width = width, t.storage.height = height, t.storage.depth = depth;
    t.storage.row_bytes = 4 * width;
    std::vector<float> texels(t.storage.bytes() / 4);
    for (size_t i = 0; i < texels.size(); ++i) texels[i] = value(i);
    t.storage.address = buffer("array", texels);
    t.edge.fill(Edge::kClamp);
    return t;
  }
  static float value(uint64_t index) { return float(index * index % 61) + 0.5f; }

  // out[i] of a fetch with the i-th coordinates.
  template <class... Lists>
  std::vector<float> fetch(const std::string& kernel, const TextureObject& t, size_t count,
                           const Lists&... lists) {
    const uint64_t out = empty("out", count * 4);
    report =
        launch(kernel, {1}, {uint32_t(count)}, sim.textures().add(t), buffer("c", lists)..., out);
    if (report.status != LaunchStatus::kOk) return {};
    return read<float>(out, count);
  }
  LaunchReport report;
};

TEST_CASE("A fetch without a filter takes the texel that holds the coordinate") {
  Textures f;
  const TextureObject t = f.array(5, 3);
  const std::vector<float> x{0, 0.99f, 1, 4.5f, 2.5f}, y{0, 0, 1.5f, 2.999f, 1};
  const std::vector<float> got = f.fetch("fetch_2d", t, 5, x, y);
  REQUIRE(is_clean(f.report));
  for (size_t i = 0; i < x.size(); ++i)
    CHECK(got[i] == Textures::value(uint64_t(x[i]) + 5 * uint64_t(y[i])));
}

TEST_CASE("Outside of an array the address mode decides") {
  struct Row {
    Edge edge;
    bool normalised;
    std::vector<float> x;
    std::vector<int> texel;  // -1: the border
  };
  const std::vector<float> far{-0.1f, -1.2f, 4.1f, 9.7f}, share{-0.125f, -1.375f, 1.125f, 2.375f};
  for (const Row& row :
       {Row{Edge::kClamp, false, far, {0, 0, 3, 3}},
        Row{Edge::kWrap, false, far, {0, 0, 3, 3}},  // as clamp
        Row{Edge::kBorder, false, far, {-1, -1, -1, -1}},
        Row{Edge::kClamp, true, share, {0, 0, 3, 3}}, Row{Edge::kWrap, true, share, {3, 2, 0, 1}},
        Row{Edge::kMirror, true, share, {0, 2, 3, 1}},
        Row{Edge::kBorder, true, share, {-1, -1, -1, -1}}}) {
    CAPTURE(int(row.edge), row.normalised);
    Textures f;
    TextureObject t = f.array(4);
    t.edge.fill(row.edge);
    t.is_normalised = row.normalised;
    t.border = {-7, 0, 0, 0};
    const std::vector<float> got = f.fetch("fetch_1d", t, 4, row.x);
    REQUIRE(is_clean(f.report));
    for (size_t i = 0; i < 4; ++i)
      CHECK(got[i] == (row.texel[i] < 0 ? -7 : Textures::value(uint64_t(row.texel[i]))));
  }
}

// The guide's formula along one axis: the lower texel and the fraction of the upper one, in 256ths.
struct Between {
  int lower;
  double fraction;
  explicit Between(float x)
      : lower(int(std::floor(x - 0.5))),
        fraction(std::round((x - 0.5 - std::floor(x - 0.5)) * 256) / 256) {}
};

TEST_CASE("A linear filter weighs two, four or eight texels by fractions of eight bits") {
  Textures f;
  TextureObject t = f.array(6, 5, 4);
  t.is_linear = true;
  const std::vector<float> x{2.5f, 1.75f, 3.1f, 4.2f}, y{1.5f, 2.25f, 3.3f, 1.9f},
      z{1.5f, 2.5f, 1.7f, 2.2f};
  const std::vector<float> got = f.fetch("fetch_3d", t, 4, x, y, z);
  REQUIRE(is_clean(f.report));
  for (size_t i = 0; i < 4; ++i) {
    const Between bx(x[i]), by(y[i]), bz(z[i]);
    double sum = 0;
    for (int c = 0; c < 8; ++c) {
      const int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
      sum +=
          (dx ? bx.fraction : 1 - bx.fraction) * (dy ? by.fraction : 1 - by.fraction) *
          (dz ? bz.fraction : 1 - bz.fraction) *
          Textures::value(uint64_t((bx.lower + dx) + 6 * ((by.lower + dy) + 5 * (bz.lower + dz))));
    }
    CHECK(got[i] == float(sum));
  }
  // In the middle of a texel, that texel; at a border, half of each.
  TextureObject line = f.array(4);
  line.is_linear = true;
  const std::vector<float> middle = f.fetch("fetch_1d", line, 2, std::vector<float>{1.5f, 2.0f});
  CHECK(middle[0] == Textures::value(1));
  CHECK(middle[1] == (Textures::value(1) + Textures::value(2)) / 2);
}

TEST_CASE("A filter over the edge wraps with its address mode") {
  Textures f;
  TextureObject t = f.array(4);
  t.is_linear = t.is_normalised = true;
  t.edge.fill(Edge::kWrap);
  CHECK(f.fetch("fetch_1d", t, 1, std::vector<float>{0.0f})[0] ==
        (Textures::value(0) + Textures::value(3)) / 2);
  t.edge.fill(Edge::kMirror);
  CHECK(f.fetch("fetch_1d", t, 1, std::vector<float>{0.0f})[0] == Textures::value(0));
  t.edge.fill(Edge::kBorder);
  t.border = {10, 0, 0, 0};
  CHECK(f.fetch("fetch_1d", t, 1, std::vector<float>{0.0f})[0] == (Textures::value(0) + 10) / 2);
}

TEST_CASE("Layers and the faces of a cube are chosen, and not filtered between") {
  Textures f;
  TextureObject layered = f.array(2, 2, 3);
  layered.storage.is_layered = true;
  const std::vector<float> got = f.fetch("fetch_layer", layered, 3, std::vector<float>{0, 1, 1},
                                         std::vector<float>{0, 0, 1}, std::vector<int>{0, 2, 9});
  REQUIRE(is_clean(f.report));
  CHECK(got[0] == Textures::value(0));
  CHECK(got[1] == Textures::value(9));
  CHECK(got[2] == Textures::value(11));  // clamped to the last layer
  TextureObject cube = f.array(1, 1, 6);
  cube.storage.is_cube = true;
  const std::vector<float> faces =
      f.fetch("fetch_cube", cube, 6, std::vector<float>{2, -2, 1, 1, 0, 0.5f},
              std::vector<float>{1, 1, 3, -3, 0, 0.5f}, std::vector<float>{0, 0, 0, 0, 1, -1});
  REQUIRE(is_clean(f.report));
  for (uint64_t i = 0; i < 6; ++i) CHECK(faces[i] == Textures::value(i));
}

TEST_CASE("Texels of other formats become what the read mode says") {
  Textures f;
  TextureObject t;
  t.storage.format = {4, 1, TexelFormat::Kind::kSigned};
  t.storage.width = 2, t.storage.height = 1, t.storage.row_bytes = 8;
  t.storage.address = f.buffer("texels", std::vector<int8_t>{1, -1, 127, -128, 5, 6, 7, 8});
  t.edge.fill(Edge::kClamp);
  const uint64_t out = f.empty("out", 16);
  const auto c = [&](float x) { return f.buffer("c", std::vector<float>{x}); };
  f.report = f.launch("fetch_bytes", {1}, {1}, f.sim.textures().add(t), c(0), c(0), out);
  REQUIRE(is_clean(f.report));
  CHECK(f.read<int>(out, 4) == std::vector<int>{1, -1, 127, -128});
  t.is_read_as_float = true;
  CHECK(f.fetch("fetch_2d", t, 1, std::vector<float>{0.0f}, std::vector<float>{0.0f})[0] ==
        1 / 127.0f);
  const std::byte lowest[4]{std::byte{0x80}, std::byte{0x81}, {}, {}};
  CHECK(std::bit_cast<float>(texel_channels(t, lowest)[0]) == -1.0f);
  CHECK(std::bit_cast<float>(texel_channels(t, lowest)[1]) == -1.0f);
  t.storage.format = {2, 2, TexelFormat::Kind::kFloat};
  const uint16_t halves[2] = {0x3C00, 0xC100};
  const auto channels = texel_channels(t, reinterpret_cast<const std::byte*>(halves));
  CHECK(std::bit_cast<float>(channels[0]) == 1.0f);
  CHECK(std::bit_cast<float>(channels[1]) == -2.5f);
  CHECK(channels[2] == 0);
}

TEST_CASE("A gather gives the four texels of the filter, from the lower left one on") {
  Textures f;
  const TextureObject t = f.array(4, 4);
  const uint64_t out = f.empty("out", 16);
  f.report =
      f.launch("gather", {1}, {1}, f.sim.textures().add(t), f.buffer("x", std::vector<float>{2}),
               f.buffer("y", std::vector<float>{3}), out);
  REQUIRE(is_clean(f.report));
  const auto at = [](uint64_t x, uint64_t y) { return Textures::value(4 * y + x); };
  CHECK(f.read<float>(out, 4) == std::vector<float>{at(1, 3), at(2, 3), at(2, 2), at(1, 2)});
  const uint64_t sizes = f.empty("sizes", 8);
  f.report = f.launch("sizes", {1}, {1}, f.sim.textures().add(f.array(7, 3)), sizes);
  REQUIRE(is_clean(f.report));
  CHECK(f.read<int>(sizes, 2) == std::vector<int>{7, 3});
}

TEST_CASE("Linear memory has elements, and a fetch past its end is a finding and gives 0") {
  Textures f;
  TextureObject t = f.array(8);
  t.storage.kind = TexelStorage::Kind::kLinear;
  const std::vector<float> inside = f.fetch("fetch_linear", t, 2, std::vector<int>{0, 7});
  REQUIRE(is_clean(f.report));
  CHECK(inside == std::vector<float>{Textures::value(0), Textures::value(7)});
  for (int at : {8, -1}) {
    const std::vector<float> outside = f.fetch("fetch_linear", t, 1, std::vector<int>{at});
    const Diagnostic* d = find(f.report, "out-of-bounds-global");
    REQUIRE(d != nullptr);
    CHECK(d->cause == Cause::kOutsideTexture);
    CHECK(d->severity == Severity::kWarning);
    CHECK(d->line == f.line("linear"));
    CHECK(d->message == "fetches element " + std::to_string(at) +
                            " of a texture of linear memory, array, which has 8: the value is 0");
    CHECK(outside == std::vector<float>{0});
  }
}

struct Surfaces : Textures {
  explicit Surfaces(uint64_t width, uint64_t height, bool is_written = true) {
    object = array(width, height);
    object.is_surface = true;
    if (!is_written)
      REQUIRE(sim.memory().mark_uninitialised(object.storage.address, object.storage.bytes()));
    handle = sim.textures().add(object);
  }
  TextureObject object;
  uint64_t handle = 0;
};

TEST_CASE("What a kernel writes to a surface the next one fetches") {
  Surfaces f(5, 3, false);
  REQUIRE(is_clean(f.launch("fill_surface", {1}, {3}, f.handle, 5, 3)));
  TextureObject t = f.object;
  t.is_surface = false;
  CHECK(f.fetch("fetch_2d", t, 2, std::vector<float>{4, 0}, std::vector<float>{2, 1}) ==
        std::vector<float>{204, 100});
  CHECK(is_clean(f.report));
}

TEST_CASE("Texels that nobody has written are found, where a filter weighs them") {
  Surfaces f(4, 4, false);
  REQUIRE(is_clean(f.launch("fill_surface", {1}, {1}, f.handle, 2, 4)));
  TextureObject t = f.object;
  t.is_surface = false, t.is_linear = true;
  // In the middle of a texel its neighbours do not count.
  f.fetch("fetch_2d", t, 1, std::vector<float>{1.5f}, std::vector<float>{1.5f});
  CHECK(is_clean(f.report));
  f.fetch("fetch_2d", t, 1, std::vector<float>{1.75f}, std::vector<float>{1.5f});
  const Diagnostic* d = find(f.report, "uninitialised-global");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("fetch"));
}

TEST_CASE("A surface access outside traps, is clamped or gives 0, as its mode says") {
  Surfaces f(4, 3);
  const uint64_t clamped = f.empty("clamped", 12), zero = f.empty("zero", 12);
  REQUIRE(is_clean(f.launch("edges", {1}, {3}, f.handle, f.buffer("x", std::vector<int>{-2, 9, 1}),
                            f.buffer("y", std::vector<int>{0, 2, 5}), clamped, zero)));
  CHECK(f.read<float>(clamped, 3) ==
        std::vector<float>{Textures::value(0), Textures::value(11), Textures::value(9)});
  CHECK(f.read<float>(zero, 3) == std::vector<float>{0, 0, 0});
  struct Row {
    int width, height;
    const char* words;
  };
  for (const Row& row : {Row{5, 3, "at byte 16 of a row, where it has 16 bytes a row"},
                         Row{4, 4, "at row 3, where it has 3 rows"}}) {
    Surfaces s(4, 3);
    const LaunchReport r = s.launch("fill_surface", {1}, {1}, s.handle, row.width, row.height);
    CHECK(r.status == LaunchStatus::kFault);
    const Diagnostic* d = find(r, "out-of-bounds-global");
    REQUIRE(d != nullptr);
    CHECK(d->cause == Cause::kOutsideSurface);
    CHECK(d->line == s.line("store"));
    CHECK(d->message == "writes 4 bytes of a surface, array, " + std::string(row.words));
  }
}

TEST_CASE("Surfaces race as other memory does, and take single bytes") {
  Surfaces f(32, 2);
  const LaunchReport r = f.launch("race", {1}, {32}, f.handle, f.empty("out", 128));
  const Diagnostic* d = find(r, "race-global");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("read"));
  REQUIRE(d->other);
  CHECK(d->other->line == f.line("write"));
  REQUIRE(is_clean(f.launch("bytes", {1}, {8}, f.handle)));
  const std::vector<uint8_t> row = f.read<uint8_t>(f.object.storage.address, 32);
  CHECK(std::vector<uint8_t>(row.begin() + 28, row.end()) == std::vector<uint8_t>{1, 2, 3, 7});
  CHECK(f.read<uint8_t>(f.object.storage.address + 128, 6)[5] == 200);
  REQUIRE(is_clean(f.launch("halves", {1}, {20}, f.handle)));
  CHECK(f.read<int16_t>(f.object.storage.address, 20)[19] == 57);
  const LaunchReport crooked = f.launch("crooked", {1}, {1}, f.handle);
  REQUIRE(find(crooked, "misaligned-access") != nullptr);
  CHECK(find(crooked, "misaligned-access")->line == f.line("crooked"));
}

TEST_CASE("A handle that is no object, none any more, or one of another kind, ends the launch") {
  Textures f;
  const std::vector<float> at{0};
  const uint64_t c = f.buffer("c", at), out = f.empty("out", 4);
  const uint64_t gone = f.sim.textures().add(f.array(2, 2));
  REQUIRE(f.sim.textures().remove(gone));
  struct Row {
    uint64_t handle;
    Cause cause;
    const char* words;
  };
  for (const Row& row :
       {Row{99, Cause::kNoTexture,
            "uses a texture or surface object that is none: was it created?"},
        Row{gone, Cause::kNoTexture, "uses a texture or surface object that has been destroyed"},
        Row{f.sim.textures().add(f.array(2, 2, 2)), Cause::kTextureKind,
            "uses an object of array with a function for textures or surfaces of another kind"}}) {
    const LaunchReport r = f.launch("fetch_2d", {1}, {1}, row.handle, c, c, out);
    CHECK(r.status == LaunchStatus::kFault);
    const Diagnostic* d = find(r, "out-of-bounds-global");
    REQUIRE(d != nullptr);
    CHECK(d->cause == row.cause);
    CHECK(d->line == f.line("fetch"));
    CHECK(d->message == row.words);
  }
}

}  // namespace
}  // namespace warpsim::test
