// `berth plugin new`: writes a folder with a plugin that builds and passes its tests.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/cli/embedded_files.h"
#include "host/guard/point.h"

namespace berth::host {
namespace {

namespace fs = std::filesystem;

// ---- Templates ----------------------------------------------------------------------------------

// Removes the text up to the next `separator` from `rest` and returns it.
std::string_view TakeUntil(char separator, std::string_view& rest) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

bool AllHold(std::string_view terms, const TemplatePoints& points) {
  while (!terms.empty()) {
    std::string_view term = TakeUntil('&', terms);
    const bool wanted = !term.starts_with('!');
    if (!wanted) term.remove_prefix(1);
    if (points.contains(term) != wanted) return false;
  }
  return true;
}

bool Holds(std::string_view condition, const TemplatePoints& points) {
  while (!condition.empty()) {
    if (AllHold(TakeUntil(' ', condition), points)) return true;
  }
  return false;
}

// Returns the length of the variable name at the start of `text`, which is followed by "@". Returns
// 0 if there is none.
size_t NameLength(std::string_view text) {
  const size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return end != std::string_view::npos && text[end] == '@' ? end : 0;
}

void AppendLine(std::string_view line, const TemplateVariables& variables, std::string& out) {
  while (!line.empty()) {
    const size_t at = line.find('@');
    out += line.substr(0, at);
    if (at == std::string_view::npos) break;
    line.remove_prefix(at + 1);
    const size_t length = NameLength(line);
    if (length == 0) {
      out += '@';
      continue;
    }
    const auto found = variables.find(line.substr(0, length));
    BERTH_ASSERT(found != variables.end());
    out += found->second;
    line.remove_prefix(length + 1);
  }
  out += '\n';
}

// ---- The new plugin -----------------------------------------------------------------------------

struct Language {
  std::string_view name;     // The value of --language and the folder of the templates.
  std::string_view library;  // The folder in which the build creates lib<file>.so.
  bool all_points;           // False: the templates have only Filter and Score.
};
constexpr std::array<Language, 3> kLanguages{{
    {"cpp", "build", true},
    {"c", "build", false},
    {"rust", "target/release", false},
}};

// Names that the code of a new plugin already uses in one of the languages.
constexpr auto kTakenClasses = std::to_array<std::string_view>(
    {"AddPod", "Args", "Columns", "EventsToRegister", "Hint", "Key", "Less", "Node",
     "NormalizeScore", "OnChange", "Plugin", "Reason", "RemovePod", "State", "Unreserve"});
constexpr auto kTakenFiles = std::to_array<std::string_view>(
    {"abstract", "all",     "alloc",   "as",       "async", "await",  "become", "berth",  "box",
     "break",    "clean",   "const",   "continue", "core",  "crate",  "do",     "dyn",    "else",
     "enum",     "extern",  "false",   "final",    "fn",    "for",    "help",   "if",     "impl",
     "in",       "install", "let",     "loop",     "macro", "match",  "mod",    "move",   "mut",
     "override", "package", "priv",    "pub",      "ref",   "return", "self",   "static", "std",
     "struct",   "super",   "test",    "trait",    "true",  "try",    "type",   "typeof", "unsafe",
     "unsized",  "use",     "virtual", "where",    "while", "yield"});

struct NewPlugin {
  std::string name;    // "acme.RackPower"
  std::string vendor;  // "acme"; "example" if the name has none
  std::string type;    // "RackPower"
  std::string file;    // "rack_power"
};

// Returns "gpu_share" for "GPUShare".
std::string SnakeCase(std::string_view type) {
  std::string snake;
  for (size_t i = 0; i < type.size(); ++i) {
    const bool ends_word = i > 0 && !IsUpper(type[i - 1]);
    const bool begins_word = i > 0 && i + 1 < type.size() && IsLower(type[i + 1]);
    if (IsUpper(type[i]) && (ends_word || begins_word)) snake += '_';
    snake += ToLower(type[i]);
  }
  return snake;
}

bool IsVendor(std::string_view vendor) {
  return !vendor.empty() && IsLower(vendor.front()) && vendor.back() != '.' &&
         vendor.find("..") == std::string_view::npos && std::ranges::all_of(vendor, [](char c) {
           return IsLower(c) || IsDigit(c) || c == '-' || c == '.';
         });
}

Result<NewPlugin> ParseName(const std::string& name) {
  const size_t dot = name.rfind('.');
  NewPlugin plugin{name, dot == std::string::npos ? "example" : name.substr(0, dot),
                   dot == std::string::npos ? name : name.substr(dot + 1), ""};
  const bool is_type =
      plugin.type.size() > 1 && IsUpper(plugin.type.front()) &&
      std::ranges::all_of(plugin.type, [](char c) { return IsLetter(c) || IsDigit(c); });
  if (!is_type || !IsVendor(plugin.vendor) || name.size() > 60) {
    return Status::InvalidArgument(
        "NAME: expected a vendor in lower case and a name in CamelCase, such as acme.RackPower, of "
        "at most 60 characters, found \"" +
        name + "\"");
  }
  plugin.file = SnakeCase(plugin.type);
  const bool taken = std::ranges::find(kTakenClasses, plugin.type) != kTakenClasses.end() ||
                     std::ranges::find(kTakenFiles, plugin.file) != kTakenFiles.end() ||
                     std::ranges::find(kPoints, plugin.type, &PointInfo::name) != kPoints.end();
  if (taken) {
    return Status::InvalidArgument("NAME: expected a name that is not used in the code of every " +
                                   std::string("plugin, found ") + plugin.type);
  }
  return plugin;
}

Result<Language> ParseLanguage(const std::string& name) {
  const auto found = std::ranges::find(kLanguages, name, &Language::name);
  if (found != kLanguages.end()) return *found;
  return Status::InvalidArgument("--language: expected cpp, c or rust, found \"" + name + "\"");
}

Result<TemplatePoints> ParseTemplatePoints(const std::string& text, const Language& language) {
  const Result<std::vector<Point>> parsed = ParsePoints(text);
  if (!parsed.ok()) return parsed.status();
  TemplatePoints points;
  for (const Point point : *parsed) {
    const std::string name(InfoOf(point).name);
    if (!language.all_points && name != "Filter" && name != "Score") {
      return Status::InvalidArgument("--points: expected Filter, Score or both for --language " +
                                     std::string(language.name) + ", found " + name +
                                     "; add other points by hand, see <berth/abi.h>");
    }
    points.insert(name);
  }
  return points;
}

// Returns "Filter and Score", in the order in which the scheduler calls the extension points.
std::string JoinPoints(const TemplatePoints& points) {
  std::string joined;
  size_t left = points.size();
  for (const PointInfo& point : kPoints) {
    if (!points.contains(point.name)) continue;
    joined += point.name;
    --left;
    joined += left == 0 ? "" : left == 1 ? " and " : ", ";
  }
  return joined;
}

// Returns the path of the file that a template becomes: "rust/src/lib.rs.in" becomes "src/lib.rs",
// "cpp/plugin_test.cc.in" becomes "rack_power_test.cc".
std::string PathOf(std::string_view path, const NewPlugin& plugin) {
  path.remove_prefix(path.find('/') + 1);
  if (path.ends_with(".in")) path.remove_suffix(3);
  if (path == "gitignore") return ".gitignore";
  constexpr std::string_view kStem = "plugin";
  return path.starts_with(kStem) ? plugin.file + std::string(path.substr(kStem.size()))
                                 : std::string(path);
}

Status WriteFile(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status() : Status::Unavailable(path.string() + ": the file cannot be written");
}

// Returns where the SDK's crate is installed. `prefix`: of the installation.
std::string RustCrateIn(const fs::path& prefix) {
  return (prefix / BERTH_DATADIR / "berth" / "rust").string();
}

// Returns the names of the files that were written, sorted. `prefix` is where the SDK is installed.
Result<std::vector<std::string>> WriteFolder(const fs::path& folder, const NewPlugin& plugin,
                                             const Language& language, const TemplatePoints& points,
                                             const fs::path& prefix) {
  const std::string library = std::string(language.library) + "/lib" + plugin.file + ".so";
  const TemplateVariables variables{{"NAME", plugin.name},
                                    {"VENDOR", plugin.vendor},
                                    {"CLASS", plugin.type},
                                    {"FILE", plugin.file},
                                    {"POINTS", JoinPoints(points)},
                                    {"COUNT", std::to_string(points.size())},
                                    {"LIBRARY", library},
                                    {"ABOUT", "A new plugin: " + JoinPoints(points) + "."},
                                    {"RUST_SDK", RustCrateIn(prefix)}};
  std::vector<std::string> written;
  for (const EmbeddedFile& file : PluginTemplates()) {
    const std::string_view owner = file.path.substr(0, file.path.find('/'));
    if (owner != language.name && owner != "common") continue;
    const bool is_template = file.path.ends_with(".in");
    const std::string path = PathOf(file.path, plugin);
    const Status status =
        WriteFile(folder / path, is_template ? RenderTemplate(file.text, variables, points)
                                             : std::string(file.text));
    if (!status.ok()) return status;
    written.push_back(path);
  }
  std::ranges::sort(written);
  return written;
}

// Returns the installation prefix of the SDK that belongs to this program.
std::string InstallationOf(const std::string& executable) {
  const fs::path prefix = fs::path(executable).parent_path().parent_path();
  std::error_code error;
  return fs::exists(prefix / "include" / "berth" / "abi.h", error)
             ? prefix.string()
             : "<installation prefix of Berth>";
}

// Returns the commands to run next.
std::string NextSteps(const std::string& folder, const NewPlugin& plugin, const Language& language,
                      const CommandEnvironment& env) {
  const std::string prefix = InstallationOf(env.executable);
  const std::string library = std::string(language.library) + "/lib" + plugin.file + ".so";
  std::string text = "\nNext:\n  cd " + Printable(folder) + "\n";
  if (language.name == "rust") {
    text += "  cargo build --release && cargo test\n";
  } else {
    text += "  cmake -B build -DCMAKE_PREFIX_PATH=" + prefix +
            "\n  cmake --build build && ctest --test-dir build\n";
  }
  text += "  berth plugin check " + library +
          "\n  berth explain --profile profile.toml --cluster cluster.yaml --pod default/web\n";
  if (language.name == "rust") {
    text += "\nCargo.toml names the crate berth by its absolute path, " + RustCrateIn(prefix) +
            ".\nIf you move the SDK, or build on another machine, change the path of berth under "
            "[dependencies].\n";
  }
  return text;
}

}  // namespace

std::string RenderTemplate(std::string_view text, const TemplateVariables& variables,
                           const TemplatePoints& points) {
  constexpr std::string_view kIf = "@if ";
  std::string out;
  // For each open @if, whether its condition and those of all enclosing @ifs are true.
  std::vector<bool> written;
  while (!text.empty()) {
    const std::string_view line = TakeUntil('\n', text);
    const bool is_active = written.empty() || written.back();
    BERTH_ASSERT(line != "@end" || !written.empty());
    if (line.starts_with(kIf)) {
      written.push_back(is_active && Holds(line.substr(kIf.size()), points));
    } else if (line == "@end") {
      written.pop_back();
    } else if (is_active) {
      AppendLine(line, variables, out);
    }
  }
  BERTH_ASSERT(written.empty());
  return out;
}

int ExecutePluginNew(const PluginNewFlags& flags, CommandEnvironment& env) {
  const auto plugin = ParseName(flags.name);
  if (!plugin.ok()) return Fail(env, plugin.status());
  const auto language = ParseLanguage(flags.language);
  if (!language.ok()) return Fail(env, language.status());
  const auto points = ParseTemplatePoints(flags.points, *language);
  if (!points.ok()) return Fail(env, points.status());

  fs::path folder = flags.directory.empty() ? plugin->file : flags.directory;
  if (!folder.has_filename()) folder = folder.parent_path();  // "foo/"
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    return Fail(env, Status::InvalidArgument(folder.string() +
                                             ": expected a folder that does not exist; use --dir "
                                             "to name another one"));
  }
  fs::create_directories(folder.parent_path(), error);
  // Unlike create_directories, create_directory fails if another process has created the folder.
  if (!fs::create_directory(folder, error)) {
    return Fail(env, Status::Unavailable(folder.string() +
                                         ": the folder cannot be created: " + error.message()));
  }
  const auto written =
      WriteFolder(folder, *plugin, *language, *points, InstallationOf(env.executable));
  if (!written.ok()) {
    fs::remove_all(folder, error);
    return Fail(env, written.status());
  }
  std::string out = plugin->name + ", a plugin with " + JoinPoints(*points) + ":\n";
  for (const std::string& path : *written) {
    out += "  " + Printable((folder / path).string()) + "\n";
  }
  return Print(env, out + NextSteps(folder.string(), *plugin, *language, env), kExitDone);
}

}  // namespace berth::host
