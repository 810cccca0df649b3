#include "host/cluster/kubernetes/answers/foreign_answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/api/manifest.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
// The first bytes of each object in protobuf. (apimachinery: runtime/serializer/protobuf)
constexpr std::string_view kProtobufMagic("k8s\0", 4);
constexpr size_t kMaxLocation = 200;

// What servers with TLS answer to plain HTTP: those in Go, such as the API server, nginx, Apache.
constexpr std::array<std::string_view, 3> kTlsExpected = {
    "client sent an http request to an https server",
    "the plain http request was sent to https port",
    "speaking plain http to an ssl-enabled server"};

bool ExpectsTls(const HttpHead& head, std::string_view body) {
  if (head.http_status != 400) return false;
  const std::string text = ToLower(body);
  return std::ranges::any_of(kTlsExpected, [&text](std::string_view phrase) {
    return text.find(phrase) != std::string::npos;
  });
}

// Returns the media type without parameters, in lower case.
std::string MediaType(std::string_view content_type) {
  return ToLower(TrimSpace(content_type.substr(0, content_type.find(';'))));
}

// Returns the URL without user, password, query and fragment, which may contain secrets.
std::string WithoutSecrets(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t slashes = url.find("//");
  if (slashes == url.npos) return std::string(url);
  const size_t begin = slashes + 2;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  const size_t at = authority.rfind('@');
  std::string clean(url);
  if (at != authority.npos) clean.erase(begin, at + 1);
  return clean;
}

std::string_view AdviceFor(std::string_view found) {
  if (found.starts_with("protobuf") || found.starts_with("a body in")) {
    return "; a proxy in front of the API server changes requests or answers: correct it, or use "
           "the address of the API server itself";
  }
  return "; a proxy, a login page or another server has answered: use the address of the API "
         "server itself";
}

}  // namespace

std::string DescribeForeignBody(const HttpHead& head, std::string_view body) {
  const std::string encoding = ToLower(TrimSpace(head.content_encoding));
  if (!encoding.empty() && encoding != "identity") return "a body in " + OneLine(encoding);
  if (body.starts_with("\x1f\x8b")) return "a body in gzip";
  const std::string type = MediaType(head.content_type);
  if (type == kProtobuf || body.starts_with(kProtobufMagic)) return "protobuf of Kubernetes";
  if (type == "text/html") return "an HTML page";
  const std::string_view first = TrimSpace(body.substr(0, body.find('\n')));
  // Tables and descriptions that kubectl prints are no answers: only pages and documents matter.
  return first.starts_with('<') ? std::string(RecognizeForeignText(body)) : "";
}

Status CheckAnswer(const HttpHead& head, std::string_view body) {
  const uint32_t kind = head.http_status / 100;
  if (kind == 3) {
    const std::string location =
        head.location.empty() ? "" : " to " + Quoted(WithoutSecrets(head.location), kMaxLocation);
    return Status::Unsupported("expected an answer of an API server, found the redirection " +
                               std::to_string(head.http_status) + location +
                               ", which is not followed; use the address of the API server itself");
  }
  if (ExpectsTls(head, body)) {
    return Status::InvalidArgument(
        "expected an answer of an API server without TLS, found a server that expects TLS; use "
        "https:// in the URL of the server");
  }
  if (kind != 2) return {};
  const std::string found = DescribeForeignBody(head, body);
  if (found.empty()) return {};
  return Status::InvalidArgument(
      std::string("expected JSON, found ").append(found).append(AdviceFor(found)));
}

}  // namespace berth::host
