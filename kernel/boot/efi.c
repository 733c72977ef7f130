/*
 * The UEFI loader (UEFI Specification 2.10): one EFI application that contains the kernel, which
 * contains the applications. It loads the kernel's segments, collects boot_info, leaves boot
 * services and enters the kernel. Everything that can fail happens before that, and failures are
 * printed on the console.
 */
#include "efi_arch.h"
#include "efi_cmdline.h"
#include "efi_initrd.h"
#include "kernel/boot/gop.h"
#include "kernel/lib/date.h"

#define PT_LOAD       1
#define KERNEL_ALIGN  (2 * MIB)
#define MAX_BELOW_4GB UINT32_MAX
#define EXIT_TRIES    8
#define DTB_MAGIC     0xd00dfeed
#define MAP_SLACK     (16 * sizeof(EFI_MEMORY_DESCRIPTOR)) /* reading the map makes it grow */

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct memory_map {
    EFI_MEMORY_DESCRIPTOR *descriptors;
    UINTN capacity, size, key, descriptor_size;
};

extern const uint8_t kernel_file[], kernel_file_end[]; /* the kernel's ELF image, by .incbin */

static EFI_STATUS fail(EFI_STATUS status, const CHAR16 *what)
{
    Print(L"vigil: %s: %r\n", what, status);
    return status;
}

/* Returns the kernel's segments. The ELF file is from the same build: it is only checked to be
 * complete. */
static const struct elf_segment *kernel_segments(unsigned *n)
{
    const struct elf_header *h = (const struct elf_header *)kernel_file;
    uint64_t size = (uint64_t)(kernel_file_end - kernel_file);

    if (size < sizeof(*h) || CompareMem(h->ident, "\177ELF\2\1\1", 7) ||
        h->machine != efi_arch_elf_machine || h->phentsize != sizeof(struct elf_segment) ||
        h->phoff + (uint64_t)h->phnum * h->phentsize > size)
        return NULL;
    const struct elf_segment *s = (const struct elf_segment *)(kernel_file + h->phoff);
    for (unsigned i = 0; i < h->phnum; i++) {
        if (s[i].offset > size || s[i].filesz > size - s[i].offset || s[i].filesz > s[i].memsz)
            return NULL;
    }
    *n = h->phnum;
    return s;
}

/* Allocates pages below 4 GB or, if the machine has no memory there and the kernel reaches all
 * addresses, anywhere. */
static EFI_STATUS allocate(UINTN pages, EFI_PHYSICAL_ADDRESS *at)
{
    *at = MAX_BELOW_4GB;
    EFI_STATUS status = BS->AllocatePages(AllocateMaxAddress, EfiLoaderData, pages, at);

    if (EFI_ERROR(status) && efi_arch_reaches_all)
        status = BS->AllocatePages(AllocateAnyPages, EfiLoaderData, pages, at);
    return status;
}

/* Allocates a block of pages at a multiple of 2 MB, and frees the pages that the alignment
 * needed. */
static EFI_STATUS allocate_aligned(uint64_t size, uint64_t *base)
{
    UINTN pages = size / PAGE_SIZE, spare = KERNEL_ALIGN / PAGE_SIZE;
    EFI_PHYSICAL_ADDRESS at;
    EFI_STATUS status = allocate(pages + spare, &at);

    if (EFI_ERROR(status))
        return status;
    *base = ALIGN_UP(at, KERNEL_ALIGN);
    UINTN before = (*base - at) / PAGE_SIZE;
    if (before)
        BS->FreePages(at, before);
    if (spare > before)
        BS->FreePages(*base + size, spare - before);
    return EFI_SUCCESS;
}

static EFI_STATUS load_kernel(struct boot_info *info, struct efi_entry *entry)
{
    unsigned n;
    const struct elf_segment *s = kernel_segments(&n);
    uint64_t first = UINT64_MAX, end = 0;

    if (!s)
        return fail(EFI_LOAD_ERROR, L"the kernel inside this file is broken");
    for (unsigned i = 0; i < n; i++) {
        if (s[i].type != PT_LOAD)
            continue;
        first = MIN(first, s[i].paddr);
        end = MAX(end, s[i].paddr + s[i].memsz);
    }
    info->kernel_size = ALIGN_UP(end - first, PAGE_SIZE);
    EFI_STATUS status = allocate_aligned(info->kernel_size, &info->kernel_base);
    if (EFI_ERROR(status))
        return fail(status, L"no memory for the kernel where it can be");
    memset((void *)info->kernel_base, 0, info->kernel_size);
    *entry = (struct efi_entry){.va = ((const struct elf_header *)kernel_file)->entry};
    for (unsigned i = 0; i < n; i++) {
        if (s[i].type != PT_LOAD)
            continue;
        uint64_t at = info->kernel_base + (s[i].paddr - first);
        memcpy((void *)at, kernel_file + s[i].offset, s[i].filesz);
        if (entry->va - s[i].vaddr < s[i].memsz)
            entry->pa = at + (entry->va - s[i].vaddr);
    }
    if (!entry->pa)
        return fail(EFI_LOAD_ERROR, L"the kernel inside this file has no entry");
    return boot_mem_add(info, info->kernel_base, info->kernel_size, BOOT_MEM_KERNEL)
               ? EFI_BUFFER_TOO_SMALL
               : EFI_SUCCESS;
}

static void find_acpi(struct boot_info *info)
{
    static EFI_GUID acpi2 = ACPI_20_TABLE_GUID, acpi1 = ACPI_TABLE_GUID;

    for (UINTN i = 0; i < ST->NumberOfTableEntries; i++) {
        EFI_CONFIGURATION_TABLE *t = &ST->ConfigurationTable[i];
        if (!CompareGuid(&t->VendorGuid, &acpi2) ||
            (!info->acpi_rsdp && !CompareGuid(&t->VendorGuid, &acpi1)))
            info->acpi_rsdp = (uint64_t)t->VendorTable;
    }
}

/* Finds the newer entry point, if there is one, else the older. */
static void find_smbios(struct boot_info *info)
{
    static EFI_GUID smbios3 = {
        0xf2fd1544, 0x9794, 0x4a2c, {0x99, 0x2e, 0xe5, 0xbb, 0xcf, 0x20, 0xe3, 0x94}};
    static EFI_GUID smbios = SMBIOS_TABLE_GUID;

    for (UINTN i = 0; i < ST->NumberOfTableEntries; i++) {
        EFI_CONFIGURATION_TABLE *t = &ST->ConfigurationTable[i];
        if (!CompareGuid(&t->VendorGuid, &smbios3) ||
            (!info->smbios && !CompareGuid(&t->VendorGuid, &smbios)))
            info->smbios = (uint64_t)t->VendorTable;
    }
}

static void name_firmware(struct boot_info *info)
{
    const CHAR16 *vendor = ST->FirmwareVendor;
    size_t n = 0;

    for (; vendor && vendor[n] && n + 1 < BOOT_FIRMWARE_MAX; n++)
        info->firmware[n] = vendor[n] >= ' ' && vendor[n] <= '~' ? (char)vendor[n] : '?';
}

/* Asks for the date, in UTC: firmware that keeps local time says by how many minutes it is behind,
 * or that it does not know. */
static void find_date(struct boot_info *info)
{
    EFI_TIME t;

    if (EFI_ERROR(ST->RuntimeServices->GetTime(&t, NULL)))
        return;
    struct date d = {t.Year, t.Month, t.Day, t.Hour, t.Minute, t.Second};
    if (!date_to_seconds(&d, &info->date_s))
        info->date_s = 0;
    else if (t.TimeZone != EFI_UNSPECIFIED_TIMEZONE)
        info->date_s += (uint64_t)(int64_t)t.TimeZone * 60;
}

static EFI_STATUS find_dtb(struct boot_info *info)
{
    static EFI_GUID guid = {
        0xb1b621d5, 0xf19c, 0x41a5, {0x83, 0x0b, 0xd9, 0x15, 0x2c, 0x69, 0xaa, 0xe0}};
    const uint32_t *header = NULL;

    for (UINTN i = 0; i < ST->NumberOfTableEntries; i++) {
        if (!CompareGuid(&ST->ConfigurationTable[i].VendorGuid, &guid))
            header = ST->ConfigurationTable[i].VendorTable;
    }
    if (!header || __builtin_bswap32(header[0]) != DTB_MAGIC)
        return EFI_SUCCESS;
    info->dtb = (uint64_t)header;
    if (boot_mem_add(info, info->dtb, __builtin_bswap32(header[1]), BOOT_MEM_ACPI))
        return fail(EFI_BUFFER_TOO_SMALL, L"too many memory ranges");
    return EFI_SUCCESS;
}

/* Fills `fb` from the display of `handle`. Returns 0, or the reason that it cannot be written
 * to. */
static int take_display(EFI_HANDLE handle, struct boot_framebuffer *fb)
{
    static EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_GRAPHICS_OUTPUT_PROTOCOL *gop;

    if (EFI_ERROR(BS->HandleProtocol(handle, &guid, (void **)&gop)) || !gop->Mode ||
        !gop->Mode->Info) {
        *fb = (struct boot_framebuffer){.error = -ENODEV};
        return fb->error;
    }
    const EFI_GRAPHICS_OUTPUT_MODE_INFORMATION *info = gop->Mode->Info;
    const struct gop_mode mode = {
        .base = gop->Mode->FrameBufferBase,
        .size = gop->Mode->FrameBufferSize,
        .width = info->HorizontalResolution,
        .height = info->VerticalResolution,
        .pixels_per_line = info->PixelsPerScanLine,
        .format = (uint32_t)info->PixelFormat,
        .red = info->PixelInformation.RedMask,
        .green = info->PixelInformation.GreenMask,
        .blue = info->PixelInformation.BlueMask,
        .rest = info->PixelInformation.ReservedMask,
    };
    return gop_framebuffer(&mode, fb);
}

static bool has_console(EFI_HANDLE handle)
{
    static EFI_GUID guid = {
        0xd3b36f2c, 0xd551, 0x11d4, {0x9a, 0x46, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d}};
    void *interface;

    /* EFI_CONSOLE_OUT_DEVICE_GUID */
    return !EFI_ERROR(BS->HandleProtocol(handle, &guid, &interface));
}

/* Selects a display: of those that can be written to, one that firmware writes to, else the first.
 * Firmware may list a virtual display that stands for all; that has no framebuffer memory. */
static void find_framebuffer(struct boot_info *info)
{
    static EFI_GUID guid = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
    EFI_HANDLE *handles;
    UINTN n;

    info->fb.error = -ENODEV;
    if (EFI_ERROR(BS->LocateHandleBuffer(ByProtocol, &guid, NULL, &n, &handles)))
        return;
    for (UINTN i = 0; i < n; i++) {
        struct boot_framebuffer fb;
        int err = take_display(handles[i], &fb);
        if (info->fb.base && (err || !has_console(handles[i])))
            continue;
        info->fb = fb;
        if (!err && has_console(handles[i]))
            break;
    }
    BS->FreePool(handles);
}

static enum boot_mem_type type_of(const EFI_MEMORY_DESCRIPTOR *d)
{
    switch (d->Type) {
    case EfiConventionalMemory:
    case EfiLoaderCode:
    case EfiLoaderData:
    case EfiBootServicesCode:
    case EfiBootServicesData:
        return d->Attribute & EFI_MEMORY_WB ? BOOT_MEM_USABLE : BOOT_MEM_RESERVED;
    case EfiACPIReclaimMemory:
    case EfiACPIMemoryNVS:
        return BOOT_MEM_ACPI;
    default:
        return BOOT_MEM_RESERVED;
    }
}

/* Copies the memory map and merges neighbours of one type: firmware lists hundreds. */
static EFI_STATUS take_memory(struct boot_info *info, const struct memory_map *map)
{
    struct boot_mem run = {0};
    int err = 0;

    for (UINTN at = 0; at + map->descriptor_size <= map->size; at += map->descriptor_size) {
        const EFI_MEMORY_DESCRIPTOR *d =
            (const EFI_MEMORY_DESCRIPTOR *)((const uint8_t *)map->descriptors + at);
        uint64_t size = d->NumberOfPages * PAGE_SIZE;
        if (run.size && run.type == type_of(d) && run.base + run.size == d->PhysicalStart) {
            run.size += size;
            continue;
        }
        err |= boot_mem_add(info, run.base, run.size, run.type);
        run = (struct boot_mem){.base = d->PhysicalStart, .size = size, .type = type_of(d)};
    }
    err |= boot_mem_add(info, run.base, run.size, run.type);
    return err ? EFI_BUFFER_TOO_SMALL : EFI_SUCCESS;
}

static EFI_STATUS get_map(struct memory_map *map)
{
    UINT32 version;

    map->size = map->capacity;
    return BS->GetMemoryMap(&map->size, map->descriptors, &map->key, &map->descriptor_size,
                            &version);
}

static EFI_STATUS allocate_map(struct memory_map *map)
{
    EFI_STATUS status = get_map(map);

    if (status != EFI_BUFFER_TOO_SMALL)
        return EFI_ERROR(status) ? status : EFI_DEVICE_ERROR;
    map->capacity = map->size + MAP_SLACK;
    return BS->AllocatePool(EfiLoaderData, map->capacity, (void **)&map->descriptors);
}

/* Leaves boot services. A firmware event may change the memory map between reading it and passing
 * it back; then it is read again. Nothing may be allocated or printed in between, and nothing may
 * fail afterwards. */
static EFI_STATUS leave_boot_services(EFI_HANDLE image, struct boot_info *info)
{
    struct memory_map map = {0};
    EFI_STATUS status = allocate_map(&map);
    size_t own = info->mem_count;

    if (EFI_ERROR(status))
        return fail(status, L"no memory map");
    struct boot_mem *ours = AllocatePool(own * sizeof(*ours));
    if (!ours)
        return fail(EFI_OUT_OF_RESOURCES, L"no memory");
    CopyMem(ours, info->mem, own * sizeof(*ours));
    for (unsigned i = 0; i < EXIT_TRIES; i++) {
        CopyMem(info->mem, ours, own * sizeof(*ours));
        info->mem_count = own;
        status = get_map(&map);
        if (EFI_ERROR(status))
            return fail(status, L"no memory map");
        status = take_memory(info, &map);
        if (EFI_ERROR(status))
            return fail(status, L"too many memory ranges");
        status = BS->ExitBootServices(image, map.key);
        if (!EFI_ERROR(status))
            return EFI_SUCCESS;
    }
    return fail(status, L"the firmware does not let go");
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *table)
{
    EFI_PHYSICAL_ADDRESS at;
    struct efi_entry entry;

    InitializeLib(image, table);
    EFI_STATUS status = allocate(ALIGN_UP(sizeof(struct boot_info), PAGE_SIZE) / PAGE_SIZE, &at);
    if (EFI_ERROR(status))
        return fail(status, L"no memory where the kernel can read it");
    struct boot_info *info = (struct boot_info *)at;
    memset(info, 0, sizeof(*info));
    memcpy(info->protocol, "uefi", sizeof("uefi"));
    status = efi_cmdline(image, info->cmdline);
    if (EFI_ERROR(status))
        return status;
    status = load_kernel(info, &entry);
    if (EFI_ERROR(status))
        return status;
    find_acpi(info);
    find_smbios(info);
    name_firmware(info);
    find_date(info);
    status = find_dtb(info);
    if (EFI_ERROR(status))
        return status;
    status = efi_initrd(image, info);
    if (EFI_ERROR(status))
        return status;
    find_framebuffer(info);
    status = efi_arch_prepare(info);
    if (EFI_ERROR(status))
        return status;
    status = leave_boot_services(image, info);
    if (EFI_ERROR(status))
        return status;
    efi_arch_enter(&entry, info);
}
