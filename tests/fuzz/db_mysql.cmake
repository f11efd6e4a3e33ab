fuzzer(mysql_packet SOURCES fuzz_mysql_packet.c DEPS db_mysql_protocol)
fuzzer(mysql_login SOURCES fuzz_mysql_login.c DEPS db_mysql_protocol)
fuzzer(mysql_value SOURCES fuzz_mysql_value.c DEPS db_mysql_protocol)
