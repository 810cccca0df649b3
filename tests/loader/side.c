/* A library that a plugin library needs: it has a number, or the one of a library that it needs. */
#ifndef TEST_FUNCTION
#define TEST_FUNCTION SideNumber
#endif

#ifdef TEST_CALLS_INNER
int InnerNumber(void);
#endif

__attribute__((visibility("default"))) int TEST_FUNCTION(void);
int TEST_FUNCTION(void) { return TEST_SIDE; }
