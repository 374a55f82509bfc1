// The rule from a product's shape to a kernel.
#pragma once

#include "scheduled.h"

namespace summit {

enum class Kernel { kEvenWaves, kClusters, kFewRows, kFewColumns };

// What the model of time counts; best.cu says what one of each takes.
enum Feature {
  kEvenStart,    // a launch of rung 08
  kEvenPass,     // its passes (best.cu) on the busiest multiprocessor
  kEvenTile,     // tiles that a worker stores, one after the other
  kSmallPass,    // passes with tiles of 128 x 128
  kSmallTile,    // tiles of that size
  kMeeting,      // a sum by all workers of a tile
  kMeetingPart,  // each of the parts of a tile
  kOwner,        // a sum by the last worker of a tile
  kOwnerPart,    // each of the parts before its own
  kUnaligned,    // million results stored to rows that are not aligned
  kClusterStart,
  kClusterPass,                    // this and the next five: passes of each of kClusterTiles
  kClusterSum = kClusterPass + 6,  // blocks of a cluster after the first
  kMemorySum,                      // several clusters at a tile
  kGroup,                          // how often a thread then waits for other clusters' parts
  kNextRound,                      // further blocks of a multiprocessor
  kNextInCluster,                  // the same, times the blocks of a cluster
  kCopy,                           // a launch to copy operands to longer rows
  kCopied,                         // million elements copied
  kThinStart,                      // a launch of rung 10 or 11
  kThinRead,                       // million elements that rung 10 reads
  kThinRows,                       // and multiplies
  kThinColumnsRead,                // million elements that rung 11 reads
  kThinColumns,                    // and multiplies
  kThinTogether,                   // sums over a cluster
  kThinApart,                      // sums through scratch memory
  kThinPart,                       // each of the parts
  kDirect,                         // rung 09 reading unaligned operands as they are
  kDirectRead,                     // and hundred of these reads by a thread
  kLargeCluster,                   // a cluster of more than two blocks
  kJoinedPass,                     // as for rung 08's other tiles, with rings that are joined
  kJoinedTile,
  kJoinedMeeting,
  kJoinedMeetingPart,
  kJoinedOwner,
  kJoinedOwnerPart,
  kApart,      // rows computed while N is copied
  kApartRows,  // million elements of N times those rows
  kFeatures
};

struct Choice {
  Kernel kernel;
  const ClusterTile* tile;  // of kClusters; nullptr otherwise
  int cluster, groups;      // of kClusters; of kFewColumns `groups` is the shares of k
  bool direct;              // of kClusters: unaligned operands are read as they are
  EvenWaves even;           // of kEvenWaves
  double features[kFeatures];
  double microseconds;  // predicted
};

constexpr int kMostChoices = 512;
// All that can compute this product, at most kMostChoices; returns how many.
int candidates(const Problem&, int multiprocessors, Choice* choices);
// The one with the least predicted time.
Choice choose(const Problem&, int multiprocessors);
void launch(const Problem&, const Choice&, cudaStream_t);

}  // namespace summit
