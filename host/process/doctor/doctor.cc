#include "host/process/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "host/base/hash.h"
#include "host/base/kind_name.h"
#include "host/base/saturating.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/kubernetes_connection.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "host/http/endpoint.h"
#include "host/process/assemble/scheduler_host.h"

namespace berth::host {
namespace {

constexpr int64_t kTimeoutNs = 15 * kSecond;
// The pods of a page; fewer if the page is too large to be read as a whole.
constexpr size_t kPageSize = 250;
// Stands for a user whose name the server does not tell.
constexpr std::string_view kUnknownUser = "name-of-the-user";
constexpr std::string_view kDefaultScheduler = "default-scheduler";
// The lease of a kube-scheduler with its default configuration.
constexpr std::string_view kTheirNamespace = "kube-system";
constexpr std::string_view kTheirLease = "kube-scheduler";

// Returns a name that belongs to these rules. `kubectl apply` replaces the rules of a role that has
// the same name, and the roles that exist must stay.
std::string RoleNameFor(std::span<const Permission> missing) {
  std::string rules;
  for (const Permission& permission : missing) rules += PermissionText(permission) + "\n";
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x",
                static_cast<unsigned>(HashBytes(rules) & 0xffffffffU));
  return std::string("berth-") + digits.data();
}

class Examiner {
 public:
  Examiner(const ClusterExam& exam, const Send& send, DoctorReport& report)
      : exam_(exam), send_(send), report_(report) {}

  void Examine() {
    const HttpResponse version = CheckConnection();
    if (report_.has_failure()) return;
    CheckCredentials();
    if (report_.has_failure()) return;
    Begin("version");
    report_.findings.push_back(VersionFinding(version, exam_.emulated_version));
    CheckKinds();
    CheckPermissions();
    report_.findings.push_back(ClockFinding(skew_.AheadNs()));
    CheckLease();
    CheckPods();
  }

 private:
  using Served = std::map<std::string, Result<std::vector<Resource>>, std::less<>>;

  void Begin(std::string_view check) const {
    if (exam_.progress) exam_.progress(check);
  }

  HttpResponse Ask(HttpRequest request) {
    if (lost_.has_value()) return *lost_;
    if (request.timeout_ns == 0) request.timeout_ns = kTimeoutNs;
    const int64_t sent_ns = exam_.wall_ns();
    HttpResponse response = send_(std::move(request));
    skew_.Add(sent_ns, exam_.wall_ns(), response.head.date_ns);
    const bool is_too_large = response.status.code() == ErrorCode::kOutOfRange;
    if (!response.status.ok() && !is_too_large) lost_ = response;
    return response;
  }
  HttpResponse Get(std::string target) { return Ask({.verb = "GET", .target = std::move(target)}); }

  HttpResponse CheckConnection() {
    Begin("connection");
    const int64_t start_ns = exam_.steady_ns();
    HttpResponse version = Get("/version");
    const int64_t took_ns = exam_.steady_ns() - start_ns;
    report_.findings.push_back(
        ConnectionFinding(exam_.server, exam_.source, exam_.warnings, version, took_ns));
    return version;
  }

  void CheckCredentials() {
    Begin("credentials");
    const HttpResponse review =
        Ask({.verb = "POST",
             .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
             .body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})",
             .content_type = kJson});
    const ServerUser user = ReadSelfSubjectReview(review);
    report_.user = user.name;
    report_.findings.push_back(
        CredentialsFinding(user, exam_.expiry(), exam_.source, exam_.wall_ns()));
  }

  // ---- kinds ----

  const Result<std::vector<Resource>>& ResourcesOf(std::string_view kind) {
    const std::string name(GroupVersionOf(kind));
    const auto known = served_.find(name);
    if (known != served_.end()) return known->second;
    return served_.emplace(name, ResourcesIn(Get(GroupVersionPath(name)))).first->second;
  }

  KindAnswer AskAbout(const std::string& declared) {
    const std::vector<std::string> versions = KindsOf(declared);
    KindAnswer answer{declared, exam_.users.Of(versions.front()), std::nullopt, {}};
    for (const std::string& kind : versions) {
      const Result<std::vector<Resource>>& resources = ResourcesOf(kind);
      if (!resources.ok()) {
        answer.error = resources.status();
        return answer;
      }
      const auto found = std::ranges::find(*resources, kind, &Resource::kind);
      if (found == resources->end()) continue;
      answer.resource = *found;
      return answer;
    }
    return answer;
  }

  void CheckKinds() {
    Begin("kinds");
    std::vector<KindAnswer> answers = {AskAbout(std::string(kPodKind)),
                                       AskAbout(std::string(kNodeKind))};
    for (const std::string& declared : exam_.users.declared()) {
      if (declared == kPodKind || declared == kNodeKind) continue;
      answers.push_back(AskAbout(declared));
    }
    report_.findings.push_back(KindsFinding(answers));
    std::set<std::string> seen;
    for (const KindAnswer& answer : answers) {
      if (!answer.resource.has_value() || !seen.insert(answer.resource->kind).second) continue;
      resources_.push_back(*answer.resource);
    }
  }

  // ---- permissions ----

  PermissionsRequest Needs() const {
    PermissionsRequest request;
    request.resources = resources_;
    request.writes = !exam_.shadow;
    for (const Resource& resource : resources_) {
      const auto users = exam_.users.kinds().find(resource.kind);
      if (users == exam_.users.kinds().end()) continue;
      for (const std::string& plugin : users->second) {
        request.needed_by.emplace_back(resource.kind, plugin);
      }
    }
    request.evicts = exam_.evicts && !exam_.shadow;
    if (exam_.leader_elect && !exam_.shadow) {
      request.lease_ns = exam_.election.ns;
      request.lease_name = exam_.election.name;
    }
    return request;
  }

  void CheckPermissions() {
    Begin("permissions");
    std::vector<PermissionAnswer> answers;
    const Send ask = [this](HttpRequest request) { return Ask(std::move(request)); };
    for (Permission& permission : RequiredPermissions(Needs())) {
      Result<AccessAnswer> answer = ReviewAccess(permission, ask);
      answers.push_back({std::move(permission), std::move(answer)});
    }
    report_.findings.push_back(PermissionsFinding(answers));
    const std::vector<Permission> missing = MissingPermissions(answers);
    report_.missing_roles = RolesYaml(missing, RoleNameFor(missing),
                                      report_.user.empty() ? kUnknownUser : report_.user);
  }

  // ---- lease and pods ----

  LeaseState ReadLeaseOf(const std::string& ns, const std::string& name) {
    const HttpResponse lease = Get(LeasePath(ns, name));
    return ReadLeaseState(ns, name, lease,
                          SubtractTimes(exam_.wall_ns(), skew_.AheadNs().value_or(0)));
  }

  void CheckLease() {
    if (exam_.shadow) return;
    Begin("lease");
    const LeaseState state =
        exam_.leader_elect ? ReadLeaseOf(exam_.election.ns, exam_.election.name) : LeaseState();
    report_.findings.push_back(LeaseFinding(exam_.leader_elect, state));
  }

  // Returns the lease of another scheduler that places the pods of default-scheduler while this one
  // would, too, because both do not compete for the same lease.
  std::optional<LeaseState> Rival() {
    const bool is_same = exam_.leader_elect && exam_.election.ns == kTheirNamespace &&
                         exam_.election.name == kTheirLease;
    if (exam_.shadow || is_same ||
        std::ranges::find(exam_.profiles, kDefaultScheduler) == exam_.profiles.end()) {
      return std::nullopt;
    }
    return ReadLeaseOf(std::string(kTheirNamespace), std::string(kTheirLease));
  }

  // Reads the next page of the pods without a node. Returns its token; empty at the end.
  // Errors: kOutOfRange if the page is too large.
  Result<std::string> ReadPage(const std::string& token, size_t limit, PendingPods& pods) {
    const std::string selector = "spec.nodeName=," + std::string(kActivePods);
    const HttpResponse page = Get(WithQuery(
        "/api/v1/pods",
        {{"limit", std::to_string(limit)}, {"fieldSelector", selector}, {"continue", token}}));
    pods.is_forbidden = page.status.ok() && page.head.http_status == 403;
    if (Status status = StatusOf(page); !status.ok()) return status;
    Result<std::string> next = AddPendingPods(page.body, exam_.decode, pods);
    if (next.ok()) return next;
    return Status::InvalidArgument(std::string(next.status().message()));
  }

  void CheckPods() {
    Begin("pods");
    PendingPods pods;
    std::string token;
    size_t pages = 0;
    size_t limit = kPageSize;
    do {
      Result<std::string> next = ReadPage(token, limit, pods);
      if (!next.ok() && next.status().code() == ErrorCode::kOutOfRange && limit > 1) {
        limit = std::max<size_t>(limit / 8, 1);
        continue;
      }
      if (!next.ok()) {
        pods.error = next.status();
        break;
      }
      token = *std::move(next);
      ++pages;
    } while ((pages == 0 || !token.empty()) && pods.total() < kMaxPendingPods &&
             pages < kMaxPendingPages);
    pods.is_complete = token.empty();
    report_.findings.push_back(PodsFinding(pods, exam_.profiles, Rival()));
    if (pods.error.ok()) report_.findings.push_back(PlacementFinding(pods, exam_.profiles));
  }

  const ClusterExam& exam_;
  const Send& send_;
  DoctorReport& report_;
  ClockSkew skew_;
  // The first request without an answer. The others are not sent then: each would wait, too.
  std::optional<HttpResponse> lost_;
  Served served_;  // By group and version.
  std::vector<Resource> resources_;
};

// Returns the configuration, after its plugins were created once.
// Errors: those of ReadRunConfig() and TryCreatePlugins().
Result<RunConfig> ReadAndTryConfig(const DoctorRequest& request) {
  FileStamps files;
  const ProcessOptions& process = request.process;
  Result<RunConfig> config = ReadRunConfig(
      process.config, MakeLibraryStore(process.temporary_directory, process.steady_ns), files);
  if (!config.ok()) return config;
  Status status = TryCreatePlugins(config->set.plugins, config->set.specs,
                                   EmulatedVersionOf(config->host), process.report_crashes);
  if (!status.ok()) return Status::InvalidArgument(std::string(status.message()));
  return config;
}

size_t CountPlugins(std::span<const PlanSpec> specs) {
  std::set<std::string> names;
  for (const PlanSpec& spec : specs) {
    for (const PlanSpec::Plugin& plugin : spec.plugins) names.insert(plugin.name);
  }
  return names.size();
}

// Plugins at PostFilter make room for a pod: they may delete others.
bool MayEvict(std::span<const PlanSpec> specs) {
  return std::ranges::any_of(specs, [](const PlanSpec& spec) {
    return !spec.points[static_cast<size_t>(Point::kPostFilter)].empty();
  });
}

ClusterExam ExamOf(const DoctorRequest& request, const RunConfig& config,
                   const ClusterAccess& access) {
  ClusterExam exam;
  exam.server = access.endpoint.server.ToString();
  exam.source = access.source;
  exam.warnings = access.warnings;
  for (const PlanSpec& spec : config.set.specs) exam.profiles.push_back(spec.scheduler_name);
  exam.users = KindUsers(config.set.plugins->catalog(), config.set.specs);
  exam.evicts = MayEvict(config.set.specs);
  exam.leader_elect = config.host.cluster.leader_elect.value_or(true);
  exam.election = ElectionOptionsOf(config.host.cluster);
  exam.shadow = request.shadow;
  exam.emulated_version = EmulatedVersionOf(config.host);
  exam.decode = DecodeOptionsFor(*config.set.plugins, exam.emulated_version);
  exam.steady_ns = request.process.steady_ns;
  exam.wall_ns = request.process.wall_ns;
  exam.progress = request.progress;
  return exam;
}

// Returns whether the error is one of the arguments.
bool IsBadInput(const Status& status) {
  return status.code() == ErrorCode::kNotFound || status.code() == ErrorCode::kInvalidArgument;
}

}  // namespace

void ExamineCluster(const ClusterExam& exam, const Send& send, DoctorReport& report) {
  report.server = exam.server;
  Examiner(exam, send, report).Examine();
}

Result<DoctorReport> RunDoctor(const DoctorRequest& request) {
  DoctorReport report;
  if (request.progress) request.progress("configuration");
  const Result<RunConfig> config = ReadAndTryConfig(request);
  if (!config.ok()) {
    // A file that does not exist is an error of the arguments; errors in files are findings.
    if (config.status().code() == ErrorCode::kNotFound) return config.status();
    report.findings.push_back(ConfigurationFailure(config.status()));
    return report;
  }
  report.findings.push_back(ConfigurationFinding(
      config->set.profiles.size(), CountPlugins(config->set.specs), config->set.warnings));

  const Result<ClusterAccess> access = FindClusterAccess(request.target, config->host.cluster);
  if (!access.ok()) return access.status();
  TransportObserver observer;
  const Result<std::unique_ptr<KubernetesConnection>> connection =
      OpenConnection(request.target, *access, {}, observer, *request.log);
  if (!connection.ok()) {
    if (IsBadInput(connection.status())) return connection.status();
    report.server = access->endpoint.server.ToString();
    report.findings.push_back(CredentialsFailure(connection.status()));
    return report;
  }
  KubernetesConnection& open = **connection;
  ClusterExam exam = ExamOf(request, *config, *access);
  exam.expiry = [&] { return ExpiryOf(*open.credential(), access->auth); };
  ExamineCluster(
      exam, [&open](HttpRequest sent) { return open.SendAndWait(std::move(sent)); }, report);
  return report;
}

}  // namespace berth::host
