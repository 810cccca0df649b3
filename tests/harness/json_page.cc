#include "tests/harness/json_page.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace berth::testing {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kElement = "[]";

bool IsName(std::string_view step) { return step.starts_with('<'); }

// Splits "plugins[].points[].id" into its steps.
std::vector<std::string> StepsOf(std::string_view path) {
  std::vector<std::string> steps;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    std::string_view step = path.substr(0, end);
    const bool is_list = step.ends_with(kElement);
    if (is_list) step.remove_suffix(kElement.size());
    steps.emplace_back(step);
    if (is_list) steps.emplace_back(kElement);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return steps;
}

std::string PathOf(const std::vector<std::string>& steps) {
  std::string path;
  for (const std::string& step : steps) {
    if (!path.empty() && step != kElement) path += '.';
    path += step;
  }
  return path;
}

// Returns the text of a cell without spaces around it.
std::string CellOf(std::string_view line, size_t index) {
  for (; index > 0; --index) line.remove_prefix(std::min(line.find('|') + 1, line.size()));
  line = line.substr(0, line.find('|'));
  while (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with(' ')) line.remove_suffix(1);
  return std::string(line);
}

std::string_view TypeOf(const Json& value) {
  if (value.is_number_integer()) return "integer";
  return value.is_array() ? "list" : std::string_view(value.type_name());
}

// Returns whether a value of this type may stand where `documented` is, such as "list of string" or
// "number or null".
bool Fits(const Json& value, std::string_view documented) {
  if (documented == "free form") return true;
  const std::string_view type = TypeOf(value);
  const size_t either = documented.find(" or ");
  if (either != std::string_view::npos) {
    return Fits(value, documented.substr(0, either)) || Fits(value, documented.substr(either + 4));
  }
  constexpr std::string_view kListOf = "list of ";
  if (!documented.starts_with(kListOf)) {
    return type == documented || (type == "integer" && documented == "number");
  }
  return value.is_array() && std::ranges::all_of(value, [&](const Json& element) {
           return Fits(element, documented.substr(kListOf.size()));
         });
}

}  // namespace

JsonPage::JsonPage(std::string_view text, std::string_view section) {
  std::istringstream lines{std::string(text)};
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) is_inside = std::string_view(line).substr(3) == section;
    if (is_inside && line.starts_with("| `")) AddRow(line);
  }
}

JsonPage JsonPage::Open(std::string_view section) {
  std::ifstream file(BERTH_SOURCE_DIR "/host/cli/json_output.md");
  std::ostringstream text;
  text << file.rdbuf();
  return {text.str(), section};
}

void JsonPage::AddRow(std::string_view line) {
  std::string path = CellOf(line, 1);
  std::erase(path, '`');
  rows_.push_back({path, StepsOf(path), CellOf(line, 2)});
}

JsonPage::Row* JsonPage::Find(const std::vector<std::string>& steps) {
  Row* best = nullptr;
  size_t least_names = steps.size() + 1;
  for (Row& row : rows_) {
    const bool matches = std::ranges::equal(
        row.steps, steps, [](const std::string& documented, const std::string& found) {
          return documented == found || (IsName(documented) && found != kElement);
        });
    const auto names = static_cast<size_t>(std::ranges::count_if(row.steps, IsName));
    if (!matches || names >= least_names) continue;
    best = &row;
    least_names = names;
  }
  return best;
}

std::vector<std::string> JsonPage::Compare(const Json& document) {
  std::vector<std::string> findings;
  std::vector<std::string> steps;
  CompareMembers(document, steps, findings);
  return findings;
}

void JsonPage::CompareValue(const Json& value, std::vector<std::string>& steps,
                            std::vector<std::string>& findings) {
  Row* row = Find(steps);
  if (row == nullptr) {
    findings.push_back("the page has no row for " + PathOf(steps));
    return;
  }
  row->is_seen = true;
  if (!Fits(value, row->type)) {
    findings.push_back(row->path + ": expected " + row->type + ", found " + value.dump());
    return;
  }
  if (row->type != "free form") CompareMembers(value, steps, findings);
}

void JsonPage::CompareMembers(const Json& value, std::vector<std::string>& steps,
                              std::vector<std::string>& findings) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      steps.push_back(key);
      CompareValue(member, steps, findings);
      steps.pop_back();
    }
  } else if (value.is_array()) {
    steps.emplace_back(kElement);
    for (const Json& element : value) CompareMembers(element, steps, findings);
    steps.pop_back();
  }
}

std::vector<std::string> JsonPage::Unseen() const {
  std::vector<std::string> paths;
  for (const Row& row : rows_) {
    if (!row.is_seen) paths.push_back(row.path);
  }
  return paths;
}

}  // namespace berth::testing
