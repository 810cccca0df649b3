// Tests of FindClusterAccess() and ReadServiceAccount(): several kubeconfigs, and a pod.
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "host/cluster/kubernetes/access/kubeconfig.h"

namespace berth::host {
namespace {

// An environment that consists of these files and variables.
struct FakeMachine {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables;

  AccessEnvironment Environment() const {
    AccessEnvironment environment;
    environment.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
    environment.read_file = [this](const std::string& path) -> Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return Status::NotFound("No such file or directory");
      if (found->second == "denied") return Status::PermissionDenied("Permission denied");
      return found->second;
    };
    return environment;
  }
};

std::string Named(const std::string& host, const std::string& context = "") {
  return (context.empty() ? "" : "current-context: " + context + "\n") +
         "contexts:\n- {name: main, context: {cluster: " + host + "}}\n- {name: " + host +
         ", context: {cluster: shared}}\nclusters:\n- {name: " + host +
         ", cluster: {server: 'https://" + host +
         "', certificate-authority: ca}}\n- {name: shared, cluster: {server: 'https://shared-" +
         host + "'}}\n";
}

TEST(FindClusterAccess, MergesTheFilesOfTheList) {
  FakeMachine machine;
  machine.variables["KUBECONFIG"] = "/a/config::/missing:/b/config:/a/config";
  machine.files["/a/config"] = Named("a");
  machine.files["/b/config"] = Named("b", "main");
  const struct {
    const char* context;
    const char* host;
    const char* ca_file;
    const char* source;
  } cases[] = {{"", "a", "/a/ca", "context main of /a/config"},  // current-context of /b/config.
               {"main", "a", "/a/ca", "context main of /a/config"},
               {"a", "shared-a", "", "context a of /a/config"},
               {"b", "shared-a", "", "context b of /b/config"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.context);
    const auto access = FindClusterAccess({.context = c.context}, machine.Environment());
    ASSERT_TRUE(access.ok()) << access.status().message();
    EXPECT_EQ(access->endpoint.server.host, c.host);
    EXPECT_EQ(access->endpoint.tls.ca_file, c.ca_file);
    EXPECT_EQ(access->source, c.source);
  }
  EXPECT_EQ(FindClusterAccess({.context = "nothing"}, machine.Environment()).status().message(),
            "/a/config, /b/config: --context: there is no context \"nothing\"");
}

TEST(FindClusterAccess, TheFlagHasPrecedence) {
  FakeMachine machine;
  machine.variables["KUBECONFIG"] = "/b/config";
  machine.files["relative"] = Named("a", "main");
  machine.files["/b/config"] = Named("b", "main");
  const auto access = FindClusterAccess({.kubeconfig = "relative"}, machine.Environment());
  ASSERT_TRUE(access.ok()) << access.status().message();
  EXPECT_EQ(access->endpoint.server.host, "a");
  EXPECT_EQ(access->endpoint.tls.ca_file, "ca");
  EXPECT_EQ(FindClusterAccess({}, machine.Environment())->endpoint.server.host, "b");
}

TEST(FindClusterAccess, ReportsFilesThatCannotBeRead) {
  FakeMachine machine;
  EXPECT_EQ(FindClusterAccess({.kubeconfig = "/x"}, machine.Environment()).status(),
            Status::NotFound("/x: No such file or directory"));
  machine.variables["KUBECONFIG"] = "/x:/y";
  EXPECT_EQ(FindClusterAccess({}, machine.Environment()).status(),
            Status::NotFound("KUBECONFIG: no such file: /x, /y"));
  machine.files["/x"] = Named("a", "main");
  machine.files["/y"] = "denied";
  EXPECT_EQ(FindClusterAccess({}, machine.Environment()).status(),
            Status::PermissionDenied("/y: Permission denied"));
}

// ---- The service account ------------------------------------------------------------------------

FakeMachine MachineInPod() {
  const std::string folder(kServiceAccountFolder);
  FakeMachine machine;
  machine.variables = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                       {"KUBERNETES_SERVICE_PORT", "443"}};
  machine.files = {{folder + "/token", "abc\n"},
                   {folder + "/ca.crt", "ca"},
                   {folder + "/namespace", "kube-system\n"}};
  return machine;
}

TEST(FindClusterAccess, UsesTheServiceAccountWithoutAKubeconfig) {
  FakeMachine machine = MachineInPod();
  for (const char* list : {"", ":"}) {
    machine.variables["KUBECONFIG"] = list;
    const auto access = FindClusterAccess({}, machine.Environment());
    ASSERT_TRUE(access.ok()) << access.status().message();
    EXPECT_EQ(access->endpoint.server.ToString(), "https://10.96.0.1:443");
    EXPECT_EQ(access->endpoint.tls.ca_file, std::string(kServiceAccountFolder) + "/ca.crt");
    EXPECT_EQ(access->auth.token_file, std::string(kServiceAccountFolder) + "/token");
    EXPECT_TRUE(access->auth.token.empty());
    EXPECT_EQ(access->ns, "kube-system");
    EXPECT_EQ(access->source, "the service account");
  }
  EXPECT_EQ(
      FindClusterAccess({.server = "https://other"}, machine.Environment())->endpoint.server.host,
      "other");
  EXPECT_EQ(FindClusterAccess({.context = "a"}, machine.Environment()).status().code(),
            ErrorCode::kInvalidArgument);
}

TEST(FindClusterAccess, WarnsOfThePodsTokenOverPlainHttp) {
  const FakeMachine machine = MachineInPod();
  AccessRequest request = {.server = "http://10.0.0.1"};
  EXPECT_FALSE(FindClusterAccess(request, machine.Environment()).ok());
  request.allow_plain_http = true;
  const auto access = FindClusterAccess(request, machine.Environment());
  ASSERT_TRUE(access.ok()) << access.status().message();
  ASSERT_EQ(access->warnings.size(), 1U);
  EXPECT_EQ(access->warnings.front(),
            "--master: the credentials are sent over plain HTTP; anyone on the network between can "
            "read them");
  request.server = "https://10.0.0.1";
  EXPECT_TRUE(FindClusterAccess(request, machine.Environment())->warnings.empty());
}

TEST(FindClusterAccess, OutsideOfPodKubeconfigOrServerIsNeeded) {
  const FakeMachine machine;
  EXPECT_EQ(FindClusterAccess({}, machine.Environment()).status(),
            Status::NotFound("no kubeconfig: use --kubeconfig FILE, set KUBECONFIG, or run in a "
                             "pod with a service account"));
  const auto access = FindClusterAccess({.server = "http://127.0.0.1:8080"}, machine.Environment());
  ASSERT_TRUE(access.ok()) << access.status().message();
  EXPECT_EQ(access->endpoint.server.ToString(), "http://127.0.0.1:8080");
  EXPECT_EQ(access->ns, "default");
  EXPECT_FALSE(FindClusterAccess({.server = "http://10.0.0.1"}, machine.Environment()).ok());
}

TEST(ReadServiceAccount, TakesAnIpv6Address) {
  FakeMachine machine = MachineInPod();
  machine.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  const auto access = ReadServiceAccount(machine.Environment());
  ASSERT_TRUE(access.ok()) << access.status().message();
  EXPECT_EQ(access->endpoint.server.ToString(), "https://[fd00::1]:443");
}

TEST(ReadServiceAccount, DoesWithoutANamespace) {
  FakeMachine machine = MachineInPod();
  machine.files.erase(std::string(kServiceAccountFolder) + "/namespace");
  EXPECT_EQ(ReadServiceAccount(machine.Environment())->ns, "default");
}

TEST(ReadServiceAccount, ReportsWhatIsMissing) {
  const std::string folder(kServiceAccountFolder);
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    for (const bool is_empty : {false, true}) {
      FakeMachine machine = MachineInPod();
      machine.variables[name] = "";
      if (!is_empty) machine.variables.erase(name);
      EXPECT_EQ(ReadServiceAccount(machine.Environment()).status().code(), ErrorCode::kNotFound);
    }
  }
  for (const char* name : {"/token", "/ca.crt"}) {
    const std::string path = folder + name;
    FakeMachine machine = MachineInPod();
    machine.files[path] = " \n";
    EXPECT_EQ(ReadServiceAccount(machine.Environment()).status(),
              Status::InvalidArgument(path + ": the file is empty"));
    machine.files[path] = "denied";
    EXPECT_EQ(ReadServiceAccount(machine.Environment()).status(),
              Status::PermissionDenied(path + ": Permission denied"));
    machine.files.erase(path);
    const Status missing = ReadServiceAccount(machine.Environment()).status();
    EXPECT_EQ(missing.code(), ErrorCode::kInvalidArgument) << "the caller must report this error";
    EXPECT_TRUE(missing.message().starts_with(path + ": no such file;")) << missing.message();
  }
  FakeMachine machine = MachineInPod();
  machine.variables["KUBERNETES_SERVICE_PORT"] = "https";
  EXPECT_EQ(ReadServiceAccount(machine.Environment()).status().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace berth::host
