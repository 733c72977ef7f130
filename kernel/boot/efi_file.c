/* See efi_file.h. */
#include "efi_file.h"

#define READ_MAX (16 * MIB) /* at a time: some firmware takes 32-bit sizes only */

/* A file's size is the position of its end. */
static EFI_STATUS find_size(EFI_FILE *file, UINT64 *size)
{
    EFI_STATUS status = file->SetPosition(file, UINT64_MAX);

    return EFI_ERROR(status) ? status : file->GetPosition(file, size);
}

EFI_STATUS efi_file_open(EFI_LOADED_IMAGE *loaded, CHAR16 *name, EFI_FILE **out, UINT64 *size)
{
    static EFI_GUID guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
    EFI_FILE_IO_INTERFACE *volume;
    EFI_FILE *root;

    if (EFI_ERROR(BS->HandleProtocol(loaded->DeviceHandle, &guid, (void **)&volume)) ||
        EFI_ERROR(volume->OpenVolume(volume, &root)))
        return EFI_NOT_FOUND;
    EFI_STATUS status = root->Open(root, out, name, EFI_FILE_MODE_READ, 0);
    root->Close(root);
    if (EFI_ERROR(status))
        return status;
    status = find_size(*out, size);
    if (EFI_ERROR(status))
        (*out)->Close(*out);
    return status;
}

EFI_STATUS efi_file_read(EFI_FILE *file, void *to, UINT64 size)
{
    EFI_STATUS status = file->SetPosition(file, 0);

    for (UINT64 at = 0; !EFI_ERROR(status) && at < size;) {
        UINTN n = MIN(size - at, (UINT64)READ_MAX);
        status = file->Read(file, &n, (uint8_t *)to + at);
        if (!EFI_ERROR(status) && !n)
            status = EFI_END_OF_FILE;
        at += n;
    }
    return status;
}
