fuzzer(channel SOURCES fuzz_channel.c DEPS engine_channel)
fuzzer(message SOURCES fuzz_message.c DEPS engine_channel)
fuzzer(ipc SOURCES fuzz_ipc.c DEPS engine_ipc)
