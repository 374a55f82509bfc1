// The fields of a record of global_shadow.h, and what tests plant there.

#pragma once

#include <cstdint>

namespace warpsim::global_record {

constexpr uint64_t kLastTime =
    0xFFFFF;  // a block's clock stands still here: its races go unseen from then on
constexpr int kTimeShift = 12;
constexpr uint32_t kWho = 0x3FF;

inline uint64_t time_of(uint64_t record) {
  return record >> kTimeShift & kLastTime;
}
inline uint32_t thread_of(uint64_t record) {
  return uint32_t(record & kWho);
}
inline uint32_t warp_of(uint64_t record) {
  return uint32_t(record >> 5 & 31);
}
inline uint32_t lane_of(uint64_t record) {
  return uint32_t(record & 31);
}

// Not 0 unless nobody left the record, or one thread alone did, who is also `own`'s.
inline uint64_t by_another(uint64_t record, uint64_t own, uint64_t first_record) {
  const uint64_t differs = (record ^ own) & ~(kLastTime << kTimeShift);
  return record < first_record ? 0 : differs;
}

// Faults that tests plant, to see that they find them.
enum class Planted : uint8_t {
  kNone,
  kOwnChunks,     // a chunk's one record is taken to be of the threads that touch it now
  kKeepsChunks,   // a chunk's record is forgotten when its granules get their own
  kPastOther,     // what other blocks have read, too, is taken to be past
  kOldRecords,    // records of launches before are taken to be of this one
  kUnseenWriter,  // who wrote a word that many lanes read is not looked at
  kUnseenReader,  // that many lanes read a word is not noted
  kUntouched,     // no section is taken to be touched by anybody before
  kLanesOfBytes,  // the bytes of a word are taken to be of twice as few lanes
};
inline Planted planted = Planted::kNone;

// Each lane's access is looked at alone, and leaves a record of its own: what runs and chunks are
// compared with (run/compare_engines.cpp).
inline bool lane_by_lane = false;

}  // namespace warpsim::global_record
