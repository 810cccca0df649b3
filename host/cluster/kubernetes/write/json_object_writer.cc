#include "host/cluster/kubernetes/write/json_object_writer.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"

namespace berth::host {
namespace {

// Returns whether the character stands for itself in a JSON string, whatever is next to it.
bool IsPlainInJson(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

}  // namespace

void JsonObjectWriter::AddKey(std::string_view key) {
  if (json_.back() != '{') json_.push_back(',');
  json_.append(1, '"').append(key).append("\":");
}

void JsonObjectWriter::AddText(std::string_view key, std::string_view text) {
  AddKey(key);
  if (std::ranges::all_of(text, IsPlainInJson)) {
    json_.append(1, '"').append(text).append(1, '"');
  } else {
    json_.append(DumpJson(nlohmann::json(text)));
  }
}

void JsonObjectWriter::AddNumber(std::string_view key, int64_t number) {
  AddKey(key);
  json_.append(std::to_string(number));
}

void JsonObjectWriter::BeginObject(std::string_view key) {
  AddKey(key);
  json_.push_back('{');
}

}  // namespace berth::host
