#include "harness/programs/check_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "plan/check.h"
#include "plan/error.h"
#include "plan/files.h"
#include "plan/json_fields.h"

namespace tilewise {

namespace {

struct Wanted {
  plan::Case plan_case;
  std::string file;
};

// "w64:64x64x64=w64.json"; the sizes may hold = too, a file's name at the end of it does not.
Wanted wanted(const std::string& text, const plan::Signature& signature) {
  const size_t equals = text.rfind('=');
  try {
    if (equals == std::string::npos) throw std::invalid_argument(text);
    return {plan::case_of(signature, text.substr(0, equals)), text.substr(equals + 1)};
  } catch (const std::invalid_argument&) {
    throw InputError("--case: expected ID:JxKxL=FILE or ID:NAME=SIZE,...=FILE, found \"" + text +
                     "\".");
  }
}

// The refusal, or "" once the plan is written.
std::string check_one(const Wanted& wanted, const std::vector<std::string>& modules,
                      const std::string& folder) {
  std::string text;
  try {
    text = read_file(wanted.file);
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  try {
    const plan::Plan plan = plan::parse(text, wanted.plan_case.id);
    check_case(plan, wanted.plan_case);
    if (plan.modules != modules)
      throw PlanError("the plan names other modules than were recorded.");
    write_file(folder + "/" + wanted.plan_case.id + ".plan.json", plan::to_text(plan));
  } catch (const PlanError& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "the plan takes more memory than there is.";
  }
  return "";
}

int run(const std::vector<std::string>& cases, const plan::Signature& signature, int count,
        const std::string& folder) {
  std::vector<std::string> modules;
  for (int i = 0; i < count; ++i) modules.push_back("module" + std::to_string(i) + ".ptx");
  for (const std::string& text : cases) {
    const Wanted one = wanted(text, signature);
    const Json line = {{"case", one.plan_case.id}, {"refused", check_one(one, modules, folder)}};
    std::printf("%s\n", json_text(line, -1, Letters::kAscii).c_str());
  }
  return 0;
}

}  // namespace

int check_plans(int argc, char** argv) {
  CLI::App app("Holds recorded plans against the cases that were asked for.",
               "tilewise-exec check");
  std::vector<std::string> cases;
  std::string signature, folder;
  int modules = 0;
  app.add_option("--case", cases, "ID:JxKxL=FILE or ID:NAME=SIZE,...=FILE")
      ->required()
      ->delimiter('\0');
  app.add_option("--signature", signature, "of solve")->required();
  app.add_option("--modules", modules, "how many module0.ptx, module1.ptx, ... were recorded")
      ->required()
      ->check(CLI::Range(0, 1 << 16));
  app.add_option("--output", folder, "where the plans go")->required();
  try {
    app.parse(argc, argv);
    return run(cases, plan::signature_of(signature), modules, folder);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "tilewise-exec check: %s\n", error.what());
    return 2;
  } catch (const InputError& error) {
    std::fprintf(stderr, "tilewise-exec check: %s\n", error.what());
    return 2;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "tilewise-exec check: --signature: %s.\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tilewise-exec check: %s\n", error.what());
    return 3;
  }
}

}  // namespace tilewise
