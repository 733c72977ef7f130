/*
 * The smallest program: prints its pid and its arguments, and exits with the status asked for. It
 * greets words without '=', takes status=N as exit status, and refuses anything else by name.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "apps/common/args.h"

enum { WORDS_MAX = 64 };

int main(int argc, char **argv)
{
    static uint64_t status;
    static const struct args_entry entries[] = {
        {"status", ARGS_NUMBER, &status, 0, 255, NULL, "exit status"},
    };
    static const struct args_table table = {"hello", "greets; words given to it are printed back",
                                            entries, 1};
    char *settings[WORDS_MAX] = {argv[0]};
    int setting_count = 1;

    if (argc > WORDS_MAX)
        args_refuse(&table, "program", "many", "%d arguments; at most %d are accepted", argc - 1,
                    WORDS_MAX - 1);
    for (int i = 1; i < argc; i++) {
        if (strchr(argv[i], '=') || args_asks_for_help(argc, argv))
            settings[setting_count++] = argv[i];
    }
    args_parse_or_exit(&table, setting_count, settings);

    printf("hello: pid=%ld cpus=%ld arguments=%d: Hello!", (long)getpid(),
           sysconf(_SC_NPROCESSORS_ONLN), argc - 1);
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    printf("\n");
    return (int)status;
}
