# Sources and tests of the transport, the credentials and the errors of an API server.
target_sources(host_cluster_kubernetes PRIVATE
  api_error.cc endpoint.cc kubeconfig.cc kubeconfig_entry.cc kubeconfig_user.cc rate_limit.cc
  retry_delay.cc)

berth_unit_tests(host_cluster_kubernetes_transport_test
  SOURCES api_error_test.cc cluster_access_test.cc endpoint_test.cc kubeconfig_test.cc
          rate_limit_test.cc retry_delay_test.cc
  DEPENDS host_cluster_kubernetes)
