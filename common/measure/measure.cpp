// tilewise-measure: carries out a list of plans on one backend, in one process (so that Nsight
// Compute can be wrapped around all of them at once), and writes per plan a hash of each row of P,
// the counters of each kernel and the order of its launches.
//
//   tilewise-measure --list plans.txt --backend sim|gpu --output measured.json [--outputs DIR]
//   [--repeat R] [--merge-shared on|off]
//
// plans.txt: one `NAME PLAN` a line. A file resources.json beside a plan says how many registers
// its kernels take; the simulator's report then has the blocks per multiprocessor by each limit.
// Both backends get the same data (compare/uniform.h).

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/compare/uniform.h"
#include "harness/execute/executor.h"
#include "harness/execute/gpu_backend.h"
#include "harness/execute/gpu_timing.h"
#include "harness/execute/sim_backend.h"
#include "plan/files.h"
#include "warpsim/model/occupancy.h"

namespace {

using namespace tilewise;

struct Arguments {
  std::string list, backend = "sim", device = "h200", output, outputs;
  int threads = 0;
  uint32_t repeat = 0;
  bool checks = false;
  std::string merge_shared = "on";
};

struct Entry {
  std::string name, plan;
};

std::vector<Entry> read_list(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError("cannot read " + path + ".");
  std::vector<Entry> entries;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Entry entry;
    if (words >> entry.name >> entry.plan) entries.push_back(entry);
  }
  return entries;
}

// FNV-1a of the bytes of each row.
Json row_hashes(const Matrix& matrix) {
  Json list = Json::array();
  for (uint32_t row = 0; row < matrix.rows; ++row) {
    uint64_t hash = 0xcbf29ce484222325;
    const auto* bytes =
        reinterpret_cast<const unsigned char*>(matrix.values.data() + size_t{row} * matrix.columns);
    for (size_t i = 0; i < size_t{4} * matrix.columns; ++i)
      hash = (hash ^ bytes[i]) * 0x100000001b3;
    list.push_back(hash >> 16);
  }
  return list;
}

// Blocks per multiprocessor, had it only this one limit.
void add_limits(const warpsim::Device& device, Json* kernel) {
  if ((*kernel)["registers"].is_null()) return;
  const Json& block = (*kernel)["block"];
  const uint32_t threads =
      block[0].get<uint32_t>() * block[1].get<uint32_t>() * block[2].get<uint32_t>();
  const warpsim::model::BlockLimits limits = warpsim::model::toolkit_limits(
      device, (*kernel)["registers"], (*kernel)["shared_bytes"], threads);
  (*kernel)["limits"] = {{"warps", limits.threads},
                         {"blocks", limits.blocks},
                         {"registers", limits.registers},
                         {"shared_mem", limits.shared}};
}

Json measure(const Entry& entry, Backend& backend, const Arguments& arguments) {
  plan::Plan plan = plan::load(entry.plan);
  Executor executor(plan, backend, uniform_matrix(plan.j, plan.k, 1),
                    uniform_matrix(plan.k, plan.l, 2));
  executor.keep_buffers();
  executor.run();
  Execution& execution = executor.execution();
  auto* gpu = dynamic_cast<GpuBackend*>(&backend);
  if (gpu && arguments.repeat && execution.status == Status::kOk) {
    time_plan(*gpu, executor, arguments.repeat);
  }
  if (!arguments.outputs.empty()) {
    write_npy(arguments.outputs + "/" + entry.name + "." + plan.case_id + ".npy", execution.p());
  }
  Json json = Json::parse(to_text(execution, plan, backend.name(), arguments.device,
                                  backend.device().counting_rule, nullptr));
  Json result = {
      {"name", entry.name}, {"case", plan.case_id}, {"j", plan.j}, {"k", plan.k}, {"l", plan.l}};
  for (const char* field : {"status", "message", "diagnostics", "time_ms", "seconds"})
    result[field] = json[field];
  result["kernels"] = json["kernels"];
  for (Json& kernel : result["kernels"]) {
    kernel.erase("lines");
    add_limits(backend.device(), &kernel);
  }
  result["order"] = Json::array();
  for (const DeviceAction& action : executor.actions()) {
    if (const auto* launch = std::get_if<DeviceLaunch>(&action))
      result["order"].push_back(launch->kernel);
  }
  result["rows"] = row_hashes(execution.p());
  return result;
}

int run(const Arguments& arguments) {
  std::unique_ptr<Backend> backend;
  if (arguments.backend == "gpu") backend = std::make_unique<GpuBackend>();
  Json report = {{"schema", "tilewise.measured/1"}, {"backend", arguments.backend}};
  report["gpu"] = backend ? backend->describe() : Json(nullptr);
  report["plans"] = Json::array();
  for (const Entry& entry : read_list(arguments.list)) {
    if (arguments.backend == "sim") {  // a fresh one each: memory does not pile up
      SimSettings settings;
      settings.device = arguments.device;
      settings.threads = arguments.threads;
      settings.checks = warpsim::Checks::none();
      settings.checks.counters = true;
      if (arguments.checks) settings.checks = {};
      settings.merge_shared = arguments.merge_shared == "on";
      const auto resources = std::filesystem::path(entry.plan).parent_path() / "resources.json";
      if (std::filesystem::exists(resources)) settings.resources = read_resources(resources);
      backend = make_sim_backend(settings);
    }
    std::fprintf(stderr, "%s %s\n", entry.name.c_str(), entry.plan.c_str());
    try {
      report["plans"].push_back(measure(entry, *backend, arguments));
    } catch (const HarnessError& error) {
      report["plans"].push_back({{"name", entry.name},
                                 {"case", entry.plan},
                                 {"status", "error"},
                                 {"message", error.what()}});
    }
    write_file(arguments.output,
               report.dump() + "\n");  // what was measured stays if a later plan hangs
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Carries out a list of plans on one backend and writes hashes of the results and counters.");
  Arguments arguments;
  app.add_option("--list", arguments.list, "file of lines `NAME PLAN`")->required();
  app.add_option("--backend", arguments.backend, "sim or gpu")
      ->check(CLI::IsMember({"sim", "gpu"}));
  app.add_option("--device", arguments.device, "device file of the simulator");
  app.add_option("--output", arguments.output, "where the JSON goes")->required();
  app.add_option("--outputs", arguments.outputs, "folder for P as .npy");
  app.add_option("--threads", arguments.threads, "simulator's worker threads");
  app.add_option("--repeat", arguments.repeat, "gpu: timed repetitions");
  app.add_flag("--checks", arguments.checks, "sim: all checks on, not only the counters");
  app.add_option("--merge-shared", arguments.merge_shared, "sim: as tilewise-exec's")
      ->check(CLI::IsMember({"on", "off"}));
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-measure: %s\n", error.what());
    return 3;
  }
}
