// tilewise-predict: the predicted times of the launches of plans, without carrying the plans out:
// only the blocks that the time model looks at are executed, on memory without data.
//
//   tilewise-predict --list plans.txt --output predicted.json [--device h200]
//
// plans.txt: one `NAME PLAN RESOURCES` a line; resources.json as the grader writes it, `-` for
// none.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "harness/execute/addresses.h"
#include "harness/execute/execution.h"
#include "harness/execute/predicted_time.h"
#include "plan/files.h"
#include "plan/plan.h"

namespace {

using namespace tilewise;

struct Arguments {
  std::string list, device = "h200", output;
};

Json predict(const plan::Plan& plan, const Resources& resources, const std::string& device) {
  warpsim::Simulator simulator(warpsim::load_device(device));
  Addresses addresses(plan);
  for (const plan::Buffer& buffer : plan.buffers)
    addresses.place(buffer.id, simulator.memory().allocate(buffer.bytes, buffer.name));
  std::vector<int> modules;
  for (const std::string& file : plan.modules)
    modules.push_back(simulator.load_module(read_file(file), file));
  PredictedTime model;
  Json kernels = Json::array();
  for (const plan::Op& op : plan.ops) {
    const auto* planned = std::get_if<plan::Launch>(&op);
    if (planned == nullptr) continue;
    warpsim::Launch launch;
    launch.module = modules[planned->module];
    launch.kernel = planned->kernel;
    launch.grid = {planned->grid[0], planned->grid[1], planned->grid[2]};
    launch.block = {planned->block[0], planned->block[1], planned->block[2]};
    launch.dynamic_shared_bytes = planned->shared_bytes;
    launch.params = planned->params;
    addresses.relocate(planned->relocations, launch.params);
    for (const plan::ParameterMap& place : planned->maps) {
      warpsim::TensorMap map = place.is.map;
      map.address = addresses.of(place.is);
      warpsim::write_tensor_map(
          map, std::span(launch.params).subspan(place.offset).first<warpsim::TensorMap::kBytes>());
    }
    warpsim::Simulator::KernelInfo info;
    if (!simulator.kernel_info(launch.module, launch.kernel, &info)) continue;
    const auto known = resources.find(launch.kernel);
    const KernelResources kernel = known != resources.end() ? known->second : KernelResources{};
    const warpsim::Occupancy occupancy = warpsim::occupancy(
        simulator.device(), std::max(1u, kernel.registers),
        info.static_shared_bytes + launch.dynamic_shared_bytes, uint32_t(launch.block.count()));
    Json json = {{"kernel", launch.kernel},
                 {"blocks_per_sm", occupancy.blocks_per_sm},
                 {"registers", kernel.registers}};
    const Predicted predicted =
        model.of(simulator, launch, info.static_shared_bytes, kernel, occupancy);
    add_prediction(predicted.prediction, predicted.refusal, json);
    kernels.push_back(std::move(json));
  }
  return kernels;
}

int run(const Arguments& arguments) {
  Json report = Json::array();
  std::ifstream list(arguments.list);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string name, file, resources;
    if (!(words >> name >> file >> resources)) continue;
    const plan::Plan plan = plan::load(file);
    Json entry = {{"name", name}, {"case", plan.case_id}, {"n", plan.j}};
    entry["kernels"] =
        predict(plan, resources == "-" ? Resources{} : read_resources(resources), arguments.device);
    report.push_back(std::move(entry));
    write_file(arguments.output, json_text(report, 1) + "\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Predicts the times of the launches of plans without carrying them out.");
  Arguments arguments;
  app.add_option("--list", arguments.list, "file of lines `NAME PLAN RESOURCES`")->required();
  app.add_option("--device", arguments.device, "device file");
  app.add_option("--output", arguments.output, "where the JSON goes")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-predict: %s\n", error.what());
    return 3;
  }
}
