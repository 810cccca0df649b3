// A fixture for tests of pods under resize, which count differently since Kubernetes 1.37.
#ifndef BERTH_HOST_API_REQUESTS_TESTING_H_
#define BERTH_HOST_API_REQUESTS_TESTING_H_

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/api/decode_testing.h"
#include "host/api/objects.h"

namespace berth::host {

class ResizeTest : public DecodeTest {
 protected:
  // The beginning of the status of a pod whose resize is infeasible.
  static constexpr const char* kInfeasible =
      "'conditions':[{'type':'PodResizePending','reason':'Infeasible'}],";

  // Returns a container of the spec with `requests`, such as "'cpu':'1'".
  static std::string Of(std::string_view name, std::string_view requests) {
    return std::string("{'name':'")
        .append(name)
        .append("','resources':{'requests':{")
        .append(requests)
        .append("}}}");
  }

  static std::string Sidecar(std::string_view name, std::string_view requests) {
    return std::string("{'restartPolicy':'Always',").append(Of(name, requests).substr(1));
  }

  // Returns the status of a container. A null list is absent.
  static std::string State(std::string_view name, const char* allocated, const char* actual) {
    std::string text = std::string("{'name':'").append(name).append("'");
    if (allocated != nullptr) text.append(",'allocatedResources':{").append(allocated).append("}");
    if (actual != nullptr) text.append(",'resources':{'requests':{").append(actual).append("}}");
    return text.append("}");
  }

  static std::string Apps(std::string_view containers) {
    return std::string("'containers':[").append(containers).append("]");
  }
  static std::string Init(std::string_view containers) {
    return std::string("'initContainers':[").append(containers).append("]");
  }
  static std::string States(std::string_view states) {
    return std::string("'containerStatuses':[").append(states).append("]");
  }
  static std::string InitStates(std::string_view states) {
    return std::string("'initContainerStatuses':[").append(states).append("]");
  }

  struct Case {
    const char* what;
    std::string spec;
    std::string status;
    const char* in_1_36;
    const char* in_1_37;
  };

  // Expects what each pod occupies. The status never changes what the pod requests.
  void ExpectAccounted(std::span<const Case> cases) {
    for (const Case& c : cases) {
      SCOPED_TRACE(c.what);
      ExpectAccounted(decoder_1_36_, c, c.in_1_36);
      ExpectAccounted(decoder_1_37_, c, c.in_1_37);
    }
  }

  // Expects the amounts with defaults, as "cpu=100 memory=209715200".
  void ExpectNonzero(std::span<const Case> cases) {
    for (const Case& c : cases) {
      EXPECT_EQ(Nonzero(decoder_1_36_, c), c.in_1_36) << c.what;
      EXPECT_EQ(Nonzero(decoder_1_37_, c), c.in_1_37) << c.what;
    }
  }

  static DecodeOptions Emulate(KubeVersion version) {
    DecodeOptions options;
    options.emulated_version = version;
    return options;
  }

  Decoder decoder_1_36_{interner_, Emulate({1, 36})};
  Decoder decoder_1_37_{interner_, Emulate({1, 37})};

 private:
  void ExpectAccounted(Decoder& decoder, const Case& c, const char* accounted) {
    const Result<PodRef> pod = decoder.DecodePod(PodText(c.spec, c.status));
    const PodRef without = DecodePod(c.spec);
    ASSERT_TRUE(pod.ok() && without != nullptr);
    const berth_pod& view = (*pod)->view();
    EXPECT_EQ(Show(*view.accounted), accounted) << decoder.options().emulated_version.minor;
    EXPECT_EQ(Show(*view.request), Show(*without->view().request));
    EXPECT_EQ(Show(*view.request_of_containers), Show(*without->view().request_of_containers));
  }

  std::string Nonzero(Decoder& decoder, const Case& c) {
    const Result<PodRef> pod = decoder.DecodePod(PodText(c.spec, c.status));
    if (!pod.ok()) return pod.status().ToString();
    return "cpu=" + std::to_string((*pod)->view().nonzero_milli_cpu) +
           " memory=" + std::to_string((*pod)->view().nonzero_memory);
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_REQUESTS_TESTING_H_
