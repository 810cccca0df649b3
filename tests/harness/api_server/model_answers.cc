#include "tests/harness/api_server/model_answers.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/serve/http_request.h"

namespace berth::host {

ModelQuery::ModelQuery(std::string_view query) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const size_t equals = std::min(one.size(), one.find('='));
    const std::string_view value = one.substr(std::min(one.size(), equals + 1));
    values_[std::string(one.substr(0, equals))] = DecodePercent(value).value_or("");
  }
}

const std::string& ModelQuery::Get(std::string_view name) const {
  static const std::string kNone;
  const auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

std::optional<uint64_t> ModelQuery::Number(std::string_view name) const {
  const std::string& text = Get(name);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

HttpResponse JsonAnswer(uint32_t http_status, std::string body) {
  HttpResponse response{.delivery = Delivery::kAnswered};
  response.head.http_status = http_status;
  response.head.content_type = kJson;
  response.body = std::move(body);
  return response;
}

HttpResponse NoAnswer(Delivery delivery, const char* message) {
  HttpResponse response;
  response.status = Status::Unavailable(message);
  response.delivery = delivery;
  return response;
}

HttpResponse EmptyAnswer() {
  HttpResponse response{.delivery = Delivery::kAnswered};
  response.head.http_status = 200;
  return response;
}

HttpResponse ErrorAnswer(const Status& error, const ApiPath& about) {
  return JsonAnswer(HttpStatusOf(error), StatusObject(error, about));
}

std::string StatusText(uint32_t code, std::string_view reason, std::string_view message,
                       std::string_view cause) {
  nlohmann::ordered_json json = {
      {"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", nlohmann::ordered_json::object()},
      {"status", "Failure"}, {"message", message}, {"reason", reason}};
  if (!cause.empty()) {
    json["details"]["causes"].push_back({{"reason", cause}, {"message", message}});
  }
  json["code"] = code;
  return DumpJson(json);
}

HttpResponse StatusAnswer(uint32_t code, std::string_view reason, std::string_view message,
                          std::string_view cause) {
  return JsonAnswer(code, StatusText(code, reason, message, cause));
}

HttpResponse GoneAnswer() { return StatusAnswer(410, "Expired", "too old resource version"); }

}  // namespace berth::host
