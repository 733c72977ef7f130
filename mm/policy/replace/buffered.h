/*
 * What the page access buffer has of a page: while it keeps one, the page is used without being
 * logged.
 */
#pragma once

enum page_buffered {
    BUFFER_UNKNOWN,  /* nobody can say */
    BUFFER_NOT_KEPT, /* its next use is logged */
    BUFFER_KEPT,     /* it is not; nobody has used it since it was logged, or that was asked */
    BUFFER_USED,     /* somebody has */
};
