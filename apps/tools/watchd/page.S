/* The page: HTML, styles, scripts and charts in one file (tools/page.py). */
    .section .rodata
    .globl watchd_page_start, watchd_page_end
watchd_page_start:
    .incbin WATCHD_PAGE
watchd_page_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
