# Virtual time, and a transport whose answers a test gives.
harness_library(test_transport
  SOURCES scripted_transport.cc virtual_executor.cc
  DEPENDS host_cluster_kubernetes)

berth_unit_tests(test_transport_test
  SOURCES scripted_transport_test.cc virtual_executor_test.cc
  DEPENDS test_transport)
