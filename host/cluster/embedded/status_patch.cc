#include "host/cluster/embedded/status_patch.h"

#include <algorithm>
#include <iterator>

#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// `what`: such as "an object".
Status WrongField(const std::string& field, const char* what, const Json& found) {
  return Status::InvalidArgument(field + ": expected " + what + ", found " + QuotedJson(found));
}

uint32_t ConditionStatus(std::string_view text) {
  if (text == "True") return BERTH_CONDITION_TRUE;
  if (text == "False") return BERTH_CONDITION_FALSE;
  return text == "Unknown" ? uint32_t{BERTH_CONDITION_UNKNOWN} : 0;
}

// Returns an error, which states how the plugin gets all fields.
Status UnsupportedField(const std::string& field) {
  return Status::Unsupported("the embedded cluster does not patch " + field +
                             ": it keeps the text of a pod only if a plugin lists \"Pod:\" in its "
                             "fields");
}

}  // namespace

Status StatusPatch::Read(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    if (key == "status") {
      if (Status status = ReadStatus(value); !status.ok()) return status;
    } else if (key == "metadata") {
      if (!value.is_object()) return WrongField("/metadata", "an object", value);
      for (const auto& [name, text] : value.items()) {
        if (name != "uid") return UnsupportedField("/metadata/" + name);
        if (!text.is_string()) return WrongField("/metadata/uid", "a string", text);
        uid_ = text;
      }
    } else if (key != "kind" && key != "apiVersion") {
      return UnsupportedField("/" + key);
    }
  }
  return {};
}

Status StatusPatch::ReadStatus(const Json& status) {
  if (!status.is_object()) return WrongField("/status", "an object", status);
  for (const auto& [key, value] : status.items()) {
    if (key == "nominatedNodeName") {
      if (!value.is_null() && !value.is_string()) {
        return WrongField("/status/nominatedNodeName", "a string", value);
      }
      patch_.nominated_node = Keep(value.is_null() ? "" : value.get<std::string>());
    } else if (key == "conditions" && is_strategic_ && value.is_array()) {
      for (const Json& condition : value) {
        if (Status read = ReadCondition(condition); !read.ok()) return read;
      }
    } else if (!key.starts_with("$setElementOrder/")) {  // It only orders list elements.
      return UnsupportedField("/status/" + key);
    }
  }
  return {};
}

Status StatusPatch::ReadCondition(const Json& json) {
  // lastProbeTime and observedGeneration are accepted and ignored.
  constexpr std::string_view kFields[] = {"type",
                                          "status",
                                          "reason",
                                          "message",
                                          "lastProbeTime",
                                          "lastTransitionTime",
                                          "observedGeneration"};
  const std::string place = "/status/conditions";
  if (!json.is_object()) return WrongField(place, "an object", json);
  for (const auto& [key, value] : json.items()) {
    const std::string path = std::string(place).append(1, '/').append(key);
    if (std::ranges::find(kFields, key) == std::end(kFields)) return UnsupportedField(path);
    const bool is_text = value.is_string() || value.is_null();
    if (!is_text && key != "observedGeneration") return WrongField(path, "a string", value);
  }
  const std::string type = TextMember(json, "type");
  auto* into = type == "PodScheduled"       ? &patch_.pod_scheduled
               : type == "DisruptionTarget" ? &patch_.disruption_target
                                            : nullptr;
  if (into == nullptr) return UnsupportedField(place + " of type \"" + type + "\"");
  PodStatusPatch::Condition condition;
  const std::string status = TextMember(json, "status");
  condition.status = ConditionStatus(status);
  if (condition.status == 0) {
    return Status::InvalidArgument(place + "/status: expected True, False or Unknown, found \"" +
                                   status + "\"");
  }
  condition.reason = Keep(TextMember(json, "reason"));
  condition.message = Keep(TextMember(json, "message"));
  condition.transition_ns = now_ns_;
  if (const std::string time = TextMember(json, "lastTransitionTime"); !time.empty()) {
    const Result<int64_t> parsed = ParseTime(time);
    if (!parsed.ok()) return parsed.status().Annotate(place + "/lastTransitionTime");
    condition.transition_ns = *parsed;
  }
  *into = condition;
  return {};
}

}  // namespace berth::host
