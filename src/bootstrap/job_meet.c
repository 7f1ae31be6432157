/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_meet: one root info for all processes of a job. Process 0 makes it and offers it
 * (job_serve.c); the others come to the place and ask until they get it.
 *
 * M1  Calls of one process go one after the other, under `calling`, and a call that succeeded has
 *     used its number up. So the n-th call everywhere is about the n-th root info.
 * M2  Who asks remembers who answered. When that process has ended there will be no answer, and
 *     waiting ends at once. Before the first answer nobody knows whom to look for, and only the
 * time limit helps.
 */
#define _GNU_SOURCE
#include "bootstrap/job_meet.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/job_env.h"

#define PAUSE_LEAST_MS 2
#define PAUSE_MOST_MS 50
#define LOOK_MS                                                                                    \
    200 /* how often somebody who waits for an answer looks whether process 0 is alive */

static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER;
static uint32_t calls; /* how many have succeeded; under `calling` */

static struct {
    pid_t pid; /* 0: not met yet, or of another pid namespace */
    uint64_t began;
} process0; /* under `calling` */

socklen_t
meet_address(struct sockaddr_un *addr, const struct job *job)
{
    char text[JOB_ID_LEN + 32], name[33];
    uint8_t hash[16];
    int len = snprintf(text, sizeof text, "%u %s", (unsigned)geteuid(), job->id);

    (void)crypto_generichash(hash, sizeof hash, (const uint8_t *)text, (size_t)len, NULL, 0);
    (void)sodium_bin2hex(name, sizeof name, hash, sizeof hash);
    memset(addr, 0, sizeof *addr);
    addr->sun_family = AF_UNIX; /* sun_path[0] stays 0: a name outside the file system */
    len = snprintf(addr->sun_path + 1, sizeof addr->sun_path - 1, "hcomm-job-%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

int
meet_socket(void)
{
    int fd = hc_fd_socket(AF_UNIX, SOCK_SEQPACKET);

    if (fd < 0)
        LOG_ERROR(JOB, "cannot make a socket to meet the other processes of the job: %s",
                  strerror(errno));
    return fd;
}

bool
meet_peer(int fd, struct ucred *peer)
{
    socklen_t len = sizeof *peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len) == 0 && len == sizeof *peer;
}

/* M2 */
static void
remember_process0(pid_t pid)
{
    uint64_t began = job_began(pid);

    if (began == 0)
        return; /* its numbers are not ours */
    process0.pid = pid;
    process0.began = began;
}

static bool
process0_has_ended(void)
{
    return process0.pid != 0 && job_began(process0.pid) != process0.began;
}

static HcclResult
fail_ended(const struct job *job, uint32_t call)
{
    LOG_ERROR(JOB,
              "process 0 of the %s job (process %d) has ended before it offered root info %u: "
              "see its output",
              job_launcher_name(job->launcher), (int)process0.pid, call + 1);
    return HCCL_E_REMOTE;
}

/* HCCL_E_AGAIN: nobody is there yet. */
static HcclResult
visit(const struct job *job, int fd)
{
    struct sockaddr_un addr;
    socklen_t len = meet_address(&addr, job);
    struct ucred peer;

    if (connect(fd, (const struct sockaddr *)&addr, len) != 0) {
        if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR)
            return HCCL_E_AGAIN;
        LOG_ERROR(JOB, "cannot reach process 0 of the %s job: %s", job_launcher_name(job->launcher),
                  strerror(errno));
        return HCCL_E_SYSCALL;
    }
    if (!meet_peer(fd, &peer))
        return HCCL_E_AGAIN;
    if (peer.uid != geteuid()) {
        LOG_ERROR(JOB,
                  "process %d of user %u has the meeting place of this job, and is no process "
                  "of user %u: choose another HCOMM_JOB_ID",
                  (int)peer.pid, (unsigned)peer.uid, (unsigned)geteuid());
        return HCCL_E_TCP_CONNECT;
    }
    remember_process0(peer.pid);
    return HCCL_SUCCESS;
}

/* One answer. HCCL_E_AGAIN: it was broken off, or did not come by the deadline. */
static HcclResult
hear(int fd, struct meet_answer *answer, uint64_t deadline_ns)
{
    for (;;) {
        ssize_t n = recv(fd, answer, sizeof *answer, MSG_TRUNC);
        struct pollfd one = {.fd = fd, .events = POLLIN};

        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (hc_now_ns() >= deadline_ns || process0_has_ended())
                return HCCL_E_AGAIN;
            (void)poll(&one, 1, LOOK_MS);
            continue;
        }
        if (n <= 0)
            return HCCL_E_AGAIN;
        if (n == (ssize_t)sizeof *answer && answer->magic == MEET_MAGIC &&
            answer->version == MEET_VERSION)
            return HCCL_SUCCESS;
        LOG_ERROR(JOB,
                  "process 0 (process %d) answers in another way than this library: install "
                  "the same library for all processes",
                  (int)process0.pid);
        return HCCL_E_PARA;
    }
}

/* HCCL_E_AGAIN: not yet. */
static HcclResult
judge(const struct job *job, uint32_t call, const struct meet_answer *answer)
{
    switch (answer->verdict) {
    case MEET_INFO:
        return HCCL_SUCCESS;
    case MEET_NOT_YET:
        return HCCL_E_AGAIN;
    case MEET_OVER:
        LOG_ERROR(JOB,
                  "root info %u was offered, but this process (number %u) came too late: raise "
                  "HCCL_CONNECT_TIMEOUT",
                  call + 1, job->process);
        return HCCL_E_TIMEOUT;
    case MEET_COUNT:
        LOG_ERROR(JOB,
                  "this process is number %u of %u, but process 0 counts %u: is HCOMM_JOB_ID "
                  "used by two jobs?",
                  job->process, job->processes, answer->value);
        return HCCL_E_PARA;
    case MEET_TWICE:
        LOG_ERROR(JOB,
                  "two processes have number %u: this one, and process %u; give each its own, "
                  "and each job its own HCOMM_JOB_ID",
                  job->process, answer->value);
        return HCCL_E_PARA;
    default:
        LOG_ERROR(JOB, "process 0 gave the unknown answer %u", answer->verdict);
        return HCCL_E_PARA;
    }
}

/* HCCL_E_AGAIN: it is not there yet, or its process was disturbed. */
static HcclResult
ask_once(const struct job *job, uint32_t call, uint64_t deadline_ns, struct meet_answer *answer)
{
    struct meet_question question = {.magic = MEET_MAGIC,
                                     .version = MEET_VERSION,
                                     .call = call,
                                     .process = job->process,
                                     .processes = job->processes};
    int fd = meet_socket();
    HcclResult rc;

    if (fd < 0)
        return HCCL_E_SYSCALL;
    rc = visit(job, fd);
    if (rc == HCCL_SUCCESS && send(fd, &question, sizeof question, MSG_NOSIGNAL) < 0)
        rc = HCCL_E_AGAIN;
    if (rc == HCCL_SUCCESS)
        rc = hear(fd, answer, deadline_ns);
    if (rc == HCCL_SUCCESS)
        rc = judge(job, call, answer);
    hc_fd_close(fd);
    return rc;
}

static HcclResult
ask(const struct job *job, uint32_t call, int64_t timeout_ms, HcclRootInfo *info)
{
    uint64_t deadline_ns = hc_deadline_ms(timeout_ms);
    struct meet_answer answer;
    long pause_ms = PAUSE_LEAST_MS;
    HcclResult rc;

    for (;;) {
        struct timespec pause;

        rc = ask_once(job, call, deadline_ns, &answer);
        if (rc != HCCL_E_AGAIN)
            break;
        if (process0_has_ended())
            return fail_ended(job, call);
        if (hc_now_ns() >= deadline_ns) {
            LOG_ERROR(
                JOB,
                "process 0 of the %s job did not offer root info %u to process %u within %lld "
                "ms: every process must call HcommJobGetRootInfo equally often, with the same "
                "HCOMM_JOB_ID, on one host and in one network namespace",
                job_launcher_name(job->launcher), call + 1, job->process, (long long)timeout_ms);
            return HCCL_E_TIMEOUT;
        }
        pause = (struct timespec){.tv_nsec = pause_ms * 1000000L};
        (void)nanosleep(&pause, NULL);
        pause_ms = pause_ms * 2 > PAUSE_MOST_MS ? PAUSE_MOST_MS : pause_ms * 2;
    }
    if (rc == HCCL_SUCCESS)
        *info = answer.info;
    return rc;
}

/* Process 0. All that can fail comes before the root info, which would listen in vain. */
static HcclResult
offer(const struct job *job, uint32_t call, int64_t timeout_ms, HcclRootInfo *info)
{
    struct offer *begun = NULL;
    HcclRootInfo made;
    HcclResult rc = serve_begin(job, call, &begun);

    if (rc != HCCL_SUCCESS)
        return rc;
    rc = bs_root_create(&made);
    if (rc != HCCL_SUCCESS) {
        serve_none(begun);
        return rc;
    }
    serve_offer(begun, &made, 2 * timeout_ms); /* later a rank would come too late anyway */
    *info = made;
    return HCCL_SUCCESS;
}

HcclResult
job_root_info(HcclRootInfo *info)
{
    int64_t timeout_ms = 0;
    struct job job;
    HcclResult rc;
    int cancel;

    if (hc_forked())
        return HCCL_E_INTERNAL;
    rc = job_read(&job);
    if (rc == HCCL_SUCCESS)
        rc = bs_connect_timeout(&timeout_ms);
    if (rc != HCCL_SUCCESS)
        return rc;
    hc_fork_watch();
    cancel = hc_cancel_off(); /* `calling` would stay locked */
    pthread_mutex_lock(&calling);
    if (job.processes == 1)
        rc = bs_root_create(info);
    else if (job.process == 0)
        rc = offer(&job, calls, timeout_ms, info);
    else
        rc = ask(&job, calls, timeout_ms, info);
    if (rc == HCCL_SUCCESS)
        calls++; /* M1 */
    pthread_mutex_unlock(&calling);
    hc_cancel_restore(cancel);
    return rc;
}
