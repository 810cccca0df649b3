# Sources and tests of the requests that write, and of the election of a leader.
target_sources(host_cluster_kubernetes PRIVATE
  bind_fence.cc bind_task.cc event_sender.cc leader_elector.cc lease_requests.cc pod_lanes.cc
  pod_task.cc pod_writer.cc request_bodies.cc)
target_link_libraries(host_cluster_kubernetes PUBLIC host_cluster nlohmann_json::nlohmann_json)

# test_transport has the virtual executor and the scripted transport of tests/harness.
berth_unit_tests(host_cluster_kubernetes_writes_test
  SOURCES bind_fence_test.cc bind_task_test.cc event_sender_test.cc leader_election_test.cc
          leader_elector_test.cc lease_requests_test.cc pod_lanes_test.cc
          pod_writer_model_test.cc pod_writer_test.cc request_bodies_test.cc
  DEPENDS host_cluster_kubernetes test_transport)
