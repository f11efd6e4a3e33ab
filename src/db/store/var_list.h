/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_VAR_LIST_H
#define EPHPM_DB_STORE_VAR_LIST_H

/*
 * System variables. X(name, kind, flags, default, least, most, choices): those that something here
 * reads have an effect; the others are kept and shown, since clients set and read them.
 *
 * Kinds: BOOL, INT (in units of one), STR, REAL, ENUM (choices by commas), MODE (sql_mode),
 * CHARSET, COLLATION, ZONE. Flags: S and G are the scopes it has, R it cannot be set at all, N a
 * session cannot set its own, D its value is not kept but computed when it is read.
 */

#define VAR_S  1
#define VAR_G  2
#define VAR_R  4
#define VAR_N  8
#define VAR_D  16
#define VAR_B  (VAR_S | VAR_G)
#define VAR_GR (VAR_G | VAR_R)
#define VAR_SR (VAR_S | VAR_R)

#define STORE_VAR_LIST(X) STORE_VAR_LIST_1(X) STORE_VAR_LIST_2(X) STORE_VAR_LIST_3(X)

#define STORE_VAR_LIST_1(X)                                                            \
    X(auto_generate_certs, BOOL, VAR_GR, "0", 0, 1, "")                                \
    X(auto_increment_increment, INT, VAR_B, "1", 1, 65535, "")                         \
    X(auto_increment_offset, INT, VAR_B, "1", 1, 65535, "")                            \
    X(autocommit, BOOL, VAR_B, "1", 0, 1, "")                                          \
    X(automatic_sp_privileges, BOOL, VAR_G, "1", 0, 1, "")                             \
    X(back_log, INT, VAR_GR, "151", 0, 65535, "")                                      \
    X(basedir, STR, VAR_GR, "/usr/", 0, 0, "")                                         \
    X(big_tables, BOOL, VAR_B, "0", 0, 1, "")                                          \
    X(binlog_format, ENUM, VAR_B, "ROW", 0, 0, "MIXED,STATEMENT,ROW")                  \
    X(block_encryption_mode, STR, VAR_B, "aes-128-ecb", 0, 0, "")                      \
    X(bulk_insert_buffer_size, INT, VAR_B, "8388608", 0, INT64_MAX, "")                \
    X(character_set_client, CHARSET, VAR_B, "utf8mb4", 0, 0, "")                       \
    X(character_set_connection, CHARSET, VAR_B, "utf8mb4", 0, 0, "")                   \
    X(character_set_database, CHARSET, VAR_B, "utf8mb4", 0, 0, "")                     \
    X(character_set_filesystem, CHARSET, VAR_B, "binary", 0, 0, "")                    \
    X(character_set_results, CHARSET, VAR_B, "utf8mb4", 0, 0, "")                      \
    X(character_set_server, CHARSET, VAR_B, "utf8mb4", 0, 0, "")                       \
    X(character_set_system, STR, VAR_GR, "utf8mb3", 0, 0, "")                          \
    X(character_sets_dir, STR, VAR_GR, "/usr/share/mysql/charsets/", 0, 0, "")         \
    X(collation_connection, COLLATION, VAR_B, "utf8mb4_0900_ai_ci", 0, 0, "")          \
    X(collation_database, COLLATION, VAR_B, "utf8mb4_0900_ai_ci", 0, 0, "")            \
    X(collation_server, COLLATION, VAR_B, "utf8mb4_0900_ai_ci", 0, 0, "")              \
    X(completion_type, ENUM, VAR_B, "NO_CHAIN", 0, 0, "NO_CHAIN,CHAIN,RELEASE")        \
    X(concurrent_insert, ENUM, VAR_G, "AUTO", 0, 0, "NEVER,AUTO,ALWAYS")               \
    X(connect_timeout, INT, VAR_G, "10", 2, 31536000, "")                              \
    X(cte_max_recursion_depth, INT, VAR_B, "1000", 0, 4294967295, "")                  \
    X(datadir, STR, VAR_GR, "", 0, 0, "")                                              \
    X(default_authentication_plugin, STR, VAR_GR, "caching_sha2_password", 0, 0, "")   \
    X(default_collation_for_utf8mb4, COLLATION, VAR_B, "utf8mb4_0900_ai_ci", 0, 0, "") \
    X(default_password_lifetime, INT, VAR_G, "0", 0, 65535, "")                        \
    X(default_storage_engine, STR, VAR_B, "InnoDB", 0, 0, "")                          \
    X(default_tmp_storage_engine, STR, VAR_B, "InnoDB", 0, 0, "")                      \
    X(default_week_format, INT, VAR_B, "0", 0, 7, "")                                  \
    X(delay_key_write, ENUM, VAR_G, "ON", 0, 0, "OFF,ON,ALL")                          \
    X(disabled_storage_engines, STR, VAR_GR, "", 0, 0, "")                             \
    X(div_precision_increment, INT, VAR_B, "4", 0, 30, "")                             \
    X(end_markers_in_json, BOOL, VAR_B, "0", 0, 1, "")                                 \
    X(eq_range_index_dive_limit, INT, VAR_B, "200", 0, 4294967295, "")                 \
    X(error_count, INT, VAR_SR | VAR_D, "0", 0, 65535, "")                             \
    X(event_scheduler, ENUM, VAR_G, "OFF", 0, 0, "OFF,ON,DISABLED")                    \
    X(explicit_defaults_for_timestamp, BOOL, VAR_B, "1", 0, 1, "")                     \
    X(external_user, STR, VAR_SR, "", 0, 0, "")                                        \
    X(flush, BOOL, VAR_G, "0", 0, 1, "")                                               \
    X(foreign_key_checks, BOOL, VAR_B, "1", 0, 1, "")                                  \
    X(ft_min_word_len, INT, VAR_GR, "4", 1, 84, "")                                    \
    X(general_log, BOOL, VAR_G, "0", 0, 1, "")                                         \
    X(group_concat_max_len, INT, VAR_B, "1024", 4, INT64_MAX, "")                      \
    X(gtid_mode, ENUM, VAR_GR, "OFF", 0, 0, "OFF,OFF_PERMISSIVE,ON_PERMISSIVE,ON")     \
    X(gtid_executed, STR, VAR_GR, "", 0, 0, "")                                        \
    X(gtid_purged, STR, VAR_GR, "", 0, 0, "")                                          \
    X(have_compress, STR, VAR_GR, "NO", 0, 0, "")                                      \
    X(have_dynamic_loading, STR, VAR_GR, "NO", 0, 0, "")                               \
    X(have_geometry, STR, VAR_GR, "NO", 0, 0, "")                                      \
    X(have_openssl, STR, VAR_GR, "DISABLED", 0, 0, "")                                 \
    X(have_profiling, STR, VAR_GR, "NO", 0, 0, "")                                     \
    X(have_query_cache, STR, VAR_GR, "NO", 0, 0, "")                                   \
    X(have_ssl, STR, VAR_GR, "DISABLED", 0, 0, "")                                     \
    X(have_statement_timeout, STR, VAR_GR, "YES", 0, 0, "")                            \
    X(have_symlink, STR, VAR_GR, "DISABLED", 0, 0, "")                                 \
    X(hostname, STR, VAR_GR, "localhost", 0, 0, "")                                    \
    X(identity, INT, VAR_S | VAR_D, "0", 0, INT64_MAX, "")                             \
    X(information_schema_stats_expiry, INT, VAR_B, "86400", 0, 31536000, "")           \
    X(init_connect, STR, VAR_G, "", 0, 0, "")

#define STORE_VAR_LIST_2(X)                                                      \
    X(innodb_autoinc_lock_mode, INT, VAR_GR, "2", 0, 2, "")                      \
    X(innodb_buffer_pool_size, INT, VAR_G, "134217728", 0, INT64_MAX, "")        \
    X(innodb_default_row_format, STR, VAR_G, "dynamic", 0, 0, "")                \
    X(innodb_file_per_table, BOOL, VAR_G, "1", 0, 1, "")                         \
    X(innodb_flush_log_at_trx_commit, INT, VAR_G, "1", 0, 2, "")                 \
    X(innodb_ft_min_token_size, INT, VAR_GR, "3", 0, 16, "")                     \
    X(innodb_lock_wait_timeout, INT, VAR_B, "50", 1, 1073741824, "")             \
    X(innodb_log_file_size, INT, VAR_GR, "50331648", 0, INT64_MAX, "")           \
    X(innodb_page_size, INT, VAR_GR, "16384", 0, 65536, "")                      \
    X(innodb_read_only, BOOL, VAR_GR, "0", 0, 1, "")                             \
    X(innodb_rollback_on_timeout, BOOL, VAR_GR, "0", 0, 1, "")                   \
    X(innodb_strict_mode, BOOL, VAR_B, "1", 0, 1, "")                            \
    X(innodb_table_locks, BOOL, VAR_B, "1", 0, 1, "")                            \
    X(innodb_version, STR, VAR_GR, "8.0.36", 0, 0, "")                           \
    X(insert_id, INT, VAR_S, "0", 0, INT64_MAX, "")                              \
    X(interactive_timeout, INT, VAR_B, "28800", 1, 31536000, "")                 \
    X(join_buffer_size, INT, VAR_B, "262144", 128, INT64_MAX, "")                \
    X(key_buffer_size, INT, VAR_G, "8388608", 0, INT64_MAX, "")                  \
    X(last_insert_id, INT, VAR_S | VAR_D, "0", 0, INT64_MAX, "")                 \
    X(lc_messages, STR, VAR_B, "en_US", 0, 0, "")                                \
    X(lc_time_names, STR, VAR_B, "en_US", 0, 0, "")                              \
    X(license, STR, VAR_GR, "MIT", 0, 0, "")                                     \
    X(local_infile, BOOL, VAR_GR, "0", 0, 1, "")                                 \
    X(lock_wait_timeout, INT, VAR_B, "31536000", 1, 31536000, "")                \
    X(log_bin, BOOL, VAR_GR, "0", 0, 1, "")                                      \
    X(log_bin_trust_function_creators, BOOL, VAR_G, "0", 0, 1, "")               \
    X(log_error, STR, VAR_GR, "stderr", 0, 0, "")                                \
    X(log_output, STR, VAR_G, "FILE", 0, 0, "")                                  \
    X(log_queries_not_using_indexes, BOOL, VAR_G, "0", 0, 1, "")                 \
    X(long_query_time, REAL, VAR_B, "10.000000", 0, 31536000, "")                \
    X(low_priority_updates, BOOL, VAR_B, "0", 0, 1, "")                          \
    X(lower_case_file_system, BOOL, VAR_GR, "0", 0, 1, "")                       \
    X(lower_case_table_names, INT, VAR_GR, "0", 0, 2, "")                        \
    X(max_allowed_packet, INT, VAR_B | VAR_N, "67108864", 1024, 1073741824, "")  \
    X(max_connect_errors, INT, VAR_G, "100", 1, INT64_MAX, "")                   \
    X(max_connections, INT, VAR_GR, "151", 1, 100000, "")                        \
    X(max_error_count, INT, VAR_B, "1024", 0, 65535, "")                         \
    X(max_execution_time, INT, VAR_B, "0", 0, 4294967295, "")                    \
    X(max_heap_table_size, INT, VAR_B, "16777216", 16384, INT64_MAX, "")         \
    X(max_join_size, INT, VAR_B, "9223372036854775807", 1, INT64_MAX, "")        \
    X(max_length_for_sort_data, INT, VAR_B, "4096", 4, 8388608, "")              \
    X(max_prepared_stmt_count, INT, VAR_G, "16382", 0, 4194304, "")              \
    X(max_seeks_for_key, INT, VAR_B, "4294967295", 1, INT64_MAX, "")             \
    X(max_sort_length, INT, VAR_B, "1024", 4, 8388608, "")                       \
    X(max_sp_recursion_depth, INT, VAR_B, "0", 0, 255, "")                       \
    X(max_user_connections, INT, VAR_B | VAR_N, "0", 0, 4294967295, "")          \
    X(min_examined_row_limit, INT, VAR_B, "0", 0, INT64_MAX, "")                 \
    X(net_buffer_length, INT, VAR_B | VAR_N, "16384", 1024, 1048576, "")         \
    X(net_read_timeout, INT, VAR_B, "30", 1, 31536000, "")                       \
    X(net_retry_count, INT, VAR_B, "10", 1, INT64_MAX, "")                       \
    X(net_write_timeout, INT, VAR_B, "60", 1, 31536000, "")                      \
    X(old_alter_table, BOOL, VAR_B, "0", 0, 1, "")                               \
    X(open_files_limit, INT, VAR_GR, "1024", 0, INT64_MAX, "")                   \
    X(optimizer_prune_level, INT, VAR_B, "1", 0, 1, "")                          \
    X(optimizer_search_depth, INT, VAR_B, "62", 0, 62, "")                       \
    X(optimizer_switch, STR, VAR_B, "index_merge=on,derived_merge=on", 0, 0, "") \
    X(performance_schema, BOOL, VAR_GR, "1", 0, 1, "")                           \
    X(pid_file, STR, VAR_GR, "", 0, 0, "")                                       \
    X(plugin_dir, STR, VAR_GR, "", 0, 0, "")                                     \
    X(port, INT, VAR_GR, "0", 0, 65535, "")                                      \
    X(profiling, BOOL, VAR_B, "0", 0, 1, "")                                     \
    X(profiling_history_size, INT, VAR_B, "15", 0, 100, "")                      \
    X(protocol_version, INT, VAR_GR, "10", 0, 10, "")                            \
    X(proxy_user, STR, VAR_SR, "", 0, 0, "")                                     \
    X(pseudo_thread_id, INT, VAR_S | VAR_D, "0", 0, INT64_MAX, "")               \
    X(query_alloc_block_size, INT, VAR_B, "8192", 1024, 4294967295, "")          \
    X(query_prealloc_size, INT, VAR_B, "8192", 8192, INT64_MAX, "")

#define STORE_VAR_LIST_3(X)                                                                  \
    X(rand_seed1, INT, VAR_S, "0", 0, 4294967295, "")                                        \
    X(rand_seed2, INT, VAR_S, "0", 0, 4294967295, "")                                        \
    X(range_alloc_block_size, INT, VAR_B, "4096", 4096, INT64_MAX, "")                       \
    X(read_buffer_size, INT, VAR_B, "131072", 8192, 2147479552, "")                          \
    X(read_only, BOOL, VAR_GR, "0", 0, 1, "")                                                \
    X(read_rnd_buffer_size, INT, VAR_B, "262144", 1, 2147483647, "")                         \
    X(require_secure_transport, BOOL, VAR_GR, "0", 0, 1, "")                                 \
    X(secure_file_priv, STR, VAR_GR, "NULL", 0, 0, "")                                       \
    X(server_id, INT, VAR_GR, "1", 0, 4294967295, "")                                        \
    X(server_uuid, STR, VAR_GR, "00000000-0000-0000-0000-000000000001", 0, 0, "")            \
    X(session_track_gtids, ENUM, VAR_B, "OFF", 0, 0, "OFF,OWN_GTID,ALL_GTIDS")               \
    X(session_track_schema, BOOL, VAR_B, "1", 0, 1, "")                                      \
    X(session_track_state_change, BOOL, VAR_B, "0", 0, 1, "")                                \
    X(session_track_system_variables, STR, VAR_B,                                            \
        "time_zone,autocommit,character_set_client,character_set_results,"                   \
        "character_set_connection",                                                          \
        0, 0, "")                                                                            \
    X(session_track_transaction_info, ENUM, VAR_B, "OFF", 0, 0, "OFF,STATE,CHARACTERISTICS") \
    X(show_create_table_verbosity, BOOL, VAR_B, "0", 0, 1, "")                               \
    X(skip_name_resolve, BOOL, VAR_GR, "1", 0, 1, "")                                        \
    X(skip_networking, BOOL, VAR_GR, "0", 0, 1, "")                                          \
    X(slow_query_log, BOOL, VAR_G, "0", 0, 1, "")                                            \
    X(socket, STR, VAR_GR, "", 0, 0, "")                                                     \
    X(sort_buffer_size, INT, VAR_B, "262144", 32768, INT64_MAX, "")                          \
    X(sql_auto_is_null, BOOL, VAR_B, "0", 0, 1, "")                                          \
    X(sql_big_selects, BOOL, VAR_B, "1", 0, 1, "")                                           \
    X(sql_buffer_result, BOOL, VAR_B, "0", 0, 1, "")                                         \
    X(sql_generate_invisible_primary_key, BOOL, VAR_B, "0", 0, 1, "")                        \
    X(sql_log_bin, BOOL, VAR_S, "1", 0, 1, "")                                               \
    X(sql_log_off, BOOL, VAR_B, "0", 0, 1, "")                                               \
    X(sql_mode, MODE, VAR_B,                                                                 \
        "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"               \
        "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",                                 \
        0, 0, "")                                                                            \
    X(sql_notes, BOOL, VAR_B, "1", 0, 1, "")                                                 \
    X(sql_quote_show_create, BOOL, VAR_B, "1", 0, 1, "")                                     \
    X(sql_require_primary_key, BOOL, VAR_B, "0", 0, 1, "")                                   \
    X(sql_safe_updates, BOOL, VAR_B, "0", 0, 1, "")                                          \
    X(sql_select_limit, INT, VAR_B, "9223372036854775807", 0, INT64_MAX, "")                 \
    X(sql_warnings, BOOL, VAR_B, "0", 0, 1, "")                                              \
    X(ssl_ca, STR, VAR_GR, "", 0, 0, "")                                                     \
    X(ssl_cert, STR, VAR_GR, "", 0, 0, "")                                                   \
    X(ssl_key, STR, VAR_GR, "", 0, 0, "")                                                    \
    X(stored_program_cache, INT, VAR_G, "256", 16, 524288, "")                               \
    X(super_read_only, BOOL, VAR_GR, "0", 0, 1, "")                                          \
    X(sync_binlog, INT, VAR_G, "1", 0, 4294967295, "")                                       \
    X(system_time_zone, STR, VAR_GR, "UTC", 0, 0, "")                                        \
    X(table_definition_cache, INT, VAR_G, "2000", 400, 524288, "")                           \
    X(table_open_cache, INT, VAR_G, "4000", 1, 524288, "")                                   \
    X(thread_cache_size, INT, VAR_G, "9", 0, 16384, "")                                      \
    X(thread_handling, STR, VAR_GR, "one-thread-per-connection", 0, 0, "")                   \
    X(thread_stack, INT, VAR_GR, "1048576", 131072, INT64_MAX, "")                           \
    X(time_zone, ZONE, VAR_B, "SYSTEM", 0, 0, "")                                            \
    X(timestamp, REAL, VAR_S | VAR_D, "0", 0, 2147483647, "")                                \
    X(tls_version, STR, VAR_GR, "TLSv1.2,TLSv1.3", 0, 0, "")                                 \
    X(tmp_table_size, INT, VAR_B, "16777216", 1024, INT64_MAX, "")                           \
    X(tmpdir, STR, VAR_GR, "/tmp", 0, 0, "")                                                 \
    X(transaction_alloc_block_size, INT, VAR_B, "8192", 1024, 131072, "")                    \
    X(transaction_isolation, ENUM, VAR_B, "REPEATABLE-READ", 0, 0,                           \
        "READ-UNCOMMITTED,READ-COMMITTED,REPEATABLE-READ,SERIALIZABLE")                      \
    X(transaction_prealloc_size, INT, VAR_B, "4096", 1024, 131072, "")                       \
    X(transaction_read_only, BOOL, VAR_B, "0", 0, 1, "")                                     \
    X(tx_isolation, ENUM, VAR_B, "REPEATABLE-READ", 0, 0,                                    \
        "READ-UNCOMMITTED,READ-COMMITTED,REPEATABLE-READ,SERIALIZABLE")                      \
    X(tx_read_only, BOOL, VAR_B, "0", 0, 1, "")                                              \
    X(unique_checks, BOOL, VAR_B, "1", 0, 1, "")                                             \
    X(updatable_views_with_limit, BOOL, VAR_B, "1", 0, 1, "")                                \
    X(version, STR, VAR_GR, "8.0.36-ephpm", 0, 0, "")                                        \
    X(version_comment, STR, VAR_GR, "ephpm embedded database", 0, 0, "")                     \
    X(version_compile_machine, STR, VAR_GR, "x86_64", 0, 0, "")                              \
    X(version_compile_os, STR, VAR_GR, "Linux", 0, 0, "")                                    \
    X(version_compile_zlib, STR, VAR_GR, "1.2.13", 0, 0, "")                                 \
    X(wait_timeout, INT, VAR_B, "28800", 1, 31536000, "")                                    \
    X(warning_count, INT, VAR_SR | VAR_D, "0", 0, 65535, "")                                 \
    X(windowing_use_high_precision, BOOL, VAR_B, "1", 0, 1, "")

enum store_var {
#define STORE_VAR_ENUM(name, kind, flags, def, least, most, choices) VAR_##name,
    STORE_VAR_LIST(STORE_VAR_ENUM)
#undef STORE_VAR_ENUM
        STORE_VAR_COUNT
};

#endif
