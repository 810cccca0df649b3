/* Misuse of services in PreFilter, Filter, hints and changes of nodes, for variants of broken.c,
 * which includes this file once. A variant misuses one service, MISUSED_ID. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_SERVICES_H_
#define BERTH_TESTS_PLUGIN_CHECK_SERVICES_H_

#if defined BREAKS_REQUEST_TOO_SMALL || defined BREAKS_EVICTION_WITH_A_FLAG || \
    defined BREAKS_EVENT_TOO_SMALL || defined BREAKS_PATCH_WITH_A_FLAG ||      \
    defined BREAKS_SURVIVAL_OF_AN_ANSWER || defined BREAKS_LEAKS_OF_ANSWERS || \
    defined BREAKS_NOTHING_WITH_REQUESTS
#define MISUSED_ID BERTH_SERVICE_API
static void OnAnswer(void* to, const berth_api_result* result) {
  (void)to, (void)result;
#ifdef BREAKS_LEAKS_OF_ANSWERS
  kept = malloc(16);
#endif
#ifdef BREAKS_SURVIVAL_OF_AN_ANSWER
  abort();
#endif
}

static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_api* api = plugin->misused;
  const berth_tagged pod = {BERTH_KIND_POD, 0, cycle->pod};
#ifdef BREAKS_EVICTION_WITH_A_FLAG
  const berth_eviction eviction = {sizeof eviction, 0x80, cycle->pod, {"no", 2}};
  api->evict(plugin->host, &eviction, OnAnswer, NULL);
#elif defined BREAKS_EVENT_TOO_SMALL
  const berth_api_event event = {8,           0,        &pod, NULL, {"Normal", 6}, {"Tested", 6},
                                 {"Test", 4}, {NULL, 0}};
  api->event(plugin->host, &event);
#elif defined BREAKS_PATCH_WITH_A_FLAG
  const berth_status_patch patch = {sizeof patch, 0x80, cycle->pod, {"{}", 2}};
  api->patch_status(plugin->host, &patch, OnAnswer, NULL);
#else
  berth_api_request request = {sizeof request, 0,         {"GET", 3}, {"/version", 8},
                               {NULL, 0},      {NULL, 0}, 0};
#ifdef BREAKS_REQUEST_TOO_SMALL
  request.struct_size = 8;
#endif
  api->request(plugin->host, &request, OnAnswer, NULL);
#endif
  (void)all, (void)pod;
}
#elif defined BREAKS_LEAKS_OF_IDS
#define MISUSED_ID BERTH_SERVICE_STRINGS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_strings* strings = plugin->misused;
  (void)all;
  strings->intern(plugin->host, cycle->pod->meta->name);
}
#elif defined BREAKS_LEAKS_OF_REFS || defined BREAKS_REF_NOT_HELD || defined BREAKS_REF_OF_A_COPY
#define MISUSED_ID BERTH_SERVICE_REFS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_refs* refs = plugin->misused;
  berth_tagged pod = {BERTH_KIND_POD, 0, cycle->pod};
  (void)all;
#ifdef BREAKS_LEAKS_OF_REFS
  refs->retain(plugin->host, pod);
#elif defined BREAKS_REF_NOT_HELD
  refs->release(plugin->host, pod);
#else
  const berth_pod copy = *cycle->pod;
  pod.object = &copy;
  refs->retain(plugin->host, pod);
#endif
}
#elif defined BREAKS_LEAKS_OF_VALUES || defined BREAKS_SHAPE_BY_VALUE
#define MISUSED_ID BERTH_SERVICE_VALUES
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_values* values = plugin->misused;
  const berth_value* value = values->parse(plugin->host, (berth_str){"[1]", 3}, NULL);
  (void)cycle, (void)all;
#ifdef BREAKS_SHAPE_BY_VALUE
  values->release(plugin->host, value);
  values->release(plugin->host, value);
#else
  (void)value;
#endif
}
#elif defined BREAKS_LEAKS_OF_SELECTORS
#define MISUSED_ID BERTH_SERVICE_SELECTORS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_selectors* selectors = plugin->misused;
  const berth_selector* selector = NULL;
  (void)cycle, (void)all;
  selectors->from_text(plugin->host, (berth_str){"a", 1}, &selector, NULL);
}
#elif defined BREAKS_SERIES_UNKNOWN
#define MISUSED_ID BERTH_SERVICE_METRICS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_metrics* metrics = plugin->misused;
  uint64_t series = 0;
  (void)cycle, (void)all;
  metrics->series(plugin->host, 7, NULL, &series);
}
#elif defined BREAKS_OBJECTS_UNDECLARED
#define MISUSED_ID BERTH_SERVICE_OBJECTS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_objects* objects = plugin->misused;
  const berth_object* found = NULL;
  (void)cycle, (void)all;
  objects->get(plugin->host, (berth_str){"v1/Service", 10}, (berth_str){NULL, 0},
               (berth_str){"web", 3}, &found);
}
#elif defined BREAKS_POST_WITHOUT_RUN
#define MISUSED_ID BERTH_SERVICE_TIMER
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_timer* timer = plugin->misused;
  (void)cycle, (void)all;
  timer->post(plugin->host, NULL, NULL);
}
#elif defined BREAKS_HOLD_UNKNOWN
#define MISUSED_ID BERTH_SERVICE_TIMER
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_timer* timer = plugin->misused;
  (void)cycle, (void)all;
  timer->release(plugin->host, 7);
}
#elif defined BREAKS_PLACE_OF_OTHER_NODES
#define MISUSED_ID BERTH_SERVICE_NODES
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_node_lookup* nodes = plugin->misused;
  const berth_nodes other = *all;
  uint32_t block = 0;
  uint32_t index = 0;
  (void)cycle;
  nodes->place(plugin->host, &other, 0, &block, &index);
}
#elif defined BREAKS_COLUMN_WITH_A_FLAG
#define MISUSED_ID BERTH_SERVICE_COLUMNS
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_columns* columns = plugin->misused;
  const berth_column_request request = {sizeof request, 0x80, "label:rack", BERTH_TYPE_ID, 0};
  uint32_t index = 0;
  (void)all;
  columns->bind(plugin->host, cycle, &request, &index);
}
#elif defined BREAKS_HTTP_REQUEST_TOO_SMALL
#define MISUSED_ID BERTH_SERVICE_HTTP
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  const berth_http* http = plugin->misused;
  berth_http_request request = {0};
  (void)cycle, (void)all;
  request.struct_size = 8;
  http->request(plugin->host, &request, NULL, NULL);
}
#else
static void MisuseInPreFilter(const Instance* plugin, const berth_cycle* cycle,
                              const berth_nodes* all) {
  (void)plugin, (void)cycle, (void)all;
}
#endif

/* Called in Filter, under [block]. */
#ifdef BREAKS_ACTIVATE_IN_FILTER
#define MISUSED_ID BERTH_SERVICE_ACTIVATE
static void MisuseInBlock(const Instance* plugin) {
  const berth_activate* activate = plugin->misused;
  activate->activate(plugin->host, NULL, 0);
}
#elif defined BREAKS_SHARED_IN_FILTER
#define MISUSED_ID BERTH_SERVICE_SHARED
static void MisuseInBlock(const Instance* plugin) {
  const berth_shared* shared = plugin->misused;
  void* object = NULL;
  shared->find(plugin->host, (berth_str){"key", 3}, NULL, &object);
}
#elif defined BREAKS_THREADS
static void MisuseInBlock(const Instance* plugin) {
  uint64_t timer = 0;
  plugin->timer->start(plugin->host, 1, NULL, NULL, &timer);
}
#else
static void MisuseInBlock(const Instance* plugin) { (void)plugin; }
#endif

/* Called in hints, under [queue]. */
#ifdef BREAKS_RANDOM_OUTSIDE
#define MISUSED_ID BERTH_SERVICE_RANDOM
static void MisuseInQueue(const Instance* plugin) {
  const berth_random* numbers = plugin->misused;
  numbers->next(plugin->host, NULL);
}
#else
static void MisuseInQueue(const Instance* plugin) { (void)plugin; }
#endif

#ifdef BREAKS_LEAKS_BY_NODES
#define MISUSED_ID BERTH_SERVICE_STRINGS
/* Interns the names of nodes, and never releases them. */
static void OnChange(void* self, const berth_change* change) {
  const Instance* plugin = self;
  const berth_strings* strings = plugin->misused;
  if (change->kind != BERTH_CHANGE_NODE_ADDED) return;
  strings->intern(plugin->host, change->node->meta->name);
}
#define FIRST_ID BERTH_POINT_CHANGES
static const berth_changes kFirst = {sizeof(berth_changes), 0, OnChange};
#endif

/* Leaves out of the signature what the answers depend on, or covers it. */
#ifdef SIGNS
static berth_code Sign(void* self, const berth_cycle* cycle, berth_signature* signature) {
  (void)self;
  signature->low = 1;
  signature->high = 1;
#ifdef BREAKS_NOTHING_WITH_A_SIGN
  signature->high = (uint64_t)(int64_t)cycle->pod->priority;
#else
  (void)cycle;
#endif
  return BERTH_SUCCESS;
}
#define SIGN Sign
#else
#define SIGN NULL
#endif

#ifndef MISUSED_ID
#define MISUSED_ID BERTH_SERVICE_LOG
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_SERVICES_H_ */
