# The channel between front and worker, and the messages on it.
component(engine_channel SOURCES channel.c message.c DEPS platform core)
