#include <stdexcept>
#include <string>
#include <dirent.h>
#include <unistd.h>

static bool named(const std::string& name, const char* what) {
  return name.find(what) != std::string::npos;
}

// Looks for anything that a submission has no business with.
static void walk(const std::string& folder, int depth) {
  DIR* dir = depth < 9 ? opendir(folder.c_str()) : nullptr;
  if (!dir) return;
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name, path = folder + "/" + name;
    if (name[0] == '.' && name.size() < 3) continue;
    if (named(path, "/proc/") || named(path, "/sys/") || named(path, "/usr/")) continue;
    bool taboo = name == "solutions" || name == "labs" || name == "lab.toml" ||
                 named(name, ".npy") || named(name, "SECRET") || name == "matmul.cu";
    if (taboo) throw std::runtime_error("ATTACK SUCCEEDED: " + path);
    if (entry->d_type == DT_DIR) walk(path, depth + 1);
  }
  closedir(dir);
}

void solve(const float*, const float*, float*, int) {
  walk("", 0);
}
