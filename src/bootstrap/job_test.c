/* SPDX-License-Identifier: BSD-3-Clause */
/* Who was started together, as each launcher tells it; and how they get one root info. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bootstrap/bootstrap_test.h"
#include "bootstrap/job_env.h"
#include "bootstrap/job_meet.h"
#include "tests/support/procs.h"
#include "tests/support/test.h"

/* ---- reading the environment ---- */

/* None of what the launchers set, whoever runs the tests. */
static void
set_nothing(void)
{
    static const char *const names[] = {"HCOMM_JOB_PROCESS",
                                        "HCOMM_JOB_PROCESSES",
                                        "HCOMM_JOB_LOCAL_PROCESS",
                                        "HCOMM_JOB_LOCAL_PROCESSES",
                                        "HCOMM_JOB_RANKS_PER_PROCESS",
                                        "HCOMM_JOB_ID",
                                        "OMPI_COMM_WORLD_RANK",
                                        "PMIX_NAMESPACE",
                                        "PMI_RANK",
                                        "PMI_FD",
                                        "MPI_LOCALRANKID",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_ID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_TASKS_PER_NODE",
                                        "TORCHELASTIC_RUN_ID",
                                        "TORCHELASTIC_RESTART_COUNT",
                                        "RANK"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

static void
set(const char *name, const char *value)
{
    EXPECT_EQ(0, setenv(name, value, 1));
}

static void
set_open_mpi(void)
{
    set("OMPI_COMM_WORLD_RANK", "5");
    set("OMPI_COMM_WORLD_SIZE", "8");
    set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
    set("PMIX_NAMESPACE", "1339424769");
}

static void
set_mpich(void)
{
    set("PMI_RANK", "5");
    set("PMI_SIZE", "8");
    set("PMI_FD", "9");
    set("MPI_LOCALRANKID", "1");
    set("MPI_LOCALNRANKS", "4");
}

static void
set_slurm(void)
{
    set("SLURM_JOB_ID", "77");
    set("SLURM_STEP_ID", "0");
    set("SLURM_PROCID", "5");
    set("SLURM_NTASKS", "8");
    set("SLURM_LOCALID", "1");
    set("SLURM_NODEID", "1");
    set("SLURM_STEP_TASKS_PER_NODE", "4(x2)");
}

static void
set_torchrun(void)
{
    set("TORCHELASTIC_RUN_ID", "none");
    set("MASTER_PORT", "29500");
    set("RANK", "5");
    set("WORLD_SIZE", "8");
    set("LOCAL_RANK", "1");
    set("LOCAL_WORLD_SIZE", "4");
}

static void
set_ours(const char *process, const char *processes, const char *id)
{
    set("HCOMM_JOB_PROCESS", process);
    set("HCOMM_JOB_PROCESSES", processes);
    set("HCOMM_JOB_LOCAL_PROCESS", process);
    set("HCOMM_JOB_LOCAL_PROCESSES", processes);
    set("HCOMM_JOB_ID", id);
}

static struct job
read_job(void)
{
    struct job job;

    EXPECT_EQ(HCCL_SUCCESS, job_read(&job));
    return job;
}

static void
expect_5_of_8(enum job_launcher launcher)
{
    struct job job = read_job();

    EXPECT_EQ(launcher, job.launcher);
    EXPECT_EQ(5, job.process);
    EXPECT_EQ(8, job.processes);
    EXPECT_EQ(1, job.local_process);
    EXPECT_EQ(4, job.local_processes);
    EXPECT_EQ(1, job.ranks_per_process);
    EXPECT_EQ(JOB_ID_LEN - 1, strlen(job.id));
}

/* `name` set to `value` (NULL: not set) is refused, and the message names it. */
static void
expect_refused(const char *name, const char *value)
{
    const char *was = getenv(name);
    char *keep = was == NULL ? NULL : strdup(was);
    struct job job;

    if (value == NULL)
        unsetenv(name);
    else
        set(name, value);
    test_expect_error(name);
    EXPECT_EQ(HCCL_E_PARA, job_read(&job));
    unsetenv(name);
    if (keep != NULL)
        set(name, keep);
    free(keep);
}

TEST(a_process_that_was_started_alone_is_a_job_of_one)
{
    set_nothing();
    struct job job = read_job();

    EXPECT_EQ(JOB_NONE, job.launcher);
    EXPECT_STREQ("none", job_launcher_name(job.launcher));
    EXPECT_EQ(0, job.process);
    EXPECT_EQ(1, job.processes);
    EXPECT_EQ(1, job.local_processes);
    EXPECT_EQ(1, job.ranks_per_process);
    set("HCOMM_JOB_RANKS_PER_PROCESS", "8");
    EXPECT_EQ(8, read_job().ranks_per_process);
}

TEST(the_five_launchers_are_recognised_the_inner_one_first)
{
    set_nothing();
    set_torchrun();
    expect_5_of_8(JOB_TORCHRUN);
    set_slurm();
    expect_5_of_8(JOB_SLURM);
    set_mpich();
    expect_5_of_8(JOB_MPICH);
    set_open_mpi();
    expect_5_of_8(JOB_OPEN_MPI);
    set_ours("1", "2", "x");
    EXPECT_EQ(JOB_HCOMM_RUN, read_job().launcher);
    EXPECT_EQ(1, read_job().process);
    EXPECT_STREQ("hcomm run", job_launcher_name(JOB_HCOMM_RUN));
}

TEST(an_allocation_of_slurm_is_no_job_by_itself)
{
    set_nothing();
    set_slurm();
    unsetenv("SLURM_STEP_ID"); /* a batch script */
    EXPECT_EQ(JOB_NONE, read_job().launcher);
    set("SLURM_STEP_ID", "4294967290"); /* an interactive step */
    EXPECT_EQ(JOB_NONE, read_job().launcher);
    set("SLURM_STEP_ID", "3");
    unsetenv("SLURM_PROCID"); /* the shell of salloc */
    EXPECT_EQ(JOB_NONE, read_job().launcher);
}

TEST(slurms_list_of_tasks_tells_how_many_are_on_this_node)
{
    static const struct {
        const char *list, *node;
        uint32_t tasks;
    } good[] = {{"8", "0", 8},
                {"2(x3),3", "2", 2},
                {"2(x3),3", "3", 3},
                {"2,3(x2),4", "1", 3},
                {"2,3(x2),4", "3", 4}};
    static const char *const bad[] = {"", "2", "x", "2(x", "2(x1", "0(x9)", "2(x1)3", "2,,3"};

    set_nothing();
    set_slurm();
    set("SLURM_LOCALID", "0");
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        set("SLURM_STEP_TASKS_PER_NODE", good[i].list);
        set("SLURM_NODEID", good[i].node);
        EXPECT_EQ(good[i].tasks, read_job().local_processes);
    }
    set("SLURM_NODEID", "1");
    for (size_t i = 1; i < sizeof bad / sizeof bad[0]; i++)
        expect_refused("SLURM_STEP_TASKS_PER_NODE", bad[i]);
    unsetenv("SLURM_STEP_TASKS_PER_NODE");
    set("SLURM_TASKS_PER_NODE", "");
    expect_refused("SLURM_TASKS_PER_NODE", bad[0]);
}

TEST(a_step_of_slurms_may_be_smaller_than_its_job)
{
    set_nothing();
    set_slurm();
    set("SLURM_NTASKS", "64");
    set("SLURM_STEP_NUM_TASKS", "8");
    expect_5_of_8(JOB_SLURM);
}

TEST(values_that_make_no_sense_are_refused_by_name)
{
    set_nothing();
    set_open_mpi();
    expect_refused("OMPI_COMM_WORLD_SIZE", NULL);
    expect_refused("OMPI_COMM_WORLD_SIZE", "");
    expect_refused("OMPI_COMM_WORLD_SIZE", "0");
    expect_refused("OMPI_COMM_WORLD_SIZE", "-1");
    expect_refused("OMPI_COMM_WORLD_SIZE", "8 ");
    expect_refused("OMPI_COMM_WORLD_SIZE", "+8");
    expect_refused("OMPI_COMM_WORLD_SIZE", "65537");
    expect_refused("OMPI_COMM_WORLD_SIZE", "99999999999999999999999");
    expect_refused("OMPI_COMM_WORLD_RANK", "8");
    expect_refused("OMPI_COMM_WORLD_RANK", "one");
    expect_refused("OMPI_COMM_WORLD_LOCAL_RANK", "4");
    expect_refused("OMPI_COMM_WORLD_LOCAL_SIZE", "9");
    expect_refused("HCOMM_JOB_RANKS_PER_PROCESS", "0");
    expect_refused("HCOMM_JOB_RANKS_PER_PROCESS", "4097");
    expect_refused("HCOMM_JOB_RANKS_PER_PROCESS", "two");
    expect_5_of_8(JOB_OPEN_MPI);
}

static void
expect_id(bool same, const char *id)
{
    EXPECT_EQ(same, strcmp(id, read_job().id) == 0);
}

TEST(an_id_is_the_jobs_own)
{
    char id[JOB_ID_LEN];

    set_nothing();
    set_open_mpi();
    memcpy(id, read_job().id, JOB_ID_LEN);
    set("OMPI_COMM_WORLD_RANK", "0");
    expect_id(true, id);
    set("PMIX_NAMESPACE", "1339424770");
    expect_id(false, id);
    set("HCOMM_JOB_ID", "chosen");
    memcpy(id, read_job().id, JOB_ID_LEN);
    EXPECT_NULL(strstr(id, "chosen"));
    set("PMIX_NAMESPACE", "1339424771");
    expect_id(true, id);
    set_torchrun();
    unsetenv("OMPI_COMM_WORLD_RANK");
    expect_id(true, id);
    unsetenv("HCOMM_JOB_ID");
    memcpy(id, read_job().id, JOB_ID_LEN);
    set("TORCHELASTIC_RESTART_COUNT", "1"); /* the new workers must not meet the old */
    expect_id(false, id);
}

TEST(a_job_without_an_id_is_told_to_choose_one)
{
    char text[1024];

    set_nothing();
    set_ours("0", "2", "x");
    expect_refused("HCOMM_JOB_ID", NULL);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    expect_refused("HCOMM_JOB_ID", text);
    set_nothing();
    set_torchrun();
    unsetenv("MASTER_PORT");
    expect_refused("HCOMM_JOB_ID", NULL);
}

/* MPICH's processes have in common who started them, through whatever wrappers. */
static void
tell_id(int rank, void *shared)
{
    char *ids = shared;
    char number[16];

    set_nothing();
    set_mpich();
    snprintf(number, sizeof number, "%d", rank);
    set("PMI_RANK", number);
    memcpy(ids + rank * JOB_ID_LEN, read_job().id, JOB_ID_LEN);
}

TEST(processes_of_one_parent_are_one_job_of_mpich)
{
    struct procs procs;
    char *ids = procs_prepare(&procs, 2 * JOB_ID_LEN);

    procs_fork(&procs, 2, tell_id);
    procs_wait(&procs, 0);
    procs_wait(&procs, 1);
    EXPECT_STREQ(ids, ids + JOB_ID_LEN);
    set_nothing();
    set_mpich();
    EXPECT_TRUE(strcmp(ids, read_job().id) != 0); /* its parent is another */
    procs_expect_success(&procs);
}

TEST(a_starter_is_the_nearest_ancestor_that_has_other_variables)
{
    static const char *const names[] = {"PMI_RANK", NULL};
    uint64_t began = 0;

    set_nothing();
    set("PMI_RANK", "3");
    EXPECT_EQ(getppid(), job_starter(names, &began)); /* it was started without */
    EXPECT_EQ(began, job_began(getppid()));
    EXPECT_EQ(0, job_began(0));
    EXPECT_EQ(0, job_began(-1));
}

TEST(a_starter_is_not_found_without_memory)
{
    struct job job;

    set_nothing();
    set_mpich();
    test_allow_errors();
    hc_alloc_fail_nth(0);
    EXPECT_EQ(HCCL_E_PARA, job_read(&job));
    EXPECT_EQ(HCCL_SUCCESS, job_read(&job));
}

/* ---- one root info for all ---- */

#define INFOS 3

struct meeting {
    HcclRootInfo infos[64][INFOS];
    HcclResult rc[64];
    atomic_int turn;
    pid_t outsider;
};

/* Process 0 offers, and its root info listens, no longer than needed for a look at both. */
#define GIVE_UP_MS "1000"

static char job_id[64]; /* set before the fork: tests that run at the same time do not meet */

static void
become(int process, int processes)
{
    char number[16], count[16];

    set_nothing();
    snprintf(number, sizeof number, "%d", process);
    snprintf(count, sizeof count, "%d", processes);
    set_ours(number, count, job_id);
}

static void
start(struct procs *procs, int num, void (*fn)(int rank, void *shared))
{
    snprintf(job_id, sizeof job_id, "job_test %d", (int)getpid());
    procs_start(procs, num, fn, sizeof(struct meeting));
}

/* One rank a process, and a communicator's table with everybody. */
static void
meet_and_join(int rank, void *shared, int num)
{
    struct meeting *meeting = shared;
    int before = threads();

    become(rank, num);
    for (int i = 0; i < INFOS; i++) {
        HcclRootInfo *info = &meeting->infos[rank][i];

        EXPECT_EQ(HCCL_SUCCESS, job_root_info(info));
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(info, (uint32_t)num, (uint32_t)rank, 30000));
    }
    expect_no_server(before);
}

static void
meet_4(int rank, void *shared)
{
    meet_and_join(rank, shared, 4);
}

TEST(all_processes_get_the_same_root_infos_and_leave_nothing)
{
    struct procs procs;
    struct meeting *meeting;

    start(&procs, 4, meet_4);
    meeting = procs.shared;
    for (int rank = 0; rank < 4; rank++)
        EXPECT_EQ(0, procs_wait(&procs, rank));
    for (int rank = 1; rank < 4; rank++)
        EXPECT_MEMEQ(meeting->infos[0], meeting->infos[rank], sizeof meeting->infos[0]);
    EXPECT_TRUE(memcmp(&meeting->infos[0][0], &meeting->infos[0][1], sizeof(HcclRootInfo)) != 0);
    procs_expect_success(&procs);
}

static void
meet_64(int rank, void *shared)
{
    meet_and_join(rank, shared, 64);
}

TEST(sixty_four_processes_meet)
{
    struct procs procs;

    start(&procs, 64, meet_64);
    procs_expect_success(&procs);
}

TEST(a_job_of_one_needs_nobody)
{
    HcclRootInfo info;

    set_nothing();
    EXPECT_EQ(HCCL_SUCCESS, job_root_info(&info));
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 1, 0, 5000));
}

/* Process 0 calls twice before the others come, and they ask for the second while they are at the
 * first. */
static void
uneven(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo *infos = meeting->infos[rank];

    become(rank, 3);
    if (rank == 2)
        procs_await(&meeting->turn, 1);
    EXPECT_EQ(HCCL_SUCCESS, job_root_info(&infos[0]));
    EXPECT_EQ(HCCL_SUCCESS, job_root_info(&infos[1]));
    if (rank == 0)
        atomic_store(&meeting->turn, 1);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&infos[i], 3, (uint32_t)rank, 10000));
}

TEST(processes_may_come_at_any_time)
{
    struct procs procs;

    start(&procs, 3, uneven);
    procs_expect_success(&procs);
}

static void
nobody_offers(int rank, void *shared)
{
    HcclRootInfo info;

    (void)shared;
    become(rank, 2);
    set("HCOMM_CONNECT_TIMEOUT", "300");
    if (rank == 0)
        return;
    test_expect_error("did not offer root info 1 to process 1 within 300 ms");
    EXPECT_EQ(HCCL_E_TIMEOUT, job_root_info(&info));
}

TEST(waiting_for_a_process_that_does_not_call_ends_in_time)
{
    struct procs procs;

    start(&procs, 2, nobody_offers);
    procs_expect_success(&procs);
}

/* The session of process 0 is given up by it: nobody joins. */
static void
first_dies(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo info;
    uint64_t start_ns;

    become(rank, 2);
    EXPECT_EQ(HCCL_SUCCESS, job_root_info(&info));
    if (rank == 0) {
        procs_await(&meeting->turn, 1);
        (void)raise(SIGKILL);
    }
    atomic_store(&meeting->turn, 1);
    start_ns = hc_now_ns();
    test_expect_error("has ended before it offered root info 2");
    EXPECT_EQ(HCCL_E_REMOTE, job_root_info(&info));
    EXPECT_TRUE(hc_now_ns() - start_ns < 60000000000u);
}

TEST(the_death_of_process_0_ends_the_wait)
{
    struct procs procs;
    int status;

    start(&procs, 2, first_dies);
    status = procs_wait(&procs, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    procs_expect_success(&procs);
}

/* ---- strangers ---- */

static int
visit_place(const char *id)
{
    struct job job;
    struct sockaddr_un addr;
    socklen_t len;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    set("HCOMM_JOB_ID", id);
    EXPECT_EQ(HCCL_SUCCESS, job_read(&job));
    len = meet_address(&addr, &job);
    for (int tries = 0; connect(fd, (struct sockaddr *)&addr, len) != 0; tries++) {
        EXPECT_TRUE(tries < 10000);
        usleep(1000);
    }
    return fd;
}

/* Rank 2 is no process of the job and makes trouble; 0 and 1 are. */
static void
trouble(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct meet_question question = {.magic = MEET_MAGIC, .version = MEET_VERSION, .processes = 2};
    char noise[8192];
    int silent[100];
    HcclRootInfo info;

    become(rank % 2, 2);
    if (rank < 2) {
        if (rank == 1)
            procs_await(&meeting->turn, 1);
        EXPECT_EQ(HCCL_SUCCESS, job_root_info(&info));
        EXPECT_EQ(HCCL_SUCCESS, join_and_check(&info, 2, (uint32_t)rank, 10000));
        return;
    }
    memset(noise, 'x', sizeof noise);
    for (int i = 0; i < 100; i++)
        silent[i] = visit_place(job_id);
    for (size_t len = 0; len < sizeof noise; len = len * 2 + 1) {
        int fd = visit_place(job_id);

        (void)!send(fd, noise, len, MSG_NOSIGNAL);
        close(fd);
    }
    for (uint32_t i = 0; i < 5; i++) { /* nearly right */
        static const uint32_t odd[] = {2, 3, 0x7FFFFFFF, 0x80000000u, UINT32_MAX};
        int fd = visit_place(job_id);

        question.process = odd[i];
        (void)!send(fd, &question, sizeof question, MSG_NOSIGNAL);
        if (i % 2 == 0)
            (void)!recv(fd, noise, sizeof noise, 0);
        close(fd);
    }
    atomic_store(&meeting->turn, 1);
    for (int i = 0; i < 100; i++)
        close(silent[i]);
}

TEST(strangers_at_the_meeting_place_harm_nobody)
{
    struct procs procs;

    start(&procs, 3, trouble);
    procs_expect_success(&procs);
}

/* Ranks 1 and 2 both say they are process 1, rank 3 counts otherwise; rank 4 is process 2. */
static void
confused(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo info;

    become(rank == 4 ? 2 : rank == 2 ? 1 : rank, rank == 3 ? 4 : 3);
    set("HCOMM_CONNECT_TIMEOUT", rank == 0 ? GIVE_UP_MS : "30000");
    procs_await(&meeting->turn, rank);
    if (rank == 2)
        test_expect_error("two processes have number 1");
    if (rank == 3)
        test_expect_error("number 3 of 4, but process 0 counts 3");
    EXPECT_EQ(rank == 2 || rank == 3 ? HCCL_E_PARA : HCCL_SUCCESS, job_root_info(&info));
    atomic_fetch_add(&meeting->turn, 1);
    if (rank == 0)
        procs_await(&meeting->turn, 5);
}

TEST(processes_that_contradict_each_other_are_told)
{
    struct procs procs;

    start(&procs, 5, confused);
    procs_expect_success(&procs);
}

/* Ranks 0 and 1 both say they are process 0. */
static void
two_firsts(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo info;

    become(rank == 2, 2);
    set("HCOMM_CONNECT_TIMEOUT", rank == 0 ? "3000" : "30000"); /* rank 1 tries for 2 s */
    procs_await(&meeting->turn, rank);
    if (rank == 1)
        test_expect_error("is taken by process");
    EXPECT_EQ(rank == 1 ? HCCL_E_TCP_CONNECT : HCCL_SUCCESS, job_root_info(&info));
    atomic_fetch_add(&meeting->turn, 1);
    if (rank == 0)
        procs_await(&meeting->turn, 3);
}

TEST(a_second_process_0_is_told_who_is_the_first)
{
    struct procs procs;

    start(&procs, 3, two_firsts);
    procs_expect_success(&procs);
}

/* Rank 0 sits at the place and talks nonsense. */
static void
impostor(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct job job;
    struct sockaddr_un addr;
    HcclRootInfo info;
    socklen_t len;
    int fd, guest;

    become(rank, 2);
    if (rank == 1) {
        procs_await(&meeting->turn, 1);
        test_expect_error("in another way than this library");
        EXPECT_EQ(HCCL_E_PARA, job_root_info(&info));
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, job_read(&job));
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    len = meet_address(&addr, &job);
    EXPECT_EQ(0, bind(fd, (struct sockaddr *)&addr, len));
    EXPECT_EQ(0, listen(fd, 8));
    atomic_store(&meeting->turn, 1);
    guest = accept(fd, NULL, NULL);
    EXPECT_TRUE(recv(guest, &info, sizeof info, 0) > 0);
    EXPECT_EQ(5, send(guest, "hello", 5, MSG_NOSIGNAL));
    close(guest);
    close(fd);
}

TEST(nonsense_from_process_0_is_refused)
{
    struct procs procs;

    start(&procs, 2, impostor);
    procs_expect_success(&procs);
}

/* Rank 0 sits at the place of the user of rank 1, but is another user. Needs root. */
static void
other_user(int rank, void *shared)
{
    struct meeting *meeting = shared;
    struct sockaddr_un addr;
    HcclRootInfo info;
    struct job job;
    socklen_t len;
    int fd;

    become(rank, 2);
    if (rank == 1) {
        procs_await(&meeting->turn, 1);
        test_expect_error("of user 65534 has the meeting place");
        EXPECT_EQ(HCCL_E_TCP_CONNECT, job_root_info(&info));
        atomic_store(&meeting->turn, 2);
        return;
    }
    EXPECT_EQ(HCCL_SUCCESS, job_read(&job));
    len = meet_address(&addr, &job);
    EXPECT_EQ(0, setresuid(65534, 65534, 65534));
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    EXPECT_EQ(0, bind(fd, (struct sockaddr *)&addr, len));
    EXPECT_EQ(0, listen(fd, 8));
    atomic_store(&meeting->turn, 1);
    procs_await(&meeting->turn, 2);
    close(fd);
}

TEST(another_users_process_is_not_believed)
{
    struct procs procs;

    if (geteuid() != 0)
        skip();
    start(&procs, 2, other_user);
    procs_expect_success(&procs);
}

static void
visit_as_nobody(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo info;
    char byte;

    become(rank % 2, 2);
    set("HCOMM_CONNECT_TIMEOUT", rank == 0 ? GIVE_UP_MS : "30000");
    if (rank == 2) {
        int fd = visit_place(job_id);

        close(fd); /* the name is known; now as another user */
        struct job job = read_job();
        struct sockaddr_un addr;
        socklen_t len = meet_address(&addr, &job);

        EXPECT_EQ(0, setresuid(65534, 65534, 65534));
        fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        EXPECT_EQ(0, connect(fd, (struct sockaddr *)&addr, len));
        EXPECT_TRUE(recv(fd, &byte, 1, 0) <= 0); /* shown out */
        close(fd);
        atomic_store(&meeting->turn, 1);
        return;
    }
    if (rank == 1)
        procs_await(&meeting->turn, 1);
    EXPECT_EQ(HCCL_SUCCESS, job_root_info(&info));
}

TEST(another_users_visit_is_over_at_once)
{
    struct procs procs;

    if (geteuid() != 0)
        skip();
    start(&procs, 3, visit_as_nobody);
    procs_expect_success(&procs);
}

/* ---- failures ---- */

static void
without_memory(int rank, void *shared)
{
    struct meeting *meeting = shared;
    HcclRootInfo *info = &meeting->infos[rank][0];
    HcclResult rc;
    long nth = 0;

    become(rank, 2);
    test_allow_errors();
    do {
        hc_alloc_fail_nth(nth++);
        rc = job_root_info(info);
        hc_alloc_fail_nth(-1);
        EXPECT_TRUE(rc == HCCL_SUCCESS || rc == HCCL_E_MEMORY);
    } while (rc != HCCL_SUCCESS);
    EXPECT_EQ(HCCL_SUCCESS, join_and_check(info, 2, (uint32_t)rank, 10000));
}

/* A call that failed has used no number up. */
TEST(whichever_allocation_fails_the_next_call_gets_what_this_one_did_not)
{
    struct procs procs;
    struct meeting *meeting;

    start(&procs, 2, without_memory);
    meeting = procs.shared;
    EXPECT_EQ(0, procs_wait(&procs, 0));
    EXPECT_EQ(0, procs_wait(&procs, 1));
    EXPECT_MEMEQ(&meeting->infos[0][0], &meeting->infos[1][0], sizeof(HcclRootInfo));
    procs_expect_success(&procs);
}

TEST(without_descriptors_the_call_fails_and_says_so)
{
    HcclRootInfo info;
    int fds[256], num = 0;
    struct rlimit limit;

    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = 64;
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    snprintf(job_id, sizeof job_id, "job_test %d", (int)getpid());
    become(0, 2);
    while (num < 256 && (fds[num] = dup(0)) >= 0)
        num++;
    test_expect_error("Too many open files");
    EXPECT_EQ(HCCL_E_SYSCALL, job_root_info(&info));
    become(1, 2);
    EXPECT_EQ(HCCL_E_SYSCALL, job_root_info(&info));
    while (num > 0)
        close(fds[--num]);
}
