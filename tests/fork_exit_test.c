/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that exit without destroying anything, that fork, and that run other programs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/ranks.h"

#ifdef __SANITIZE_ADDRESS__
/* Leaving everything behind is what is tested here. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
    return 1;
}
#endif

/* Files of ours that carry the number of that process. */
static int
leftovers(const char *path, pid_t pid)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int found = 0;
    char number[16];

    if (dir == NULL)
        return 0;
    snprintf(number, sizeof number, "%d", (int)pid);
    while ((entry = readdir(dir)) != NULL) {
        bool ours = strstr(entry->d_name, "hcomm") != NULL || strstr(entry->d_name, "hccl") != NULL;

        if (ours && strstr(entry->d_name, number) != NULL) {
            fprintf(stderr, "left behind: %s/%s\n", path, entry->d_name);
            found++;
        }
    }
    closedir(dir);
    return found;
}

/* Runs `fn` in a child made before the library was used here; its exit status, and nothing left. */
static int
in_child(void (*fn)(void), bool by_signal)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        fn();
        exit(0);
    }
    EXPECT_TRUE(child > 0);
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, leftovers("/dev/shm", child));
    EXPECT_EQ(0, leftovers("/tmp", child));
    if (by_signal)
        return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Everything there is to leave: work that is queued, a wait that nobody ends, memory, a root. */
static void
leave_all(void)
{
    struct rank ranks[2];
    struct link links[2];
    HcclRootInfo info;
    aclrtStream stream;
    void *block;

    if (aclInit(NULL) != 0)
        _exit(9);
    ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
    if (aclrtSetDevice(0) != 0 || HcclGetRootInfo(&info) != 0 || aclrtCreateStream(&stream) != 0 ||
        aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
        aclrtMemsetAsync(block, 1 << 20, 1, 1 << 20, stream) != 0 ||
        HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, 0, 1000) != 0)
        _exit(9);
}

static void
leave_all_and_die(void)
{
    leave_all();
    raise(SIGKILL);
}

TEST(a_program_may_exit_without_destroying_anything)
{
    EXPECT_EQ(0, in_child(leave_all, false));
}

TEST(a_killed_program_leaves_nothing)
{
    EXPECT_EQ(SIGKILL, in_child(leave_all_and_die, true));
}

/* What is printed without standard streams must not end in a file or socket of the library. */
static void
leave_all_unheard(void)
{
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    leave_all();
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) != -1)
            _exit(10 + fd);
    }
}

TEST(a_program_may_have_closed_its_standard_streams)
{
    EXPECT_EQ(0, in_child(leave_all_unheard, false));
}

static void
init_only(void)
{
    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0)
        _exit(9);
}

TEST(a_program_may_exit_right_after_init)
{
    EXPECT_EQ(0, in_child(init_only, false));
}

/* ---- fork in the middle ---- */

static struct rank ranks[2];
static struct link links[2];

/* In the child: every layer says that it must not be called. */
static void
call_in(void)
{
    void *block = NULL;
    uint32_t number;
    HcclRootInfo info;

    if (aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_FIRST) == 0 || aclrtSetDevice(1) == 0 ||
        aclrtSynchronizeStream(ranks[0].stream) == 0 || HcclGetRootInfo(&info) == 0 ||
        HcclGetRankId(ranks[0].comm, &number) == 0 || HcclCommDestroy(ranks[0].comm) == 0 ||
        HcommLocalCopyOnThread(ranks[0].thread, ranks[0].buf, ranks[0].buf + 8, 8) == 0 ||
        HcommChannelNotifyRecord(links[0].channel, 0) == 0)
        exit(1);
    if (test_logged("forked child") == 0)
        exit(2);
}

static void
transfer(unsigned char value)
{
    memset(ranks[0].buf, value, 100000);
    EXPECT_EQ(0, HcommWriteOnThread(ranks[0].thread, links[0].channel, links[0].peer_buf,
                                    ranks[0].buf, 100000));
    EXPECT_EQ(0, HcommChannelNotifyRecordOnThread(ranks[0].thread, links[0].channel, 0));
    EXPECT_EQ(0, HcommChannelNotifyWaitOnThread(ranks[1].thread, links[1].channel, 0, 30));
    sync_two(&ranks[0], &ranks[1]);
    EXPECT_MEMEQ(ranks[0].buf, ranks[1].buf, 100000);
}

TEST(a_forked_child_is_told_and_harms_nobody)
{
    ranks_open(ranks, 2, COMM_ENGINE_CPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_CPU_TS, &links[0], &links[1]);
    for (unsigned char i = 1; i <= 5; i++) {
        transfer(i);
        EXPECT_EQ(0, in_child(call_in, false));
    }
    transfer(6);
    ranks_close(ranks, 2);
}

TEST(programs_run_between_transfers)
{
    ranks_open(ranks, 2, COMM_ENGINE_AICPU_TS);
    link_ranks(&ranks[0], &ranks[1], COMM_ENGINE_AICPU_TS, &links[0], &links[1]);
    for (unsigned char i = 1; i <= 20; i++) {
        transfer(i);
        EXPECT_EQ(0, system("true"));
    }
    ranks_close(ranks, 2);
}
