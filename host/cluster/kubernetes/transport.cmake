# Sources and tests of the transport, the credentials and the errors of an API server.
target_sources(host_cluster_kubernetes PRIVATE
  api_error.cc credential_loader.cc credentials.cc endpoint.cc exec_credential.cc io_thread.cc
  kubeconfig.cc kubeconfig_entry.cc kubeconfig_user.cc rate_limit.cc response_reader.cc
  retry_delay.cc tls_context.cc)

berth_unit_tests(host_cluster_kubernetes_transport_test
  SOURCES api_error_test.cc cluster_access_test.cc credential_loader_test.cc endpoint_test.cc
          exec_credential_test.cc kubeconfig_test.cc rate_limit_test.cc response_reader_test.cc
          retry_delay_test.cc tls_context_test.cc
          ${PROJECT_SOURCE_DIR}/tests/harness/api_server/test_certificates.cc
  DEPENDS host_cluster_kubernetes)

berth_unit_tests(host_cluster_kubernetes_transport_threads_test
  SOURCES credentials_test.cc io_thread_test.cc
  DEPENDS host_cluster_kubernetes
  LABELS threads)
