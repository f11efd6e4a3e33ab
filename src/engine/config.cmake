# Configuration, the values derived from it, and PHP's ini text.
component(engine_config
  SOURCES config.c config_check.c config_table.c config_warn.c ini.c shape.c
  DEPS core platform LIBS m)
