/*
 * A Linux driver of the simulated machine's disk in model time (kernel/dev/model/machine.h, struct
 * machine_disk), for the Linux guest (tools/linux-guest.sh): /dev/model0, with as many requests in
 * flight and pages in each as Vigil's driver has (kernel/dev/block/model_disk.c).
 *
 * The machine's registers are on a PCI device without interrupts: the disk writes the message that
 * a request names. Here it is the message of QEMU's device edu, which serves no other purpose.
 *
 * Requests in flight are blk-mq's tags. disk.lock guards the registers; `seen` belongs to the
 * interrupt.
 */
#include <linux/blk-mq.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/module.h>
#include <linux/msi.h>
#include <linux/pci.h>
#include "kernel/dev/model/machine.h"

#define EDU_VENDOR 0x1234 /* QEMU, docs/specs/edu */
#define EDU_DEVICE 0x11e8

#define DEPTH        MACHINE_DISK_SLOTS
#define RING_ENTRIES MACHINE_DISK_SLOTS
#define RING_BYTES \
    (sizeof(struct machine_disk_ring) + RING_ENTRIES * sizeof(struct machine_disk_done))

static struct {
    struct pci_dev *machine, *messenger;
    int irq;
    spinlock_t lock;
    volatile struct machine_disk __iomem *regs;
    struct machine_disk_request *asked; /* by tag */
    const volatile struct machine_disk_ring *ring;
    u64 seen; /* completions taken from the ring */
    struct blk_mq_tag_set tags;
    struct gendisk *gendisk;
    int major;
} disk = {.lock = __SPIN_LOCK_UNLOCKED(disk.lock)};

/* Puts the interrupt's message, as Linux has set it up now, into the request. */
static void tell_message(struct machine_disk_request *asked)
{
    struct msi_msg message;

    get_cached_msi_msg(disk.irq, &message);
    asked->irq_address = (u64)message.address_hi << 32 | message.address_lo;
    asked->irq_data = message.data;
}

static void describe_request(struct machine_disk_request *asked, struct request *r)
{
    struct req_iterator at;
    struct bio_vec page;

    *asked = (struct machine_disk_request){
        .page = blk_rq_pos(r) >> (PAGE_SHIFT - SECTOR_SHIFT),
        .flags = op_is_write(req_op(r)) ? MACHINE_DISK_WRITE : 0,
        .token = r->tag,
    };
    tell_message(asked);
    rq_for_each_segment(page, r, at) asked->frame[asked->count++] =
        page_to_phys(page.bv_page) + page.bv_offset;
}

static blk_status_t queue(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *what)
{
    struct request *r = what->rq;
    struct machine_disk_request *asked = &disk.asked[r->tag];
    unsigned long flags;
    int result;

    blk_mq_start_request(r);
    if (req_op(r) != REQ_OP_READ && req_op(r) != REQ_OP_WRITE)
        return BLK_STS_NOTSUPP;
    describe_request(asked, r);
    spin_lock_irqsave(&disk.lock, flags);
    writeq(virt_to_phys(asked), &disk.regs->submit);
    result = (int)readl(&disk.regs->result);
    spin_unlock_irqrestore(&disk.lock, flags);
    return result ? BLK_STS_IOERR : BLK_STS_OK;
}

static void finish_request(struct request *r)
{
    blk_mq_end_request(r, BLK_STS_OK);
}

static irqreturn_t interrupt(int irq, void *unused)
{
    for (; disk.seen != smp_load_acquire(&disk.ring->head); disk.seen++) {
        u64 tag = disk.ring->done[disk.seen % RING_ENTRIES].token;
        blk_mq_complete_request(blk_mq_tag_to_rq(disk.tags.tags[0], (unsigned)tag));
    }
    return IRQ_HANDLED;
}

static const struct blk_mq_ops queue_ops = {.queue_rq = queue, .complete = finish_request};
static const struct block_device_operations block_ops = {.owner = THIS_MODULE};

static int connect(void)
{
    int err;

    disk.messenger = pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);
    if (!disk.messenger)
        return -ENODEV;
    err = pci_enable_device(disk.messenger);
    if (err)
        return err;
    pci_set_master(disk.messenger);
    err = pci_alloc_irq_vectors(disk.messenger, 1, 1, PCI_IRQ_MSI);
    if (err < 0)
        return err;
    disk.irq = pci_irq_vector(disk.messenger, 0);
    return request_irq(disk.irq, interrupt, 0, "model", NULL);
}

static int find_registers(void)
{
    volatile struct machine_id __iomem *id;

    disk.machine = pci_get_device(MACHINE_PCI_VENDOR, MACHINE_PCI_DEVICE, NULL);
    if (!disk.machine || pci_enable_device(disk.machine))
        return -ENODEV;
    pci_set_master(disk.machine);
    id = pci_iomap(disk.machine, MACHINE_PCI_BAR, 0);
    if (!id)
        return -ENOMEM;
    if (readq(&id->magic) != MACHINE_MAGIC || readl(&id->version) != MACHINE_VERSION ||
        !(readl(&id->caps) & MACHINE_CAP_DISK))
        return -ENODEV;
    disk.regs = (volatile void __iomem *)id + MACHINE_DISK_OFFSET;
    return 0;
}

static int set_up_ring(void)
{
    disk.asked =
        (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(DEPTH * sizeof(*disk.asked)));
    disk.ring = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(RING_BYTES));
    if (!disk.asked || !disk.ring)
        return -ENOMEM;
    writeq(virt_to_phys((void *)disk.ring), &disk.regs->ring_base);
    writel(RING_ENTRIES, &disk.regs->ring_entries);
    writel(1, &disk.regs->reset);
    return (int)readl(&disk.regs->result);
}

/* Describes a disk without moving parts; a segment is a page. */
static void describe_queue(struct request_queue *q)
{
    blk_queue_logical_block_size(q, PAGE_SIZE);
    blk_queue_physical_block_size(q, PAGE_SIZE);
    blk_queue_max_hw_sectors(q, MACHINE_DISK_PAGES_MAX << (PAGE_SHIFT - SECTOR_SHIFT));
    blk_queue_max_segments(q, MACHINE_DISK_PAGES_MAX);
    blk_queue_max_segment_size(q, PAGE_SIZE);
    blk_queue_virt_boundary(q, PAGE_SIZE - 1);
    blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
    blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
}

static int add_model_disk(void)
{
    int err;

    disk.major = register_blkdev(0, "model");
    if (disk.major < 0)
        return disk.major;
    disk.tags = (struct blk_mq_tag_set){
        .ops = &queue_ops,
        .nr_hw_queues = 1,
        .queue_depth = DEPTH,
        .numa_node = NUMA_NO_NODE,
        .flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT,
    };
    err = blk_mq_alloc_tag_set(&disk.tags);
    if (err)
        return err;
    disk.gendisk = blk_mq_alloc_disk(&disk.tags, NULL);
    if (IS_ERR(disk.gendisk))
        return PTR_ERR(disk.gendisk);
    describe_queue(disk.gendisk->queue);
    disk.gendisk->major = disk.major;
    disk.gendisk->minors = 1;
    disk.gendisk->fops = &block_ops;
    snprintf(disk.gendisk->disk_name, DISK_NAME_LEN, "model0");
    set_capacity(disk.gendisk, readq(&disk.regs->pages) << (PAGE_SHIFT - SECTOR_SHIFT));
    return add_disk(disk.gendisk);
}

/* The guest ends with the machine, so nothing is ever released. */
static int __init start_driver(void)
{
    int err = find_registers();

    err = err ? err : set_up_ring();
    err = err ? err : connect();
    err = err ? err : add_model_disk();
    if (err)
        pr_err("model: the machine's disk cannot be used: %d\n", err);
    return err;
}

module_init(start_driver);
MODULE_DESCRIPTION("the simulated machine's disk in model time");
MODULE_LICENSE("Dual BSD/GPL");
