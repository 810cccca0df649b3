// Patch: the body of a merge patch (RFC 7386) of a pod, a node or another object.
//
//   berth::Patch patch;
//   patch.Annotation("acme.io/gpu", "3").RemoveLabel("acme.io/pending");
//   const berth::Status sent = host_.api().PatchPod(pod, patch, [](const berth::ApiResult&) {});
//
// A merge patch replaces whole arrays. To change an element of one, send a strategic merge patch or
// a JSON patch with Api::Request; Api::PatchStatus does so for conditions of pods.
#ifndef BERTH_PATCH_H_
#define BERTH_PATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <berth/internal/json.h>

namespace berth {

// A value type. Of two calls with the same path, the last one counts; a path below another one
// makes that one an object.
class Patch {
 public:
  Patch& Annotation(std::string_view key, std::string_view value) {
    return metadata("annotations").Put(key, JsonOf(value)), *this;
  }
  Patch& RemoveAnnotation(std::string_view key) {
    return metadata("annotations").Put(key, "null"), *this;
  }
  Patch& Label(std::string_view key, std::string_view value) {
    return metadata("labels").Put(key, JsonOf(value)), *this;
  }
  Patch& RemoveLabel(std::string_view key) { return metadata("labels").Put(key, "null"), *this; }

  // Sets the member at a path, a JSON pointer (RFC 6901) such as "/spec/unschedulable", in which
  // "~1" stands for "/", and "~0" for "~". A path that does not begin with "/" counts as if it did.
  Patch& Text(std::string_view path, std::string_view value) { return Json(path, JsonOf(value)); }
  Patch& Int(std::string_view path, int64_t value) { return Json(path, std::to_string(value)); }
  Patch& Bool(std::string_view path, bool value) { return Json(path, value ? "true" : "false"); }
  Patch& Remove(std::string_view path) { return Json(path, "null"); }
  // REQUIRES: `json` is valid JSON.
  Patch& Json(std::string_view path, std::string json) {
    Member* at = &root_;
    if (path.starts_with('/')) path.remove_prefix(1);
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
      at = &at->Object(Unescaped(path.substr(0, slash)));
      path.remove_prefix(slash + 1);
    }
    at->Put(Unescaped(path), std::move(json));
    return *this;
  }

  bool empty() const { return root_.members.empty(); }
  // Returns the body, a JSON object with sorted members.
  std::string Body() const {
    std::string body;
    root_.AppendTo(body);
    return body;
  }

 private:
  struct Member {
    std::string json;  // Empty: an object with `members`.
    std::map<std::string, Member, std::less<>> members;

    Member& Object(std::string_view key) {
      Member& member = members[std::string(key)];
      member.json.clear();
      return member;
    }
    void Put(std::string_view key, std::string value) {
      members.insert_or_assign(std::string(key), Member{std::move(value), {}});
    }
    void AppendTo(std::string& out) const {
      if (!json.empty()) {
        out += json;
        return;
      }
      char separator = '{';
      for (const auto& [key, member] : members) {
        out += separator;
        out += JsonOf(key) + ":";
        member.AppendTo(out);
        separator = ',';
      }
      out += members.empty() ? "{}" : "}";
    }
  };

  Member& metadata(std::string_view map) { return root_.Object("metadata").Object(map); }

  static std::string JsonOf(std::string_view text) {
    const auto write = [text](internal::JsonWriter& out) { out.String(text); };
    std::string json(internal::JsonSize(write), '\0');
    internal::JsonWriter out(json.data());
    write(out);
    return json;
  }
  static std::string Unescaped(std::string_view segment) {
    std::string key;
    for (std::size_t i = 0; i < segment.size(); ++i) {
      const bool is_escape = segment[i] == '~' && i + 1 < segment.size() &&
                             (segment[i + 1] == '0' || segment[i + 1] == '1');
      key += is_escape ? (segment[++i] == '0' ? '~' : '/') : segment[i];
    }
    return key;
  }

  Member root_;
};

}  // namespace berth

#endif  // BERTH_PATCH_H_
