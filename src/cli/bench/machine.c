/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "core/json.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

/* The value of the first line "name<sep>value"; STR_NONE. */
static struct str value_of(struct str text, struct str name, char sep)
{
    struct str line;

    while (str_split(&text, '\n', &line)) {
        ptrdiff_t at = str_chr(line, sep);

        if (at > 0 && str_eq(str_trim(str_sub(line, 0, (size_t)at)), name))
            return str_trim(str_sub(line, (size_t)at + 1, line.len));
    }
    return STR_NONE;
}

static void read_line(const char *path, char *out, size_t cap)
{
    struct buf b = {0};
    struct str rest, line = STR_NONE;

    (void)!fs_read_file(path, 4096, &b); /* not every system has it */
    rest = buf_str(&b);
    (void)str_split(&rest, '\n', &line); /* "" then */
    (void)str_put(out, cap, str_trim(line));
    buf_fini(&b);
}

static void read_cpu(struct bench_machine *m)
{
    struct buf b = {0};
    struct str rest, line, flags;

    (void)!fs_read_file("/proc/cpuinfo", 16 << 20, &b); /* unknown then */
    (void)str_put(m->cpu, sizeof(m->cpu), value_of(buf_str(&b), STR("model name"), ':'));
    flags = value_of(buf_str(&b), STR("flags"), ':');
    m->is_virtual = str_find(flags, STR("hypervisor")) >= 0;
    rest = buf_str(&b);
    while (str_split(&rest, '\n', &line))
        m->processors += str_starts(line, STR("processor"));
    if (!m->cpu[0])
        (void)str_put(m->cpu, sizeof(m->cpu), STR("unknown processor"));
    buf_fini(&b);
}

static void read_system(struct bench_machine *m)
{
    struct buf b = {0};
    struct str name;

    (void)!fs_read_file("/etc/os-release", 65536, &b); /* unknown then */
    name = value_of(buf_str(&b), STR("PRETTY_NAME"), '=');
    if (name.len > 1 && name.p[0] == '"')
        name = str_sub(name, 1, name.len - 2);
    (void)str_put(m->system, sizeof(m->system), name.len ? name : STR("unknown system"));
    buf_fini(&b);
}

void bench_machine_read(struct bench_machine *m)
{
    struct sysinfo_memory memory = sysinfo_memory(NULL);
    struct sysinfo_cpu cpu = sysinfo_cpu(NULL);

    *m = (struct bench_machine){
        .cores = cpu.cores,
        .cores_from = sysinfo_source_name(cpu.source),
        .memory = memory.bytes,
        .memory_from = sysinfo_source_name(memory.source),
    };
    read_cpu(m);
    read_system(m);
    read_line("/proc/sys/kernel/osrelease", m->kernel, sizeof(m->kernel));
    read_line("/proc/loadavg", m->load, sizeof(m->load));
    read_line(
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", m->governor, sizeof(m->governor));
}

void bench_machine_print(const struct bench_machine *m, struct buf *out)
{
    buf_printf(out, "machine   %s, %u processors%s\n", m->cpu, m->processors,
        m->is_virtual ? ", virtual" : "");
    buf_printf(out, "          %s, kernel %s, frequency governor %s\n", m->system, m->kernel,
        m->governor[0] ? m->governor : "not visible");
    buf_printf(out, "          %.3g cores (%s), %llu MB of memory (%s), load %s\n", m->cores,
        m->cores_from, (unsigned long long)(m->memory >> 20), m->memory_from, m->load);
}

void bench_machine_json(const struct bench_machine *m, struct json_writer *w)
{
    json_key(w, "machine");
    json_open_object(w);
    json_add_str(w, "cpu", str_c(m->cpu));
    json_add_uint(w, "processors", m->processors);
    json_add_bool(w, "virtual", m->is_virtual);
    json_add_str(w, "system", str_c(m->system));
    json_add_str(w, "kernel", str_c(m->kernel));
    json_add_str(w, "governor", m->governor[0] ? str_c(m->governor) : STR_NONE);
    json_add_float(w, "cores", m->cores);
    json_add_str(w, "cores_from", str_c(m->cores_from));
    json_add_uint(w, "memory", m->memory);
    json_add_str(w, "memory_from", str_c(m->memory_from));
    json_add_str(w, "load", str_c(m->load));
    json_close_object(w);
}
