/* TCP as lwIP does it, with the kernel's options, packet by packet (packet_script.h). */
#include "test/host/double/expect_panic.h"
#include "lwip/err.h"
#include "lwip/tcp.h"
#include "test/host/double/packet_script.h"

#define WINDOW 0xffff
#define FIRST  1000

static void run(const struct line *lines)
{
    const char *wrong = packet_script(lines, FIRST);

    if (wrong)
        fail_msg("%s", wrong);
}

/* What a script begins with: a connection that is accepted, or was opened. */
#define ACCEPTED                                                                               \
    ACT(LISTEN_1, 16), IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0), IN("A", 1, 1, 0, WINDOW), \
        HEARS(ACCEPTS, 0), ACT(READ_BYTES, 0), IS(ESTABLISHED)
#define OPENED                                                                            \
    ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0), IN("SA", 0, 1, 0, WINDOW), OUT("A", 1, 1, 0), \
        HEARS(CONNECTS, 0), IS(ESTABLISHED)
#define SCRIPT(name, ...)                                    \
    static void name(UNUSED void **state)                    \
    {                                                        \
        run((const struct line[]){__VA_ARGS__, {LINE_END}}); \
    }

/* ---- Beginning ------------------------------------------------------------------------------- */

SCRIPT(a_connection_is_accepted, ACCEPTED, QUIET)
SCRIPT(a_connection_is_opened, OPENED, QUIET)
/* RFC 9293 has both open at once; lwIP has not: the SYNs go on until one end gives up. */
SCRIPT(a_syn_that_crosses_ours_is_ignored, ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0),
       IN("S", 0, 0, 0, WINDOW), QUIET, IS(SYN_SENT))
SCRIPT(a_syn_is_sent_again_after_1_2_4_seconds, ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0), PASS(850),
       QUIET, PASS(200), OUT("S", 0, 0, 0), PASS(1900), QUIET, PASS(300), OUT("S", 0, 0, 0),
       PASS(3700), QUIET, PASS(500), OUT("S", 0, 0, 0))
SCRIPT(opening_is_given_up_after_seven_syns, ACT(CONNECT_NOW, 0), PASS(300000), OUT("S", 0, 0, 0),
       OUT("S", 0, 0, 0), OUT("S", 0, 0, 0), OUT("S", 0, 0, 0), OUT("S", 0, 0, 0),
       OUT("S", 0, 0, 0), OUT("S", 0, 0, 0), QUIET, HEARS(FAILS, -ERR_ABRT), IS(GONE))
SCRIPT(an_answer_to_a_syn_is_sent_again, ACT(LISTEN_1, 16), IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), PASS(1200), OUT("SA", 0, 1, 0))
SCRIPT(a_repeated_syn_is_answered_again, ACT(LISTEN_1, 16), IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0))
SCRIPT(a_segment_to_no_connection_is_reset, IN("A", 5, 77, 0, WINDOW), OUT("RA", 77, 5, 0),
       IN("S", 5, 0, 0, WINDOW), OUT("RA", 0, 6, 0), IN("R", 5, 0, 0, WINDOW), QUIET)
SCRIPT(an_ack_to_a_listener_is_reset, ACT(LISTEN_1, 16), IN("A", 5, 77, 0, WINDOW),
       OUT("RA", 77, 5, 0))
SCRIPT(a_wrong_ack_of_a_syn_is_reset, ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0),
       IN("SA", 0, 9, 0, WINDOW), OUT("RA", 9, 1, 0), IS(SYN_SENT))
SCRIPT(a_full_backlog_answers_no_syn, ACT(LISTEN_1, 1), IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0),
       {LINE_IN, "S", 0, 0, 0, WINDOW, 1, __LINE__}, QUIET, ACT(READ_BYTES, 0),
       {LINE_IN, "S", 0, 0, 0, WINDOW, 1, __LINE__}, PASS(10))
/* The answer to its SYN is sent again, as if its ACK had been lost. */
SCRIPT(a_full_backlog_lets_a_half_open_connection_wait, ACT(LISTEN_1, 1), IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), {LINE_IN, "S", 0, 0, 0, WINDOW, 1, __LINE__}, ACT(FORGET_SENT, 0),
       IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0), ACT(BEGIN_AGAIN, 0), PASS(900), QUIET,
       PASS(300), OUT("SA", 0, 1, 0), {LINE_IN, "A", 1, 1, 0, WINDOW, 1, __LINE__}, QUIET,
       ACT(READ_BYTES, 0), {LINE_IN, "A", 1, 1, 0, WINDOW, 1, __LINE__}, HEARS(ACCEPTS, 0), QUIET)

/* ---- Floods ---------------------------------------------------------------------------------- */

#define FEW       300
#define MANY      1100 /* more than are kept half-open */
#define BY_COOKIE ACT(LISTEN_1, 16), ACT(FLOOD, MANY), IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0)
SCRIPT(half_open_connections_do_not_close_a_listener, ACT(LISTEN_1, 1), ACT(FLOOD, FEW),
       IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0), IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0),
       IS(ESTABLISHED))
SCRIPT(beyond_the_half_open_ones_a_cookie_opens, BY_COOKIE, PASS(100), IN("A", 1, 1, 0, WINDOW),
       HEARS(ACCEPTS, 0), IS(ESTABLISHED), IN("A", 1, 1, 10, WINDOW), HEARS(GETS, 10), PASS(60),
       OUT("A", 1, 11, 0), ACT(WRITE_BYTES, 10), OUT("A", 1, 11, 10))
SCRIPT(data_may_bring_a_cookie_back, BY_COOKIE, IN("A", 1, 1, 10, WINDOW), HEARS(ACCEPTS, 0),
       HEARS(GETS, 10), IS(ESTABLISHED))
SCRIPT(a_cookie_opens_after_a_minute, BY_COOKIE, PASS(60000), ACT(FORGET_SENT, 0),
       IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0), IS(ESTABLISHED))
SCRIPT(an_old_cookie_is_refused, BY_COOKIE, PASS(132000), ACT(FORGET_SENT, 0),
       IN("A", 1, 1, 0, WINDOW), OUT("RA", 1, 1, 0), QUIET)
SCRIPT(a_wrong_cookie_is_refused, BY_COOKIE, IN("A", 1, 2, 0, WINDOW), OUT("RA", 2, 1, 0),
       IN("A", 2, 1, 0, WINDOW), OUT("RA", 1, 2, 0), {LINE_IN, "A", 1, 1, 0, WINDOW, 1, __LINE__},
       OUT("RA", 1, 1, 0), QUIET, IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0))
SCRIPT(a_repeated_syn_gets_its_cookie_again, BY_COOKIE, IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0))
SCRIPT(a_cookie_waits_for_room_in_the_backlog, ACT(LISTEN_1, 1), ACT(FLOOD, MANY),
       IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0), ACT(OTHER_ONE, 0), ACT(BEGIN_AGAIN, 0),
       {LINE_IN, "S", 0, 0, 0, WINDOW, 1, __LINE__}, OUT("SA", 0, 1, 0),
       {LINE_IN, "A", 1, 1, 0, WINDOW, 1, __LINE__}, HEARS(ACCEPTS, 0), ACT(OTHER_ONE, 0),
       IN("A", 1, 1, 0, WINDOW), QUIET, ACT(READ_BYTES, 0), IN("A", 1, 1, 0, WINDOW),
       HEARS(ACCEPTS, 0), QUIET)
SCRIPT(half_open_connections_end_after_20_seconds, ACT(LISTEN_1, 16), ACT(FLOOD, MANY), PASS(22000),
       ACT(FORGET_SENT, 0), ACT(BEGIN_AGAIN, 0), IN("S", 0, 0, 0, WINDOW), OUT("SA", 0, 1, 0),
       PASS(1200), OUT("SA", 0, 1, 0))

/* ---- RST ------------------------------------------------------------------------------------- */

SCRIPT(rst_refuses_what_is_opened, ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0), IN("RA", 0, 1, 0, 0),
       HEARS(FAILS, -ERR_RST), IS(GONE), QUIET)
SCRIPT(rst_that_acks_another_syn_is_ignored, ACT(CONNECT_NOW, 0), OUT("S", 0, 0, 0),
       IN("RA", 0, 7, 0, 0), IS(SYN_SENT), IN("R", 0, 0, 0, 0), IS(SYN_SENT), QUIET)
SCRIPT(rst_ends_what_was_half_accepted, ACT(LISTEN_1, 1), IN("S", 0, 0, 0, WINDOW),
       OUT("SA", 0, 1, 0), IN("R", 1, 0, 0, 0), QUIET, IN("S", 0, 0, 0, WINDOW), PASS(10))
SCRIPT(rst_ends_an_established_connection, ACCEPTED, IN("R", 1, 0, 0, 0), HEARS(FAILS, -ERR_RST),
       IS(GONE), QUIET)
SCRIPT(rst_inside_of_the_window_is_challenged, ACCEPTED, IN("R", 100, 0, 0, 0), IS(ESTABLISHED),
       OUT("A", 1, 1, 0), QUIET)
SCRIPT(rst_outside_of_the_window_is_ignored, ACCEPTED, IN("R", -100, 0, 0, 0), IS(ESTABLISHED),
       QUIET, IN("R", 100000, 0, 0, 0), IS(ESTABLISHED), QUIET)
SCRIPT(rst_ends_fin_wait_1, ACCEPTED, ACT(SHUT_NOW, 0), OUT("FA", 1, 1, 0), IS(FIN_WAIT_1),
       IN("R", 1, 0, 0, 0), HEARS(FAILS, -ERR_RST), IS(GONE))
SCRIPT(rst_ends_fin_wait_2, ACCEPTED, ACT(SHUT_NOW, 0), OUT("FA", 1, 1, 0),
       IN("A", 1, 2, 0, WINDOW), IS(FIN_WAIT_2), IN("R", 1, 0, 0, 0), HEARS(FAILS, -ERR_RST),
       IS(GONE))
SCRIPT(rst_ends_close_wait, ACCEPTED, IN("FA", 1, 1, 0, WINDOW), OUT("A", 1, 2, 0),
       HEARS(GETS_END, 0), IS(CLOSE_WAIT), IN("R", 2, 0, 0, 0), HEARS(FAILS, -ERR_RST), IS(GONE))
SCRIPT(rst_ends_last_ack, ACCEPTED, IN("FA", 1, 1, 0, WINDOW), OUT("A", 1, 2, 0),
       HEARS(GETS_END, 0), ACT(SHUT_NOW, 0), OUT("FA", 1, 2, 0), IS(LAST_ACK), IN("R", 2, 0, 0, 0),
       HEARS(FAILS, -ERR_RST), IS(GONE))
SCRIPT(rst_ends_closing, ACCEPTED, ACT(SHUT_NOW, 0), OUT("FA", 1, 1, 0), IN("FA", 1, 1, 0, WINDOW),
       OUT("A", 2, 2, 0), HEARS(GETS_END, 0), IS(CLOSING), IN("R", 2, 0, 0, 0),
       HEARS(FAILS, -ERR_RST), IS(GONE))

/* ---- Ending ---------------------------------------------------------------------------------- */

#define IN_TIME_WAIT                                                                              \
    ACCEPTED, ACT(SHUT_NOW, 0), OUT("FA", 1, 1, 0), IN("FA", 1, 2, 0, WINDOW), OUT("A", 2, 2, 0), \
        HEARS(GETS_END, 0), IS(TIME_WAIT)
SCRIPT(ends_that_close_at_once_meet_in_time_wait, ACCEPTED, ACT(SHUT_NOW, 0), OUT("FA", 1, 1, 0),
       IN("FA", 1, 1, 0, WINDOW), OUT("A", 2, 2, 0), IS(CLOSING), IN("A", 2, 2, 0, WINDOW),
       IS(TIME_WAIT))
SCRIPT(the_last_to_close_hears_that_it_has_ended, ACCEPTED, IN("FA", 1, 1, 0, WINDOW),
       OUT("A", 1, 2, 0), HEARS(GETS_END, 0), ACT(SHUT_NOW, 0), OUT("FA", 1, 2, 0),
       IN("A", 2, 2, 0, WINDOW), HEARS(FAILS, -ERR_CLSD), IS(GONE))
SCRIPT(the_first_to_close_hears_that_it_has_ended, IN_TIME_WAIT, PASS(59000), IS(TIME_WAIT),
       PASS(2000), HEARS(FAILS, -ERR_CLSD), IS(GONE))
SCRIPT(time_wait_acks_a_repeated_fin, IN_TIME_WAIT, IN("FA", 1, 2, 0, WINDOW), OUT("A", 2, 2, 0),
       IS(TIME_WAIT))
/* Its client may use the port again at once. */
SCRIPT(a_later_syn_ends_time_wait, IN_TIME_WAIT, ACT(BEGIN_AGAIN, 70000), IN("S", 0, 0, 0, WINDOW),
       HEARS(FAILS, -ERR_CLSD), OUT("SA", 0, 1, 0), IN("A", 1, 1, 0, WINDOW), HEARS(ACCEPTS, 0),
       IS(ESTABLISHED))
SCRIPT(an_earlier_syn_does_not_end_time_wait, IN_TIME_WAIT, IN("S", -70000, 0, 0, WINDOW),
       OUT("A", 2, 2, 0), IS(TIME_WAIT))
SCRIPT(time_wait_ignores_rst, IN_TIME_WAIT, IN("R", 2, 0, 0, 0), IS(TIME_WAIT), QUIET)
SCRIPT(data_after_a_close_is_reset, ACCEPTED, ACT(CLOSE_NOW, 0), OUT("FA", 1, 1, 0),
       IN("A", 1, 2, 0, WINDOW), IN("A", 1, 2, 10, WINDOW), PASS(10))

/* ---- Blind attacks: RFC 5961 ----------------------------------------------------------------- */

SCRIPT(a_syn_in_a_connection_is_challenged, ACCEPTED, IN("S", 50, 0, 0, WINDOW), OUT("A", 1, 1, 0),
       IS(ESTABLISHED), QUIET)
SCRIPT(an_ack_of_what_was_not_sent_is_challenged, ACCEPTED, IN("A", 1, 500, 10, WINDOW),
       OUT("A", 1, 1, 0), QUIET)
SCRIPT(an_ack_from_long_ago_is_challenged, ACCEPTED, IN("A", 1, -200000, 10, WINDOW),
       OUT("A", 1, 1, 0), QUIET)

/* ---- Windows --------------------------------------------------------------------------------- */

SCRIPT(a_fin_waits_for_room_in_the_window, ACCEPTED, ACT(WRITE_BYTES, 100), OUT("A", 1, 1, 100),
       IN("A", 1, 101, 0, 100), ACT(WRITE_BYTES, 100), OUT("A", 101, 1, 100), ACT(SHUT_NOW, 0),
       QUIET, IN("A", 1, 201, 0, 100), OUT("FA", 201, 1, 0))
SCRIPT(data_that_fills_the_window_leaves_without_the_fin, ACCEPTED, ACT(WRITE_BYTES, 100),
       OUT("A", 1, 1, 100), IN("A", 1, 101, 0, 50), ACT(WRITE_BYTES, 100), ACT(SHUT_NOW, 0), QUIET,
       IN("A", 1, 101, 0, 100), OUT("A", 101, 1, 100), QUIET, IN("A", 1, 201, 0, 100),
       OUT("FA", 201, 1, 0))
SCRIPT(a_shut_window_is_probed, ACCEPTED, ACT(WRITE_BYTES, 100), OUT("A", 1, 1, 100),
       IN("A", 1, 101, 0, 0), ACT(WRITE_BYTES, 100), PASS(200), QUIET, PASS(200),
       OUT("A", 101, 1, 1), IN("A", 1, 101, 0, 0), PASS(450), QUIET, PASS(250), OUT("A", 101, 1, 1),
       IN("A", 1, 102, 0, WINDOW), OUT("A", 101, 1, 100))
/* The other end takes back a part of its window while the FIN waits behind what fits cwnd. */
SCRIPT(a_segment_cut_to_the_window_has_its_fin_at_the_end, ACCEPTED, ACT(WRITE_BYTES, 2144),
       OUT("A", 1, 1, 536), OUT("A", 537, 1, 536), OUT("A", 1073, 1, 536), OUT("A", 1609, 1, 536),
       ACT(WRITE_BYTES, 100), ACT(SHUT_NOW, 0), QUIET, IN("A", 1, 2145, 0, 40), PASS(400),
       OUT("A", 2145, 1, 40), IN("A", 1, 2185, 0, WINDOW), OUT("FA", 2185, 1, 60),
       IN("A", 1, 2246, 0, WINDOW), IS(FIN_WAIT_2))
/* The first time is of a connection whose answers came at once: 0.8 s. */
SCRIPT(data_is_retransmitted, ACCEPTED, ACT(WRITE_BYTES, 100), OUT("A", 1, 1, 100), PASS(650),
       QUIET, PASS(250), OUT("A", 1, 1, 100), PASS(1350), QUIET, PASS(400), OUT("A", 1, 1, 100),
       PASS(2900), QUIET, PASS(400), OUT("A", 1, 1, 100), IN("A", 1, 101, 0, WINDOW), PASS(10000),
       QUIET)
SCRIPT(a_connection_is_given_up_after_twelve_retransmissions, ACCEPTED, ACT(WRITE_BYTES, 1),
       PASS(1200000), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1),
       OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1),
       OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1), OUT("A", 1, 1, 1),
       OUT("A", 1, 1, 1), QUIET, HEARS(FAILS, -ERR_ABRT), IS(GONE))
SCRIPT(three_acks_of_the_same_retransmit_at_once, ACCEPTED, ACT(WRITE_BYTES, 1072),
       OUT("A", 1, 1, 536), OUT("A", 537, 1, 536), IN("A", 1, 1, 0, WINDOW),
       IN("A", 1, 1, 0, WINDOW), IN("A", 1, 1, 0, WINDOW), IN("A", 1, 1, 0, WINDOW),
       OUT("A", 1, 1, 536))
SCRIPT(data_out_of_order_is_kept, ACCEPTED, IN("A", 11, 1, 10, WINDOW), OUT("A", 1, 1, 0),
       IN("A", 1, 1, 10, WINDOW), HEARS(GETS, 20), PASS(100), OUT("A", 1, 21, 0))
SCRIPT(repeated_data_is_acked_and_not_got_again, ACCEPTED, IN("A", 1, 1, 10, WINDOW),
       HEARS(GETS, 10), PASS(100), OUT("A", 1, 11, 0), IN("A", 1, 1, 10, WINDOW),
       OUT("A", 1, 11, 0), QUIET)
SCRIPT(an_ack_is_delayed_by_50_ms_at_most, ACCEPTED, IN("A", 1, 1, 10, WINDOW), QUIET, PASS(60),
       OUT("A", 1, 11, 0))
SCRIPT(every_other_segment_is_acked_at_once, ACCEPTED, IN("A", 1, 1, 10, WINDOW), QUIET,
       IN("A", 11, 1, 10, WINDOW), OUT("A", 1, 21, 0))
SCRIPT(a_silent_peer_is_asked_whether_it_lives, ACCEPTED, ACT(KEEP_ALIVE, 5000), PASS(5300),
       OUT("A", 0, 1, 0), PASS(5000), OUT("A", 0, 1, 0), PASS(6000), OUT("RA", 1, 1, 0),
       HEARS(FAILS, -ERR_ABRT), IS(GONE))

/* The peer's numbers go through zero. */
static void numbers_may_wrap(UNUSED void **state)
{
    static const struct line lines[] = {ACCEPTED,
                                        IN("A", 1, 1, 1000, WINDOW),
                                        HEARS(GETS, 1000),
                                        IN("A", 2001, 1, 1000, WINDOW),
                                        OUT("A", 1, 1001, 0),
                                        IN("A", 1001, 1, 1000, WINDOW),
                                        HEARS(GETS, 2000),
                                        PASS(100),
                                        OUT("A", 1, 3001, 0),
                                        IN("FA", 3001, 1, 0, WINDOW),
                                        OUT("A", 1, 3002, 0),
                                        HEARS(GETS_END, 0),
                                        {LINE_END}};

    for (uint32_t before = 0; before < 3100; before += 50) {
        const char *wrong = packet_script(lines, 0u - before);
        if (wrong)
            fail_msg("%u bytes before zero: %s", before, wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_is_accepted),
        cmocka_unit_test(a_connection_is_opened),
        cmocka_unit_test(a_syn_that_crosses_ours_is_ignored),
        cmocka_unit_test(a_syn_is_sent_again_after_1_2_4_seconds),
        cmocka_unit_test(opening_is_given_up_after_seven_syns),
        cmocka_unit_test(an_answer_to_a_syn_is_sent_again),
        cmocka_unit_test(a_repeated_syn_is_answered_again),
        cmocka_unit_test(a_segment_to_no_connection_is_reset),
        cmocka_unit_test(an_ack_to_a_listener_is_reset),
        cmocka_unit_test(a_wrong_ack_of_a_syn_is_reset),
        cmocka_unit_test(a_full_backlog_answers_no_syn),
        cmocka_unit_test(a_full_backlog_lets_a_half_open_connection_wait),
        cmocka_unit_test(half_open_connections_do_not_close_a_listener),
        cmocka_unit_test(beyond_the_half_open_ones_a_cookie_opens),
        cmocka_unit_test(data_may_bring_a_cookie_back),
        cmocka_unit_test(a_cookie_opens_after_a_minute),
        cmocka_unit_test(an_old_cookie_is_refused),
        cmocka_unit_test(a_wrong_cookie_is_refused),
        cmocka_unit_test(a_repeated_syn_gets_its_cookie_again),
        cmocka_unit_test(a_cookie_waits_for_room_in_the_backlog),
        cmocka_unit_test(half_open_connections_end_after_20_seconds),
        cmocka_unit_test(rst_refuses_what_is_opened),
        cmocka_unit_test(rst_that_acks_another_syn_is_ignored),
        cmocka_unit_test(rst_ends_what_was_half_accepted),
        cmocka_unit_test(rst_ends_an_established_connection),
        cmocka_unit_test(rst_inside_of_the_window_is_challenged),
        cmocka_unit_test(rst_outside_of_the_window_is_ignored),
        cmocka_unit_test(rst_ends_fin_wait_1),
        cmocka_unit_test(rst_ends_fin_wait_2),
        cmocka_unit_test(rst_ends_close_wait),
        cmocka_unit_test(rst_ends_last_ack),
        cmocka_unit_test(rst_ends_closing),
        cmocka_unit_test(ends_that_close_at_once_meet_in_time_wait),
        cmocka_unit_test(the_last_to_close_hears_that_it_has_ended),
        cmocka_unit_test(the_first_to_close_hears_that_it_has_ended),
        cmocka_unit_test(time_wait_acks_a_repeated_fin),
        cmocka_unit_test(a_later_syn_ends_time_wait),
        cmocka_unit_test(an_earlier_syn_does_not_end_time_wait),
        cmocka_unit_test(time_wait_ignores_rst),
        cmocka_unit_test(data_after_a_close_is_reset),
        cmocka_unit_test(a_syn_in_a_connection_is_challenged),
        cmocka_unit_test(an_ack_of_what_was_not_sent_is_challenged),
        cmocka_unit_test(an_ack_from_long_ago_is_challenged),
        cmocka_unit_test(a_fin_waits_for_room_in_the_window),
        cmocka_unit_test(data_that_fills_the_window_leaves_without_the_fin),
        cmocka_unit_test(a_shut_window_is_probed),
        cmocka_unit_test(a_segment_cut_to_the_window_has_its_fin_at_the_end),
        cmocka_unit_test(data_is_retransmitted),
        cmocka_unit_test(a_connection_is_given_up_after_twelve_retransmissions),
        cmocka_unit_test(three_acks_of_the_same_retransmit_at_once),
        cmocka_unit_test(data_out_of_order_is_kept),
        cmocka_unit_test(repeated_data_is_acked_and_not_got_again),
        cmocka_unit_test(an_ack_is_delayed_by_50_ms_at_most),
        cmocka_unit_test(every_other_segment_is_acked_at_once),
        cmocka_unit_test(a_silent_peer_is_asked_whether_it_lives),
        cmocka_unit_test(numbers_may_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
