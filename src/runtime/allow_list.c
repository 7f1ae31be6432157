/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/allow_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "runtime/install.h"

#define FILE_NAME "ascend_package_load.ini"
#define FILE_MAX ((size_t)1 << 20)
#define LINE_MAX_LEN 1200

/* Where the parser is. */
struct reader {
    const char *at;   /* start of the next line */
    const char *path; /* for messages */
    uint32_t line;    /* number of the line in `text`, from 1 */
    char text[LINE_MAX_LEN];
};

/* The next line without its end and outer blanks; false: there is none. A line too long to be a
 * record's is cut, and so fails as a value. */
static bool
read_line(struct reader *reader)
{
    const char *start = reader->at;
    size_t len = strcspn(start, "\n");

    if (*start == '\0')
        return false;
    reader->at = start + len + (start[len] == '\n');
    reader->line++;
    while (len > 0 && isspace((unsigned char)start[len - 1]))
        len--;
    while (len > 0 && isspace((unsigned char)*start)) {
        start++;
        len--;
    }
    if (len >= sizeof reader->text)
        len = sizeof reader->text - 1;
    memcpy(reader->text, start, len);
    reader->text[len] = '\0';
    return true;
}

/* What follows "key:" in the line; NULL when the line has another key. */
static const char *
value_of(const char *line, const char *key)
{
    size_t len = strlen(key);

    if (strncmp(line, key, len) != 0 || line[len] != ':')
        return NULL;
    line += len + 1;
    while (isspace((unsigned char)*line))
        line++;
    return line;
}

static aclError
malformed(const struct reader *reader, const char *what)
{
    return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                   "%s:%u: %s; no package is loaded until this is put right", reader->path,
                   reader->line, what);
}

/* ---- one record ---- */

enum { HAS_INSTALL = 1, HAS_OPTIONAL = 2, HAS_PATH = 4, HAS_SOC = 8 };

static bool
parse_bool(const char *value, bool *result)
{
    *result = strcmp(value, "true") == 0;
    return *result || strcmp(value, "false") == 0;
}

static bool
good_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 && strlen(name) < sizeof((struct rt_allow_record *)0)->name;
}

/* Relative, and without a way up. */
static bool
good_path(const char *path)
{
    if (path[0] == '\0' || path[0] == '/' ||
        strlen(path) >= sizeof((struct rt_allow_record *)0)->package_path)
        return false;
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    }
    return true;
}

/* One of the four lines into `record`; `seen` collects HAS_*. */
static aclError
parse_member(const struct reader *reader, struct rt_allow_record *record, unsigned *seen)
{
    const char *value;
    unsigned key = 0;

    if ((value = value_of(reader->text, "install_path")) != NULL) {
        key = HAS_INSTALL;
        if (value[0] < '0' || value[0] > '3' || value[1] != '\0')
            return malformed(reader, "install_path must be 0, 1, 2 or 3");
        record->install_path = (uint32_t)(value[0] - '0');
    } else if ((value = value_of(reader->text, "optional")) != NULL) {
        key = HAS_OPTIONAL;
        if (!parse_bool(value, &record->optional))
            return malformed(reader, "optional must be true or false");
    } else if ((value = value_of(reader->text, "package_path")) != NULL) {
        key = HAS_PATH;
        if (!good_path(value))
            return malformed(reader, "package_path must be a path below the installation");
        snprintf(record->package_path, sizeof record->package_path, "%s", value);
    } else if ((value = value_of(reader->text, "load_as_per_soc")) != NULL) {
        key = HAS_SOC;
        if (!parse_bool(value, &record->per_soc))
            return malformed(reader, "load_as_per_soc must be true or false");
    } else {
        return malformed(reader, "after a name come install_path, optional, package_path and "
                                 "load_as_per_soc, one a line");
    }
    if ((*seen & key) != 0)
        return malformed(reader, "this key is there twice in one record");
    *seen |= key;
    return ACL_SUCCESS;
}

/* The record whose name line the reader has just read. */
static aclError
parse_record(struct reader *reader, struct rt_allow_record *record)
{
    const char *name = value_of(reader->text, "name");
    unsigned seen = 0;

    if (!good_name(name))
        return malformed(reader, "name must be the file name of a package");
    snprintf(record->name, sizeof record->name, "%s", name);
    record->line = reader->line;
    for (int i = 0; i < 4; i++) {
        aclError rc;

        if (!read_line(reader))
            return malformed(reader, "the file ends inside a record");
        rc = parse_member(reader, record, &seen);
        if (rc != ACL_SUCCESS)
            return rc;
    }
    return ACL_SUCCESS;
}

/* ---- the file ---- */

static aclError
append(struct rt_allow_list *list, const struct rt_allow_record *record)
{
    struct rt_allow_record *more;

    more = hc_realloc(list->records, (list->count + 1) * sizeof *more);
    if (more == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    list->records = more;
    more[list->count++] = *record;
    return ACL_SUCCESS;
}

aclError
rt_allow_list_parse(struct rt_allow_list *list, const char *text, const char *path)
{
    struct reader reader = {.at = text, .path = path};
    struct rt_allow_list fresh = {NULL, 0};
    aclError rc = ACL_SUCCESS;

    while (rc == ACL_SUCCESS && read_line(&reader)) {
        struct rt_allow_record record = {0};

        if (value_of(reader.text, "name") == NULL)
            continue;
        rc = parse_record(&reader, &record);
        if (rc != ACL_SUCCESS || rt_allow_list_find(&fresh, record.name) != NULL)
            continue; /* a repeated name keeps the first record */
        if (fresh.count == RT_ALLOW_MAX)
            rc = malformed(&reader, "more than 100 records");
        else
            rc = append(&fresh, &record);
    }
    if (rc == ACL_SUCCESS)
        *list = fresh;
    else
        rt_allow_list_fini(&fresh);
    return rc;
}

/* The file's text (an empty one if there is no file), for the caller to free. */
static aclError
read_file(const char *path, char **text)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    int err = rt_file_read(path, FILE_MAX, &bytes, &len);

    if (err == ENOENT) {
        bytes = hc_zalloc(1);
        err = bytes == NULL ? ENOMEM : 0;
    }
    if (err == ENOMEM)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_OPEN, "cannot read the package list %s: %s", path,
                       strerror(err));
    *text = (char *)bytes;
    return ACL_SUCCESS;
}

aclError
rt_allow_list_load(struct rt_allow_list *list)
{
    char path[RT_PATH_LEN];
    char *text = NULL;
    aclError rc = rt_install_path(path, "conf/" FILE_NAME);

    if (rc == ACL_SUCCESS)
        rc = read_file(path, &text);
    if (rc == ACL_SUCCESS)
        rc = rt_allow_list_parse(list, text, path);
    hc_free(text);
    return rc;
}

void
rt_allow_list_fini(struct rt_allow_list *list)
{
    hc_free(list->records);
    list->records = NULL;
    list->count = 0;
}

const struct rt_allow_record *
rt_allow_list_find(const struct rt_allow_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->records[i].name, name) == 0)
            return &list->records[i];
    }
    return NULL;
}

/* ---- editing ---- */

/* The file, locked against other editors and known to be well-formed. */
struct edit {
    char path[RT_PATH_LEN];
    int lock; /* -1: not taken */
    char *text;
    struct rt_allow_list list;
};

static void
edit_close(struct edit *edit)
{
    if (edit->lock >= 0)
        close(edit->lock);
    hc_free(edit->text);
    rt_allow_list_fini(&edit->list);
}

/* Whatever it returns, edit_close() is safe after. */
static aclError
edit_open(struct edit *edit)
{
    char dir[RT_PATH_LEN];
    aclError rc = rt_install_path(dir, "conf");
    int err;

    edit->lock = -1;
    if (rc == ACL_SUCCESS)
        rc = rt_path_join(edit->path, dir, FILE_NAME);
    if (rc != ACL_SUCCESS)
        return rc;
    err = rt_dir_make(dir, 0755);
    if (err == 0)
        err = rt_dir_lock(dir, &edit->lock);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot lock directory %s: %s", dir, strerror(err));
    rc = read_file(edit->path, &edit->text);
    return rc == ACL_SUCCESS ? rt_allow_list_parse(&edit->list, edit->text, edit->path) : rc;
}

static aclError
edit_write(const struct edit *edit, const char *text)
{
    int err = rt_file_replace(edit->path, text, strlen(text), 0644);

    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot write %s: %s", edit->path, strerror(err));
    return ACL_SUCCESS;
}

/* The text and one more record. */
static aclError
edit_append(struct edit *edit, const char *name, const char *package_path)
{
    size_t len = strlen(edit->text);
    size_t size = len + strlen(name) + strlen(package_path) + 128;
    char *text = hc_zalloc(size);
    aclError rc;

    if (text == NULL)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    snprintf(text, size,
             "%s%sname:%s\ninstall_path:%d\noptional:true\npackage_path:%s\n"
             "load_as_per_soc:false\n",
             edit->text, len > 0 && edit->text[len - 1] != '\n' ? "\n" : "", name, RT_ALLOW_KERNELS,
             package_path);
    rc = edit_write(edit, text);
    hc_free(text);
    return rc;
}

aclError
rt_allow_list_add(const char *name, const char *package_path)
{
    const struct rt_allow_record *found;
    struct edit edit = {.lock = -1};
    aclError rc;

    if (!good_name(name) || !good_path(package_path) || strpbrk(name, "\r\n") != NULL ||
        strpbrk(package_path, "\r\n") != NULL)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "cannot allow \"%s\" in \"%s\": give a file name, and a directory below the "
                       "installation",
                       name, package_path);
    rc = edit_open(&edit);
    if (rc == ACL_SUCCESS) {
        found = rt_allow_list_find(&edit.list, name);
        if (found == NULL && edit.list.count == RT_ALLOW_MAX)
            rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%s: %d packages are the most; forbid one first", edit.path, RT_ALLOW_MAX);
        else if (found == NULL)
            rc = edit_append(&edit, name, package_path);
        else if (strcmp(found->package_path, package_path) != 0 ||
                 found->install_path != RT_ALLOW_KERNELS)
            rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%s:%u: %s is listed already, in %s with install_path %u: run `hcomm "
                         "package forbid %s` first",
                         edit.path, found->line, name, found->package_path, found->install_path,
                         name);
    }
    edit_close(&edit);
    return rc;
}

aclError
rt_allow_list_remove(const char *name)
{
    struct edit edit = {.lock = -1};
    aclError rc = edit_open(&edit);

    if (rc == ACL_SUCCESS && rt_allow_list_find(&edit.list, name) == NULL)
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s is not listed", edit.path, name);
    if (rc == ACL_SUCCESS) {
        struct reader reader = {.at = edit.text, .path = edit.path};
        char *to = edit.text; /* the text only gets shorter: in place */
        const char *from = reader.at;
        int dropping = 0; /* lines of the record that are still to come */

        while (read_line(&reader)) {
            const char *value = dropping > 0 ? NULL : value_of(reader.text, "name");

            if (value != NULL && strcmp(value, name) == 0)
                dropping = 5;
            if (dropping > 0) {
                dropping--;
            } else {
                memmove(to, from, (size_t)(reader.at - from));
                to += reader.at - from;
            }
            from = reader.at;
        }
        *to = '\0';
        rc = edit_write(&edit, edit.text);
    }
    edit_close(&edit);
    return rc;
}
