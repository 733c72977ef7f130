/* A call that does nothing, instrumented: what the instrumentation costs (calls.c). */
void vigil_calls_empty(void);

__attribute__((noinline)) void vigil_calls_empty(void)
{
    __asm__ volatile("");
}
