/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sub_comm: a communicator of some ranks of another one, which is called its parent.
 *
 * B1  Making one tells nobody anything: what the ranks must know of each other, and where they can
 *     be reached, their parent knows already. Ranks meet when they make channels, so one may be
 *     there long before another.
 * B2  They meet under a name made of the parent's, the id, the name that was given and the number
 *     of those like it that this rank made before, so that nobody meets what another has destroyed.
 *     The list of members is not in it: ranks that were given different lists are to meet, and to
 *     learn it from the terms. Neither is the rank in the part: pairs go by the parent's ranks.
 * B3  Ranks of one process share what they know (world.h) only if their lists are the same: the
 *     list is in the world's id.
 * B4  Nothing of the parent is used afterwards: either may be destroyed first, or fail alone.
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/claim.h"
#include "comm/comm_object.h"

#define SUM_LEN 16u
#define LIST_SHOWN 24u /* characters of a list of ranks in the terms */

/* How often this rank has made what: B2. */
struct part {
    unsigned char sum[SUM_LEN];
    uint32_t count;
};

struct comm_parts {
    struct part *part; /* [room], `num` are there */
    uint32_t num, room;
};

void
sub_comm_forget(struct comm_parts *parts)
{
    if (parts == NULL)
        return;
    hc_free(parts->part);
    hc_free(parts);
}

/* ---- names ---- */

/* What tells one part of a parent from another, for one rank. */
struct naming {
    char name[COMM_NAME_MAX_LENGTH];
    unsigned char kind[SUM_LEN]; /* of id, given name and list */
    char meet[WORLD_ID_LEN];     /* B2 */
    char id[WORLD_ID_LEN];       /* B3 */
};

static HcclResult
make_name(const struct comm *parent, const struct sub_comm_desc *desc, char *name)
{
    int len;

    if (desc->config->hcclCommName[0] != '\0') {
        snprintf(name, COMM_NAME_MAX_LENGTH, "%s", desc->config->hcclCommName);
        return HCCL_SUCCESS;
    }
    len = snprintf(name, COMM_NAME_MAX_LENGTH, "%s_sub_%" PRIu64, parent->name, desc->id);
    if (len > 0 && (uint32_t)len < COMM_NAME_MAX_LENGTH)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM,
              "HcclCreateSubCommConfig: the name \"%s_sub_%" PRIu64
              "\" has more than %u characters: set config.hcclCommName",
              parent->name, desc->id, COMM_NAME_MAX_LENGTH - 1u);
    return HCCL_E_PARA;
}

static void
sum_start(crypto_generichash_state *state, const void *from, size_t len,
          const struct sub_comm_desc *desc)
{
    (void)crypto_generichash_init(state, NULL, 0, SUM_LEN);
    (void)crypto_generichash_update(state, from, len);
    (void)crypto_generichash_update(state, (const unsigned char *)&desc->id, sizeof desc->id);
    (void)crypto_generichash_update(state, (const unsigned char *)desc->config->hcclCommName,
                                    strlen(desc->config->hcclCommName) + 1);
}

static void
sum_list(crypto_generichash_state *state, const struct sub_comm_desc *desc)
{
    (void)crypto_generichash_update(state, (const unsigned char *)desc->ranks,
                                    desc->num * sizeof *desc->ranks);
}

static void
sum_text(crypto_generichash_state *state, const char *prefix, char text[WORLD_ID_LEN])
{
    unsigned char sum[SUM_LEN];
    char hex[2 * SUM_LEN + 1];

    (void)crypto_generichash_final(state, sum, sizeof sum);
    (void)sodium_bin2hex(hex, sizeof hex, sum, sizeof sum);
    snprintf(text, WORLD_ID_LEN, "%s_%s", prefix, hex);
}

static uint32_t
count_of(struct comm *parent, const unsigned char kind[SUM_LEN])
{
    uint32_t count = 0;

    pthread_mutex_lock(&parent->lock);
    for (uint32_t i = 0; parent->parts != NULL && i < parent->parts->num; i++) {
        if (memcmp(parent->parts->part[i].sum, kind, SUM_LEN) == 0)
            count = parent->parts->part[i].count;
    }
    pthread_mutex_unlock(&parent->lock);
    return count;
}

static HcclResult
make_naming(struct comm *parent, const struct sub_comm_desc *desc, struct naming *naming)
{
    crypto_generichash_state state;
    uint32_t count;
    HcclResult rc = make_name(parent, desc, naming->name);

    if (rc != HCCL_SUCCESS)
        return rc;
    if (sodium_init() < 0) {
        LOG_ERROR(COMM, "HcclCreateSubCommConfig: the system has no random numbers");
        return HCCL_E_SYSCALL;
    }
    sum_start(&state, "", 0, desc);
    sum_list(&state, desc);
    (void)crypto_generichash_final(&state, naming->kind, SUM_LEN);
    count = count_of(parent, naming->kind);
    for (int with_list = 0; with_list < 2; with_list++) {
        sum_start(&state, parent->world->id, sizeof parent->world->id, desc);
        (void)crypto_generichash_update(&state, (const unsigned char *)&count, sizeof count);
        if (with_list)
            sum_list(&state, desc);
        sum_text(&state, with_list ? "part" : "meet", with_list ? naming->id : naming->meet);
    }
    return HCCL_SUCCESS;
}

/* ---- counting ---- */

/* Room for one more, so that counting cannot fail afterwards. */
static HcclResult
make_room(struct comm *parent)
{
    HcclResult rc = HCCL_SUCCESS;
    struct comm_parts *parts;

    pthread_mutex_lock(&parent->lock);
    if (parent->parts == NULL)
        parent->parts = hc_zalloc(sizeof *parent->parts);
    parts = parent->parts;
    if (parts == NULL) {
        rc = HCCL_E_MEMORY;
    } else if (parts->num == parts->room) {
        uint32_t room = parts->room == 0 ? 4 : 2 * parts->room;
        struct part *part = hc_realloc(parts->part, room * sizeof *part);

        if (part == NULL) {
            rc = HCCL_E_MEMORY;
        } else {
            parts->part = part;
            parts->room = room;
        }
    }
    pthread_mutex_unlock(&parent->lock);
    return rc;
}

/* Only those that were made count: a call that failed may be repeated. */
static void
count_one(struct comm *parent, const unsigned char kind[SUM_LEN])
{
    struct comm_parts *parts;
    uint32_t i = 0;

    pthread_mutex_lock(&parent->lock);
    parts = parent->parts;
    while (i < parts->num && memcmp(parts->part[i].sum, kind, SUM_LEN) != 0)
        i++;
    if (i < parts->num) {
        parts->part[i].count++;
    } else if (i < parts->room) {
        memcpy(parts->part[i].sum, kind, SUM_LEN);
        parts->part[i].count = 1;
        parts->num++;
    }
    pthread_mutex_unlock(&parent->lock);
}

/* ---- terms ---- */

/* "0-3,8"; a long one is cut off, and what is left out is summed up. */
static void
list_text(const struct sub_comm_desc *desc, char *text, size_t room)
{
    unsigned char sum[crypto_generichash_BYTES_MIN];
    crypto_generichash_state state;
    size_t len = 0;
    uint32_t i = 0;

    while (i < desc->num && len < LIST_SHOWN) {
        uint32_t last = i;

        while (last + 1 < desc->num && desc->ranks[last + 1] == desc->ranks[last] + 1)
            last++;
        len += (size_t)snprintf(text + len, room - len, "%s%u", i == 0 ? "" : ",", desc->ranks[i]);
        if (last > i)
            len += (size_t)snprintf(text + len, room - len, "-%u", desc->ranks[last]);
        i = last + 1;
    }
    if (i == desc->num)
        return;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof sum);
    sum_list(&state, desc);
    (void)crypto_generichash_final(&state, sum, sizeof sum);
    snprintf(text + len, room - len, ",... (%u ranks, #%02x%02x%02x%02x)", desc->num, sum[0],
             sum[1], sum[2], sum[3]);
}

/* Who its members are, and those settings that they cannot work together without. NULL: no memory.
 */
static char *
make_terms(const struct comm *parent, const struct sub_comm_desc *desc)
{
    static const size_t room = 512 + HCCL_COMM_ALGO_MAX_LENGTH;
    char list[128];
    char *terms = hc_zalloc(room);

    if (terms == NULL)
        return NULL;
    list_text(desc, list, sizeof list);
    snprintf(terms, room,
             "rank %u of %s\nrankIds %s\nhcclBufferSize %u\nhcclDeterministic "
             "%u\nhcclOpExpansionMode %u\n"
             "hcclAlgo %s",
             parent->rank, parent->name, list, desc->config->hcclBufferSize,
             desc->config->hcclDeterministic, desc->config->hcclOpExpansionMode,
             desc->config->hcclAlgo);
    return terms;
}

/* ---- checks ---- */

static HcclResult
check_list(const struct comm *parent, const struct sub_comm_desc *desc)
{
    static const char function[] = "HcclCreateSubCommConfig";
    uint32_t n_ranks = parent->world->n_ranks;

    if (desc->num == 0 || desc->num > n_ranks) {
        LOG_ERROR(COMM, "%s: rankNum is %u: %s has %u ranks, pass 1 to %u", function, desc->num,
                  parent->name, n_ranks, n_ranks);
        return HCCL_E_PARA;
    }
    for (uint32_t i = 0; i < desc->num; i++) {
        if (desc->ranks[i] >= n_ranks) {
            LOG_ERROR(COMM, "%s: rankIds[%u] is %u: %s has ranks 0 to %u", function, i,
                      desc->ranks[i], parent->name, n_ranks - 1);
            return HCCL_E_PARA;
        }
        if (i == 0 || desc->ranks[i] > desc->ranks[i - 1])
            continue;
        LOG_ERROR(COMM,
                  "%s: rankIds[%u] is %u and follows %u: list each member once, in ascending order",
                  function, i, desc->ranks[i], desc->ranks[i - 1]);
        return HCCL_E_PARA;
    }
    if (desc->rank >= desc->num) {
        LOG_ERROR(COMM, "%s: subCommRankId is %u: with %u members there are ranks 0 to %u",
                  function, desc->rank, desc->num, desc->num - 1);
        return HCCL_E_PARA;
    }
    if (desc->ranks[desc->rank] == parent->rank)
        return HCCL_SUCCESS;
    LOG_ERROR(COMM,
              "%s: subCommRankId is %u, and rankIds[%u] is %u, but this is rank %u of %s: pass "
              "the place of this rank in rankIds",
              function, desc->rank, desc->rank, desc->ranks[desc->rank], parent->rank,
              parent->name);
    return HCCL_E_PARA;
}

static HcclResult
create(struct comm *parent, const struct sub_comm_desc *desc, HcclComm *handle)
{
    struct comm_desc made = {.rank = desc->rank, .config = desc->config};
    struct naming naming = {.name = ""};
    char *terms = NULL;
    HcclResult rc = make_naming(parent, desc, &naming);

    if (rc == HCCL_SUCCESS)
        rc = make_room(parent);
    if (rc == HCCL_SUCCESS)
        rc = registry_check(naming.name, parent->device); /* before somebody else is blamed */
    if (rc == HCCL_SUCCESS)
        rc = world_of_part(parent->world, desc->ranks, desc->num, naming.id, naming.meet,
                           &made.world);
    if (rc == HCCL_SUCCESS && made.world->claimed)
        rc = claim_create(made.world->id, desc->rank, naming.name, &made.claim);
    if (rc == HCCL_SUCCESS) {
        terms = make_terms(parent, desc);
        rc = terms == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    }
    if (rc == HCCL_SUCCESS) {
        made.name = naming.name;
        made.terms = terms;
        rc = comm_create(&made, handle);
    }
    if (rc == HCCL_SUCCESS)
        count_one(parent, naming.kind);
    else
        claim_destroy(made.claim);
    world_release(made.world);
    hc_free(terms);
    return rc;
}

HcclResult
sub_comm_create(struct comm *parent, const struct sub_comm_desc *desc, HcclComm *handle)
{
    struct sub_comm_desc full = *desc;
    HcclCommConfig config;
    HcclResult rc;

    if (parent->world->number != NULL) {
        LOG_ERROR(COMM,
                  "HcclCreateSubCommConfig: %s is a part of a communicator itself: make parts of "
                  "the whole one",
                  parent->name);
        return HCCL_E_NOT_SUPPORT;
    }
    rc = check_list(parent, desc);
    if (rc == HCCL_SUCCESS)
        rc = config_load(&config, desc->config);
    full.config = &config;
    return rc == HCCL_SUCCESS ? create(parent, &full, handle) : rc;
}
