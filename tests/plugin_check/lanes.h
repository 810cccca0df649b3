/* Both revisions of QueueSort: the lane of a pod is its namespace, and the lanes take turns. For
 * variants of broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_LANES_H_
#define BERTH_TESTS_PLUGIN_CHECK_LANES_H_

static uint64_t turns;

static void Key(void* self, const berth_queued* queued, uint8_t out[BERTH_SORT_KEY_SIZE]) {
  const int64_t queued_ns = queued->queued_ns;
  (void)self;
  memset(out, 0, BERTH_SORT_KEY_SIZE);
  for (int i = 0; i < 8; ++i) out[i] = (uint8_t)(queued_ns >> (56 - 8 * i));
}

static uint64_t Lane(void* self, const berth_queued* queued) {
  (void)self;
#ifdef BREAKS_LANES
  return queued->pod->meta->ns + turns++;
#else
  return queued->pod->meta->ns;
#endif
}

static uint32_t NextLane(void* self, berth_array lanes) {
  (void)self;
#ifdef BREAKS_NEXT_LANE
  return lanes.count;
#else
#ifdef BREAKS_LEAKS_OF_NEXT_LANE
  kept = malloc(16);
#endif
  return (uint32_t)(turns++ % lanes.count);
#endif
}

#ifdef BREAKS_HOST_BY_LANES
#define NEXT_LANE NULL
#else
#define NEXT_LANE NextLane
#endif
#define FIRST_ID BERTH_POINT_QUEUE_SORT
#define SECOND_ID BERTH_POINT_QUEUE_SORT_2
static const berth_queue_sort kFirst = {sizeof(berth_queue_sort), 0, Key, NULL};
static const berth_queue_sort_2 kSecond = {
    sizeof(berth_queue_sort_2), 0, Key, NULL, Lane, NEXT_LANE};

#endif /* BERTH_TESTS_PLUGIN_CHECK_LANES_H_ */
