/* Reads from the console, each time up to as many bytes as the next argument says, and prints what
 * came, with $ for a line's end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES_MAX = 512 };

int main(int argc, char **argv)
{
    char text[BYTES_MAX];

    for (int i = 1; i < argc; i++) {
        size_t bytes = strtoul(argv[i], NULL, 10);
        ssize_t n = read(STDIN_FILENO, text, bytes < sizeof text ? bytes : sizeof text);
        if (n < 0)
            return 1;
        printf("typed %s: [", argv[0]);
        for (ssize_t j = 0; j < n; j++)
            putchar(text[j] == '\n' ? '$' : text[j]);
        printf("]\n");
    }
    return 0;
}
