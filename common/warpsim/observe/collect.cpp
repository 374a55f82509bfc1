#include "warpsim/observe/collect.h"

#include <algorithm>

#include "warpsim/finding_text.h"

namespace warpsim {

namespace {

// Which counters a memory instruction's requests to global memory belong to.
struct GlobalCounts {
  uint64_t Counters::*requests;
  uint64_t Counters::*sectors;
};

GlobalCounts global_counts(const MemorySite& site) {
  if (site.is_reduction)
    return {&Counters::global_reduction_requests, &Counters::global_reduction_sectors};
  if (site.is_atomic) return {&Counters::global_atomic_requests, &Counters::global_atomic_sectors};
  if (site.is_store) return {&Counters::global_store_requests, &Counters::global_store_sectors};
  return {&Counters::global_load_requests, &Counters::global_load_sectors};
}

bool hands_to_other_lanes(ptx::Opcode op) {
  switch (op) {
    case ptx::Opcode::kShfl:
    case ptx::Opcode::kVote:
    case ptx::Opcode::kMatch:
    case ptx::Opcode::kRedux:
    case ptx::Opcode::kMovmatrix:
      return true;
    default:
      return false;
  }
}

}  // namespace

Counters& Collector::at(uint32_t function, uint32_t instruction) {
  const ptx::SourceLine where = launch_.image->instruction(function, instruction).where;
  return where.line == 0 ? lines_[{-1, 0}] : lines_[{where.file, where.line}];
}

void Collector::add_blocks(const Worker& worker) {
  const Image& image = *launch_.image;
  for (size_t b = 0; b < image.blocks.size(); ++b) {
    const uint64_t entries = worker.block_entries[2 * b], lanes = worker.block_entries[2 * b + 1];
    if (entries == 0) continue;
    const BasicBlock& block = image.blocks[b];
    Counters* line = nullptr;  // of the instruction before
    for (uint32_t i = block.first; i < block.end; ++i) {
      const ptx::Instruction& code = image.instruction(block.function, i);
      const ptx::SourceLine before =
          i > block.first ? image.instruction(block.function, i - 1).where : ptx::SourceLine{};
      if (line == nullptr || code.where.file != before.file || code.where.line != before.line)
        line = &at(block.function, i);
      Counters& c = *line;
      c.instructions += entries;
      if (code.by_algorithm) c.algorithm_instructions += entries;
      const bool fma = code.type == ptx::Type::kF32 &&
                       (code.op == ptx::Opcode::kFma || code.op == ptx::Opcode::kMad);
      if (fma && code.guard < 0) c.fma_lanes += lanes;
      const bool adds = code.type == ptx::Type::kF32 && (fma || code.op == ptx::Opcode::kAdd);
      if (adds) c.narrow_additions += worker.narrow_entries[b];
      if (hands_to_other_lanes(code.op)) c.lane_exchanges += entries;
      if (code.op == ptx::Opcode::kMma) {
        c.tensor_instructions += entries;
        c.tensor_multiply_adds += entries * code.tile.m * code.tile.n * code.tile.k;
      }
    }
  }
}

void Collector::add_sites(const Worker& worker) {
  const Image& image = *launch_.image;
  for (size_t i = 0; i < image.sites.size(); ++i) {
    const MemorySite& site = image.sites[i];
    const SiteState& s = worker.sites[i];
    if (s.requests + s.shared_requests + s.async_requests + s.local_requests + s.bulk_requests +
            s.meetings ==
        0)
      continue;
    Counters& c = at(site.function, site.instruction);
    c.meetings += s.meetings;
    (site.is_store ? c.bulk_store_requests : c.bulk_load_requests) += s.bulk_requests;
    (site.is_store ? c.bulk_store_bytes : c.bulk_load_bytes) += s.bulk_bytes;
    if (site.in_const_space) {
      c.constant_load_requests += s.requests;
      c.constant_load_words += s.words;
      continue;
    }
    const GlobalCounts to = global_counts(site);
    c.*to.requests += s.requests;
    c.*to.sectors += s.sectors;
    (site.is_store ? c.local_store_requests : c.local_load_requests) += s.local_requests;
    (site.is_store ? c.local_store_sectors : c.local_load_sectors) += s.local_sectors;
    c.atomic_lanes += s.atomic_lanes;
    c.atomic_addresses += s.atomic_addresses;
    c.async_bytes += s.async_bytes;
    c.async_conflicts += s.async_conflicts;
    c.transactions_32 += s.transactions[0];
    c.transactions_64 += s.transactions[1];
    c.transactions_128 += s.transactions[2];
    if (!site.is_store) {
      c.load_transactions += s.transactions[0] + s.transactions[1] + s.transactions[2];
      c.load_used_128ths += s.used_128ths;
    }
    if (launch_.merge_shared && site.merged_away) {
      c.shared_merged_requests += s.shared_requests;
      continue;
    }
    if (site.is_matrix) {
      (site.is_store ? c.matrix_store_requests : c.matrix_load_requests) += s.shared_requests;
      (site.is_store ? c.matrix_store_wavefronts : c.matrix_load_wavefronts) += s.wavefronts;
      c.bank_conflicts += s.wavefronts - s.ideal_wavefronts;
      continue;
    }
    if (site.is_atomic) {
      c.shared_atomic_requests += s.shared_requests;
      c.shared_atomic_wavefronts += s.wavefronts;
      c.shared_load_requests += s.loop_loads;
      c.shared_load_wavefronts += s.loop_load_wavefronts;
      c.bank_conflicts += s.wavefronts - s.ideal_wavefronts;
      continue;
    }
    const uint64_t times = launch_.merge_shared ? site.merged_times : 1;
    (site.is_store ? c.shared_store_requests : c.shared_load_requests) += times * s.shared_requests;
    (site.is_store ? c.shared_store_wavefronts : c.shared_load_wavefronts) += times * s.wavefronts;
    c.bank_conflicts += times * (s.wavefronts - s.ideal_wavefronts);
    c.async_requests += s.async_requests;
    c.async_distance += s.async_distance;
    c.async_multiply_adds += s.async_multiply_adds;
    c.async_idle_sectors += s.async_idle_sectors;
  }
}

void Collector::add(const Worker& worker) {
  const Image& image = *launch_.image;
  if (launch_.checks.counters) {
    add_blocks(worker);
    add_sites(worker);
    auto each = [&](const std::vector<uint64_t>& counts,
                    const std::vector<Image::InstructionRef>& places, uint64_t Counters::*field) {
      for (size_t i = 0; i < places.size(); ++i) {
        if (counts[i] != 0) at(places[i].function, places[i].instruction).*field += counts[i];
      }
    };
    each(worker.divergent, image.branches, &Counters::divergent_branches);
    each(worker.barrier_arrivals, image.barriers, &Counters::barriers);
    each(worker.guarded_fma_lanes, image.guarded_fma, &Counters::fma_lanes);
  }
  for (const auto& [key, found] : worker.reporter->found) {
    auto [it, fresh] = found_.try_emplace(key, found);
    if (fresh) continue;
    const uint64_t count = it->second.diagnostic.count + found.diagnostic.count;
    const bool same = found.telling == it->second.telling;
    if (same ? found.block < it->second.block : found.telling) it->second = found;
    it->second.diagnostic.count = count;
  }
  const Worker::Stop& stop = worker.stopped;
  if (stop.status != LaunchStatus::kOk &&
      (stopped_.status == LaunchStatus::kOk || stop.block < stopped_.block))
    stopped_ = stop;
}

void Collector::finish(LaunchReport* report) {
  report->status = stopped_.status;
  report->cuda_error = stopped_.cuda_error;
  report->message = stopped_.message;
  report->lines.reserve(lines_.size());
  for (const auto& [place, counters] : lines_) {
    LineCounters line;
    if (place.line != 0 && place.file >= 0 &&
        size_t(place.file) < launch_.image->module.files.size()) {
      line.file = launch_.image->module.files[size_t(place.file)];
      line.line = place.line;
    }
    line.counters = counters;
    report->counters.add(counters);
    report->lines.push_back(std::move(line));
  }
  std::sort(report->lines.begin(), report->lines.end(),
            [](const LineCounters& a, const LineCounters& b) {
              return a.file != b.file ? a.file < b.file : a.line < b.line;
            });
  std::vector<Reporter::Found> ordered;
  for (auto& [key, found] : found_) ordered.push_back(found);
  std::sort(ordered.begin(), ordered.end(), [](const Reporter::Found& a, const Reporter::Found& b) {
    return a.block != b.block ? a.block < b.block : a.order < b.order;
  });
  for (Reporter::Found& f : ordered) {
    f.diagnostic.message = sentence(f.diagnostic, {launch_.grid, launch_.block});
    report->diagnostics.push_back(std::move(f.diagnostic));
  }
}

}  // namespace warpsim
