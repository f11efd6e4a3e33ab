/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/windows/fs_path.h"

#include <windows.h>

#include "base/err.h"
#include "base/str.h"

/* Names that are devices in every directory, whatever follows a dot. */
static const char *const fs_devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"};

/* COM and LPT with a digit; the digits one to three count as superscripts, too. */
static bool fs_is_port(struct str stem)
{
    struct str digit = str_sub(stem, 3, stem.len);

    if (!str_istarts(stem, STR("COM")) && !str_istarts(stem, STR("LPT")))
        return false;
    if (digit.len == 1)
        return digit.p[0] >= '0' && digit.p[0] <= '9';
    return str_eq(digit, STR("\xc2\xb9")) || str_eq(digit, STR("\xc2\xb2")) ||
           str_eq(digit, STR("\xc2\xb3"));
}

static bool fs_is_device(struct str name)
{
    ptrdiff_t dot = str_chr(name, '.');
    struct str stem = dot < 0 ? name : str_sub(name, 0, (size_t)dot);

    while (stem.len && stem.p[stem.len - 1] == ' ')
        stem.len--;
    for (size_t i = 0; i < ARRAY_LEN(fs_devices); i++)
        if (str_ieq(stem, str_c(fs_devices[i])))
            return true;
    return fs_is_port(stem);
}

/* Whether a file can have this name and no other one. */
static bool fs_is_plain_name(struct str name)
{
    if (name.len == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
        return true;
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.p[i] < 0x20 || strchr("<>:\"|?*\\", name.p[i]))
            return false;
    if (name.p[name.len - 1] == '.' || name.p[name.len - 1] == ' ')
        return false;
    return !fs_is_device(name);
}

static bool fs_is_drive(struct str s)
{
    char c = s.len ? str_lower_char(s.p[0]) : 0;

    return s.len == 2 && s.p[1] == ':' && c >= 'a' && c <= 'z';
}

int fs_path_wide(const char *path, wchar_t out[FS_PATH_MAX])
{
    struct str rest = str_c(path), name;
    bool first = true;

    if (rest.len == 0 || str_starts(rest, STR("//")))
        return ERR_NOTFOUND;
    while (str_split(&rest, '/', &name)) {
        /* "C:" alone is the drive's current directory; a drive must be followed by '/'. */
        if (!fs_is_plain_name(name) && !(first && fs_is_drive(name) && rest.p))
            return ERR_NOTFOUND;
        first = false;
    }
    if (strlen(path) >= FS_PATH_MAX)
        return ERR_TOOBIG;
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, FS_PATH_MAX))
        return GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ERR_TOOBIG : ERR_NOTFOUND;
    for (wchar_t *p = out; *p; p++)
        if (*p == L'/')
            *p = L'\\';
    return 0;
}

int fs_path_utf8(const wchar_t *path, char *out, size_t cap)
{
    char full[FS_PATH_MAX * 3];
    size_t n;

    if (wcsncmp(path, L"\\\\?\\", 4) == 0)
        path += 4;
    if (!WideCharToMultiByte(CP_UTF8, 0, path, -1, full, sizeof(full), NULL, NULL))
        return ERR_TOOBIG;
    n = strlen(full);
    if (n >= cap)
        return ERR_TOOBIG;
    for (size_t i = 0; i <= n; i++)
        out[i] = full[i] == '\\' ? '/' : full[i];
    return 0;
}
