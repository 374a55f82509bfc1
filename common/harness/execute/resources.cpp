#include "harness/execute/resources.h"

#include "plan/error.h"
#include "plan/files.h"
#include "plan/json_fields.h"

namespace tilewise {

Resources read_resources(const std::string& path) {
  Resources resources;
  try {
    Json json = json_of(read_file(path));
    if (!json.is_object()) throw FieldError("top level", "expected an object.");
    for (const auto& [kernel, entry] : json.items()) {
      Fields fields(entry, kernel);
      KernelResources& kernel_resources = resources[kernel];
      kernel_resources.registers = fields.u32("registers");
      kernel_resources.spill_store_bytes = fields.u64_or("spill_store_bytes", 0);
      kernel_resources.spill_load_bytes = fields.u64_or("spill_load_bytes", 0);
      kernel_resources.stack.reserved_bytes = fields.u64_or("reserved_stack_bytes", 0);
      if (fields.has("frames")) {
        for (const auto& [function, bytes] : fields.object("frames").items())
          kernel_resources.stack.frames[function] = bytes.get<uint32_t>();
      }
      if (entry.contains("cubin")) kernel_resources.cubin = fields.string("cubin");
    }
  } catch (const Json::parse_error& error) {
    throw InputError(path + " is not JSON: byte " + std::to_string(error.byte) + ".");
  } catch (const FieldError& error) {
    throw InputError(path + ": " + error.what());
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  return resources;
}

}  // namespace tilewise
