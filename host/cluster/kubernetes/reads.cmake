# Lists and watches. Included by CMakeLists.txt of this folder.
target_sources(host_cluster_kubernetes PRIVATE
  discovery.cc event_mailbox.cc live_objects.cc object_index.cc object_reader.cc paged_list.cc
  reflector.cc refresh_waiters.cc stream_end.cc watch_stream.cc)
target_link_libraries(host_cluster_kubernetes PUBLIC
  host_api simdjson::simdjson nlohmann_json::nlohmann_json)

berth_unit_tests(host_cluster_reads_test
  SOURCES discovery_test.cc event_mailbox_test.cc live_objects_test.cc object_index_test.cc
          object_reader_test.cc reflector_list_test.cc reflector_watch_test.cc
  DEPENDS host_cluster_kubernetes test_transport)
