/*
 * What the page access buffer has of a page. While the buffer keeps a page, its uses are not
 * logged.
 */
#pragma once

enum page_buffered {
    BUFFER_UNKNOWN,  /* there is no buffer, or no way to ask it */
    BUFFER_NOT_KEPT, /* the next use is logged */
    BUFFER_KEPT,     /* not used since the page was logged, or since the buffer was last asked */
    BUFFER_USED,     /* used since */
};
