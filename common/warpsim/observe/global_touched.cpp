// What a launch has touched of an allocation, from the records of who touched it.

#include <algorithm>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/global_shadow.h"

namespace warpsim {

void GlobalShadow::add_touched(const Image& image, std::vector<Touched>* touched) const {
  const uint64_t end_of_all = address_of(0) + allocation_->info.size_bytes;
  // Runs of touched granules with one site, or with any where there are very many: members of
  // structures, say.
  constexpr size_t kMostExact = 1 << 11;
  struct Open {
    uint64_t first = 0, end = 0;  // granules; none where they are the same
    uint32_t site = 0;
  };
  auto finish = [&](Open& run, Side side, bool early) {
    if (run.first == run.end) return;
    const MemorySite& code = image.sites[run.site];
    const ptx::SourceLine where = image.instruction(code.function, code.instruction).where;
    const auto& files = image.module.files;
    const bool known = where.line != 0 && where.file >= 0 && size_t(where.file) < files.size();
    touched->push_back({address_of(run.first), std::min(address_of(run.end), end_of_all),
                        side == kWritten, known ? files[size_t(where.file)] : "",
                        known ? where.line : 0, early});
    run = {};
  };
  // `each` calls its argument with all touched granules: first, how many, site.
  auto add = [&](Side side, bool early, auto each) {
    const size_t most = touched->size() + kMostExact;
    Open run;
    each([&](uint64_t first, uint64_t count, uint32_t site) {
      const bool goes_on =
          run.end == first && run.first != run.end && (run.site == site || touched->size() >= most);
      if (!goes_on) {
        finish(run, side, early);
        run = {first, first, site};
      }
      run.end += count;
    });
    finish(run, side, early);
  };
  auto each_section = [&](Side side, auto body) {
    for (uint64_t section = 0; section < marks_[side].size(); ++section) {
      if (marks_[side][section] == 0) continue;
      const uint64_t first = section << kSectionShift;
      body(first, std::min(granules_, first + (uint64_t{1} << kSectionShift)));
    }
  };
  auto add_first = [&](Side side, const uint32_t* sites, bool early) {
    add(side, early, [&](auto found) {
      each_section(side, [&](uint64_t first, uint64_t end) {
        for (uint64_t g = first; g < end; ++g) {
          if (sites[g] != 0) found(g, 1, sites[g] - 1);
        }
      });
    });
  };
  auto add_records = [&](Side side, const uint64_t* records, const uint32_t* sites, int shift) {
    add(side, false, [&](auto found) {
      each_section(side, [&](uint64_t first, uint64_t end) {
        for (uint64_t g = first; g < end; g += kChunk) {
          const Chunk& c = chunks_[side][g >> kChunkShift];
          if (is_fresh(c.record)) continue;
          if (!is_in_detail(c.record)) {
            found(g, kChunk, c.site());
            continue;
          }
          for (uint64_t i = g; i < std::min(g + kChunk, end); ++i) {
            if (!is_fresh(records[i])) found(i, 1, sites[i] >> shift);
          }
        }
      });
    });
  };
  if (early_writer_ != nullptr) {
    add_first(kWritten, early_writer_, true);
    add_first(kRead, early_reader_, true);
  }
  if (first_access_only_) {
    add_first(kWritten, writer_site_, false);
    add_first(kRead, reader_site_, false);
    return;
  }
  add_records(kWritten, writer_, writer_site_, 0);
  if (reader_ != nullptr) add_records(kRead, reader_, reader_site_, 10);
}

}  // namespace warpsim
