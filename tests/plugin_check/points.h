/* The groups of variants of broken.c, and the extension points that a group adds. For broken.c,
 * which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_POINTS_H_
#define BERTH_TESTS_PLUGIN_CHECK_POINTS_H_

/* These variants score a node by the pods on another one, or filter it by them. */
#if defined BREAKS_DEPENDENCE_OF_CHANGED || defined BREAKS_DEPENDENCE_OF_TOKEN ||      \
    defined BREAKS_DEPENDENCE_WITHOUT_TOKEN || defined BREAKS_DEPENDENCE_ON_PENDING || \
    defined BREAKS_NOTHING_WITH_AN_INDEX || defined BREAKS_DEPENDENCE_OF_FILTER
#define KNOWS_NEIGHBOURS
#endif

/* These variants reject pods of a high priority, and sign their answers. */
#if defined BREAKS_DEPENDENCE_OF_SIGN || defined BREAKS_NOTHING_WITH_A_SIGN
#define SIGNS
#endif

#if defined BREAKS_PROMISE_TWICE || defined BREAKS_PROMISE_UNKNOWN ||         \
    defined BREAKS_PROMISE_OF_PRE_BIND || defined BREAKS_OUTCOME_TOO_SMALL || \
    defined BREAKS_NOMINATOR_IN_BIND || defined BREAKS_NOTHING_IS_COMPLETED
#define HAS_PRE_BIND
#endif

#if defined BREAKS_REJECTION_WITH_A_FLAG || defined BREAKS_SURVIVAL_OF_A_GANG || \
    defined BREAKS_SURVIVAL_OF_TIME
#define HAS_PERMIT
#endif

#if defined BREAKS_NOTHING_WITH_A_STATE || defined BREAKS_CODES_OF_SAVE || \
    defined BREAKS_CODES_OF_RESTORE || defined BREAKS_FAULTS_OF_SAVE
#define HAS_HAND_OVER
#endif

#if defined BREAKS_NOTHING_LEFT_OPEN || defined BREAKS_WHATIF_ENDED || \
    defined BREAKS_WHATIF_RUN_TOO_SMALL || defined BREAKS_SURVIVAL_OF_A_NOMINATION
#define HAS_POST_FILTER
#endif

#ifdef BREAKS_NOTHING_AFTER_UNRESERVE
#define MORE_POINTS_TEXT ",\"berth.reserve/1\",\"berth.pre_bind/1\""
#elif defined BREAKS_NOTHING_AFTER_POST_BIND
#define MORE_POINTS_TEXT ",\"berth.bind/1\",\"berth.post_bind/1\""
#elif defined KNOWS_NEIGHBOURS || defined BREAKS_LEAKS_BY_NODES
#define MORE_POINTS_TEXT ",\"berth.changes/1\""
#elif defined HAS_LANES
#define MORE_POINTS_TEXT ",\"berth.queue_sort/1\",\"berth.queue_sort/2\""
#elif defined BREAKS_ENTITY
#define MORE_POINTS_TEXT ",\"berth.entity/1\""
#elif defined HAS_PRE_BIND
#define MORE_POINTS_TEXT ",\"berth.pre_bind/1\""
#elif defined HAS_HAND_OVER
#define MORE_POINTS_TEXT ",\"berth.hand_over/1\""
#elif defined HAS_PERMIT
#define MORE_POINTS_TEXT ",\"berth.permit/1\""
#elif defined HAS_POST_FILTER
#define MORE_POINTS_TEXT ",\"berth.post_filter/1\""
#else
#define MORE_POINTS_TEXT ""
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_POINTS_H_ */
