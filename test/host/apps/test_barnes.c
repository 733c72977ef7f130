/* Bodies and their tree, compared with the sum over single bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "apps/workloads/barnes/barnes.h"
#include "test/host/double/spmd_run.h"

static struct spmd_run run;

static void begin(const char *arguments)
{
    assert_int_equal(program_begin(&run, &barnes_program, arguments), 0);
    spmd_work(&run);
}

static void keys_are_coordinates_bit_by_bit(void **state)
{
    const struct tree tree = {.half = 1};

    (void)state;
    for (unsigned trial = 0; trial < 1000; trial++) {
        uint64_t cell[3], key = 0;
        double position[3];
        for (unsigned d = 0; d < 3; d++) {
            cell[d] = prng_at(trial, d, 0) >> (64 - TREE_LEVELS);
            position[d] = ((double)cell[d] + 0.5) / (double)(1 << (TREE_LEVELS - 1)) - 1;
        }
        for (unsigned bit = 0; bit < 3 * TREE_LEVELS; bit++)
            key |= (cell[bit % 3] >> (bit / 3) & 1) << bit;
        assert_int_equal(tree_key(&tree, position), key);
    }
    assert_int_equal(tree_key(&tree, (double[]){1, 1, 1}), ((uint64_t)1 << 63) - 1);
    assert_int_equal(tree_key(&tree, (double[]){-1, -1, -1}), 0);
}

static void pulls_come_near_those_of_all_bodies_as_cells_open(void **state)
{
    (void)state;
    begin("bodies=1000 steps=1");
    for (unsigned opening = 1; opening <= 8; opening++) {
        double worst = 0, sum = 0;
        for (size_t i = 0; i < 1000; i++) {
            double near[3], exact[3], square = 0;
            tree_pull(&barnes_state.tree, &barnes_state.tree.body[i], opening / 8.0, near);
            memset(exact, 0, sizeof exact);
            for (size_t j = 0; j < 1000; j++) {
                const struct body *a = &barnes_state.tree.body[i], *b = &barnes_state.tree.body[j];
                double apart = 1e-4;
                for (unsigned d = 0; d < 3; d++)
                    apart += (b->position[d] - a->position[d]) * (b->position[d] - a->position[d]);
                for (unsigned d = 0; d < 3; d++)
                    exact[d] += b->mass * (b->position[d] - a->position[d]) / pow(apart, 1.5);
            }
            for (unsigned d = 0; d < 3; d++) {
                square += (near[d] - exact[d]) * (near[d] - exact[d]);
                sum += fabs(exact[d]) / 3000;
            }
            worst = fmax(worst, sqrt(square));
        }
        assert_true(worst < 0.5 * sum * pow(opening / 8.0, 3));
    }
    spmd_end(&run);
}

/* Walks the tree by its definition, a cell inside another. */
static void pull_by_cell(const struct tree *tree, size_t cell, const struct body *body,
                         double opening, double out[3])
{
    const struct node *node = &tree->node[cell];
    double square = 0;

    for (unsigned d = 0; d < 3; d++)
        square += pow(node->centre[d] - body->position[d], 2);
    for (size_t i = node->first; i < node->first + node->count; i++) {
        const struct body *other = &tree->body[tree->order[0][i].body];
        double apart = 1e-4;
        for (unsigned d = 0; d < 3; d++)
            apart += pow(other->position[d] - body->position[d], 2);
        for (unsigned d = 0; d < 3; d++)
            out[d] += other->mass * (other->position[d] - body->position[d]) / pow(apart, 1.5);
    }
    if (!node->count && node->side < opening * sqrt(square)) {
        for (unsigned d = 0; d < 3; d++)
            out[d] += node->mass * (node->centre[d] - body->position[d]) / pow(square + 1e-4, 1.5);
    } else if (!node->count) {
        for (size_t i = cell + 1; i < node->next; i = tree->node[i].next)
            pull_by_cell(tree, i, body, opening, out);
    }
}

static void cells_are_opened_by_side_and_distance(void **state)
{
    (void)state;
    begin("bodies=700 steps=1");
    for (unsigned opening = 1; opening <= 10; opening++) {
        for (size_t i = 0; i < 700; i += 7) {
            const struct tree *tree = &barnes_state.tree;
            double out[3], wanted[3] = {0, 0, 0};
            tree_pull(tree, &tree->body[i], opening / 8.0, out);
            pull_by_cell(tree, 0, &tree->body[i], opening / 8.0, wanted);
            for (unsigned d = 0; d < 3; d++)
                assert_true(fabs(out[d] - wanted[d]) < 1e-11);
        }
    }
    spmd_end(&run);
}

static void bodies_in_one_place_are_one_cell(void **state)
{
    (void)state;
    begin("bodies=200 steps=1");
    struct tree *tree = &barnes_state.tree;
    for (size_t i = 0; i < 150; i++)
        memcpy(tree->body[i].position, tree->body[0].position, sizeof tree->body[0].position);
    for (size_t i = 0; i < 200; i++)
        tree->order[0][i] = (struct place){tree_key(tree, tree->body[i].position), i};
    for (size_t i = 1; i < 200; i++) { /* sort by insertion */
        struct place place = tree->order[0][i];
        size_t at = i;
        for (; at > 0 && tree->order[0][at - 1].key > place.key; at--)
            tree->order[0][at] = tree->order[0][at - 1];
        tree->order[0][at] = place;
    }
    tree_build(tree);
    assert_null(tree_check(tree));
    spmd_end(&run);
}

static void what_is_changed_is_named(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 5; which++) {
        begin("bodies=500 threads=3");
        struct tree *tree = &barnes_state.tree;
        const char *wanted[] = {"order_is_that_of_places", "order_is_that_of_places",
                                "masses_add_up", "cells_hold_each_body_once",
                                "forces_are_near_exact_ones"};
        switch (which) {
        case 0:
            tree->body[77].position[1] += 0.01;
            break;
        case 1:
            tree->order[0][9].body = tree->order[0][8].body;
            break;
        case 2:
            tree->node[tree->nodes - 1].centre[2] += 1e-12;
            break;
        case 3:
            tree->node[tree->nodes - 1].first++;
            break;
        case 4:
            for (size_t i = 0; i < 500; i++)
                tree->body[i].acceleration[0] *= 1.5;
            break;
        }
        spmd_check(&run);
        assert_non_null(run.violation);
        assert_string_equal(run.violation, wanted[which]);
        spmd_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_coordinates_bit_by_bit),
        cmocka_unit_test(pulls_come_near_those_of_all_bodies_as_cells_open),
        cmocka_unit_test(cells_are_opened_by_side_and_distance),
        cmocka_unit_test(bodies_in_one_place_are_one_cell),
        cmocka_unit_test(what_is_changed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
