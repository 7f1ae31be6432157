/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/alloc.h"
#include "base/process.h"
#include "transport/foreign.h"

const struct tp_ops *const tp_all[] = {&tp_loop_ops, &tp_shm_ops, NULL};

const struct tp_ops *
tp_choose(uint64_t process)
{
    return process == hc_process_id() ? &tp_loop_ops : &tp_shm_ops;
}

bool
tp_is_stand_in(const void *addr, uint64_t len)
{
    return foreign_is(addr) || (len > 0 && foreign_is((const char *)addr + len - 1));
}

struct tp_conn *
tp_create(const struct tp_ops *ops)
{
    struct tp_conn *conn = hc_zalloc(ops->conn_size);

    if (conn != NULL)
        conn->ops = ops;
    return conn;
}

void
tp_destroy(struct tp_conn *conn)
{
    if (conn == NULL)
        return;
    conn->ops->close(conn);
    conn->ops->fini(conn);
    hc_free(conn);
}
