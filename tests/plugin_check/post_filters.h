/* PostFilter of broken.c: misuse of what-if questions, and a nomination that ends the process. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_POST_FILTERS_H_
#define BERTH_TESTS_PLUGIN_CHECK_POST_FILTERS_H_

#ifdef HAS_POST_FILTER
#ifdef BREAKS_SURVIVAL_OF_A_NOMINATION
#define MISUSED_ID BERTH_SERVICE_NOMINATOR
static int32_t OnNominated(void* to, const berth_pod* pod, berth_str node) {
  (void)to, (void)pod, (void)node;
  abort();
}

static void Misuse(const Instance* plugin, const berth_cycle* cycle, uint32_t row) {
  const berth_nominator* nominator = plugin->misused;
  (void)cycle, (void)row;
  nominator->each(plugin->host, OnNominated, NULL);
}
#else
#define MISUSED_ID BERTH_SERVICE_WHATIF
static void Misuse(const Instance* plugin, const berth_cycle* cycle, uint32_t row) {
  const berth_whatif* whatif = plugin->misused;
  uint64_t question = 0;
  uint8_t code = 0;
  berth_whatif_run run = {sizeof run, 0, NULL, 0, &code};
  whatif->begin(plugin->host, cycle, &row, 1, BERTH_WHATIF_APART, &question);
#ifdef BREAKS_WHATIF_RUN_TOO_SMALL
  run.struct_size = 8;
#endif
#ifndef BREAKS_NOTHING_LEFT_OPEN
#ifdef BREAKS_WHATIF_ENDED
  whatif->end(plugin->host, question);
#endif
  whatif->run_filters(plugin->host, question, &run, NULL);
  whatif->end(plugin->host, question);
#endif
}
#endif

static berth_code PostFilter(void* self, const berth_cycle* cycle, const berth_nodes* all,
                             const berth_verdicts* verdicts, berth_post_filter_out* out,
                             berth_status* status) {
  const berth_str reason = {"no", 2};
  (void)verdicts, (void)out;
  Misuse(self, cycle, all->block(all, 0)->rows[0]);
  status->add_reason(status, reason);
  return BERTH_UNSCHEDULABLE;
}

#define FIRST_ID BERTH_POINT_POST_FILTER
static const berth_post_filter kFirst = {sizeof(berth_post_filter), 0, PostFilter};
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_POST_FILTERS_H_ */
