// tilewise-record: turns a submission's solve into launch plans, one for each case, without data
// and without a GPU.
//
//   tilewise-record --submission submission.so --signature square-device --case w64:64x64x64
//   --output DIR
//
// Writes DIR/ID.plan.json, DIR/moduleN.ptx and DIR/record.json, or with --stream the same as lines
// of JSON. Status 0: the record says how each case ended; 2: bad arguments; 3: the recorder itself
// failed. The submission's code runs in this machine's processes: the caller confines it.

#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cudart/elf_file.h"
#include "harness/record/record_file.h"

namespace {

namespace fs = std::filesystem;
using tilewise::record::Case;
using tilewise::record::FolderSink;
using tilewise::record::Module;
using tilewise::record::Outcome;
using tilewise::record::Sink;
using tilewise::record::StreamSink;
using tilewise::record::Submission;

constexpr int kBadArguments = 2, kOwnFailure = 3;

struct Stop {
  int status;
  std::string sentence;
};

// A signature or a case as text. A bad one is a bad argument.
template <typename Function>
auto understood(const char* option, Function parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& error) {
    throw Stop{kBadArguments, std::string(option) + ": " + error.what()};
  }
}

// The runtime that the submission asks for, ours, in lib/ beside this program's bin/.
std::string find_cudart(const tilewise::ElfFile& file) {
  int major = tilewise::needed_cudart(file);
  if (major == 0) major = 13;  // no CUDA calls at all: either serves
  fs::path library = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" /
                     ("libcudart.so." + std::to_string(major));
  if (!fs::exists(library))
    throw Stop{kOwnFailure, "There is no recording CUDA runtime " + library.string() + "."};
  return library.string();
}

Submission parse_submission(const std::string& path) {
  auto file = tilewise::read_elf_file(path);
  if (!file || !file->is_dynamic)
    throw Stop{kBadArguments, "--submission " + path + " is no shared object."};
  Submission submission;
  submission.path = fs::absolute(path).string();
  submission.cudart = find_cudart(*file);
  return submission;
}

std::unique_ptr<Sink> make_sink(const std::string& folder, bool stream) {
  if (stream) return std::make_unique<StreamSink>();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder))
    throw Stop{kBadArguments, "--output " + folder + " cannot be made."};
  return std::make_unique<FolderSink>(fs::absolute(folder).string());
}

void record_all(const Submission& submission, const std::vector<Case>& cases, Sink& sink) {
  // The submission's processes, which have the same user, must not reach into this one.
  prctl(PR_SET_DUMPABLE, 0);
  sink.begin();
  std::optional<std::vector<Module>> modules;
  for (const Case& one : cases) {
    Outcome outcome = tilewise::record::run_case(submission, one);
    if (outcome.status == "failed")
      throw Stop{kOwnFailure, "Case " + one.id + ": " + outcome.message};
    if (outcome.status == "ok" && !modules) {
      modules = outcome.parcel.modules;
      sink.add_modules(*modules);
    } else if (outcome.status == "ok" && *modules != outcome.parcel.modules) {
      outcome.status = "error";
      outcome.reason = tilewise::record::Reason::kDeviceCode;
      outcome.message = "The submission brings other device code for each case.";
    }
    sink.add_case(one, outcome);
    if (outcome.status == "timeout") break;  // the others would take as long
  }
}

}  // namespace

namespace {

// A submission could read the command line of its process and tell it in words of its own.
void forget_arguments(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) std::memset(argv[i], 0, std::strlen(argv[i]));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Records what a submission's solve asks the CUDA runtime to do.", "tilewise-record");
  std::string submission, signature, output;
  bool stream = false, alone = false;
  double seconds = 0;
  std::vector<std::string> cases;
  app.add_flag_callback(
      "--vocabulary",
      [] {
        for (const std::string& name : tilewise::record::reason_names()) std::puts(name.c_str());
        throw CLI::Success();
      },
      "print the reasons that recordings give, one a line");
  app.add_option("--submission", submission, "shared object with solve")->required();
  app.add_option("--signature", signature,
                 "square-host, square-device, rect-device, or \"device: const float* x, ...\"")
      ->required();
  app.add_option("--case", cases, "ID:JxKxL or ID:NAME=SIZE,..., as often as needed")
      ->required()
      ->delimiter('\0');
  auto* folder = app.add_option("--output", output, "folder for the plans");
  app.add_flag("--stream", stream, "everything goes to standard output, one JSON object a line")
      ->excludes(folder);
  app.add_option("--seconds", seconds, "limit of each case; 0: none")->check(CLI::Range(0.0, 1e6));
  app.add_flag("--alone", alone, "end every other process after a case: for process namespaces");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadArguments;
  }
  forget_arguments(argc, argv);
  setenv("TILEWISE_CUDART", "record", 1);
  try {
    if (!stream && output.empty()) throw Stop{kBadArguments, "--output or --stream is missing."};
    const auto wanted =
        understood("--signature", [&] { return tilewise::plan::signature_of(signature); });
    std::vector<Case> parsed;
    for (const std::string& text : cases)
      parsed.push_back(understood("--case", [&] { return case_of(wanted, text); }));
    Submission given = parse_submission(submission);
    given.signature = wanted;
    given.seconds = seconds;
    given.is_silent = stream;
    given.is_alone = alone;
    record_all(given, parsed, *make_sink(output, stream));
  } catch (const Stop& stop) {
    std::fprintf(stderr, "tilewise-record: %s\n", stop.sentence.c_str());
    return stop.status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-record: %s\n", error.what());
    return kOwnFailure;
  }
  return 0;
}
