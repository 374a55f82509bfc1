#include "cli/occupancy.h"

#include <stdexcept>

#include "json/json.h"
#include "warpsim/device.h"

namespace warpsim::cli {

namespace {

void refuse(const char* what, uint32_t value, const Device& device, uint32_t limit,
            const char* unit) {
  throw std::runtime_error(std::string(what) + " " + std::to_string(value) + ": " + device.name +
                           " allows 1 to " + std::to_string(limit) + " " + unit);
}

void check(const OccupancyQuestion& q, const Device& d) {
  if (q.threads < 1 || q.threads > d.max_threads_per_block)
    refuse("--threads", q.threads, d, d.max_threads_per_block, "threads in a block");
  if (q.registers < 1 || q.registers > d.max_registers_per_thread)
    refuse("--registers", q.registers, d, d.max_registers_per_thread, "registers in a thread");
  if (q.shared_bytes > d.shared_bytes_per_block_optin) {
    throw std::runtime_error("--shared " + std::to_string(q.shared_bytes) + ": " + d.name +
                             " allows at most " + std::to_string(d.shared_bytes_per_block_optin) +
                             " bytes in a block");
  }
}

}  // namespace

std::string answer(const OccupancyQuestion& question) {
  const Device device = load_device(question.device);
  check(question, device);
  const Occupancy found =
      occupancy(device, question.registers, question.shared_bytes, question.threads);
  tilewise::Json limits = tilewise::Json::object();
  for (const Occupancy::Limit& limit : found.limits)  // null: the kernel takes none of it
    limits[limit.name] = limit.blocks > device.max_threads_per_sm ? tilewise::Json(nullptr)
                                                                  : tilewise::Json(limit.blocks);
  const tilewise::Json json = {{"schema", "warpsim.occupancy/1"},
                               {"device", device.id},
                               {"name", device.name},
                               {"registers", question.registers},
                               {"shared_bytes", question.shared_bytes},
                               {"threads", question.threads},
                               {"blocks_per_sm", found.blocks_per_sm},
                               {"warps_per_sm", found.warps_per_sm},
                               {"max_warps_per_sm", device.max_warps_per_sm},
                               {"occupancy", found.fraction},
                               {"limiter", found.limiter},
                               {"limits", limits}};
  return tilewise::json_text(json);
}

}  // namespace warpsim::cli
