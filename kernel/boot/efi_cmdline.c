/*
 * Load options are UCS-2 text when a person or a shell gave them; some boot managers put other data there, which is not
 * taken for arguments.  The UEFI shell puts the program's name first.
 */
#include "efi_cmdline.h"

#define FILE_NAME L"\\vigil.txt"

static bool printable(CHAR16 c)
{
    return c >= 0x20 && c < 0x7f;
}

/* Length in characters of load options that are text, 0 for what is none. */
static UINTN text_length(const CHAR16 *text, UINTN bytes)
{
    UINTN n = 0;

    if (bytes % sizeof(CHAR16))
        return 0;
    while (n < bytes / sizeof(CHAR16) && printable(text[n]))
        n++;
    return n == bytes / sizeof(CHAR16) || !text[n] ? n : 0;
}

/* How much of the text is the program's own name. */
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

static EFI_STATUS from_options(EFI_LOADED_IMAGE *loaded, char *cmdline)
{
    const CHAR16 *text = loaded->LoadOptions;
    UINTN n = text ? text_length(text, loaded->LoadOptionsSize) : 0;
    UINTN from = program_name(text, n);

    while (from < n && text[from] == ' ')
        from++;
    if (n - from >= BOOT_CMDLINE_MAX) {
        Print(L"vigil: the load options are longer than %d characters\n", BOOT_CMDLINE_MAX - 1);
        return EFI_BAD_BUFFER_SIZE;
    }
    for (UINTN i = from; i < n; i++)
        cmdline[i - from] = (char)text[i];
    cmdline[n - from] = '\0';
    return EFI_SUCCESS;
}

/* Line ends become spaces, a carriage return or a final line end vanishes. */
static EFI_STATUS tidy(char *cmdline, UINTN n)
{
    UINTN to = 0;

    for (UINTN i = 0; i < n; i++) {
        char c = cmdline[i] == '\n' || cmdline[i] == '\t' ? ' ' : cmdline[i];
        if (c == '\r')
            continue;
        if (!printable((CHAR16)(unsigned char)c)) {
            Print(L"vigil: " FILE_NAME L": character %d is not printable ASCII\n", i + 1);
            return EFI_INVALID_PARAMETER;
        }
        cmdline[to++] = c;
    }
    while (to && cmdline[to - 1] == ' ')
        to--;
    cmdline[to] = '\0';
    return EFI_SUCCESS;
}

static EFI_STATUS read_file(EFI_FILE *file, char *cmdline)
{
    UINTN n = BOOT_CMDLINE_MAX;
    EFI_STATUS status = file->Read(file, &n, cmdline);

    if (EFI_ERROR(status)) {
        Print(L"vigil: " FILE_NAME L": %r\n", status);
        return status;
    }
    if (n == BOOT_CMDLINE_MAX) {
        Print(L"vigil: " FILE_NAME L": longer than %d characters\n", BOOT_CMDLINE_MAX - 1);
        return EFI_BAD_BUFFER_SIZE;
    }
    return tidy(cmdline, n);
}

static EFI_STATUS from_file(EFI_LOADED_IMAGE *loaded, char *cmdline)
{
    static EFI_GUID guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
    EFI_FILE_IO_INTERFACE *volume;
    EFI_FILE *root, *file;

    /* No file system, as when loaded from the network, or no file: no arguments. */
    if (EFI_ERROR(BS->HandleProtocol(loaded->DeviceHandle, &guid, (void **)&volume)) ||
        EFI_ERROR(volume->OpenVolume(volume, &root)))
        return EFI_SUCCESS;
    EFI_STATUS status = root->Open(root, &file, FILE_NAME, EFI_FILE_MODE_READ, 0);
    if (!EFI_ERROR(status)) {
        status = read_file(file, cmdline);
        file->Close(file);
    } else if (status == EFI_NOT_FOUND) {
        status = EFI_SUCCESS;
    } else {
        Print(L"vigil: " FILE_NAME L": %r\n", status);
    }
    root->Close(root);
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
