/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two-phase all-to-all: ranks stand in a grid. First each rank gives every rank of its row what is
 * for that rank's column, then everybody hands it on along the column. Messages are fewer by the
 * square root, bytes twice as many: for many ranks and short parts.
 *
 * The work area has three fields of a piece for each rank: what is packed for sending, what came
 * along the row [column of the source][row of the target], what came along the column [row of the
 * source][column of the source].
 */
#include "coll/coll.h"

struct grid {
    uint32_t rows, columns, row, column;
    uint64_t piece; /* bytes of a part that go at a time */
    uint8_t *packed, *crossed, *arrived;
};

/* The most even grid. */
static uint32_t
rows_of(uint32_t ranks)
{
    uint32_t rows = 1;

    for (uint32_t i = 2; i * i <= ranks; i++)
        rows = ranks % i == 0 ? i : rows;
    return rows;
}

static uint32_t
grid_rank(const struct grid *grid, uint32_t row, uint32_t column)
{
    return row * grid->columns + column;
}

static void
along_the_row(struct coll_run *run, const struct grid *grid, uint64_t from, uint64_t len)
{
    uint64_t group = grid->rows * len;

    for (uint32_t column = 0; column < grid->columns; column++) {
        uint8_t *to =
            column == grid->column ? grid->crossed + column * group : grid->packed + column * group;

        for (uint32_t row = 0; row < grid->rows; row++) {
            struct coll_part part = part_sent(run->op, grid_rank(grid, row, column));

            run_copy(run, to + row * len, bytes_at(run->op->send, part.at + from), len);
        }
    }
    for (uint32_t i = 1; i < grid->columns; i++) {
        uint32_t to = (grid->column + i) % grid->columns;
        uint32_t source = (grid->column + grid->columns - i) % grid->columns;

        run_send(run, grid_rank(grid, grid->row, to), grid->packed + to * group, group);
        run_recv(run, grid_rank(grid, grid->row, source), grid->crossed + source * group, group);
    }
    run_go(run);
}

static void
along_the_column(struct coll_run *run, const struct grid *grid, uint64_t from, uint64_t len)
{
    uint64_t group = grid->columns * len;

    for (uint32_t row = 0; row < grid->rows; row++) {
        uint8_t *to = row == grid->row ? grid->arrived + row * group : grid->packed + row * group;

        for (uint32_t column = 0; column < grid->columns; column++)
            run_copy(run, to + column * len, grid->crossed + (column * grid->rows + row) * len,
                     len);
    }
    for (uint32_t i = 1; i < grid->rows; i++) {
        uint32_t to = (grid->row + i) % grid->rows;
        uint32_t source = (grid->row + grid->rows - i) % grid->rows;

        run_send(run, grid_rank(grid, to, grid->column), grid->packed + to * group, group);
        run_recv(run, grid_rank(grid, source, grid->column), grid->arrived + source * group, group);
    }
    run_go(run);
    for (uint32_t source = 0; source < run->coll->rank_num; source++) {
        struct coll_part part = part_received(run->op, source);

        run_copy(run, bytes_at(run->op->recv, part.at + from), grid->arrived + source * len, len);
    }
}

static void
all_to_all(struct coll_run *run)
{
    const struct coll *coll = run->coll;
    uint64_t field = coll->work_len / 3 / COLL_LINE * COLL_LINE;
    uint64_t len = run->op->count * run->op->size;
    struct grid grid = {.rows = rows_of(coll->rank_num)};

    grid.columns = coll->rank_num / grid.rows;
    grid.row = coll->rank / grid.columns;
    grid.column = coll->rank % grid.columns;
    grid.packed = coll->work;
    grid.crossed = coll->work + field;
    grid.arrived = coll->work + 2 * field;
    grid.piece = field / coll->rank_num / 16 * 16;
    for (uint64_t from = 0; from < len; from += grid.piece) {
        uint64_t piece = least_u64(grid.piece, len - from);

        along_the_row(run, &grid, from, piece);
        along_the_column(run, &grid, from, piece);
    }
}

static bool
suits(enum coll_kind kind, uint32_t ranks)
{
    (void)kind;
    return rows_of(ranks) > 1;
}

static struct coll_cost
cost(enum coll_kind kind, uint32_t ranks, uint64_t bytes)
{
    uint64_t rows = rows_of(ranks), columns = ranks / rows;

    (void)kind;
    return (struct coll_cost){.steps = 2,
                              .messages = 2 * (rows + columns - 2) + 2 * ranks, /* and copies */
                              .sent = 4 * bytes * ranks};
}

const struct coll_algorithm coll_two_phase = {
    .run = {[COLL_ALL_TO_ALL] = all_to_all}, .suits = suits, .cost = cost};
