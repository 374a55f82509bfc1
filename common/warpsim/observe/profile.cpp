#include "warpsim/observe/profile.h"

#include <algorithm>

#include "warpsim/machine/worker.h"

namespace warpsim {

Tracer::Tracer(const Worker& worker) : worker_(worker) {
  for (const MemorySite& site : worker.image->sites) {
    SiteProfile profile;
    profile.is_store = site.is_store;
    profile.instruction = int32_t(site.instruction);
    profile_.sites.push_back(profile);
  }
  shared_.resize(profile_.sites.size());
}

void Tracer::begin_block(uint64_t block) {
  BlockTrace trace;
  trace.block = block;
  trace.warps.resize(worker_.warps.size());
  for (auto& sites : trace.warps) sites.resize(profile_.sites.size());
  profile_.blocks.push_back(std::move(trace));
}

void Tracer::global(uint32_t site, uint32_t warp, const WarpAccess& access, uint64_t moved_bytes) {
  std::array<uint64_t, 2 * kLanes> lines;
  size_t count = 0;
  auto touch = [&](uint64_t address) {
    const uint64_t line = address / 128 << 4, sector = 1u << (address / 32 % 4);
    for (size_t i = 0; i < count; ++i) {
      if ((lines[i] & ~uint64_t{15}) != line) continue;
      lines[i] |= sector;
      return;
    }
    lines[count++] = line | sector;
  };
  for_each_lane(access.mask, [&](int lane) {
    touch(access.address[size_t(lane)]);
    touch(access.address[size_t(lane)] + access.bytes - 1);
  });
  RequestTrace& trace = profile_.blocks.back().warps[warp][site];
  trace.lines.insert(trace.lines.end(), lines.begin(), lines.begin() + count);
  trace.ends.push_back(uint32_t(trace.lines.size()));
  ++profile_.sites[site].requests;
  profile_.sites[site].moved_bytes += moved_bytes;
}

void Tracer::shared(uint32_t site, const Pattern& pattern) {
  const MemorySite& memory = worker_.image->sites[site];
  const std::array<uint32_t, 3> widths = {memory.bytes(), 8, 16};
  std::array<uint64_t, 4>& sums = shared_[site];
  ++sums[0];
  for (size_t i = 0; i < 3; ++i)
    sums[i + 1] += pattern.banks(bank_kind(memory.is_store, widths[i])).wavefronts;
}

void Tracer::matrices(uint32_t site, uint64_t wavefronts) {
  ++shared_[site][0];
  for (size_t i = 1; i <= 3; ++i) shared_[site][i] += wavefronts;
}

LaunchProfile Tracer::finish(uint32_t function) {
  const Image& image = *worker_.image;
  profile_.function = &image.module.functions[function];
  profile_.executions.assign(profile_.function->code.size(), 0);
  const double warps = double(worker_.warps.size()) * double(profile_.blocks.size());
  for (size_t b = 0; b < image.blocks.size(); ++b) {
    const BasicBlock& block = image.blocks[b];
    if (block.function != function) continue;
    for (uint32_t i = block.first; i < block.end; ++i)
      profile_.executions[i] += double(worker_.block_entries[2 * b]) / warps;
  }
  for (size_t i = 0; i < profile_.sites.size(); ++i) {
    SiteProfile& site = profile_.sites[i];
    if (image.sites[i].function != function) site.instruction = -1;
    if (shared_[i][0] == 0) continue;
    site.requests += shared_[i][0];
    for (size_t w = 0; w < 3; ++w)
      site.wavefronts[w] = double(shared_[i][w + 1]) / double(shared_[i][0]);
  }
  return std::move(profile_);
}

}  // namespace warpsim
