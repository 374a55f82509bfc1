#include "warpsim/machine/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "warpsim/half.h"

namespace warpsim {

namespace {

using Edge = TextureObject::Edge;
using ptx::Geometry;

constexpr double kFractions = 256;  // of a linear filter's position between two texels

// Far enough outside every array.
double within_integers(double x) {
  constexpr double kFar = 1e9;
  return x != x ? 0 : std::clamp(x, -kFar, kFar);
}

// One axis of a fetch: a texel, or two with their shares.
struct Taps {
  std::array<int64_t, 2> index{};
  std::array<double, 2> share{};
  int count = 0;
};

Edge edge_of(const TextureObject& t, size_t axis) {
  const Edge edge = t.edge[axis];
  const bool wraps = edge == Edge::kWrap || edge == Edge::kMirror;
  return wraps && !t.is_normalised ? Edge::kClamp : edge;
}

// The coordinate in texels. What wraps or is mirrored does so before it is scaled.
double in_texels(const TextureObject& t, size_t axis, float coordinate, uint64_t extent) {
  double x = double{coordinate};
  if (!t.is_normalised) return within_integers(x);
  if (!std::isfinite(x)) x = 0;
  const double whole = std::floor(x);
  if (edge_of(t, axis) == Edge::kWrap) x -= whole;
  if (edge_of(t, axis) == Edge::kMirror) {
    x -= whole;
    if (std::fmod(whole, 2) != 0) x = 1 - x;
  }
  return within_integers(x * double(extent));
}

// The texel that an index outside of [0, extent) means; -1: the border.
int64_t wrapped(Edge edge, int64_t index, int64_t extent) {
  if (index >= 0 && index < extent) return index;
  auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (edge) {
    case Edge::kWrap:
      return modulo(index, extent);
    case Edge::kMirror: {
      const int64_t m = modulo(index, 2 * extent);
      return m < extent ? m : 2 * extent - 1 - m;
    }
    case Edge::kClamp:
      return std::clamp<int64_t>(index, 0, extent - 1);
    case Edge::kBorder:
      break;
  }
  return -1;
}

Taps taps_of(const TextureObject& t, size_t axis, const TextureCoordinates& c, uint64_t extent,
             bool two) {
  Taps taps;
  if (c.is_integer) {
    taps.count = 1;
    taps.index[0] = c.element[axis];
    taps.share[0] = 1;
  } else if (!two) {
    taps.count = 1;
    taps.index[0] = int64_t(std::floor(in_texels(t, axis, c.at[axis], extent)));
    taps.share[0] = 1;
  } else {
    const double fixed =
        std::floor((in_texels(t, axis, c.at[axis], extent) - 0.5) * kFractions + 0.5);
    const double first = std::floor(fixed / kFractions);
    const double fraction = (fixed - first * kFractions) / kFractions;
    taps.count = 2;
    taps.index = {int64_t(first), int64_t(first) + 1};
    taps.share = {1 - fraction, fraction};
  }
  for (int i = 0; i < taps.count; ++i)
    taps.index[size_t(i)] = wrapped(edge_of(t, axis), taps.index[size_t(i)], int64_t(extent));
  return taps;
}

// The face of a cube that a direction meets, and where.
struct OnFace {
  uint32_t face;
  float s, t;
};
OnFace on_face(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  uint32_t face;
  float m, s, t;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  }
  if (m == 0) return {face, 0.5f, 0.5f};
  return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

bool is_layered(Geometry g) {
  return g == Geometry::k1dLayered || g == Geometry::k2dLayered || g == Geometry::kCubeLayered;
}

Footprint of_linear_memory(const TextureObject& t, const TextureCoordinates& c) {
  const TexelStorage& s = t.storage;
  Footprint f;
  f.outside_at =
      c.is_integer ? c.element[0] : int64_t(within_integers(std::floor(double{c.at[0]})));
  f.is_outside = f.outside_at < 0 || uint64_t(f.outside_at) >= s.width;
  if (f.is_outside) return f;
  f.count = 1;
  f.texels[0] = {uint64_t(f.outside_at) * s.format.bytes(), false, 1};
  return f;
}

// `linear`: two texels along each axis.
Footprint find_footprint(TextureObject t, Geometry geometry, TextureCoordinates c, bool linear) {
  const TexelStorage& s = t.storage;
  if (s.kind == TexelStorage::Kind::kLinear) return of_linear_memory(t, c);
  uint64_t plane = 0;
  if (is_layered(geometry)) plane = c.layer;
  if (geometry == Geometry::kCube || geometry == Geometry::kCubeLayered) {
    const OnFace met = on_face(c.at[0], c.at[1], c.at[2]);
    plane = plane * 6 + met.face;
    c.at = {met.s, met.t, 0};
    t.is_normalised = true;
    t.edge.fill(Edge::kClamp);
  }
  plane = std::min<uint64_t>(plane, s.depth != 0 ? s.depth - 1 : 0);
  const bool is_flat = geometry == Geometry::k1d || geometry == Geometry::k1dLayered;
  const bool is_deep = geometry == Geometry::k3d;
  const Taps none{{0, 0}, {1, 0}, 1};
  const Taps x = taps_of(t, 0, c, s.width, linear);
  const Taps y = is_flat ? none : taps_of(t, 1, c, s.height, linear);
  const Taps z = is_deep ? taps_of(t, 2, c, s.depth, linear) : none;
  Footprint f;
  for (size_t k = 0; k < size_t(z.count); ++k) {
    for (size_t j = 0; j < size_t(y.count); ++j) {
      for (size_t i = 0; i < size_t(x.count); ++i) {
        Footprint::Texel& texel = f.texels[f.count++];
        texel.weight = float(x.share[i] * y.share[j] * z.share[k]);
        texel.is_border = x.index[i] < 0 || y.index[j] < 0 || z.index[k] < 0;
        if (texel.is_border) continue;
        const uint64_t at = is_deep ? uint64_t(z.index[k]) : plane;
        texel.offset = at * s.plane_bytes() + uint64_t(y.index[j]) * s.row_bytes +
                       uint64_t(x.index[i]) * s.format.bytes();
      }
    }
  }
  return f;
}

float from_srgb(float c) {
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

}  // namespace

bool TextureObject::fits(ptx::Geometry g) const {
  using G = ptx::Geometry;
  if (storage.kind == TexelStorage::Kind::kLinear) return g == G::k1d;
  if (storage.is_cube && is_surface) return g == G::k2dLayered;  // of its faces
  if (storage.is_cube)
    return g == G::kCubeLayered || g == G::k2dLayered || (g == G::kCube && storage.depth == 6);
  if (storage.is_layered) return g == (storage.height == 0 ? G::k1dLayered : G::k2dLayered);
  if (storage.depth != 0) return g == G::k3d;
  return g == (storage.height == 0 ? G::k1d : G::k2d);
}

Footprint footprint(const TextureObject& t, ptx::Geometry geometry, const TextureCoordinates& c) {
  return find_footprint(t, geometry, c, t.is_linear && !c.is_integer);
}

Footprint gathered(const TextureObject& t, ptx::Geometry geometry, const TextureCoordinates& c) {
  Footprint f = find_footprint(t, geometry, c, true);
  if (f.count != 4) return f;
  // From the lower left corner on, against the clock.
  f.texels = {f.texels[2], f.texels[3], f.texels[1], f.texels[0]};
  return f;
}

std::array<uint32_t, 4> texel_channels(const TextureObject& t, const std::byte* texel) {
  const TexelFormat& format = t.storage.format;
  std::array<uint32_t, 4> channels{};
  for (size_t i = 0; i < format.channels; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, texel + i * format.channel_bytes, format.channel_bytes);
    const int width = 8 * format.channel_bytes;
    const int32_t number = int32_t(bits << (32 - width)) >> (32 - width);
    if (format.kind == TexelFormat::Kind::kFloat) {
      channels[i] = format.channel_bytes == 2
                        ? std::bit_cast<uint32_t>(float(math::half_to_float(uint16_t(bits))))
                        : bits;
    } else if (!t.is_read_as_float) {
      channels[i] = format.kind == TexelFormat::Kind::kSigned ? uint32_t(number) : bits;
    } else {
      const bool has_sign = format.kind == TexelFormat::Kind::kSigned;
      const double most = std::ldexp(1.0, has_sign ? width - 1 : width) - 1;
      float value = has_sign ? float(std::max(number / most, -1.0)) : float(bits / most);
      if (t.is_srgb && i < 3) value = from_srgb(value);
      channels[i] = std::bit_cast<uint32_t>(value);
    }
  }
  return channels;
}

std::array<uint32_t, 4> border_channels(const TextureObject& t) {
  std::array<uint32_t, 4> channels{};
  for (size_t i = 0; i < t.storage.format.channels; ++i) {
    channels[i] = t.gives_floats() ? std::bit_cast<uint32_t>(t.border[i])
                                   : uint32_t(int64_t(within_integers(t.border[i])));
  }
  return channels;
}

}  // namespace warpsim
