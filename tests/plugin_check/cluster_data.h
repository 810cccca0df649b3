/* Part of broken.c: the kinds that the plugin declares, and misuse of the services for the
 * cluster's data. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_CLUSTER_DATA_H_
#define BERTH_TESTS_PLUGIN_CHECK_CLUSTER_DATA_H_

#include <stddef.h>

#include <berth/abi.h>

#ifdef BREAKS_HOST_BY_COLUMN
#define COLUMN_COUNT 2
#define MORE_COLUMNS \
  , { sizeof(berth_column_request), 0, "object:storage.k8s.io/v1/CSINode", BERTH_TYPE_OBJECT, 0 }
#else
#define COLUMN_COUNT 1
#define MORE_COLUMNS
#endif

#ifdef BREAKS_KINDS
static const char* const kKinds[] = {"v1/Pod", NULL};
#else
static const char* const kKinds[] = {"v1/Namespace", NULL};
#endif

#ifdef BREAKS_HOST_BY_WATCH
static void OnObject(void* to, const berth_object_change* change) { (void)to, (void)change; }

static void MisuseClusterData(const berth_host* host) {
  const void* objects = NULL;
  host->get_service(host, BERTH_SERVICE_OBJECTS, &objects);
  ((const berth_objects*)objects)->watch(host, (berth_str){"v1/Node", 7}, OnObject, NULL);
}
#elif defined BREAKS_LEAKS_OF_OBJECTS
/* Retains every object, and never releases one. */
static const berth_refs* refs;
static void OnObject(void* to, const berth_object_change* change) {
  const berth_tagged object = {BERTH_KIND_OBJECT, 0, change->now};
  if (change->now != NULL) refs->retain(to, object);
}

static void MisuseClusterData(const berth_host* host) {
  const void* service = NULL;
  host->get_service(host, BERTH_SERVICE_REFS, &service);
  refs = service;
  host->get_service(host, BERTH_SERVICE_OBJECTS, &service);
  ((const berth_objects*)service)
      ->watch(host, (berth_str){"v1/Namespace", 12}, OnObject, (void*)host);
}
#elif defined BREAKS_NOTHING_IS_RELEASED
/* The host releases what an instance leaves. */
static void MisuseClusterData(const berth_host* host) {
  const void* service = NULL;
  const berth_selector* selector = NULL;
  host->get_service(host, BERTH_SERVICE_VALUES, &service);
  ((const berth_values*)service)->parse(host, (berth_str){"[1]", 3}, NULL);
  host->get_service(host, BERTH_SERVICE_SELECTORS, &service);
  ((const berth_selectors*)service)->from_text(host, (berth_str){"a", 1}, &selector, NULL);
  host->get_service(host, BERTH_SERVICE_STRINGS, &service);
  ((const berth_strings*)service)->intern(host, (berth_str){"test.example/kept", 17});
}
#elif defined BREAKS_SHAPE_BY_RELEASE
static void MisuseClusterData(const berth_host* host) {
  const void* service = NULL;
  const berth_selectors* selectors;
  const berth_selector* selector = NULL;
  host->get_service(host, BERTH_SERVICE_SELECTORS, &service);
  selectors = service;
  selectors->from_text(host, (berth_str){"a", 1}, &selector, NULL);
  selectors->release(host, selector);
  selectors->release(host, selector);
}
#elif defined BREAKS_SHAPE_BY_STALE_ID
static void MisuseClusterData(const berth_host* host) {
  const void* service = NULL;
  const berth_strings* strings;
  berth_id id;
  host->get_service(host, BERTH_SERVICE_STRINGS, &service);
  strings = service;
  id = strings->intern(host, (berth_str){"test.example/stale", 18});
  strings->release(host, id);
  strings->text(host, id);
}
#else
static void MisuseClusterData(const berth_host* host) { (void)host; }
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_CLUSTER_DATA_H_ */
