#include "host/cluster/kubernetes/access/kubeconfig.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "host/api/yaml.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/kubernetes/access/kubeconfig_entry.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNoKubeconfig =
    "no kubeconfig: use --kubeconfig FILE, set KUBECONFIG, or run in a pod with a service account";

constexpr std::string_view kPlainCredentials =
    "the credentials are sent over plain HTTP; anyone on the network between can read them";

// No suggestions are searched for a longer name, because that takes long.
constexpr size_t kMaxNameBytes = 253;
// A kubeconfig is small; its aliases may not make it large.
constexpr YamlLimits kKubeconfigLimits = {.max_bytes = kMaxKubeconfigBytes,
                                          .max_json_bytes = 4 * kMaxKubeconfigBytes,
                                          .max_depth = 50,
                                          .max_nodes = 1'000'000,
                                          .max_alias_ratio = 100,
                                          .free_alias_nodes = 10'000};

// An error of the YAML reader may quote a value, which may be a secret.
std::string WithoutValues(std::string_view message) {
  const size_t first = message.find('"');
  if (first == std::string_view::npos || message.find(": the key ") != std::string_view::npos) {
    return std::string(message);
  }
  const size_t last = message.rfind('"');
  return std::string(message.substr(0, first)).append("\"...\"").append(message.substr(last + 1));
}

// Sets the server to that of --master, if it is given.
Status ReadMaster(const AccessRequest& request, Endpoint& endpoint) {
  if (request.server.empty()) return Status::Ok();
  Result<ServerUrl> url = ServerUrl::Parse(request.server, "--master");
  if (!url.ok()) return url.status();
  endpoint.server = *std::move(url);
  return Status::Ok();
}

// Checks the endpoint with the server of --master, if it is given.
Status CheckMaster(const AccessRequest& request, const Endpoint& endpoint) {
  if (request.server.empty()) return Status::Ok();
  Status status = CheckEndpoint(endpoint, request.allow_plain_http);
  return status.ok() ? status : std::move(status).Annotate("--master");
}

// Reads the files of one request.
class KubeconfigReader {
 public:
  KubeconfigReader(std::span<const KubeconfigFile> files, const AccessRequest& request)
      : files_(files), request_(request) {}

  Result<ClusterAccess> Read() {
    if (Status status = ReadMaster(request_, access_.endpoint); !status.ok()) return status;
    Status parsed = Parse();
    if (!parsed.ok()) return parsed;
    Status found = ReadContext();
    if (!found.ok()) return found;
    const std::vector<std::string> errors = Lines(problems_.errors);
    if (!errors.empty()) return Status::InvalidArgument(Join(errors, "\n"));
    if (Status status = CheckMaster(request_, access_.endpoint); !status.ok()) return status;
    access_.warnings = Lines(problems_.warnings);
    return std::move(access_);
  }

 private:
  // A file that was parsed.
  struct Document {
    Json json;
    int32_t line = 1;  // The line of the document's first node.
  };

  Status Parse() {
    documents_.reserve(files_.size());
    for (const KubeconfigFile& file : files_) {
      if (file.text.size() > kMaxKubeconfigBytes) {
        return Status::OutOfRange(file.path + ": expected at most " +
                                  std::to_string(kMaxKubeconfigBytes) + " bytes, found " +
                                  std::to_string(file.text.size()));
      }
      auto documents = YamlToJson(file.text, kKubeconfigLimits);
      if (!documents.ok()) {
        const Status error = documents.status();
        return Status(error.code(), file.path + ": " + WithoutValues(error.message()));
      }
      if (documents->size() > 1) {
        return Status::InvalidArgument(file.path + ": expected one YAML document, found " +
                                       std::to_string(documents->size()));
      }
      documents_.push_back({Json::object(), 1});
      if (documents->empty()) continue;  // An empty file is an empty kubeconfig.
      documents_.back() = {ParseOrderedJson(documents->front().json), documents->front().line};
      const Json& json = documents_.back().json;
      if (!json.is_object()) {
        return Status::InvalidArgument(file.path + ": expected a mapping with the keys of a " +
                                       "kubeconfig, such as clusters, found another value");
      }
      CheckKind(documents_.size() - 1);
    }
    return Status::Ok();
  }

  void CheckKind(size_t file) {
    const KubeconfigEntry root = Root(file);
    const std::string version = root.String("apiVersion");
    const std::string kind = root.String("kind");
    if (!version.empty() && version != "v1") {
      root.Fail("apiVersion", "expected v1, found " + Quoted(version));
    }
    if (!kind.empty() && kind != "Config") {
      root.Fail("kind", "expected Config, found " + Quoted(kind));
    }
  }

  KubeconfigEntry Root(size_t file) {
    return {documents_[file].json, {.file = file, .pointer = "", .key = ""}, problems_};
  }

  // Returns the file and the name of the context.
  Status ReadContext() {
    std::string name = request_.context;
    KubeconfigPlace place;  // The place of the name; unused if the user gave it.
    for (size_t file = 0; name.empty() && file < documents_.size(); ++file) {
      name = Root(file).String("current-context");
      place = Root(file).PlaceOf("current-context");
    }
    if (name.empty()) {
      return Status::InvalidArgument(Paths() +
                                     ": current-context: expected the name of a context, found "
                                     "none; set it, or use --context NAME");
    }
    std::string similar;
    const std::optional<KubeconfigEntry> entry = Find("context", name, similar);
    if (!entry) {
      const std::string text = "there is no context " + Quoted(name) + similar;
      if (!request_.context.empty()) {
        return Status::InvalidArgument(Paths() + ": --context: " + text);
      }
      problems_.errors.push_back({std::move(place), text});
      return Status::Ok();
    }
    entry->WarnOfOtherKeys({"cluster", "user", "namespace", "extensions"});
    access_.ns = entry->String("namespace");
    if (access_.ns.empty()) access_.ns = "default";
    access_.source = "context " + name + " of " + files_[entry->place().file].path;
    ReadClusterOf(*entry);
    ReadUserOf(*entry);
    return Status::Ok();
  }

  void ReadClusterOf(const KubeconfigEntry& context) {
    const std::string name = context.String("cluster");
    if (name.empty()) {
      return context.Fail("cluster", "expected the name of a cluster, found none");
    }
    const std::optional<KubeconfigEntry> entry = FindNamed(context, "cluster", name);
    if (entry) ReadCluster(*entry);
  }

  // A context without a user has no credentials.
  void ReadUserOf(const KubeconfigEntry& context) {
    const std::string name = context.String("user");
    if (name.empty()) return;
    const std::optional<KubeconfigEntry> entry = FindNamed(context, "user", name);
    if (!entry) return;
    access_.auth = ReadKubeconfigUser(*entry, files_[entry->place().file].path);
    const bool is_plain = access_.endpoint.server.scheme == ServerUrl::Scheme::kHttp;
    if (is_plain && request_.allow_plain_http && !entry->Keys().empty()) {
      entry->Warn("", std::string(kPlainCredentials));
    }
  }

  // Returns the cluster or the user that the context names. If there is none, that is an error of
  // the context.
  std::optional<KubeconfigEntry> FindNamed(const KubeconfigEntry& context,
                                           const std::string& member, const std::string& name) {
    std::string similar;
    std::optional<KubeconfigEntry> entry = Find(member, name, similar);
    if (!entry) context.Fail(member, "there is no " + member + " " + Quoted(name) + similar);
    return entry;
  }

  // Returns the object `member` of the first entry with this name in the list of such objects;
  // `similar` becomes a text with the names that resemble it.
  std::optional<KubeconfigEntry> Find(const std::string& member, const std::string& name,
                                      std::string& similar) {
    std::vector<std::string> names;
    for (size_t file = 0; file < documents_.size(); ++file) {
      std::optional<KubeconfigEntry> found;
      for (const KubeconfigEntry& entry : Root(file).Objects((member + "s").c_str())) {
        names.push_back(entry.String("name"));
        if (names.back() != name) continue;
        if (found) {
          entry.Fail("name", "the name " + Quoted(name) + " occurs twice in this list");
          continue;
        }
        found = entry.Object(member.c_str());
        // An entry without its object, such as a user without credentials, is an empty one.
        if (!found) found.emplace(empty_, entry.PlaceOf(member), problems_);
      }
      if (found) return found;
    }
    if (name.size() <= kMaxNameBytes) similar = DidYouMean(name, names);
    return std::nullopt;
  }

  void ReadCluster(const KubeconfigEntry& entry) {
    entry.WarnOfOtherKeys({"server", "tls-server-name", "insecure-skip-tls-verify",
                           "certificate-authority", "certificate-authority-data", "proxy-url",
                           "disable-compression", "extensions"});
    const std::string& path = files_[entry.place().file].path;
    TlsSettings& tls = access_.endpoint.tls;
    tls.server_name = entry.String("tls-server-name");
    tls.insecure = entry.Bool("insecure-skip-tls-verify");
    tls.ca_file = ResolveKubeconfigPath(path, entry.String("certificate-authority"));
    tls.ca_pem = entry.Base64("certificate-authority-data");
    if (!tls.ca_pem.empty() && !tls.ca_file.empty()) {
      entry.Fail("certificate-authority-data",
                 "expected either certificate-authority or certificate-authority-data, found both");
    }
    const bool has_ca = !tls.ca_pem.empty() || !tls.ca_file.empty();
    if (tls.insecure && has_ca) {
      entry.Fail("insecure-skip-tls-verify",
                 "expected either a certificate authority or insecure-skip-tls-verify, found both");
    } else if (tls.insecure) {
      entry.Warn("insecure-skip-tls-verify",
                 "the certificate of the server is not verified; anyone on the network between can "
                 "read and change every request");
    }
    ReadProxy(entry);
    ReadServer(entry);
  }

  void ReadProxy(const KubeconfigEntry& entry) {
    const std::string text = entry.String("proxy-url");
    if (text.empty()) return;
    if (text.find("://") == std::string::npos) {
      return entry.Fail("proxy-url",
                        "expected a URL that begins with http://, https:// or socks5://");
    }
    access_.endpoint.proxy = ReadUrl(entry, "proxy-url", text);
  }

  // Called after ReadProxy(), because CheckEndpoint() depends on the proxy.
  void ReadServer(const KubeconfigEntry& entry) {
    const std::string text = entry.String("server");
    if (!request_.server.empty()) return;
    if (text.empty()) return entry.Fail("server", "expected the URL of the server, found none");
    std::optional<ServerUrl> url = ReadUrl(entry, "server", text);
    if (!url) return;
    access_.endpoint.server = *std::move(url);
    const Status status = CheckEndpoint(access_.endpoint, request_.allow_plain_http);
    if (!status.ok()) entry.Fail("server", std::string(status.message()));
  }

  static std::optional<ServerUrl> ReadUrl(const KubeconfigEntry& entry, const char* key,
                                          const std::string& text) {
    Result<ServerUrl> url = ServerUrl::Parse(text, key);
    if (url.ok()) return *std::move(url);
    // The place already names the key, which is in front of the message.
    const Status status = url.status();
    entry.Fail(key, std::string(status.message().substr(std::string_view(key).size() + 2)));
    return std::nullopt;
  }

  // Returns the paths of all files, for an error that belongs to none of them alone.
  std::string Paths() const {
    std::vector<std::string> paths;
    for (const KubeconfigFile& file : files_) paths.push_back(file.path);
    return Join(paths, ", ");
  }

  // Returns "path:line: key: text".
  std::string Line(const KubeconfigProblems::Problem& problem) const {
    const KubeconfigPlace& place = problem.place;
    const YamlPlace yaml = {documents_[place.file].line, place.pointer};
    const int32_t line = FindYamlLines(files_[place.file].text, {&yaml, 1}).front();
    std::string text = files_[place.file].path + ":" + std::to_string(line) + ": ";
    if (!place.key.empty()) text.append(place.key).append(": ");
    return text.append(problem.text);
  }

  // Returns the beginning of the list of problems, each problem once: a list of the file is read
  // once for each search in it.
  std::vector<std::string> Lines(std::span<const KubeconfigProblems::Problem> problems) const {
    constexpr size_t kMaxLines = 20;  // A file of another kind could fill the log.
    std::vector<const KubeconfigProblems::Problem*> chosen;
    for (const KubeconfigProblems::Problem& problem : problems) {
      const auto is_same = [&](const KubeconfigProblems::Problem* other) {
        return other->place == problem.place && other->text == problem.text;
      };
      if (std::none_of(chosen.begin(), chosen.end(), is_same)) chosen.push_back(&problem);
      if (chosen.size() == kMaxLines) break;
    }
    std::vector<std::string> lines;
    lines.reserve(chosen.size());
    for (const KubeconfigProblems::Problem* problem : chosen) lines.push_back(Line(*problem));
    return lines;
  }

  const std::span<const KubeconfigFile> files_;
  const AccessRequest& request_;
  std::vector<Document> documents_;
  const Json empty_ = Json::object();
  KubeconfigProblems problems_;
  ClusterAccess access_;
};

// Reads the files of $KUBECONFIG that exist.
Result<std::vector<KubeconfigFile>> ReadFiles(const std::string& list,
                                              const AccessEnvironment& environment) {
  std::vector<KubeconfigFile> files;
  std::vector<std::string> missing;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    const std::string path = list.substr(begin, end - begin);
    begin = end + 1;
    const auto is_known = [&](const KubeconfigFile& file) { return file.path == path; };
    if (path.empty() || std::any_of(files.begin(), files.end(), is_known)) continue;
    Result<std::string> text = environment.read_file(path);
    if (text.ok()) {
      files.push_back({path, *std::move(text)});
    } else if (text.status().code() == ErrorCode::kNotFound) {
      missing.push_back(path);
    } else {
      return text.status().Annotate(path);
    }
  }
  if (!files.empty()) return files;
  return Status::NotFound("KUBECONFIG: no such file: " + Join(missing, ", "));
}

Result<ClusterAccess> WithoutKubeconfig(const AccessRequest& request,
                                        const AccessEnvironment& environment) {
  if (!request.context.empty()) {
    return Status::InvalidArgument(
        "--context: expected a kubeconfig with this context; use --kubeconfig FILE, or set "
        "KUBECONFIG");
  }
  Result<ClusterAccess> access = ReadServiceAccount(environment);
  const bool is_pod = access.ok() || access.status().code() != ErrorCode::kNotFound;
  if (is_pod && (!access.ok() || request.server.empty())) return access;
  if (!is_pod) {
    if (request.server.empty()) return Status::NotFound(std::string(kNoKubeconfig));
    // There are no credentials.
    access = ClusterAccess();
    access->ns = "default";
    access->source = "--master";
  }
  if (Status status = ReadMaster(request, access->endpoint); !status.ok()) return status;
  if (Status status = CheckMaster(request, access->endpoint); !status.ok()) return status;
  const bool is_plain = access->endpoint.server.scheme == ServerUrl::Scheme::kHttp;
  if (is_pod && is_plain && request.allow_plain_http) {
    access->warnings.push_back("--master: " + std::string(kPlainCredentials));
  }
  return access;
}

}  // namespace

Result<ClusterAccess> ReadKubeconfigs(std::span<const KubeconfigFile> files,
                                      const AccessRequest& request) {
  return KubeconfigReader(files, request).Read();
}

Result<ClusterAccess> FindClusterAccess(const AccessRequest& request,
                                        const AccessEnvironment& environment) {
  if (!request.kubeconfig.empty()) {
    Result<std::string> text = environment.read_file(request.kubeconfig);
    if (!text.ok()) return text.status().Annotate(request.kubeconfig);
    const KubeconfigFile file = {request.kubeconfig, *std::move(text)};
    return ReadKubeconfigs({&file, 1}, request);
  }
  const std::optional<std::string> list = environment.variable("KUBECONFIG");
  // An empty list, or one of separators alone, is as good as none.
  const bool has_list = list && list->find_first_not_of(':') != std::string::npos;
  if (!has_list) return WithoutKubeconfig(request, environment);
  Result<std::vector<KubeconfigFile>> files = ReadFiles(*list, environment);
  if (!files.ok()) return files.status();
  return ReadKubeconfigs(*files, request);
}

Result<ClusterAccess> ReadServiceAccount(const AccessEnvironment& environment) {
  const std::string host = environment.variable("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return Status::NotFound(
        "this is no pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  }
  const bool is_ipv6 = host.find(':') != std::string::npos;
  const std::string address = is_ipv6 ? "[" + host + "]:" + port : host + ":" + port;
  Result<ServerUrl> url =
      ServerUrl::Parse("https://" + address, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");
  if (!url.ok()) return url.status();

  const std::string folder(kServiceAccountFolder);
  ClusterAccess access;
  access.endpoint.server = *std::move(url);
  access.endpoint.tls.ca_file = folder + "/ca.crt";
  access.auth.token_file = folder + "/token";
  access.source = "the service account";
  for (const std::string& path : {access.auth.token_file, access.endpoint.tls.ca_file}) {
    const Result<std::string> text = environment.read_file(path);
    if (!text.ok() && text.status().code() == ErrorCode::kNotFound) {
      return Status::InvalidArgument(path +
                                     ": no such file; the pod must have a service account with "
                                     "automountServiceAccountToken, or use --kubeconfig FILE");
    }
    if (!text.ok()) return text.status().Annotate(path);
    if (TrimSpace(*text).empty()) return Status::InvalidArgument(path + ": the file is empty");
  }
  const Result<std::string> ns = environment.read_file(folder + "/namespace");
  if (ns.ok()) access.ns = TrimSpace(*ns);
  if (access.ns.empty()) access.ns = "default";
  return access;
}

}  // namespace berth::host
