/* Counts the pods of each node, and the pods without a node, in an index, and scores or filters a
 * node by the pods on the node of the next row and by the pods without a node. For variants of
 * broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_NEIGHBOURS_H_
#define BERTH_TESTS_PLUGIN_CHECK_NEIGHBOURS_H_

#ifdef KNOWS_NEIGHBOURS
/* Rows with the same remainder share a counter. */
enum { kBuckets = 64, kMostRows = 4096 };

static int64_t PodsBeside(const Instance* plugin, uint32_t row) {
  return plugin->pods[(row + 1) % kBuckets] + plugin->pending;
}

static void Change(void* self, const berth_change* change) {
  Instance* plugin = self;
  const uint32_t bucket = change->row % kBuckets;
  if (change->kind == BERTH_CHANGE_PENDING_ADDED || change->kind == BERTH_CHANGE_PENDING_REMOVED) {
    plugin->pending += change->kind == BERTH_CHANGE_PENDING_ADDED ? 1 : -1;
    plugin->pending_at = change->sequence;
    plugin->sequence = change->sequence;
  }
  if (change->kind != BERTH_CHANGE_POD_ADDED && change->kind != BERTH_CHANGE_POD_REMOVED) return;
  plugin->pods[bucket] += change->kind == BERTH_CHANGE_POD_ADDED ? 1 : -1;
  plugin->sequence = change->sequence;
  plugin->changed_at[bucket] = change->sequence;
  plugin->last_bucket = bucket;
}

/* Reports the rows whose score differs from that of the state that *token names: the number of the
 * last change plus one, because 0 is no token. */
static uint32_t Changed(void* self, const berth_cycle* cycle, uint64_t* token,
                        berth_put_rows put_rows, void* to) {
  const Instance* plugin = self;
  const uint64_t before = *token;
  (void)cycle;
  *token = plugin->sequence + 1;
#ifdef BREAKS_DEPENDENCE_WITHOUT_TOKEN
  *token = 0;
#endif
#if defined BREAKS_DEPENDENCE_OF_CHANGED || defined BREAKS_DEPENDENCE_OF_FILTER
  return BERTH_STALE_NONE;
#endif
#ifndef BREAKS_DEPENDENCE_ON_PENDING
  if (plugin->pending_at >= before) return BERTH_STALE_ALL;
#endif
  for (uint32_t row = 0; row < kMostRows; ++row) {
    const uint32_t bucket = (row + 1) % kBuckets;
#ifdef BREAKS_DEPENDENCE_OF_TOKEN
    if (bucket == plugin->last_bucket) put_rows(to, &row, 1);
#else
    if (plugin->changed_at[bucket] >= before) put_rows(to, &row, 1);
#endif
  }
  return BERTH_STALE_ROWS;
}

#define FIRST_ID BERTH_POINT_CHANGES
static const berth_changes kFirst = {sizeof(berth_changes), BERTH_CHANGES_FLAG_PENDING, Change};
static const berth_dependence kScoreDependence = {sizeof(berth_dependence), BERTH_DEPENDS_OTHER, 0,
                                                  NULL, Changed};
#endif

#ifdef BREAKS_DEPENDENCE_OF_FILTER
#define FILTER_CHANGED Changed
static int RejectsByIndex(const Instance* plugin, uint32_t row) {
  return PodsBeside(plugin, row) > 1;
}
#else
#define FILTER_CHANGED NULL
static int RejectsByIndex(const Instance* plugin, uint32_t row) {
  return (void)plugin, (void)row, 0;
}
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_NEIGHBOURS_H_ */
