/* SPDX-License-Identifier: BSD-3-Clause */
#include "transport/transport.h"

#include "base/alloc.h"

const struct tp_ops *const tp_all[] = {&tp_loop_ops, NULL};

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
