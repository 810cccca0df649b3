/* Copyright The Berth Authors. SPDX-License-Identifier: Apache-2.0
 *
 * berth/plugin_c.h: macros for plugins in C11. They replace what an author would otherwise write
 * twice: the note that repeats the entry, and the loop over the selected nodes of a block.
 *
 *   static const berth_filter kFilter = {sizeof(berth_filter), 0, &kDependence, Filter};
 *   static const berth_score kScore = {...};
 *
 *   #define POINTS(POINT) POINT(FILTER, kFilter), POINT(SCORE, kScore)
 *   BERTH_LIBRARY("acme.Headroom", "1.0.0", POINTS, Create,
 *                 .about = "Keeps some memory free.", .services = kServices);
 *
 *   static berth_code Create(...) { ... plugin->abi.get_point = berth_get_point; ... }
 */
#ifndef BERTH_PLUGIN_C_H_
#define BERTH_PLUGIN_C_H_

#include <berth/abi.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The index in the block of its selected node number k. */
#define BERTH_SELECTED(block, k) ((block)->selected != NULL ? (block)->selected[k] : (k))

/* Runs the statement that follows once for each selected node: `i` is its index in the block. */
#define BERTH_FOR_EACH_SELECTED(block, i)                                                       \
  for (uint32_t i##_number = 0, i = 0;                                                          \
       i##_number < (block)->n_selected && (i = BERTH_SELECTED(block, i##_number), (void)i, 1); \
       ++i##_number)

/* The value of type T of node i in a column of the block, as an lvalue that must not be written.
 * For an optional column that the host may not have, use BERTH_CELL_OR. */
#define BERTH_CELL(T, block, column, i)                     \
  (*(T const*)((const char*)(block)->columns[column].data + \
               (uint64_t)(i) * (block)->columns[column].stride))

/* The value of type T of node i in an optional column of the block, or `absent` if the host does
 * not have the column. */
#define BERTH_CELL_OR(T, block, column, i, absent) \
  ((block)->columns[column].data != NULL ? BERTH_CELL(T, block, column, i) : (T)(absent))

/* ---- Texts and arrays ------------------------------------------------------------------------ */

/* An initialiser of a berth_str from a string literal:
 * static const berth_str kReasons[] = {BERTH_STR_INIT("Insufficient memory")}; */
#define BERTH_STR_INIT(literal) \
  { "" literal, sizeof(literal) - 1 }

/* A berth_str from a string literal, as an expression. */
#define BERTH_STR(literal) ((berth_str)BERTH_STR_INIT(literal))

/* A berth_array of all elements of a C array, as an expression. */
#define BERTH_ARRAY_OF(elements) \
  ((berth_array){(elements), sizeof(elements) / sizeof((elements)[0]), sizeof((elements)[0])})

/* ---- The library ----------------------------------------------------------------------------- */

/* Defines everything that a library with one plugin exports. Use it once, at file scope, before the
 * definition of `create_`, and write a semicolon after it.
 *
 *   name_, version_  string literals, without quotes and backslashes
 *   points_          a macro with one parameter that lists the extension points, each with a
 *                    constant struct, see the example above: POINT(FILTER, kFilter) stands for
 *                    BERTH_POINT_FILTER
 *   create_          berth_entry.create, which this macro declares: a static function
 *   ...              designated initialisers of the other members of berth_plugin_info; `.about`
 *                    is required
 *
 * Defines `berth_get_point` for berth_plugin.get_point, and states in berth_entry.build_flags how
 * the library was compiled. BERTH_MIN_HOST_MINOR must be a plain number. */
#define BERTH_LIBRARY(name_, version_, points_, create_, ...)                                     \
  BERTH_NOTE(BERTH_LIBRARY_NOTE(name_, version_, points_(BERTH_LIBRARY_ID)));                     \
  static const void* berth_get_point(const berth_plugin* berth_self, const char* berth_id_text) { \
    static const struct {                                                                         \
      const char* id;                                                                             \
      const void* point;                                                                          \
    } berth_points[] = {points_(BERTH_LIBRARY_POINT)};                                            \
    (void)berth_self;                                                                             \
    for (uint32_t i = 0; i < sizeof berth_points / sizeof berth_points[0]; ++i) {                 \
      if (__builtin_strcmp(berth_points[i].id, berth_id_text) == 0) return berth_points[i].point; \
    }                                                                                             \
    return NULL;                                                                                  \
  }                                                                                               \
  static berth_code create_(const berth_host*, const berth_instance_request*, berth_plugin**,     \
                            berth_status*);                                                       \
  static const char* const berth_point_ids[] = {points_(BERTH_LIBRARY_ID), NULL};                 \
  static const berth_plugin_info berth_info = {.struct_size = sizeof(berth_plugin_info),          \
                                               .name = (name_),                                   \
                                               .version = (version_),                             \
                                               .points = berth_point_ids,                         \
                                               __VA_ARGS__};                                      \
  static const berth_plugin_info* const berth_infos[] = {&berth_info};                            \
  const berth_entry berth_entry_v1 = {                                                            \
      .magic = BERTH_MAGIC,                                                                       \
      .struct_size = sizeof(berth_entry),                                                         \
      .abi_major = BERTH_ABI_MAJOR,                                                               \
      .abi_minor = BERTH_ABI_MINOR,                                                               \
      .min_host_minor = BERTH_MIN_HOST_MINOR,                                                     \
      .pointer_bits = 64,                                                                         \
      .build_flags = BERTH_LIBRARY_ASSERTS | BERTH_LIBRARY_SANITIZED,                             \
      .n_plugins = 1,                                                                             \
      .plugins = berth_infos,                                                                     \
      .create = create_,                                                                          \
      .abi_draft = BERTH_ABI_DRAFT}

/* Used by BERTH_LIBRARY: how this file is compiled. */
#ifdef NDEBUG
#define BERTH_LIBRARY_ASSERTS 0u
#else
#define BERTH_LIBRARY_ASSERTS BERTH_BUILD_ASSERTS
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BERTH_LIBRARY_SANITIZED BERTH_BUILD_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BERTH_LIBRARY_SANITIZED BERTH_BUILD_SANITIZED
#endif
#endif
#ifndef BERTH_LIBRARY_SANITIZED
#define BERTH_LIBRARY_SANITIZED 0u
#endif

/* Used by BERTH_LIBRARY. BERTH_TEXT_OF turns a string literal into a literal with quotes, as JSON
 * has them. */
#define BERTH_LIBRARY_NOTE(name_, version_, ...)                                 \
  BERTH_LIBRARY_HOSTS                                                            \
  ",\"plugins\":[{\"name\":" BERTH_TEXT_OF(name_) ",\"version\":" BERTH_TEXT_OF( \
      version_) ",\"points\":[" BERTH_TEXT_OF(__VA_ARGS__) "]}]}"
#define BERTH_LIBRARY_HOSTS                                      \
  "{\"abi\":[" BERTH_TEXT_OF(BERTH_ABI_MAJOR) "," BERTH_TEXT_OF( \
      BERTH_ABI_MINOR) "],\"minHostMinor\":" BERTH_TEXT_OF(BERTH_MIN_HOST_MINOR)
#define BERTH_TEXT_OF(...) BERTH_TEXT_OF_(__VA_ARGS__)
#define BERTH_TEXT_OF_(...) #__VA_ARGS__
#define BERTH_LIBRARY_ID(point, table) BERTH_POINT_##point
#define BERTH_LIBRARY_POINT(point, table) \
  { BERTH_POINT_##point, &(table) }

#endif /* BERTH_PLUGIN_C_H_ */
