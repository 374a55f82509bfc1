// Copies in bulk between global and shared memory, of plain bytes and of boxes of tensors.
//
// A load is carried out when somebody waits at its mbarrier for a phase that is not complete yet, a
// store when its group is waited for or the block ends: as late as they may be, so that who does
// not wait finds what was there before.

#include <algorithm>
#include <cstring>

#include "warpsim/exec/access.h"
#include "warpsim/observe/mbarrier.h"
#include "warpsim/provenance/follower.h"

namespace warpsim::ops {

namespace {

constexpr uint32_t kPiece = 16;  // bytes: addresses and sizes are multiples of it
constexpr uint32_t kTensorAlignment = 128;

// A run of elements of a tensor's box along dimension 0: where they lie in shared memory before the
// swizzle, where in global memory, and which of them are inside the tensor.
struct Row {
  uint32_t shared = 0;
  uint64_t global = 0;  // of element 0 of the row
  bool inside = false;  // by the other dimensions
};

// Calls body(row) for each row of the box.
template <class Body>
void each_row(const BulkCopy& copy, Body body) {
  const TensorMap& map = copy.map;
  const uint32_t row_bytes = map.count(0) * map.element_bytes;
  uint32_t index[5] = {};
  for (uint32_t shared = copy.shared;; shared += row_bytes) {
    Row row{shared, map.address, true};
    for (size_t i = 1; i < map.dimensions; ++i) {
      const int64_t at = int64_t{copy.at[i]} + int64_t{index[i]} * map.step[i];
      row.inside &= at >= 0 && at <= int64_t{map.size[i]};
      row.global += uint64_t(at) * map.stride[i - 1];
    }
    body(row);
    size_t i = 1;
    while (i < map.dimensions && ++index[i] == map.count(i)) index[i++] = 0;
    if (i >= map.dimensions) return;
  }
}

// Calls body(shared offset, global address, bytes, inside) for the parts of a copy: pieces of 16
// bytes of a row, or single elements where not all of a piece is inside the tensor.
template <class Body>
void each_part(const BulkCopy& copy, Body body) {
  if (!copy.is_tensor) {
    for (uint32_t at = 0; at < copy.bytes; at += kPiece)
      body(copy.shared + at, copy.global + at, kPiece, true);
    return;
  }
  const TensorMap& map = copy.map;
  const uint32_t element = map.element_bytes, count = map.count(0);
  const uint32_t of_piece = kPiece / element;
  each_row(copy, [&](const Row& row) {
    for (uint32_t first = 0; first < count;) {
      const int64_t at = int64_t{copy.at[0]} + int64_t{first} * map.step[0];
      const uint64_t global = row.global + uint64_t(at) * element;
      const bool whole = map.step[0] == 1 && first % of_piece == 0 && first + of_piece <= count &&
                         row.inside && at >= 0 && at + of_piece - 1 <= int64_t{map.size[0]} &&
                         global % kPiece == 0;
      const uint32_t elements = whole ? of_piece : 1;
      const bool inside = row.inside && at >= 0 && at <= int64_t{map.size[0]};
      body(map.swizzled(row.shared + first * element), global, elements * element, inside);
      first += elements;
    }
  });
}

bool read_map(Warp& w, uint64_t address, TensorMap* map) {
  std::byte bytes[TensorMap::kBytes];
  const LaunchContext& launch = *w.worker->launch;
  if (address - kParamWindow < kWindowBytes) {
    const uint64_t at = address - kParamWindow;
    if (at + sizeof bytes > launch.params.size()) return false;
    std::memcpy(bytes, launch.params.data() + at, sizeof bytes);
  } else if (!launch.memory->read(address, bytes, sizeof bytes)) {
    return false;
  }
  // A kernel may have written the bytes itself.
  const auto found = read_tensor_map(bytes);
  if (!found || !check_tensor_map(*found).empty()) return false;
  *map = *found;
  return true;
}

// A fault of the copy that a GPU would not survive.
void refuse(Warp& w, uint32_t site, uint32_t lane, Cause cause, uint64_t amount, uint64_t limit) {
  w.worker->stop(LaunchStatus::kFault, 716, report_bulk(w, site, lane, cause, amount, limit));
}

// The copy that the lane asks for; false: it is refused.
bool describe(Warp& w, const BulkInstruction& what, int lane, BulkCopy* copy) {
  const auto l = uint32_t(lane);
  copy->warp = w.index;
  copy->lane = l;
  copy->site = what.shared.site;
  auto address = [&](const BulkInstruction::Side& side) {
    return access::lane_address(w, side.address, side.offset, lane);
  };
  copy->shared = uint32_t(address(what.shared));
  copy->global = address(what.global);
  copy->is_tensor = what.dimensions != 0;
  uint32_t alignment = kPiece;
  if (copy->is_tensor) {
    alignment = kTensorAlignment;
    if (!read_map(w, copy->global, &copy->map)) {
      refuse(w, what.global.site, l, Cause::kNoTensorMap, 0, 0);
      return false;
    }
    if (copy->map.dimensions != what.dimensions) {
      refuse(w, what.global.site, l, Cause::kTensorDimensions, what.dimensions,
             copy->map.dimensions);
      return false;
    }
    for (size_t i = 0; i < what.dimensions; ++i) copy->at[i] = row<int32_t>(w, what.at[i])[lane];
    copy->bytes = uint32_t(copy->map.box_bytes());
  } else {
    copy->bytes = row<uint32_t>(w, what.bytes)[lane];
    if (copy->bytes % kPiece != 0 || copy->bytes == 0) {
      refuse(w, what.shared.site, l, Cause::kBulkSize, copy->bytes, kPiece);
      return false;
    }
    if (copy->global % kPiece != 0) {
      refuse(w, what.global.site, l, Cause::kBulkAlignment, copy->global % kPiece, kPiece);
      return false;
    }
  }
  const uint64_t shared_address = address(what.shared);
  if (!access::is_foreign_to_shared(shared_address) && copy->shared % alignment != 0) {
    refuse(w, what.shared.site, l, Cause::kBulkAlignment, copy->shared % alignment, alignment);
    return false;
  }
  if (access::is_foreign_to_shared(shared_address) ||
      !access::find_shared(w, what.shared.site, copy->shared, copy->bytes)) {
    // Where it leaves its array: the first piece of it that does.
    uint64_t at = shared_address;
    while (!access::is_foreign_to_shared(shared_address) &&
           access::find_shared(w, what.shared.site, uint32_t(at), kPiece))
      at += kPiece;
    access::report_bad_lane(w, what.shared.site, ptx::Space::kShared, l, at);
    return false;
  }
  return true;
}

// What the checks of global memory see of a part. False: the launch has ended.
bool look_at_global(Warp& w, const BulkInstruction& what, const BulkCopy& copy, uint32_t shared,
                    uint64_t global, uint32_t bytes) {
  const uint32_t site = what.global.site;
  const Checks& checks = w.worker->launch->checks;
  if (!access::find_global(w, site, global, bytes)) {
    w.worker->copy_at_fault = copy.is_tensor ? &copy : nullptr;
    access::report_bad_lane(w, site, ptx::Space::kGlobal, copy.lane, global);
    w.worker->copy_at_fault = nullptr;
    return false;
  }
  SiteState& s = w.worker->sites[site];
  const uint64_t offset = global - s.base;
  const Pattern& p = access::lane_pattern(w, copy.lane, bytes, ptx::Space::kGlobal);
  if (what.is_store) {
    if (s.record->info.is_constant) {
      access::report_bad_lane(w, site, ptx::Space::kGlobal, copy.lane, global);
      return false;
    }
    if (s.shadow != nullptr && !s.shadow->store(w, site, offset, p)) {
      alignas(16) std::byte values[16 * kLanes];
      std::memcpy(values + 16 * copy.lane, w.worker->shared + shared, bytes);
      s.shadow->examine_store(w, site, offset, p, values);
    }
    if (s.record->initialised != nullptr) access::mark_initialised(*s.record, offset, p);
    return true;
  }
  if (checks.initialised && s.record->initialised != nullptr &&
      !access::all_initialised(*s.record, offset, p))
    access::report_uninitialised(w, site, *s.record, offset, p);
  if (s.shadow != nullptr) s.shadow->load(w, site, offset, p);
  return true;
}

void carry_out(Worker& worker, const BulkCopy& copy, bool is_store) {
  DeviceMemory& memory = *worker.launch->memory;
  each_part(copy, [&](uint32_t shared, uint64_t global, uint32_t bytes, bool inside) {
    std::byte* here = worker.shared + shared;
    if (is_store) {
      if (inside) memory.write(global, here, bytes);
    } else if (inside) {
      memory.read(global, here, bytes);
    } else if (copy.map.fill_nan != 0) {
      std::memset(here, 0xFF, bytes);
    } else {
      std::memset(here, 0, bytes);
    }
  });
}

void start(Warp& w, const BulkInstruction& what, int lane) {
  Worker& worker = *w.worker;
  const Checks& checks = worker.launch->checks;
  BulkCopy copy;
  if (!describe(w, what, lane, &copy)) return;
  if (!what.is_store) {
    const uint64_t address =
        access::lane_address(w, what.barrier.address, what.barrier.offset, lane);
    copy.barrier = uint32_t(address);
    const Mbarrier* barrier = w.block->mbarriers.find(copy.barrier);
    if (barrier == nullptr || !barrier->valid) {
      worker.halt(LaunchStatus::kFault, 719,
                  report_phase(w, what.barrier.site, uint32_t(lane), copy.barrier, barrier,
                               Cause::kNotInitialised));
      return;
    }
    if (checks.races)
      worker.shared_shadow->use_mbarrier(w, what.barrier.site, uint32_t(lane), copy.barrier);
  }
  bool good = true;
  each_part(copy, [&](uint32_t shared, uint64_t global, uint32_t bytes, bool inside) {
    if (good && inside) good = look_at_global(w, what, copy, shared, global, bytes);
  });
  if (!good) return;
  if (worker.follower != nullptr && !what.is_store) {
    const MemorySite& site = worker.image->sites[copy.site];
    const ptx::Instruction& code =
        worker.image->module.functions[site.function].code[site.instruction];
    each_part(copy, [&](uint32_t shared, uint64_t global, uint32_t bytes, bool inside) {
      worker.follower->copy_bulk(w, code, lane, {shared, global, bytes, inside});
    });
  }
  SiteState& s = worker.sites[what.global.site];
  if (checks.counters) {
    ++s.bulk_requests;
    s.bulk_bytes += copy.bytes;
  }
  if (checks.initialised || checks.races) {
    if (what.is_store)
      worker.shared_shadow->bulk_read(w, copy.site, copy.lane, copy.shared, copy.bytes);
    else
      worker.shared_shadow->bulk_issue(w, copy.site, copy.lane, copy.shared, copy.bytes);
  }
  if (what.is_store) {
    copy.group = w.bulk_groups[size_t(lane)];
    w.block->bulk.stores.push_back(copy);
  } else {
    w.block->bulk.loads.push_back(copy);
    auto& places = w.block->bulk.places;
    const auto at = std::ranges::lower_bound(places, copy.shared);
    if (at == places.end() || *at != copy.shared) places.insert(at, copy.shared);
  }
}

// The stores for which done(copy) holds are carried out.
template <class Done>
void land_stores(Worker& worker, Done done) {
  auto& stores = worker.block.bulk.stores;
  size_t kept = 0;
  for (size_t i = 0; i < stores.size(); ++i) {
    if (!done(stores[i])) {
      if (kept != i) stores[kept] = stores[i];
      ++kept;
      continue;
    }
    carry_out(worker, stores[i], true);
    worker.shared_shadow->bulk_was_read(stores[i].warp * kLanes + stores[i].lane, stores[i].shared,
                                        stores[i].bytes);
  }
  stores.resize(kept);
}

}  // namespace

const Op* bulk_copy(Warp& w, const Op* op) {
  const BulkInstruction& what = w.worker->image->bulk_copies[op->bulk.index];
  for_each_lane(w.mask, [&](int lane) {
    if (!w.worker->launch->stop) start(w, what, lane);
  });
  return op + 1;
}

const Op* bulk_commit(Warp& w, const Op* op) {
  for_each_lane(w.mask, [&](int lane) { ++w.bulk_groups[size_t(lane)]; });
  return op + 1;
}

const Op* bulk_wait(Warp& w, const Op* op) {
  const uint64_t open = op->wait.open;
  land_stores(*w.worker, [&](const BulkCopy& c) {
    return c.warp == w.index && (w.mask >> c.lane & 1) != 0 &&
           c.group + open < w.bulk_groups[c.lane];
  });
  return op + 1;
}

const Op* proxy_fence(Warp& w, const Op* op) {
  w.worker->shared_shadow->proxy_fence(w);
  return op + 1;
}

void land_bulk_loads(Warp& w, Mbarrier& barrier) {
  Worker& worker = *w.worker;
  auto& loads = worker.block.bulk.loads;
  const uint32_t number = worker.block.mbarriers.number(barrier);
  size_t kept = 0;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].barrier != barrier.offset) {
      if (kept != i) loads[kept] = loads[i];
      ++kept;
      continue;
    }
    carry_out(worker, loads[i], false);
    const uint32_t stamp =
        worker.shared_shadow->bulk_arrive(number, loads[i].shared, loads[i].bytes);
    barrier.bytes -= loads[i].bytes;
    barrier.landed.push_back(loads[i]);
    barrier.arrived.merge_copies(number, stamp + 1);
  }
  loads.resize(kept);
}

}  // namespace warpsim::ops

namespace warpsim {

void end_bulk_copies(Worker& worker) {
  if (!worker.block.bulk.loads.empty()) {
    const BulkCopy& copy = worker.block.bulk.loads.front();
    report_phase(worker.warps[copy.warp], copy.site, copy.lane, copy.shared,
                 worker.block.mbarriers.find(copy.barrier), Cause::kEndsInFlight);
  }
  ops::land_stores(worker, [](const BulkCopy&) { return true; });
  worker.block.bulk.clear();
}

}  // namespace warpsim
