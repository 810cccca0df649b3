/* Counts the pods of each rack, for variants of broken.c, which includes this file once. The label
 * of the rack is a column that PreFilter binds. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_RACKS_H_
#define BERTH_TESTS_PLUGIN_CHECK_RACKS_H_

enum { kMaxPodsOfRack = 2 };

/* Returns the number of pods in the rack of node i; NULL if the node is in no rack. */
static int64_t* CountOf(State* state, const berth_block* block, uint32_t i) {
  const berth_column* from = &block->columns[state->column];
  const berth_id rack = *(const berth_id*)((const char*)from->data + (uint64_t)i * from->stride);
  uint32_t k = 0;
  if (rack == 0) return NULL;
  while (k < state->n_racks && state->racks[k] != rack) ++k;
  if (k == 16) return NULL;
  if (k == state->n_racks) state->racks[state->n_racks++] = rack;
  return &state->counts[k];
}

static void CountPods(const Instance* plugin, const berth_cycle* cycle, const berth_nodes* all) {
  static const berth_column_request kRack = {sizeof kRack, 0, "label:test.example/rack",
                                             BERTH_TYPE_ID, 0};
  State* state = cycle->slots[0];
  plugin->columns->bind(plugin->host, cycle, &kRack, &state->column);
  for (uint32_t b = 0; b < all->n_blocks; ++b) {
    const berth_block* block = all->block(all, b);
    for (uint32_t i = 0; i < block->count; ++i) {
      int64_t* count = CountOf(state, block, i);
      if (count != NULL) *count += (int64_t)block->pods[i].count;
    }
  }
}

#ifdef BREAKS_WHATIF_AT_RUN_TIME
/* Does nothing, although the number of pods in the rack changes. */
static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                         const berth_block* block, uint32_t index, berth_status* status) {
  (void)self, (void)cycle, (void)pod, (void)block, (void)index, (void)status;
  return BERTH_SUCCESS;
}
#define RemovePod AddPod
#else
static berth_code Count(const berth_cycle* cycle, const berth_block* block, uint32_t index,
                        int64_t more) {
  int64_t* count = CountOf(cycle->slots[0], block, index);
  if (count != NULL) *count += more;
  return BERTH_SUCCESS;
}
static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                         const berth_block* block, uint32_t index, berth_status* status) {
  (void)self, (void)pod, (void)status;
  return Count(cycle, block, index, 1);
}
static berth_code RemovePod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                            const berth_block* block, uint32_t index, berth_status* status) {
  (void)self, (void)pod, (void)status;
  return Count(cycle, block, index, -1);
}
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_RACKS_H_ */
