#include "host/cluster/embedded/status_patch.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

Status UnsupportedField(const std::string& field) {
  return Status::Unsupported("the embedded cluster does not patch " + field);
}

Status ExpectedObject(const std::string& field, const Json& found) {
  return Status::InvalidArgument(field + ": expected an object, found " + QuotedJson(found));
}

Status ExpectedString(const std::string& field, const Json& found) {
  return Status::InvalidArgument(field + ": expected a string, found " + QuotedJson(found));
}

uint32_t ConditionStatus(std::string_view text) {
  if (text == "True") return BERTH_CONDITION_TRUE;
  if (text == "False") return BERTH_CONDITION_FALSE;
  return text == "Unknown" ? uint32_t{BERTH_CONDITION_UNKNOWN} : 0;
}

// Returns whether `key` is a directive of strategic merge patches that only orders list elements.
bool IsOrderDirective(std::string_view key) { return key.starts_with("$setElementOrder/"); }

}  // namespace

Status StatusPatch::Read(const Json& json, PatchKind kind, int64_t now_ns) {
  if (!json.is_object()) return Status::InvalidArgument("the patch is not a JSON object");
  for (const auto& [key, value] : json.items()) {
    if (key == "status") {
      if (Status status = ReadStatus(value, kind, now_ns); !status.ok()) return status;
    } else if (key == "metadata") {
      if (!value.is_object()) return ExpectedObject("/metadata", value);
      for (const auto& [name, text] : value.items()) {
        if (name != "uid") return UnsupportedField("/metadata/" + name);
        if (!text.is_string()) return ExpectedString("/metadata/uid", text);
        uid_ = text;
      }
    } else if (key != "kind" && key != "apiVersion") {
      return UnsupportedField("/" + key);
    }
  }
  return {};
}

Status StatusPatch::ReadStatus(const Json& status, PatchKind kind, int64_t now_ns) {
  if (!status.is_object()) return ExpectedObject("/status", status);
  for (const auto& [key, value] : status.items()) {
    if (key == "nominatedNodeName") {
      if (!value.is_null() && !value.is_string())
        return ExpectedString("/status/nominatedNodeName", value);
      patch_.nominated_node = Keep(value.is_null() ? "" : value.get<std::string>());
    } else if (key == "conditions" && kind == PatchKind::kStrategicMerge && value.is_array()) {
      for (const Json& condition : value) {
        if (Status read = ReadCondition(condition, now_ns); !read.ok()) return read;
      }
    } else if (!IsOrderDirective(key)) {
      return UnsupportedField("/status/" + key);
    }
  }
  return {};
}

Status StatusPatch::ReadCondition(const Json& json, int64_t now_ns) {
  // lastProbeTime and observedGeneration are accepted and ignored.
  constexpr std::array<std::string_view, 7> kFields = {"type",
                                                       "status",
                                                       "reason",
                                                       "message",
                                                       "lastProbeTime",
                                                       "lastTransitionTime",
                                                       "observedGeneration"};
  const std::string place = "/status/conditions";
  if (!json.is_object()) return ExpectedObject(place, json);
  const auto text = [&](const char* key) -> std::string {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
  };
  for (const auto& [key, value] : json.items()) {
    const std::string path = std::string(place).append(1, '/').append(key);
    if (std::ranges::find(kFields, key) == kFields.end()) return UnsupportedField(path);
    const bool is_text = value.is_string() || value.is_null();
    if (!is_text && key != "observedGeneration") return ExpectedString(path, value);
  }
  const std::string type = text("type");
  auto* into = type == "PodScheduled"       ? &patch_.pod_scheduled
               : type == "DisruptionTarget" ? &patch_.disruption_target
                                            : nullptr;
  if (into == nullptr) return UnsupportedField(place + " of type \"" + type + "\"");
  PodStatusPatch::Condition condition;
  condition.status = ConditionStatus(text("status"));
  if (condition.status == 0) {
    return Status::InvalidArgument(place + "/status: expected True, False or Unknown, found \"" +
                                   text("status") + "\"");
  }
  condition.reason = Keep(text("reason"));
  condition.message = Keep(text("message"));
  condition.transition_ns = now_ns;
  if (const std::string time = text("lastTransitionTime"); !time.empty()) {
    const Result<int64_t> parsed = ParseTime(time);
    if (!parsed.ok()) return parsed.status().Annotate(place + "/lastTransitionTime");
    condition.transition_ns = *parsed;
  }
  *into = condition;
  return {};
}

}  // namespace berth::host
