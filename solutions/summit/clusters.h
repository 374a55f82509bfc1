// Shared memory of rung 09; the same arithmetic on host and device.
#pragma once

namespace summit {

// From one slice's ring of stages to the next: its stages and barriers, to the next 1024 bytes.
constexpr int cluster_ring_bytes(int stages, int stage_bytes) {
  return (stages * (stage_bytes + 16) + 1023) / 1024 * 1024;
}

}  // namespace summit
