// tilewise-record: turns a submission's solve into launch plans, one for each case, without data
// and without a GPU.
//
//   tilewise-record --submission submission.so --signature square-device --case w64:64x64x64
//   --output DIR
//
// Writes DIR/ID.plan.json, DIR/moduleN.ptx and DIR/record.json. Status 0: record.json says how each
// case ended; 2: bad arguments; 3: the recorder itself failed. The submission's code runs in this
// machine's processes: the caller confines it.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cudart/elf_file.h"
#include "harness/record/record_file.h"

namespace {

namespace fs = std::filesystem;
using tilewise::record::Case;
using tilewise::record::Outcome;
using tilewise::record::Submission;

constexpr int kBadArguments = 2, kOwnFailure = 3;
constexpr uint32_t kLargestSide = 1u << 20;

struct Stop {
  int status;
  std::string sentence;
};

// "w64:64x48x32".
Case parse_case(const std::string& text) {
  Case one;
  size_t colon = text.rfind(':');
  char rest = 0;
  std::string shape = colon == std::string::npos ? "" : text.substr(colon + 1);
  bool good = std::sscanf(shape.c_str(), "%ux%ux%u%c", &one.j, &one.k, &one.l, &rest) == 3;
  for (uint32_t side : {one.j, one.k, one.l}) good = good && side >= 1 && side <= kLargestSide;
  one.id = text.substr(0, colon);
  good = good && !one.id.empty() && one.id.find('/') == std::string::npos;
  if (!good)
    throw Stop{kBadArguments,
               "--case " + text + " is not of the form ID:JxKxL with sides from 1 to 1048576."};
  return one;
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

Submission parse_submission(const std::string& path, const std::string& signature,
                            const std::string& output) {
  auto file = tilewise::read_elf_file(path);
  if (!file || !file->is_dynamic)
    throw Stop{kBadArguments, "--submission " + path + " is no shared object."};
  std::error_code error;
  fs::create_directories(output, error);
  if (!fs::is_directory(output))
    throw Stop{kBadArguments, "--output " + output + " cannot be made."};
  return {fs::absolute(path).string(), find_cudart(*file), signature,
          fs::absolute(output).string()};
}

void record_all(const Submission& submission, const std::vector<Case>& cases) {
  std::vector<std::pair<Case, Outcome>> outcomes;
  std::vector<std::string> targets;
  for (const Case& one : cases) {
    Outcome outcome = tilewise::record::run_case(submission, one);
    if (outcome.status == "failed")
      throw Stop{kOwnFailure, "Case " + one.id + ": " + outcome.message};
    if (targets.empty()) targets = outcome.targets;
    outcomes.emplace_back(one, std::move(outcome));
    tilewise::record::write_record(submission.output + "/record.json", outcomes, targets);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Records what a submission's solve asks the CUDA runtime to do.", "tilewise-record");
  std::string submission, signature, output;
  std::vector<std::string> cases;
  app.add_option("--submission", submission, "shared object with solve")->required();
  app.add_option("--signature", signature, "square-host, square-device or rect-device")
      ->required()
      ->check(CLI::IsMember({"square-host", "square-device", "rect-device"}));
  app.add_option("--case", cases, "ID:JxKxL, as often as needed")->required();
  app.add_option("--output", output, "folder for the plans")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadArguments;
  }
  setenv("TILEWISE_CUDART", "record", 1);
  try {
    std::vector<Case> parsed;
    for (const std::string& text : cases) parsed.push_back(parse_case(text));
    record_all(parse_submission(submission, signature, output), parsed);
  } catch (const Stop& stop) {
    std::fprintf(stderr, "tilewise-record: %s\n", stop.sentence.c_str());
    return stop.status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-record: %s\n", error.what());
    return kOwnFailure;
  }
  return 0;
}
