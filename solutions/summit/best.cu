// launch_best: the kernel that a simple model of time expects to be the fastest.
//
// The model counts passes: a pass is 8 steps of k for the 64 x 64 results of a warp, 1024 FFMAs of
// a scheduler. The multiprocessor with the most passes decides; what a launch, a sum over a cluster
// and a sum through memory cost comes on top. The time is a weighted sum of such counts (Feature);
// the weights are fitted (bench/fit.py) to the times of all candidates on the shapes of
// bench/tuning-shapes.txt (bench tune), none of which is among the 60 of bench/shapes.txt.
#include <algorithm>
#include <iterator>
#include <vector>

#include "best.h"
#include "common/copy_beside.h"
#include "common/shifted.cuh"

namespace summit {
namespace {

// Microseconds on an H200 for one of each Feature; of the last two on an H100.
constexpr double kWeights[kFeatures] = {
#include "weights.inc"
};
constexpr int kStep = 8;  // steps of k in a pass

double million(double count) {
  return count * 1e-6;
}

// What storing to rows that are not aligned takes.
void add_unaligned(const Problem& p, Choice* c) {
  if (!rows_are_aligned(p.P, p.l)) c->features[kUnaligned] = million(double(p.j) * p.l);
}

// The same, and copying `rows` rows of M and, where its rows are unaligned, N to longer ones.
void add_copies(const Problem& p, int rows, Choice* c) {
  double elements = double(rows) * p.k + (rows_are_aligned(p.N, p.l) ? 0 : double(p.k) * p.l);
  if (elements > 0) c->features[kCopy] = 1, c->features[kCopied] = million(elements);
  add_unaligned(p, c);
}

void count_clusters(const Problem& p, Choice* c) {
  const ClusterTile& t = *c->tile;
  int tiles = ceil_div(p.j, t.rows) * ceil_div(p.l, t.columns);
  int passes =
      ceil_div(ceil_div(p.k, kStep), c->cluster * c->groups * t.slices) * (t.threads() / 128 - 1);
  int rounds = ceil_div(tiles * c->groups, clusters_at_once(t, c->cluster));
  double* f = c->features;
  f[kClusterStart] = 1;
  f[kClusterPass + (&t - kClusterTiles)] = rounds * passes * t.blocks;
  f[kClusterSum] = c->cluster - 1, f[kLargeCluster] = c->cluster > 2;
  if (c->groups > 1) {
    // The last cluster loads eight groups at a time and what is left over one by one.
    int quads = ceil_div(t.rows * t.columns / 4, c->cluster), workers = t.threads() - 128;
    f[kMemorySum] = 1;
    f[kGroup] = ceil_div(quads, workers) * (c->groups / 8 + c->groups % 8);
  }
  f[kNextRound] = rounds - 1, f[kNextInCluster] = (rounds - 1) * c->cluster;
  if (c->direct) {
    int steps = ceil_div(ceil_div(p.k, kStep), c->cluster * c->groups * t.slices) * kStep;
    int reads = steps * (t.rows + t.columns) / (t.rows / 64 * (t.columns / 64) * 32);
    f[kDirect] = 1, f[kDirectRead] = rounds * reads * t.blocks * 0.01;
    add_unaligned(p, c);
    return;
  }
  add_copies(p, rows_are_aligned(p.M, p.k) ? 0 : p.j, c);
}

void count_even_waves(const Problem& p, int processors, Choice* c) {
  const EvenWaves& s = c->even;
  bool small = s.tile->workers > 1, joined = s.tile->rings > s.tile->workers;
  int workers = processors * s.tile->workers, rest = s.tiles - s.whole_tiles;
  int rounds = ceil_div(s.whole_tiles, workers), units = even_wave_units(p);
  // A scheduler has two warps, with a tile each or, joined, half of the steps each.
  auto passes_of = [&](int units) { return 2.0 * (joined ? ceil_div(units, 2) : units); };
  double passes = rounds * passes_of(units);
  double* f = c->features;
  f[kEvenStart] = 1;
  if (s.shares > 0) {
    passes += passes_of(ceil_div(rest * units, s.shares));
    int parts = ceil_div(s.shares, rest);
    int sum = s.meeting ? kMeeting : kOwner;
    if (joined) sum += kJoinedMeeting - kMeeting;
    f[sum] = 1;
    f[sum + 1] = s.meeting ? parts : parts - 1;
  }
  int pass = joined ? kJoinedPass : small ? kSmallPass : kEvenPass;
  f[pass] = passes;
  f[pass + 1] = rounds + (s.shares > 0);
  if (s.apart > 0) {
    f[kApart] = 1;
    f[kApartRows] = million(double(p.k) * p.l) * rows_multiplied_copying(s.apart);
  }
  if (copies_beside(p, s, processors)) {
    f[kCopy] = 1, f[kCopied] = million(double(std::min(p.k, kRowsBefore)) * p.l);
    return add_unaligned(p, c);
  }
  int copied_rows = rows_are_aligned(p.M, p.k) ? 0 : p.j;
  if (reads_shifted(p)) copied_rows = p.j - tail_row(p.j, s.tile->rows);
  add_copies(p, copied_rows, c);
}

int power_of_two(int least) {
  int result = 1;
  while (result < least) result *= 2;
  return result;
}

Choice few_rows(const Problem& p) {
  Choice c = {Kernel::kFewRows, nullptr, 1, 1, false};
  double elements = million(double(p.k) * p.l);
  c.features[kThinStart] = 1, c.features[kThinRead] = elements;
  c.features[kThinRows] = elements * power_of_two(p.j);
  return c;
}

// `times`: how often the shares fill the multiprocessors.
Choice few_columns(const Problem& p, int processors, int times) {
  int shares = std::clamp(times * processors / ceil_div(p.j, 32), 1, ceil_div(p.k, 256));
  Choice c = {Kernel::kFewColumns, nullptr, 1, shares, false};
  double elements = million(double(p.j) * p.k);
  c.features[kThinStart] = 1, c.features[kThinColumnsRead] = elements;
  c.features[kThinColumns] = elements * power_of_two(p.l);
  if (shares > 1) c.features[kThinApart] = 1, c.features[kThinPart] = shares;
  return c;
}

}  // namespace

int candidates(const Problem& p, int processors, Choice* choices) {
  static std::vector<Choice> all;
  all.clear();
  if (p.j <= 16 && p.k < 4000000) all.push_back(few_rows(p));
  if (p.l <= 8 && p.k < 4000000)
    for (int times = 1; times <= 4; ++times) {
      Choice c = few_columns(p, processors, times);
      if (times == 1 || c.groups != all.back().groups) all.push_back(c);
    }
  int count = 0;
  for (int apart : {0, rows_apart(p)}) {
    if (count > 0 && apart == 0) break;
    Problem rest = p;
    rest.j -= apart;
    EvenWaves splits[kMostSplits];
    count = even_wave_splits(rest, processors, splits);
    for (int s = 0; s < count; ++s) {
      splits[s].apart = apart;
      all.push_back({Kernel::kEvenWaves, nullptr, 1, 1, false, splits[s]});
      count_even_waves(rest, processors, &all.back());
    }
  }
  for (const ClusterTile& t : kClusterTiles) {
    int rows = ceil_div(p.j, t.rows), columns = ceil_div(p.l, t.columns);
    if (rows > 65535 || columns > 65535) continue;
    int units = ceil_div(p.k, kStep);
    for (int cluster = 1; cluster <= 8; ++cluster) {
      int most =
          std::max(1, clusters_at_once(t, cluster) / (rows * columns));  // groups in one round
      for (int groups : {1, most}) {
        if (cluster * groups > 1 && cluster * groups * t.slices > units) continue;
        bool fits = ceil_div(units, cluster * groups * t.slices) * kStep <= t.stages * 32;
        bool aligned = rows_are_aligned(p.M, p.k) && rows_are_aligned(p.N, p.l);
        for (bool direct : {false, true}) {
          if (direct && (aligned || !fits)) continue;
          all.push_back({Kernel::kClusters, &t, cluster, groups, direct});
          count_clusters(p, &all.back());
        }
        if (most == 1) break;
      }
    }
  }
  for (Choice& c : all)
    for (int i = 0; i < kFeatures; ++i) c.microseconds += kWeights[i] * c.features[i];
  count = std::min<int>(all.size(), kMostChoices);
  std::copy_n(all.begin(), count, choices);
  return count;
}

Choice choose(const Problem& p, int processors) {
  // Products of one shape come in rows; aligned is all that counts of the pointers.
  struct Known {
    int j = 0, k, l;
    int aligned;
    Choice choice;
  };
  static Known known;
  int aligned =
      rows_are_aligned(p.M, p.k) + 2 * rows_are_aligned(p.N, p.l) + 4 * rows_are_aligned(p.P, p.l);
  if (known.j != p.j || known.k != p.k || known.l != p.l || known.aligned != aligned) {
    static Choice all[kMostChoices];
    int count = candidates(p, processors, all);
    known = {p.j, p.k, p.l, aligned,
             *std::min_element(all, all + count, [](const auto& a, const auto& b) {
               return a.microseconds < b.microseconds;
             })};
  }
  return known.choice;
}

void launch(const Problem& p, const Choice& c, cudaStream_t stream) {
  switch (c.kernel) {
    case Kernel::kEvenWaves:
      return launch_even_waves(p, c.even, stream);
    case Kernel::kFewRows:
      return launch_few_rows(p, stream);
    case Kernel::kFewColumns:
      return launch_few_columns(p, c.groups, stream);
    case Kernel::kClusters:
      return launch_clusters(p, *c.tile, c.cluster, c.groups, c.direct, stream);
  }
}

void launch_best(const Problem& p, cudaStream_t stream) {
  static int processors = multiprocessors();
  launch(p, choose(p, processors), stream);
}

}  // namespace summit
