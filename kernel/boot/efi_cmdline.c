/*
 * The boot arguments under UEFI. Load options are UCS-2 text if a user or a shell gave them; some
 * boot managers put other data there, which is ignored. The UEFI shell puts the program's name
 * first.
 */
#include "efi_cmdline.h"
#include "efi_file.h"

#define FILE_NAME L"\\vigil.txt"
#define FILE_MAX  (4 * BOOT_CMDLINE_MAX) /* line ends included */

static bool printable(CHAR16 c)
{
    return c >= 0x20 && c < 0x7f;
}

/* Returns the number of characters of load options that are text, 0 for other data. */
static UINTN text_length(const CHAR16 *text, UINTN bytes)
{
    UINTN n = 0;

    if (bytes % sizeof(CHAR16))
        return 0;
    while (n < bytes / sizeof(CHAR16) && printable(text[n]))
        n++;
    return n == bytes / sizeof(CHAR16) || !text[n] ? n : 0;
}

/* Returns the number of characters that are the program's own name. */
static UINTN program_name(const CHAR16 *text, UINTN n)
{
    static const CHAR16 suffix[] = L".efi";
    UINTN word = 0, length = ARRAY_SIZE(suffix) - 1;

    while (word < n && text[word] != ' ')
        word++;
    if (word < length)
        return 0;
    for (UINTN i = 0; i < length; i++) {
        CHAR16 c = text[word - length + i];
        if ((c >= 'A' && c <= 'Z' ? c + 0x20 : c) != suffix[i])
            return 0;
    }
    return word;
}

static EFI_STATUS too_long(const CHAR16 *what, UINTN n)
{
    Print(L"vigil: event=refused reason=too-long from=%s characters=%ld limit=%d\n", what,
          (UINT64)n, BOOT_CMDLINE_LONGEST);
    return EFI_BAD_BUFFER_SIZE;
}

static EFI_STATUS from_options(EFI_LOADED_IMAGE *loaded, char *cmdline)
{
    const CHAR16 *text = loaded->LoadOptions;
    UINTN n = text ? text_length(text, loaded->LoadOptionsSize) : 0;
    UINTN from = program_name(text, n);

    while (from < n && text[from] == ' ')
        from++;
    if (n - from > BOOT_CMDLINE_LONGEST)
        return too_long(L"options", n - from);
    for (UINTN i = from; i < n; i++)
        cmdline[i - from] = (char)text[i];
    cmdline[n - from] = '\0';
    return EFI_SUCCESS;
}

/* Copies a file's text into the arguments: line ends become blanks; carriage returns and a final
 * line end are dropped. */
static EFI_STATUS take(const char *text, UINTN n, char *cmdline)
{
    UINTN to = 0;

    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == '\t' ||
                 text[n - 1] == ' '))
        n--;
    for (UINTN i = 0; i < n; i++) {
        char c = text[i] == '\n' || text[i] == '\t' ? ' ' : text[i];
        if (c == '\r')
            continue;
        if (!printable((CHAR16)(unsigned char)c)) {
            Print(L"vigil: " FILE_NAME L": character %d is not printable ASCII\n", i + 1);
            return EFI_INVALID_PARAMETER;
        }
        if (to < BOOT_CMDLINE_LONGEST)
            cmdline[to] = c;
        to++;
    }
    if (to > BOOT_CMDLINE_LONGEST)
        return too_long(FILE_NAME, to);
    cmdline[to] = '\0';
    return EFI_SUCCESS;
}

static EFI_STATUS read_file(EFI_FILE *file, UINT64 size, char *cmdline)
{
    if (size > FILE_MAX)
        return too_long(FILE_NAME, size);
    char *text = AllocatePool(size + 1);
    EFI_STATUS status = text ? efi_file_read(file, text, size) : EFI_OUT_OF_RESOURCES;
    if (EFI_ERROR(status))
        Print(L"vigil: " FILE_NAME L": %r\n", status);
    else
        status = take(text, size, cmdline);
    if (text)
        FreePool(text);
    return status;
}

/* Without the file there are no arguments. */
static EFI_STATUS from_file(EFI_LOADED_IMAGE *loaded, char *cmdline)
{
    EFI_FILE *file;
    UINT64 size;
    EFI_STATUS status = efi_file_open(loaded, FILE_NAME, &file, &size);

    if (status == EFI_NOT_FOUND)
        return EFI_SUCCESS;
    if (EFI_ERROR(status)) {
        Print(L"vigil: " FILE_NAME L": %r\n", status);
        return status;
    }
    status = read_file(file, size, cmdline);
    file->Close(file);
    return status;
}

EFI_STATUS efi_cmdline(EFI_HANDLE image, char cmdline[BOOT_CMDLINE_MAX])
{
    static EFI_GUID guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *loaded;
    EFI_STATUS status = BS->HandleProtocol(image, &guid, (void **)&loaded);

    if (EFI_ERROR(status)) {
        Print(L"vigil: the firmware does not say where this program came from: %r\n", status);
        return status;
    }
    status = from_options(loaded, cmdline);
    if (!EFI_ERROR(status) && !cmdline[0])
        status = from_file(loaded, cmdline);
    return status;
}
