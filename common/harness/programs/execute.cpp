// tilewise-exec: carries out a launch plan on the simulator or on a GPU and writes what happened.
//
//   tilewise-exec --plan w64.plan.json --backend sim --device h200
//                 --inputs M=M.npy --inputs N=N.npy --output P=P.npy --result result.json
//   tilewise-exec --backend gpu --plan mine.plan.json --compare reference=theirs.plan.json
//                 --cublas --result comparison.json
//
// The second form times a submission against other plans (see compare/comparison.h). A third,
// `tilewise-exec check`, looks at plans before anything uses them (check_command.h).
// Ends with 0 when result.json was written, whatever it says; 2: bad arguments or input files; 3:
// our own failure (no GPU); 4: a plan that breaks its format; each with one sentence on standard
// error.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "harness/compare/command.h"
#include "harness/execute/executor.h"
#include "harness/execute/gpu_backend.h"
#include "harness/execute/gpu_timing.h"
#include "harness/execute/provenance.h"
#include "harness/execute/resources.h"
#include "harness/execute/sim_backend.h"
#include "harness/execute/watchdog.h"
#include "harness/programs/check_command.h"
#include "plan/files.h"
#include "warpsim/finding_json.h"
#include "warpsim/finding_text.h"
#include "warpsim/trace/json.h"
#include "warpsim/trace/settings.h"

namespace {

using namespace tilewise;

struct Arguments {
  std::string plan, backend = "sim", device = "h200", result, resources, checks = "all",
                    merge_shared = "on", engine = "auto";
  std::vector<std::string> inputs, outputs;
  int threads = 0;
  uint64_t budget = 0, memory_mib = 0;
  uint32_t repeat = 0;
  std::string explain;  // places in P
  std::string ways;     // likewise
  std::string trace, trace_blocks, trace_lines;
  uint64_t trace_events = 0;
  double time_limit = -1;  // seconds; below 0: the backend's default
  std::string driver = "libcuda.so.1";
  std::vector<std::string> compare;
  bool cublas = false;
  std::string factors = "float";
  uint32_t rounds = 30;
  double seconds = 20;
  warpsim::SampleOptions sample;
};

// Without a limit a kernel that hangs would hold the GPU for ever. The simulator has its
// instruction budget.
constexpr double kGpuTimeLimit = 60;
// A tenth of a second.
constexpr size_t kProductsOfWays = size_t{1} << 20;

void declare(CLI::App& app, Arguments& a) {
  app.add_flag_callback(
      "--vocabulary",
      [] {
        std::puts(json_text(warpsim::vocabulary_json<Json>(), 1).c_str());
        throw CLI::Success();
      },
      "print the names that findings use, as JSON");
  app.add_option("--plan", a.plan, "launch plan (ID.plan.json)")->required();
  app.add_option("--backend", a.backend, "sim or gpu")->check(CLI::IsMember({"sim", "gpu"}));
  app.add_option("--device", a.device,
                 "device file to simulate (sim), name of the device in the result (gpu)");
  app.add_option("--inputs", a.inputs, "NAME=FILE.npy for each array that solve is given");
  app.add_option("--output", a.outputs, "NAME=FILE.npy: where an array that solve fills goes");
  app.add_option("--result", a.result, "where result.json goes")->required();
  app.add_option("--resources", a.resources, "registers per kernel, as ptxas reports them (JSON)");
  app.add_option("--threads", a.threads, "simulator's worker threads; 0: one per CPU")
      ->check(CLI::Range(0, 1024));
  app.add_option("--checks", a.checks,
                 "all, none or some of " + warpsim::check_names() + ", joined by commas");
  app.add_option(
         "--merge-shared", a.merge_shared,
         "sim: count accesses to shared memory that ptxas merges as one (on), or as PTX has "
         "them (off)")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--engine", a.engine,
                 "sim: kernels of long launches are compiled (auto), none (interpreter), all are "
                 "(compiled)")
      ->check(CLI::IsMember({"auto", "interpreter", "compiled", "compared"}));
  app.add_option("--budget", a.budget,
                 "simulated warp instructions per launch before `timeout`; 0: the default");
  app.add_flag("--sample", a.sample.on,
               "sim: execute some blocks of each grid and extrapolate the counters; needs no "
               "--inputs, writes no P");
  app.add_option("--sample-seed", a.sample.seed, "draws the blocks that test the extrapolation");
  app.add_option(
      "--explain", a.explain,
      "sim: ROW:COLUMN,... of elements of P whose provenance is wanted: of which elements "
      "of M and N they are made, by which loads");
  app.add_option(
      "--ways", a.ways,
      "sim: ROW:COLUMN,... of elements of P: how many factors of the products in their blocks come "
      "from shared memory, and how many past it");
  app.add_option("--trace", a.trace,
                 "sim: write what the warps did, instruction by instruction, to this file");
  app.add_option("--trace-blocks", a.trace_blocks, "only these blocks: 0,1 or 0-3");
  app.add_option("--trace-lines", a.trace_lines, "only these lines: 10-20");
  app.add_option("--trace-events", a.trace_events,
                 "instructions after which the trace ends; 0: the default");
  app.add_option("--memory", a.memory_mib,
                 "MiB that the simulated device has for buffers; 0: as much as the device")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 30));
  app.add_option("--repeat", a.repeat, "gpu: timed repetitions after the checked run")
      ->check(CLI::Range(0, 100000));
  app.add_option("--time-limit", a.time_limit,
                 "seconds before `timeout`; 0: none. Default: none on sim, 60 on gpu");
  app.add_option("--driver", a.driver, "gpu: the CUDA driver library");
  app.add_option("--compare", a.compare,
                 "gpu: NAME=PLAN to time --plan against, in turns; more than one is possible");
  app.add_flag("--cublas", a.cublas, "gpu: time --plan against cuBLAS too");
  app.add_option(
         "--factors", a.factors,
         "of a comparison's M and N: what they may be rounded to before they are multiplied, or "
         "split: tensor cores may multiply pieces of them")
      ->check(CLI::IsMember({"float", "bf16", "split"}));
  app.add_option("--rounds", a.rounds, "timed rounds of a comparison")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seconds", a.seconds, "begin no new round of a comparison after this time");
}

// {"M=a.npy", ...} -> {"M": "a.npy"}; every name must be one of `allowed`, once.
std::map<std::string, std::string> assignments(const char* option,
                                               const std::vector<std::string>& list,
                                               const std::vector<std::string>& allowed) {
  std::map<std::string, std::string> result;
  for (const std::string& text : list) {
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    if (equals == std::string::npos ||
        std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      throw InputError(std::string(option) + ": expected " + allowed.at(0) + "=FILE.npy, found \"" +
                       text + "\".");
    }
    if (!result.emplace(name, text.substr(equals + 1)).second) {
      throw InputError(std::string(option) + ": " + name + " is given twice.");
    }
  }
  return result;
}

// The arrays that solve is given.
Matrices read_inputs(const plan::Signature& signature, const std::vector<std::string>& list) {
  std::vector<std::string> names;
  for (const plan::Parameter& one : signature.parameters) {
    if (one.is_array && one.use != plan::Use::kOut) names.push_back(one.name);
  }
  if (names.empty()) names.emplace_back("NAME");  // none may be given
  const auto files = assignments("--inputs", list, names);
  Matrices inputs;
  for (const plan::Parameter& one : signature.parameters) {
    if (!one.is_array || one.use == plan::Use::kOut) continue;
    const auto found = files.find(one.name);
    if (found == files.end()) throw InputError("--inputs " + one.name + "=FILE.npy is missing.");
    inputs[one.name] = read_npy(found->second);
  }
  return inputs;
}

// What result.json says of a plan that used up its time.
Execution timed_out(const Executor& executor, double seconds) {
  Execution execution = executor.snapshot();
  std::string kernel = executor.running();
  FoundFault fault;
  fault.diagnostic.code = warpsim::Code::kTimeout;
  fault.diagnostic.cause = warpsim::Cause::kTimeLimit;
  fault.diagnostic.kernel = kernel;
  fault.diagnostic.count = 1;
  fault.diagnostic.limit = static_cast<uint64_t>(seconds);
  fault.diagnostic.message = warpsim::sentence(fault.diagnostic);
  fault.launch = static_cast<int64_t>(execution.launches);
  execution.status = Status::kTimeout;
  execution.message = fault.diagnostic.message;
  execution.faults.push_back(fault);
  execution.seconds = seconds;
  return execution;
}

int run_comparison(const Arguments& a) {
  if (a.backend != "gpu") throw InputError("--compare and --cublas need --backend gpu.");
  CompareCommand command;
  command.submission = a.plan;
  for (const std::string& text : a.compare) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--compare: expected NAME=PLAN, found \"" + text + "\".");
    }
    command.others.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  command.settings.rounds = a.rounds;
  command.settings.seconds = a.seconds;
  command.settings.with_cublas = a.cublas;
  if (a.factors == "bf16") command.settings.factors = Factors::kBf16;
  if (a.factors == "split") command.settings.factors = Factors::kSplit;
  command.device = a.device;
  command.result = a.result;
  command.driver = a.driver;
  command.time_limit = a.time_limit >= 0 ? a.time_limit : kGpuTimeLimit + a.seconds;
  compare(command);
  return 0;
}

SimSettings sim_settings(const Arguments& a, const warpsim::Checks& checks, Resources resources) {
  SimSettings settings;
  settings.device = a.device;
  settings.checks = checks;
  settings.merge_shared = a.merge_shared == "on";
  settings.threads = a.threads;
  using warpsim::EngineChoice;
  settings.engine = a.engine == "interpreter" ? EngineChoice::kInterpreter
                    : a.engine == "compared"  ? EngineChoice::kCompared
                    : a.engine == "compiled"  ? EngineChoice::kCompiled
                                              : EngineChoice::kAuto;
  settings.instruction_budget = a.budget;
  settings.resources = std::move(resources);
  return settings;
}

// What --trace and its like ask for.
warpsim::trace::Settings trace_settings(const Arguments& a) {
  warpsim::trace::Settings settings;
  try {
    warpsim::trace::read_blocks(a.trace_blocks, &settings);
    warpsim::trace::read_lines(a.trace_lines, &settings);
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  if (a.trace_events != 0) settings.most_events = a.trace_events;
  if (a.trace.empty()) return settings;
  if (a.backend != "sim" || a.sample.on || !a.explain.empty() || !a.ways.empty())
    throw InputError("--trace is for --backend sim, without --sample, --explain and --ways.");
  return settings;
}

int run_sample(const Arguments& a) {
  if (a.backend != "sim") throw InputError("--sample needs --backend sim.");
  if (!a.inputs.empty() || !a.outputs.empty()) {
    throw InputError(
        "--sample executes few blocks and computes no P: leave out --inputs and --output.");
  }
  warpsim::Checks checks = parse_checks(a.checks);
  if (!checks.counters) throw InputError("--sample is for counters: add them to --checks.");
  Resources resources = a.resources.empty() ? Resources{} : read_resources(a.resources);
  plan::Plan plan = plan::load(a.plan);
  SimSettings settings = sim_settings(a, checks, std::move(resources));
  settings.sample = a.sample;
  auto backend = make_sim_backend(settings);
  Executor executor(plan, *backend);
  executor.run();
  write_file(a.result, to_text(executor.execution(), plan, a.backend, a.device,
                               backend->device().counting_rule, nullptr));
  return 0;
}

int run(const Arguments& a) {
  if (!a.compare.empty() || a.cublas) return run_comparison(a);
  warpsim::trace::Recording recording(trace_settings(a));
  if (a.sample.on) return run_sample(a);
  warpsim::Checks checks = parse_checks(a.checks);
  Resources resources = a.resources.empty() ? Resources{} : read_resources(a.resources);
  plan::Plan plan = plan::load(a.plan);
  const auto outputs = assignments("--output", a.outputs, plan.signature.outputs());
  Matrices inputs = read_inputs(plan.signature, a.inputs);

  std::vector<Place> places;
  if (!a.explain.empty() && !a.ways.empty())
    throw InputError("--explain and --ways are not for one run.");
  const bool counts_ways = !a.ways.empty();
  if (counts_ways || !a.explain.empty())
    places = parse_places(counts_ways ? a.ways : a.explain, plan);
  using warpsim::provenance::History;
  History history = counts_ways ? History(kProductsOfWays, History::Keeps::kWays) : History();
  limit_to(places, plan, &history);
  std::unique_ptr<Backend> backend;
  GpuBackend* gpu = nullptr;
  if (a.backend == "gpu") {
    auto made = std::make_unique<GpuBackend>(a.driver);
    gpu = made.get();
    backend = std::move(made);
  } else {
    SimSettings settings = sim_settings(a, checks, std::move(resources));
    if (a.memory_mib) settings.memory_bytes = a.memory_mib << 20;
    if (!places.empty()) settings.history = &history;
    if (!a.trace.empty()) settings.trace = &recording;
    backend = make_sim_backend(settings);
  }
  Json description = backend->describe();
  Executor executor(plan, *backend, std::move(inputs));
  auto write = [&](const Execution& execution) {
    for (const auto& [name, file] : outputs) write_npy(file, execution.left.at(name));
    write_file(a.result, to_text(execution, plan, a.backend, a.device,
                                 backend->device().counting_rule, description));
  };
  double limit = a.time_limit >= 0 ? a.time_limit : gpu ? kGpuTimeLimit : 0;
  Watchdog watchdog(limit, [&] {
    try {
      write(timed_out(executor, limit));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tilewise-exec: %s\n", error.what());
      ::_exit(3);
    }
  });
  if (gpu && a.repeat) executor.keep_buffers();
  executor.run();
  if (gpu && a.repeat && executor.execution().status == Status::kOk) {
    time_plan(*gpu, executor, a.repeat);
  }
  if (counts_ways && !gpu) {
    executor.execution().factors = {{"from_tiles", history.factors().from_tiles},
                                    {"past_tiles", history.factors().past_tiles}};
  } else if (!places.empty() && !gpu) {
    executor.execution().provenance =
        provenance_json(history, places, plan, executor.output_parts());
  }
  watchdog.disarm();
  if (!a.trace.empty())
    write_file(a.trace, warpsim::trace::to_json(recording, backend->device(), a.plan));
  write(executor.execution());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "check") return check_plans(argc - 1, argv + 1);
  CLI::App app("Carries out a launch plan on the simulator or on a GPU and writes what happened.",
               "tilewise-exec");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    return run(arguments);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "tilewise-exec: %s\nRun tilewise-exec --help for the options.\n",
                 error.what());
    return 2;
  } catch (const InputError& error) {
    std::fprintf(stderr, "tilewise-exec: %s\n", error.what());
    return 2;
  } catch (const PlanError& error) {
    std::fprintf(stderr, "tilewise-exec: %s\n", error.what());
    return 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-exec: %s\n", error.what());
    return 3;
  }
}
