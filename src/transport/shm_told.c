/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an end tells its peer. Little goes into the message itself; more goes into a memfd that is
 * sealed and passed along. Who gets one reads it into own memory and never maps it, so nothing that
 * its owner does to the file can fault here; the seals say that it is a memory file, which cannot
 * block a reader as a pipe or a file of the network could.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/log.h"
#include "transport/host.h"
#include "transport/shm.h"

#define WORDS_MOST (1u << 20)
#define HELLO_MOST (80u << 20)

uint64_t
told_len(const struct shm_told *told)
{
    return (uint64_t)told->word_num * sizeof(struct tp_place) + told->hello_len;
}

const struct tp_place *
told_place(const struct shm_told *told, uint32_t word)
{
    return (const struct tp_place *)(const void *)told->bytes + word;
}

const void *
told_hello(const struct shm_told *told)
{
    return told->bytes + (size_t)told->word_num * sizeof(struct tp_place);
}

void
told_free(struct shm_told *told)
{
    hc_free(told->bytes);
    told->bytes = NULL;
}

HcclResult
told_make(const struct tp_open *args, struct shm_told *told)
{
    struct tp_place *places;

    if (args->word_num > WORDS_MOST || args->hello_len > HELLO_MOST) {
        LOG_ERROR(SHM, "a connection has %u notifies and %u bytes of regions: at most %u and %u",
                  args->word_num, args->hello_len, WORDS_MOST, HELLO_MOST);
        return HCCL_E_PARA;
    }
    told->word_num = args->word_num;
    told->hello_len = args->hello_len;
    told->bytes = hc_zalloc(told_len(told));
    if (told->bytes == NULL)
        return HCCL_E_MEMORY;
    places = (struct tp_place *)(void *)told->bytes;
    for (uint32_t i = 0; i < args->word_num; i++) {
        if (host_get()->locate(args->words[i], sizeof *args->words[i], &places[i]))
            continue;
        LOG_ERROR(SHM, "notify %u at %p lies in no memory that other processes can map", i,
                  (void *)args->words[i]);
        return HCCL_E_PARA; /* who owns `told` frees it */
    }
    if (args->hello_len > 0)
        memcpy(told->bytes + args->word_num * sizeof *places, args->hello, args->hello_len);
    return HCCL_SUCCESS;
}

/* ---- out ---- */

static bool
write_all(int fd, const uint8_t *bytes, uint64_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (uint64_t)n;
    }
    return true;
}

static HcclResult
send_file(struct shm_link *link, const void *head, uint32_t head_len, const struct shm_told *told)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    int fd = hc_fd_high(memfd_create("hcomm-hello", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    HcclResult rc;

    if (fd < 0 || !write_all(fd, told->bytes, told_len(told)) ||
        fcntl(fd, F_ADD_SEALS, seals) != 0) {
        LOG_ERROR(SHM, "cannot make a memory file for the %u bytes that a peer must know: %s",
                  (unsigned)told_len(told), strerror(errno));
        rc = HCCL_E_SYSCALL;
    } else {
        rc = link_send(link, LINK_MSG_CONN, head, head_len, fd);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

HcclResult
told_send(struct shm_link *link, const void *head, uint32_t head_len, const struct shm_told *told)
{
    uint8_t message[LINK_MSG_MOST];
    uint64_t len = told_len(told);

    if (len > sizeof message - head_len)
        return send_file(link, head, head_len, told);
    memcpy(message, head, head_len);
    memcpy(message + head_len, told->bytes, len);
    return link_send(link, LINK_MSG_CONN, message, head_len + (uint32_t)len, -1);
}

/* ---- in ---- */

static bool
file_is(int fd, uint64_t len)
{
    int want = F_SEAL_SHRINK | F_SEAL_WRITE, seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    return seals >= 0 && (seals & want) == want && fstat(fd, &st) == 0 &&
           (uint64_t)st.st_size == len;
}

static bool
read_all(int fd, uint8_t *bytes, uint64_t len)
{
    off_t at = 0;

    while (len > 0) {
        ssize_t n = pread(fd, bytes, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        at += n;
        len -= (uint64_t)n;
    }
    return true;
}

HcclResult
told_take(struct shm_told *told, const void *bytes, uint32_t len, int fd)
{
    uint64_t want = told_len(told);

    if (told->word_num > WORDS_MOST || told->hello_len > HELLO_MOST)
        return HCCL_E_PARA;
    if (fd < 0 ? len != want : len != 0 || !file_is(fd, want))
        return HCCL_E_PARA;
    told->bytes = hc_zalloc(want);
    if (told->bytes == NULL)
        return HCCL_E_MEMORY;
    if (fd < 0)
        memcpy(told->bytes, bytes, want);
    else if (!read_all(fd, told->bytes, want)) {
        told_free(told);
        return HCCL_E_PARA;
    }
    return HCCL_SUCCESS;
}
