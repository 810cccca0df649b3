// Helpers for tests of decoding. They take JSON with single quotes and return decoded values as
// short texts.
#ifndef BERTH_HOST_API_DECODE_TESTING_H_
#define BERTH_HOST_API_DECODE_TESTING_H_

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/api/value.h"
#include "host/base/interner.h"

namespace berth::host {

inline std::string Json(std::string_view text) {
  std::string json(text);
  std::ranges::replace(json, '\'', '"');
  return json;
}

class DecodeTest : public ::testing::Test {
 protected:
  // Returns {'metadata':{'name':'p',<meta>},'spec':{<spec>},'status':{<status>}}.
  static std::string PodText(std::string_view spec, std::string_view status = "",
                             std::string_view meta = "") {
    return ObjectText("p", spec, status, meta);
  }

  static std::string ObjectText(std::string_view name, std::string_view spec,
                                std::string_view status, std::string_view meta) {
    std::string text = "{'metadata':{'name':'";
    text.append(name).append("'").append(meta.empty() ? "" : ",").append(meta);
    text.append("},'spec':{").append(spec).append("},'status':{").append(status).append("}}");
    return Json(text);
  }

  PodRef DecodePod(std::string_view spec, std::string_view status = "",
                   std::string_view meta = "") {
    Result<PodRef> pod = decoder_.DecodePod(PodText(spec, status, meta));
    EXPECT_TRUE(pod.ok()) << pod.status().ToString() << "\n" << spec;
    return pod.ok() ? *pod : nullptr;
  }

  NodeRef DecodeNode(std::string_view spec, std::string_view status = "",
                     std::string_view meta = "") {
    Result<NodeRef> node = decoder_.DecodeNode(ObjectText("n", spec, status, meta));
    EXPECT_TRUE(node.ok()) << node.status().ToString() << "\n" << spec;
    return node.ok() ? *node : nullptr;
  }

  std::string PodError(std::string_view spec, std::string_view status = "",
                       std::string_view meta = "") {
    const Result<PodRef> pod = decoder_.DecodePod(PodText(spec, status, meta));
    return pod.ok() ? "decoded" : std::string(pod.status().message());
  }

  std::string NodeError(std::string_view spec, std::string_view status = "") {
    const Result<NodeRef> node = decoder_.DecodeNode(ObjectText("n", spec, status, ""));
    return node.ok() ? "decoded" : std::string(node.status().message());
  }

  // Returns JSON with single quotes and an "f" after floating-point numbers; "absent" for a null
  // pointer.
  static std::string Show(const berth_value* value) {
    const berth_values& values = *ValuesService();
    switch (values.kind(value)) {
      case BERTH_VALUE_BOOL: return values.as_int(value) != 0 ? "true" : "false";
      case BERTH_VALUE_INT: return std::to_string(values.as_int(value));
      case BERTH_VALUE_FLOAT: {
        std::array<char, 32> digits = {};
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), values.as_float(value));
        return std::string(digits.data(), end.ptr) + "f";
      }
      case BERTH_VALUE_STRING:
        return std::string("'").append(Text(values.as_string(value))).append("'");
      default: break;
    }
    if (values.kind(value) == BERTH_VALUE_NULL) return value == nullptr ? "absent" : "null";
    const bool object = values.kind(value) == BERTH_VALUE_OBJECT;
    std::string text = object ? "{" : "[";
    for (uint64_t i = 0; i < values.size(value); ++i) {
      berth_str key = {nullptr, 0};
      const berth_value* part = values.at(value, i, &key);
      text.append(i == 0 ? "" : ",");
      if (object) text.append("'").append(Text(key)).append("':");
      text.append(Show(part));
    }
    return text.append(object ? "}" : "]");
  }

  // Returns the text of an id in single quotes; "-" for kNoId.
  std::string Show(Id id) const {
    return id == kNoId ? "-" : "'" + std::string(interner_.Text(id)) + "'";
  }

  // Returns a text such as "cpu=100 memory=5 pods=3 example.com/gpu=1".
  std::string Show(const berth_resources& resources) const {
    std::string text;
    const auto add = [&](std::string_view name, int64_t value) {
      text.append(text.empty() ? "" : " ").append(name).append("=");
      text.append(std::to_string(value));
    };
    if (resources.present & BERTH_PRESENT_CPU) add("cpu", resources.milli_cpu);
    if (resources.present & BERTH_PRESENT_MEMORY) add("memory", resources.memory);
    if (resources.present & BERTH_PRESENT_EPHEMERAL_STORAGE) {
      add("ephemeral-storage", resources.ephemeral_storage);
    }
    if (resources.present & BERTH_PRESENT_PODS) add("pods", resources.pods);
    std::vector<std::pair<std::string_view, int64_t>> scalars;
    for (const berth_quantity& scalar : Elements<berth_quantity>(resources.scalars)) {
      scalars.emplace_back(interner_.Text(scalar.name), scalar.value);
    }
    std::ranges::sort(scalars);
    for (const auto& [name, value] : scalars) add(name, value);
    return text;
  }

  // Returns "key Op values; ...", "invalid" for an invalid selector, or "none" for a null pointer.
  std::string Show(const berth_selector* selector) const {
    if (selector == nullptr) return "none";
    if ((selector->flags & BERTH_SELECTOR_INVALID) != 0) return "invalid";
    return ShowRequirements(selector->requirements);
  }

  std::string ShowRequirements(const berth_array& requirements) const {
    static constexpr const char* kOperators[] = {"?",  "In", "NotIn", "Exists", "DoesNotExist",
                                                 "Gt", "Lt"};
    std::string text;
    for (const auto& requirement : Elements<berth_requirement>(requirements)) {
      text.append(text.empty() ? "" : "; ").append(interner_.Text(requirement.key));
      text.append(" ").append(kOperators[requirement.op]);
      if (requirement.op == BERTH_OP_GT || requirement.op == BERTH_OP_LT) {
        text.append(" ").append(std::to_string(requirement.number));
        continue;
      }
      for (const Id value : Elements<Id>(requirement.values)) text.append(" ").append(Show(value));
    }
    return text;
  }

  std::string ShowPairs(const berth_array& pairs) const {
    std::vector<std::string> texts;
    for (const berth_id_pair& pair : Elements<berth_id_pair>(pairs)) {
      texts.push_back(std::string(interner_.Text(pair.key)) + "=" +
                      std::string(interner_.Text(pair.value)));
    }
    std::ranges::sort(texts);
    std::string all;
    for (const std::string& text : texts) all.append(all.empty() ? "" : " ").append(text);
    return all;
  }

  Interner interner_;
  Decoder decoder_{interner_};
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_TESTING_H_
