/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * share: a piece of a memory file that another process of this host may open, given a token.
 *
 * The exporter makes a small file, the ticket, that says which descriptor and which bytes of it
 * are meant and who may have them. The token names process, ticket and a random number; the
 * importer opens the ticket through /proc, which asks the kernel for permission, and believes it
 * only when the random number in it is the token's. So a token that is garbage, stale or of
 * another host opens nothing.
 *
 * A token is a number (the random part cut to 24 bits), a fabric handle or a text.
 */
#ifndef HC_RUNTIME_SHARE_H
#define HC_RUNTIME_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/runtime.h"

#define RT_SHARE_PIDS 256u
#define RT_SHARE_TEXT 65u /* bytes of a text token, with its end */

struct rt_share_token {
    uint32_t pid, fd;
    uint64_t secret;
    uint64_t secret_mask; /* which bits of `secret` the token carries */
};

/* What a ticket holds. Written by the exporter alone. */
struct rt_ticket {
    uint64_t magic;
    uint64_t secret;
    uint64_t offset, size; /* of the piece in the file */
    int32_t fd;            /* the exporter's descriptor of the file */
    uint32_t any_pid;      /* 1: no allow-list */
    uint32_t pid_num;
    int32_t pids[RT_SHARE_PIDS];
    aclrtPhysicalMemProp prop; /* of physical memory */
};

struct rt_share {
    int fd; /* the ticket's; -1: not exported */
    uint64_t secret;
};

/* Exports [offset, offset + size) of `fd`. ACL_ERROR_RT_INTERNAL_ERROR (logged): no descriptor. */
aclError rt_share_export(int fd, uint64_t offset, uint64_t size, const aclrtPhysicalMemProp *prop,
                         bool any_pid, struct rt_share *share);

/* Fine for one that is not exported. */
void rt_share_close(struct rt_share *share);

/* Lets more processes in. ACL_ERROR_RT_PARAM_INVALID (logged): too many. */
aclError rt_share_allow(struct rt_share *share, const int32_t *pids, size_t pid_num);

/* Is `token` one of `share`, exported by this process? */
bool rt_share_is(const struct rt_share *share, const struct rt_share_token *token);

/* Opens what the token stands for: the caller closes *fd. ACL_ERROR_RT_PARAM_INVALID: the token is
 * worth nothing; ACL_ERROR_RT_NO_PERMISSION: this process is not on the list (both logged). */
aclError rt_share_open(const struct rt_share_token *token, struct rt_ticket *ticket, int *fd);

/* The forms of a token. false: not one of ours, or (to number) a descriptor that does not fit. */
void rt_token_of(const struct rt_share *share, struct rt_share_token *token);
bool rt_token_to_number(const struct rt_share_token *token, uint64_t *number);
bool rt_token_from_number(uint64_t number, struct rt_share_token *token);
void rt_token_to_fabric(const struct rt_share_token *token, aclrtMemFabricHandle *fabric);
bool rt_token_from_fabric(const aclrtMemFabricHandle *fabric, struct rt_share_token *token);
void rt_token_to_text(const struct rt_share_token *token, char text[RT_SHARE_TEXT]);
bool rt_token_from_text(const char *text, struct rt_share_token *token);

#endif
