/* The Filter of broken.c that is called once for all nodes. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_WHOLE_H_
#define BERTH_TESTS_PLUGIN_CHECK_WHOLE_H_

#if defined BREAKS_OUTPUTS_OF_WHOLE || defined BREAKS_NOTHING_AS_A_WHOLE
/* Filters all nodes in one call. */
static berth_code FilterWhole(void* self, const berth_cycle* cycle, const berth_nodes* survivors,
                              berth_filter_whole_out* out, berth_status* status) {
  (void)self, (void)status;
  for (uint32_t b = 0; b < survivors->n_blocks; ++b) {
    const berth_block* block = survivors->block(survivors, b);
    for (uint32_t k = 0; k < block->n_selected; ++k) {
      const uint32_t i = block->selected != NULL ? block->selected[k] : k;
      const int rejected = Rejects(cycle, block, i);
#ifdef BREAKS_OUTPUTS_OF_WHOLE
      if (b == 0 && k == 0) continue;
#endif
      out->codes[block->rows[i]] = rejected ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
      out->reasons[block->rows[i]] = rejected ? 1u : 0u;
    }
  }
  return BERTH_SUCCESS;
}
#define FILTER_FLAGS BERTH_FILTER_WHOLE
#define FILTER_DEPENDENCE NULL
#else
#define FilterWhole NULL
#define FILTER_FLAGS 0
#define FILTER_DEPENDENCE &kDependence
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_WHOLE_H_ */
