#include "host/config/config_errors.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth::host {
namespace {

struct Line {
  size_t file;  // The index of the file in the order of first errors.
  const ConfigError* error;
};

}  // namespace

std::string ConfigPlace::ToString() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line);
}

std::string ConfigError::ToString() const {
  std::string text_with_place = place.ToString();
  for (const std::string* part : {&key, &text}) {
    if (part->empty()) continue;
    if (!text_with_place.empty()) text_with_place += ": ";
    text_with_place += *part;
  }
  return text_with_place;
}

void ConfigErrors::Add(ConfigPlace place, std::string key, std::string text) {
  errors_.push_back({std::move(place), std::move(key), std::move(text), false});
}

void ConfigErrors::AddAlone(ConfigPlace place, std::string text) {
  errors_.push_back({std::move(place), "", std::move(text), true});
}

void ConfigErrors::Expected(ConfigPlace place, std::string key, std::string_view expected,
                            std::string_view found) {
  std::string text = "expected ";
  text.append(expected).append(", found ").append(found);
  Add(std::move(place), std::move(key), std::move(text));
}

Status ConfigErrors::ToStatus() const {
  if (errors_.empty()) return {};
  std::vector<std::string_view> files;
  std::vector<Line> lines;
  const bool alone = std::ranges::any_of(errors_, &ConfigError::is_alone);
  for (const ConfigError& error : errors_) {
    if (alone && !error.is_alone) continue;
    const auto file = std::ranges::find(files, error.place.file);
    lines.push_back({static_cast<size_t>(file - files.begin()), &error});
    if (file == files.end()) files.push_back(error.place.file);
  }
  std::ranges::stable_sort(lines, [](const Line& a, const Line& b) {
    if (a.file != b.file) return a.file < b.file;
    if (a.error->place.line != b.error->place.line)
      return a.error->place.line < b.error->place.line;
    return a.error->place.column < b.error->place.column;
  });
  std::set<std::string> reported;
  std::string all;
  for (const Line& line : lines) {
    const auto [text, is_new] = reported.insert(line.error->ToString());
    if (!is_new) continue;
    if (!all.empty()) all += '\n';
    all += *text;
  }
  return Status::InvalidArgument(std::move(all));
}

}  // namespace berth::host
