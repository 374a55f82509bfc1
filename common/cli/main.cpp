// warpsim: runs an unchanged CUDA program on the CPU and says what its kernels did.
//
//   warpsim run --device h200 --json report.json -- ./vectorAdd
//   warpsim nvcc -O3 vectorAdd.cu -o vectorAdd
//   warpsim merge-sarif --output all.sarif one.sarif two.sarif
//   warpsim occupancy --device h200 --registers 40 --shared 8192 --threads 256
//   warpsim counters

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string_view>

#include "cli/counters.h"
#include "cli/merge_sarif.h"
#include "cli/nvcc.h"
#include "cli/occupancy.h"
#include "cli/run_program.h"
#include "cudart/options.h"
#include "warpsim/device.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/sim.h"
#include "warpsim/trace/settings.h"

namespace {

constexpr int kBadArguments = 2;

void complain(const char* sentence) {
  std::fprintf(stderr, "warpsim: %s\n", sentence);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs CUDA programs on a simulated GPU.", "warpsim");
  app.set_version_flag("--version", [] {
    const std::string reason = warpsim::jit::why_not();
    return "warpsim " WARPSIM_VERSION "\n" +
           (reason.empty() ? std::string("Kernels of long launches are compiled.")
                           : "Kernels are interpreted, not compiled: " + reason + ".");
  });
  app.require_subcommand(1);
  CLI::App* run = app.add_subcommand("run",
                                     "Run a program built with -cudart shared and embedded PTX; "
                                     "its status is the program's, 3 if warpsim\n"
                                     "cannot run it or has to refuse some of it");
  warpsim::cli::RunOptions options;
  std::vector<std::string> command;
  bool with_lines = false, quiet = false;
  run->add_option("--device", options.device, "device file: h200, t4, ...")->capture_default_str();
  run->add_option("--json", options.json, "write the report to this file as well");
  run->add_option("--sarif", options.sarif,
                  "write what was found to this file, as SARIF for GitHub and editors");
  run->add_option("--sarif-root", options.sarif_root,
                  "folder that its paths start from; else the repository around this folder");
  run->add_option("--error-exitcode", options.error_exitcode,
                  "end with this status where errors or warnings were found; 0: with the program's")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  run->add_option("--checks", options.checks, "all, none, or some of " + warpsim::check_names())
      ->capture_default_str();
  run->add_option("--merge-shared", options.merge_shared,
                  "count accesses to shared memory that ptxas merges as one: on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  run->add_option("--engine", options.engine,
                  "auto: kernels of long launches are compiled; interpreter; compiled: all are")
      ->check(CLI::IsMember({"auto", "interpreter", "compiled", "compared"}))
      ->capture_default_str();
  run->add_option("--threads", options.threads, "workers; 0: one per CPU")->capture_default_str();
  run->add_option("--budget", options.budget,
                  "warp instructions per launch before it counts as endless");
  run->add_flag("--sample", options.sample,
                "execute some blocks of each grid and extrapolate the counters: what the program "
                "computes is then meaningless");
  run->add_option("--sample-seed", options.sample_seed,
                  "draws the blocks that test the extrapolation")
      ->capture_default_str();
  run->add_option("--trace", options.trace,
                  "write what the warps did, instruction by instruction, to this file");
  run->add_option("--trace-blocks", options.trace_blocks,
                  "only these blocks (x + grid x * (y + grid y * z)): 0,1 or 0-3");
  run->add_option("--trace-lines", options.trace_lines, "only these lines: 10-20");
  run->add_option("--trace-events", options.trace_events,
                  "instructions after which the trace ends; 0: " +
                      std::to_string(warpsim::trace::Settings().most_events));
  run->add_flag("--lines", with_lines, "counters per source line in the report");
  run->add_flag("--quiet", quiet, "no report on standard error");
  run->add_option("program", command, "the program and its arguments, after --")->required();
  CLI::App* occupancy =
      app.add_subcommand("occupancy", "How many blocks of a kernel fit an SM, as JSON");
  warpsim::cli::OccupancyQuestion question;
  occupancy->add_option("--device", question.device, "device file")->capture_default_str();
  occupancy->add_option("--registers", question.registers, "registers per thread")->required();
  occupancy->add_option("--shared", question.shared_bytes, "bytes of shared memory per block");
  occupancy->add_option("--threads", question.threads, "threads per block")->required();
  CLI::App* nvcc = app.add_subcommand(
      "nvcc",
      "Compile a program so that `warpsim run` can run it: nvcc, with -cudart shared, PTX "
      "and line numbers;\nthe arguments are nvcc's, -v prints the command");
  nvcc->prefix_command();
  CLI::App* merge = app.add_subcommand("merge-sarif", "Make one SARIF file of several");
  std::string merged;
  std::vector<std::string> parts;
  merge->add_option("--output", merged, "the file to write")->required();
  merge->add_option("files", parts, "files of `warpsim run --sarif`");
  CLI::App* counters = app.add_subcommand("counters", "What is counted, as JSON");
  // Everything after it is nvcc's, also what looks like an option of ours.
  if (argc > 1 && std::string_view(argv[1]) == "nvcc" &&
      !(argc == 3 && std::string_view(argv[2]) == "--help")) {
    try {
      return warpsim::cli::run_nvcc(std::vector<std::string>(argv + 2, argv + argc),
                                    warpsim::cli::kCapability);
    } catch (const std::exception& error) {
      complain(error.what());
      return warpsim::cli::kUnsupportedStatus;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadArguments;
  }
  if (merge->parsed()) {
    try {
      warpsim::cli::merge_sarif(parts, merged);
      return 0;
    } catch (const std::exception& error) {
      complain(error.what());
      return kBadArguments;
    }
  }
  if (counters->parsed()) {
    std::printf("%s\n", warpsim::cli::counters_text().c_str());
    return 0;
  }
  if (occupancy->parsed()) {
    try {
      std::printf("%s\n", warpsim::cli::answer(question).c_str());
      return 0;
    } catch (const std::exception& error) {
      complain(error.what());
      return kBadArguments;
    }
  }
  options.report = quiet ? "none" : with_lines ? "lines" : "text";
  try {
    const warpsim::Checks checks = warpsim::cudart::parse_checks(options.checks);
    if (options.sample && !checks.counters)
      throw std::runtime_error("--sample is for counters: add them to --checks.");
    warpsim::trace::Settings settings;
    warpsim::trace::read_blocks(options.trace_blocks, &settings);
    warpsim::trace::read_lines(options.trace_lines, &settings);
    if (options.trace.empty() && (!options.trace_blocks.empty() || !options.trace_lines.empty() ||
                                  options.trace_events != 0))
      throw std::runtime_error(
          "--trace-blocks, --trace-lines and --trace-events need --trace FILE.");
    if (options.sample && !options.trace.empty())
      throw std::runtime_error("--sample executes few blocks: there is no --trace of it.");
    warpsim::load_device(options.device);
  } catch (const std::exception& error) {
    complain(error.what());
    return kBadArguments;
  }
  try {
    return warpsim::cli::run_program(command, options);
  } catch (const std::exception& error) {
    complain(error.what());
    return warpsim::cli::kUnsupportedStatus;
  }
}
