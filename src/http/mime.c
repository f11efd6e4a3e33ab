/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/mime.h"

#include <stdlib.h>

#define TYPE(ext, type, compressible) {ext, {type, sizeof(type) - 1}, compressible}
#define TEXT(ext, type)               TYPE(ext, type "; charset=utf-8", true)

/* Sorted by extension: found by halving. */
static const struct mime types[] = {
    TYPE("3gp", "video/3gpp", false),
    TYPE("7z", "application/x-7z-compressed", false),
    TYPE("aac", "audio/aac", false),
    TYPE("ai", "application/postscript", true),
    TYPE("apk", "application/vnd.android.package-archive", false),
    TYPE("apng", "image/apng", false),
    TYPE("atom", "application/atom+xml", true),
    TYPE("avi", "video/x-msvideo", false),
    TYPE("avif", "image/avif", false),
    TYPE("azw", "application/vnd.amazon.ebook", false),
    TYPE("bin", "application/octet-stream", false),
    TYPE("bmp", "image/bmp", true),
    TYPE("br", "application/x-brotli", false),
    TYPE("bz2", "application/x-bzip2", false),
    TYPE("cer", "application/pkix-cert", false),
    TEXT("cjs", "text/javascript"),
    TEXT("conf", "text/plain"),
    TYPE("cpio", "application/x-cpio", true),
    TYPE("crt", "application/x-x509-ca-cert", false),
    TEXT("css", "text/css"),
    TEXT("csv", "text/csv"),
    TYPE("cur", "image/x-icon", true),
    TEXT("dart", "text/plain"),
    TYPE("deb", "application/vnd.debian.binary-package", false),
    TEXT("diff", "text/plain"),
    TYPE("dmg", "application/x-apple-diskimage", false),
    TYPE("doc", "application/msword", true),
    TYPE("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", false),
    TYPE("dtd", "application/xml-dtd", true),
    TYPE("eot", "application/vnd.ms-fontobject", true),
    TYPE("eps", "application/postscript", true),
    TYPE("epub", "application/epub+zip", false),
    TYPE("exe", "application/octet-stream", false),
    TYPE("flac", "audio/flac", false),
    TYPE("flv", "video/x-flv", false),
    TYPE("geojson", "application/geo+json", true),
    TYPE("gif", "image/gif", false),
    TYPE("glb", "model/gltf-binary", true),
    TYPE("gltf", "model/gltf+json", true),
    TYPE("gpx", "application/gpx+xml", true),
    TYPE("gz", "application/gzip", false),
    TYPE("heic", "image/heic", false),
    TYPE("heif", "image/heif", false),
    TEXT("htc", "text/x-component"),
    TEXT("htm", "text/html"),
    TEXT("html", "text/html"),
    TYPE("ico", "image/x-icon", true),
    TEXT("ics", "text/calendar"),
    TYPE("img", "application/octet-stream", false),
    TYPE("iso", "application/octet-stream", false),
    TYPE("jar", "application/java-archive", false),
    TYPE("jfif", "image/jpeg", false),
    TYPE("jp2", "image/jp2", false),
    TYPE("jpe", "image/jpeg", false),
    TYPE("jpeg", "image/jpeg", false),
    TYPE("jpg", "image/jpeg", false),
    TEXT("js", "text/javascript"),
    TEXT("json", "application/json"),
    TYPE("json5", "application/json5", true),
    TYPE("jsonld", "application/ld+json", true),
    TYPE("jxl", "image/jxl", false),
    TYPE("kml", "application/vnd.google-earth.kml+xml", true),
    TYPE("kmz", "application/vnd.google-earth.kmz", false),
    TEXT("less", "text/plain"),
    TEXT("log", "text/plain"),
    TYPE("m3u", "audio/mpegurl", true),
    TYPE("m3u8", "application/vnd.apple.mpegurl", true),
    TYPE("m4a", "audio/mp4", false),
    TYPE("m4s", "video/iso.segment", false),
    TYPE("m4v", "video/mp4", false),
    TEXT("map", "application/json"),
    TEXT("markdown", "text/markdown"),
    TEXT("md", "text/markdown"),
    TYPE("mid", "audio/midi", false),
    TYPE("midi", "audio/midi", false),
    TEXT("mjs", "text/javascript"),
    TYPE("mka", "audio/x-matroska", false),
    TYPE("mkv", "video/x-matroska", false),
    TYPE("mml", "application/mathml+xml", true),
    TYPE("mov", "video/quicktime", false),
    TYPE("mp2", "audio/mpeg", false),
    TYPE("mp3", "audio/mpeg", false),
    TYPE("mp4", "video/mp4", false),
    TYPE("mpd", "application/dash+xml", true),
    TYPE("mpeg", "video/mpeg", false),
    TYPE("mpg", "video/mpeg", false),
    TYPE("msi", "application/octet-stream", false),
    TYPE("mts", "video/mp2t", false),
    TYPE("ndjson", "application/x-ndjson", true),
    TYPE("odg", "application/vnd.oasis.opendocument.graphics", false),
    TYPE("odp", "application/vnd.oasis.opendocument.presentation", false),
    TYPE("ods", "application/vnd.oasis.opendocument.spreadsheet", false),
    TYPE("odt", "application/vnd.oasis.opendocument.text", false),
    TYPE("oga", "audio/ogg", false),
    TYPE("ogg", "audio/ogg", false),
    TYPE("ogv", "video/ogg", false),
    TYPE("opus", "audio/ogg", false),
    TYPE("otf", "font/otf", true),
    TEXT("patch", "text/plain"),
    TYPE("pdf", "application/pdf", false),
    TYPE("pem", "application/x-pem-file", true),
    TEXT("pl", "text/plain"),
    TYPE("png", "image/png", false),
    TYPE("ppt", "application/vnd.ms-powerpoint", true),
    TYPE(
        "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", false),
    TYPE("ps", "application/postscript", true),
    TYPE("psd", "image/vnd.adobe.photoshop", true),
    TEXT("py", "text/plain"),
    TYPE("rar", "application/vnd.rar", false),
    TYPE("rdf", "application/rdf+xml", true),
    TYPE("rpm", "application/x-rpm", false),
    TYPE("rss", "application/rss+xml", true),
    TYPE("rtf", "application/rtf", true),
    TEXT("scss", "text/plain"),
    TEXT("sh", "text/plain"),
    TYPE("sql", "application/sql", true),
    TEXT("srt", "text/plain"),
    TYPE("svg", "image/svg+xml", true),
    TYPE("svgz", "image/svg+xml", false),
    TYPE("swf", "application/x-shockwave-flash", false),
    TYPE("tar", "application/x-tar", true),
    TYPE("tgz", "application/gzip", false),
    TYPE("tif", "image/tiff", false),
    TYPE("tiff", "image/tiff", false),
    TYPE("toml", "application/toml", true),
    TYPE("ts", "video/mp2t", false),
    TEXT("tsv", "text/tab-separated-values"),
    TYPE("ttc", "font/collection", true),
    TYPE("ttf", "font/ttf", true),
    TEXT("txt", "text/plain"),
    TYPE("usdz", "model/vnd.usdz+zip", false),
    TEXT("vcf", "text/vcard"),
    TEXT("vtt", "text/vtt"),
    TYPE("wasm", "application/wasm", true),
    TYPE("wav", "audio/wav", false),
    TYPE("weba", "audio/webm", false),
    TYPE("webm", "video/webm", false),
    TYPE("webmanifest", "application/manifest+json", true),
    TYPE("webp", "image/webp", false),
    TYPE("wmv", "video/x-ms-wmv", false),
    TYPE("woff", "font/woff", false),
    TYPE("woff2", "font/woff2", false),
    TYPE("xht", "application/xhtml+xml", true),
    TYPE("xhtml", "application/xhtml+xml", true),
    TYPE("xls", "application/vnd.ms-excel", true),
    TYPE("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false),
    TYPE("xml", "application/xml", true),
    TYPE("xsd", "application/xml", true),
    TYPE("xsl", "application/xslt+xml", true),
    TYPE("xslt", "application/xslt+xml", true),
    TYPE("xz", "application/x-xz", false),
    TYPE("yaml", "application/yaml", true),
    TYPE("yml", "application/yaml", true),
    TYPE("zip", "application/zip", false),
    TYPE("zst", "application/zstd", false),
};

static const struct mime unknown = TYPE("", "application/octet-stream", false);

enum { EXT_MAX = 16 };

static int compare_ext(const void *key, const void *row)
{
    return strcmp(key, ((const struct mime *)row)->ext);
}

const struct mime *mime_of_path(struct str path)
{
    ptrdiff_t slash = str_rchr(path, '/');
    struct str name = str_sub(path, (size_t)(slash + 1), path.len);
    ptrdiff_t dot = str_rchr(name, '.');
    const struct mime *m;
    char ext[EXT_MAX];
    size_t n;

    if (dot < 0)
        return &unknown;
    n = name.len - (size_t)dot - 1;
    if (n == 0 || n >= sizeof(ext))
        return &unknown;
    for (size_t i = 0; i < n; i++)
        ext[i] = str_lower_char(name.p[(size_t)dot + 1 + i]);
    ext[n] = '\0';
    m = bsearch(ext, types, ARRAY_LEN(types), sizeof(types[0]), compare_ext);
    return m ? m : &unknown;
}

struct str mime_essence(struct str content_type)
{
    ptrdiff_t semicolon = str_chr(content_type, ';');

    if (semicolon >= 0)
        content_type.len = (size_t)semicolon;
    return str_trim(content_type);
}

static bool contains_nocase(struct str s, struct str word)
{
    for (size_t i = 0; i + word.len <= s.len; i++) {
        if (str_istarts(str_sub(s, i, s.len), word))
            return true;
    }
    return false;
}

bool mime_compressible(struct str content_type)
{
    static const struct str words[] = {STR("javascript"), STR("json"), STR("xml"), STR("svg")};
    static const struct str whole[] = {
        STR("application/wasm"),
        STR("application/vnd.ms-fontobject"),
        STR("application/vnd.apple.mpegurl"),
        STR("application/x-httpd-php"),
        STR("application/graphql"),
        STR("application/sql"),
        STR("application/toml"),
        STR("application/yaml"),
        STR("application/rtf"),
        STR("application/x-tar"),
        STR("font/ttf"),
        STR("font/otf"),
        STR("font/collection"),
        STR("image/bmp"),
        STR("image/x-icon"),
        STR("image/vnd.microsoft.icon"),
    };
    struct str type = mime_essence(content_type);

    if (str_istarts(type, STR("text/")))
        return true;
    /* Office files are named "...openxml..." and are archives. */
    if (contains_nocase(type, STR("openxmlformats")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (contains_nocase(type, words[i]))
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
        if (str_ieq(type, whole[i]))
            return true;
    }
    return false;
}
