/* AddPod and RemovePod of broken.c. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_PODS_H_
#define BERTH_TESTS_PLUGIN_CHECK_PODS_H_

#ifdef BREAKS_WHATIF
/* Counts the pod twice, because the column already contains it. */
static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                         const berth_block* block, uint32_t index, berth_status* status) {
  (void)self, (void)block, (void)index, (void)status;
  ((State*)cycle->slots[0])->wanted += pod->request->milli_cpu + 100000;
  return BERTH_SUCCESS;
}
static berth_code RemovePod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                            const berth_block* block, uint32_t index, berth_status* status) {
  (void)self, (void)block, (void)index, (void)status;
  ((State*)cycle->slots[0])->wanted -= pod->request->milli_cpu + 100000;
  return BERTH_SUCCESS;
}
#elif defined BREAKS_WHATIF_TOGETHER
/* Keeps the changes of one node only. */
static berth_code AddPod(void* self, const berth_cycle* cycle, const berth_pod* pod,
                         const berth_block* block, uint32_t index, berth_status* status) {
  State* state = cycle->slots[0];
  (void)self, (void)pod, (void)status;
  if (state->last != block->rows[index] + 1) ++state->changes;
  state->last = block->rows[index] + 1;
  return BERTH_SUCCESS;
}
#define RemovePod AddPod
#elif !defined COUNTS_RACKS
#define AddPod NULL
#define RemovePod NULL
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_PODS_H_ */
