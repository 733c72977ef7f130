/* See efi_initrd.h. */
#include "efi_initrd.h"
#include "efi_file.h"

#define FILE_NAME L"\\vigil.tar"

/* Reads the file to whole pages of memory anywhere: the kernel reads it when all is mapped. */
static EFI_STATUS load(EFI_FILE *file, UINT64 size, struct boot_info *info)
{
    UINTN pages = ALIGN_UP(size, PAGE_SIZE) / PAGE_SIZE;
    EFI_PHYSICAL_ADDRESS at;
    EFI_STATUS status = BS->AllocatePages(AllocateAnyPages, EfiLoaderData, pages, &at);

    if (EFI_ERROR(status))
        return status;
    status = efi_file_read(file, (void *)at, size);
    if (EFI_ERROR(status))
        return status;
    if (boot_mem_add(info, at, pages * PAGE_SIZE, BOOT_MEM_KERNEL))
        return EFI_BUFFER_TOO_SMALL;
    info->initrd = (struct boot_initrd){at, size};
    return EFI_SUCCESS;
}

EFI_STATUS efi_initrd(EFI_HANDLE image, struct boot_info *info)
{
    static EFI_GUID guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_LOADED_IMAGE *loaded;
    EFI_FILE *file;
    UINT64 size;
    EFI_STATUS status = BS->HandleProtocol(image, &guid, (void **)&loaded);

    if (!EFI_ERROR(status))
        status = efi_file_open(loaded, FILE_NAME, &file, &size);
    if (status == EFI_NOT_FOUND)
        return EFI_SUCCESS;
    if (!EFI_ERROR(status)) {
        status = size ? load(file, size, info) : EFI_SUCCESS;
        file->Close(file);
    }
    if (EFI_ERROR(status))
        Print(L"vigil: " FILE_NAME L": %r\n", status);
    return status;
}
