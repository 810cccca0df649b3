// The events and leases of a model of an API server.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_RECORDS_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_RECORDS_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/http/transport.h"

namespace berth::host {

// The requests for events of events.k8s.io/v1: POST, PATCH of the series, GET. The cluster checks
// and counts the events; this class keeps their texts, so that a name can be taken only once.
//
// Threading: one thread.
// Lifetime:  the cluster must outlive it.
class ModelEvents {
 public:
  static constexpr std::string_view kKind = "events.k8s.io/v1/Event";
  using Texts = std::map<std::string, nlohmann::ordered_json, std::less<>>;

  explicit ModelEvents(EmbeddedCluster& cluster) : cluster_(cluster) {}

  HttpResponse Serve(const HttpRequest& request, const ApiPath& path);
  // By "namespace/name".
  const Texts& texts() const { return texts_; }

 private:
  HttpResponse Create(const HttpRequest& request, const ApiPath& path);
  HttpResponse Patch(const HttpRequest& request, const ApiPath& path);
  HttpResponse Read(const ApiPath& path) const;

  EmbeddedCluster& cluster_;
  Texts texts_;
};

// The requests for leases: POST, PUT, GET. The cluster compares the resourceVersions; this class
// keeps the texts, so that an update replaces the whole object.
//
// Threading: one thread.
// Lifetime:  the cluster must outlive it.
class ModelLeases {
 public:
  static constexpr std::string_view kKind = "coordination.k8s.io/v1/Lease";

  explicit ModelLeases(EmbeddedCluster& cluster) : cluster_(cluster) {}

  HttpResponse Serve(const HttpRequest& request, const ApiPath& path);

 private:
  EmbeddedCluster& cluster_;
  std::map<std::string, nlohmann::ordered_json, std::less<>> texts_;  // By "namespace/name".
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_RECORDS_H_
