// tex, tld4, suld, sust, txq and suq, lane by lane.

#include <algorithm>
#include <bit>
#include <cstring>

#include "warpsim/exec/access.h"
#include "warpsim/machine/texture.h"

namespace warpsim::ops {

namespace {

using ptx::Geometry;
using ptx::SurfaceEdge;
using ptx::TexMode;

struct Use {
  Warp& w;
  const TextureInstruction& what;
  uint32_t lane;
};

const TextureInstruction& instruction(const Warp& w, const Op* op) {
  return w.worker->image->textures[op->texture.index];
}

// A use that a GPU would not survive.
void refuse_use(const Use& use, const TextureFault& fault) {
  describe_texture(use.w, use.what.site, use.lane, fault);
  use.w.worker->stop(LaunchStatus::kFault, 700, "a texture or surface was misused");
}

// The object that the lane names, nullptr where it is none that the instruction can use.
const TextureObject* find_object(const Use& use) {
  const uint64_t handle = access::lane_address(use.w, use.what.object, 0, int(use.lane));
  const TextureTable& table = *use.w.worker->launch->textures;
  const TextureObject* object = table.find(handle);
  TextureFault fault;
  if (object == nullptr) {
    fault.cause = Cause::kNoTexture;
    fault.amount = table.was_removed(handle);
  } else if (object->is_surface != use.what.is_surface ||
             (use.what.geometry != Geometry::kNone && !object->fits(use.what.geometry))) {
    fault.cause = Cause::kTextureKind;
    fault.storage = &object->storage;
  } else {
    return object;
  }
  refuse_use(use, fault);
  return nullptr;
}

// Finds the bytes of a texel for the checks and the access; nullptr: the launch has ended.
std::byte* texel_at(const Use& use, uint64_t address, uint32_t bytes, const Pattern** pattern,
                    uint64_t* offset) {
  SiteState& s = use.w.worker->sites[use.what.site];
  if (address - s.base >= s.size_bytes || bytes > s.size_bytes - (address - s.base)) {
    if (!access::find_global(use.w, use.what.site, address, bytes)) {
      describe_global_bounds(use.w, use.what.site, use.lane, address);
      use.w.worker->stop(LaunchStatus::kFault, 700,
                         "the memory of a texture or surface was outside every allocation");
      return nullptr;
    }
  }
  *offset = address - s.base;
  *pattern = &access::lane_pattern(use.w, use.lane, bytes, ptx::Space::kGlobal);
  return s.data + *offset;
}

std::byte* read_texel(const Use& use, uint64_t address, uint32_t bytes) {
  const Pattern* p = nullptr;
  uint64_t offset = 0;
  std::byte* data = texel_at(use, address, bytes, &p, &offset);
  if (data == nullptr) return nullptr;
  SiteState& s = use.w.worker->sites[use.what.site];
  if (use.w.worker->launch->checks.initialised && s.record->initialised != nullptr &&
      !access::all_initialised(*s.record, offset, *p))
    access::report_uninitialised(use.w, use.what.site, *s.record, offset, *p);
  if (s.shadow != nullptr) s.shadow->load(use.w, use.what.site, offset, *p);
  return data;
}

bool has_layer(Geometry g) {
  return g == Geometry::k1dLayered || g == Geometry::k2dLayered || g == Geometry::kCubeLayered;
}

TextureCoordinates coordinates_of(const Use& use) {
  TextureCoordinates c;
  c.is_integer = use.what.has_elements;
  size_t first = 0;
  if (has_layer(use.what.geometry)) c.layer = row<uint32_t>(use.w, use.what.at[first++])[use.lane];
  for (size_t axis = 0; axis < 3 && first + axis < 4; ++axis) {
    const uint32_t at = use.what.at[first + axis];
    if (at == 0) continue;
    const uint32_t bits = row<uint32_t>(use.w, at)[use.lane];
    c.at[axis] = std::bit_cast<float>(bits);
    c.element[axis] = int32_t(bits);
  }
  return c;
}

using Channels = std::array<uint32_t, 4>;

// False: the launch has ended.
bool channels_of(const Use& use, const TextureObject& t, const Footprint::Texel& texel,
                 Channels* channels) {
  if (texel.is_border) {
    *channels = border_channels(t);
    return true;
  }
  const std::byte* data =
      read_texel(use, t.storage.address + texel.offset, t.storage.format.bytes());
  if (data == nullptr) return false;
  *channels = texel_channels(t, data);
  return true;
}

// The weighted sum, rounded once.
bool filtered(const Use& use, const TextureObject& t, const Footprint& f, Channels* result) {
  std::array<double, 4> sums{};
  for (size_t i = 0; i < f.count; ++i) {
    if (f.texels[i].weight == 0) continue;
    Channels channels{};
    if (!channels_of(use, t, f.texels[i], &channels)) return false;
    for (size_t c = 0; c < 4; ++c)
      sums[c] += double{f.texels[i].weight} * double{std::bit_cast<float>(channels[c])};
  }
  for (size_t c = 0; c < 4; ++c) (*result)[c] = std::bit_cast<uint32_t>(float(sums[c]));
  return true;
}

bool fetch(const Use& use, const TextureObject& t, Channels* result) {
  const TextureCoordinates c = coordinates_of(use);
  const bool gathers = use.what.mode >= TexMode::kGatherR;
  const Footprint f =
      gathers ? gathered(t, use.what.geometry, c) : footprint(t, use.what.geometry, c);
  if (f.is_outside) {
    if (use.w.worker->launch->checks.bounds) {
      TextureFault fault;
      fault.cause = Cause::kOutsideTexture;
      fault.at = f.outside_at, fault.extent = t.storage.width, fault.storage = &t.storage;
      describe_texture(use.w, use.what.site, use.lane, fault);
    }
    return true;
  }
  if (gathers) {
    const size_t component = size_t(use.what.mode) - size_t(TexMode::kGatherR);
    for (size_t i = 0; i < f.count; ++i) {
      Channels channels{};
      if (!channels_of(use, t, f.texels[i], &channels)) return false;
      (*result)[i] = channels[component];
    }
    return true;
  }
  if (f.count == 1) return channels_of(use, t, f.texels[0], result);
  return filtered(use, t, f, result);
}

// Where a surface is accessed. The first coordinate counts bytes.
struct Spot {
  uint64_t address = 0;
  bool is_nowhere = false;  // outside of the surface, where .zero has nothing to do
};

// False: the launch has ended.
bool find_spot(const Use& use, const TexelStorage& s, Spot* spot) {
  const uint32_t bytes = uint32_t{use.what.element_bytes} * use.what.elements;
  const TextureCoordinates c = coordinates_of(use);
  const Geometry g = use.what.geometry;
  int64_t at[3] = {c.element[0], 0, 0};  // bytes, row, plane
  if (g == Geometry::k2d || g == Geometry::k3d || g == Geometry::k2dLayered) at[1] = c.element[1];
  if (g == Geometry::k3d) at[2] = c.element[2];
  if (has_layer(g)) at[2] = int32_t(c.layer);
  const int64_t extents[3] = {int64_t(s.width * s.format.bytes()),
                              int64_t(std::max<uint64_t>(s.height, 1)),
                              int64_t(std::max<uint64_t>(s.depth, 1))};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    const int64_t last = axis == 0 ? extents[0] - bytes : extents[axis] - 1;
    if (at[axis] >= 0 && at[axis] <= last) continue;
    if (use.what.edge == SurfaceEdge::kZero) {
      spot->is_nowhere = true;
      return true;
    }
    if (use.what.edge == SurfaceEdge::kClamp) {
      at[axis] = at[axis] < 0 || last < 0 ? 0 : last;
      continue;
    }
    TextureFault fault;
    fault.cause = Cause::kOutsideSurface;
    fault.at = at[axis], fault.extent = uint64_t(extents[axis]), fault.storage = &s;
    fault.amount = axis == 2 && has_layer(g) ? 3 : axis;
    refuse_use(use, fault);
    return false;
  }
  spot->address = s.address + uint64_t(at[2]) * s.plane_bytes() + uint64_t(at[1]) * s.row_bytes +
                  uint64_t(at[0]);
  if (uint64_t(at[0]) % bytes == 0) return true;
  describe_misaligned(use.w, use.what.site, use.lane, spot->address);
  use.w.worker->stop(LaunchStatus::kFault, 716, "an access to a surface was misaligned");
  return false;
}

// The lane's elements, one after the other.
void take_values(const Use& use, std::byte* values) {
  const TextureInstruction& t = use.what;
  for (uint32_t i = 0; i < t.elements; ++i) {
    const void* from = t.element_bytes == 8
                           ? static_cast<const void*>(row<uint64_t>(use.w, t.value[i]) + use.lane)
                           : row<uint32_t>(use.w, t.value[i]) + use.lane;
    std::memcpy(values + i * t.element_bytes, from, t.element_bytes);
  }
}

void give_values(const Use& use, const std::byte* values) {
  const TextureInstruction& t = use.what;
  for (uint32_t i = 0; i < t.elements; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, values + i * t.element_bytes, t.element_bytes);
    if (t.element_bytes == 8)
      row<uint64_t>(use.w, t.value[i])[use.lane] = value;
    else
      row<uint32_t>(use.w, t.value[i])[use.lane] = uint32_t(value);
  }
}

void write_surface(const Use& use, uint64_t address, uint32_t bytes) {
  const Pattern* p = nullptr;
  uint64_t offset = 0;
  std::byte* data = texel_at(use, address, bytes, &p, &offset);
  if (data == nullptr) return;
  SiteState& s = use.w.worker->sites[use.what.site];
  alignas(16) std::byte values[16 * kLanes];
  take_values(use, values + 16 * use.lane);
  if (s.shadow != nullptr && !s.shadow->store(use.w, use.what.site, offset, *p))
    s.shadow->examine_store(use.w, use.what.site, offset, *p, values);
  if (s.record->initialised != nullptr) access::mark_initialised(*s.record, offset, *p);
  std::memcpy(data, values + 16 * use.lane, bytes);
}

// body(use, object) for each lane, until the launch has ended.
template <class Body>
const Op* each_lane(Warp& w, const Op* op, Body body) {
  const TextureInstruction& what = instruction(w, op);
  for_each_lane(w.mask, [&](int lane) {
    if (w.worker->launch->stop) return;
    const Use use{w, what, uint32_t(lane)};
    if (const TextureObject* object = find_object(use)) body(use, *object);
  });
  return op + 1;
}

}  // namespace

const Op* fetch_texture(Warp& w, const Op* op) {
  return each_lane(w, op, [](const Use& use, const TextureObject& t) {
    Channels channels{};
    if (!fetch(use, t, &channels)) return;
    for (size_t i = 0; i < 4; ++i) row<uint32_t>(use.w, use.what.value[i])[use.lane] = channels[i];
    if (use.what.has_resident) *row<uint32_t>(use.w, use.what.resident) |= 1u << use.lane;
  });
}

const Op* load_surface(Warp& w, const Op* op) {
  return each_lane(w, op, [](const Use& use, const TextureObject& t) {
    const uint32_t bytes = uint32_t{use.what.element_bytes} * use.what.elements;
    Spot spot;
    if (!find_spot(use, t.storage, &spot)) return;
    constexpr std::byte kNothing[16]{};
    const std::byte* data = spot.is_nowhere ? kNothing : read_texel(use, spot.address, bytes);
    if (data != nullptr) give_values(use, data);
  });
}

const Op* store_surface(Warp& w, const Op* op) {
  return each_lane(w, op, [](const Use& use, const TextureObject& t) {
    Spot spot;
    if (!find_spot(use, t.storage, &spot) || spot.is_nowhere) return;
    write_surface(use, spot.address, uint32_t{use.what.element_bytes} * use.what.elements);
  });
}

const Op* query_texture(Warp& w, const Op* op) {
  return each_lane(w, op, [](const Use& use, const TextureObject& t) {
    const TexelStorage& s = t.storage;
    const uint64_t layers = !s.is_layered ? 0 : s.is_cube ? s.depth / 6 : s.depth;
    uint64_t answer = 1;  // levels, samples
    if (use.what.query == ptx::TexQuery::kWidth) answer = s.width;
    if (use.what.query == ptx::TexQuery::kHeight) answer = s.height;
    if (use.what.query == ptx::TexQuery::kDepth) answer = s.is_layered ? 0 : s.depth;
    if (use.what.query == ptx::TexQuery::kLayers) answer = layers;
    row<uint32_t>(use.w, use.what.value[0])[use.lane] = uint32_t(answer);
  });
}

}  // namespace warpsim::ops
