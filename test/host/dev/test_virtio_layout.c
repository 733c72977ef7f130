/* The places of a virtio device's registers, and everything a device can state wrongly about
 * them. */
#include "test/host/double/expect_panic.h"
#include "test/host/double/virtio_config.h"

static struct virtio_layout layout;

static int find(void)
{
    return virtio_layout_find(config, &layout);
}

static void the_three_regions_are_found(void **state)
{
    (void)state;
    make_device();
    assert_int_equal(find(), 0);
    assert_int_equal(layout.common.bar, 4);
    assert_int_equal(layout.common.at, 0);
    assert_int_equal(layout.notify.at, 0x3000);
    assert_int_equal(layout.notify_multiplier, 4);
    assert_int_equal(layout.device.at, 0x2000);
    assert_int_equal(layout.device.bytes, 0x1000);
}

static void the_first_of_a_kind_counts(void **state)
{
    (void)state;
    make_device();
    config[0x40 / 4] |= 0xc0 << 8;
    capability(0xc0, 0xd0, 16, CAP_COMMON, 5, 0x40, 0x1000);
    capability(0xd0, 0, 20, CAP_NOTIFY, 5, 0x80, 0x1000);
    config[0xe0 / 4] = 8;
    assert_int_equal(find(), 0);
    assert_int_equal(layout.common.bar, 4);
    assert_int_equal(layout.notify_multiplier, 4);
}

static void a_reserved_bar_is_passed_over(void **state)
{
    (void)state;
    make_device();
    config[0x40 / 4 + 1] = 6;
    assert_int_equal(find(), -ENOENT);
    config[0x40 / 4] |= 0xc0 << 8;
    capability(0xc0, 0, 16, CAP_COMMON, 5, 0x40, 0x1000);
    assert_int_equal(find(), 0);
    assert_int_equal(layout.common.bar, 5);
}

static void a_device_without_the_modern_interface_is_told_apart(void **state)
{
    (void)state;
    make_device();
    config[1] = 0;
    assert_int_equal(find(), -ENOENT);
    make_device();
    config[0x34 / 4] = 0;
    assert_int_equal(find(), -ENOENT);
    make_device();
    capability(0x40, 0, 16, CAP_PCI, 4, 0, 0x1000);
    assert_int_equal(find(), -ENOENT);
    make_device();
    config[0x70 / 4 + 3] = 0;
    assert_int_equal(find(), -ENOENT);
    make_device();
    config[0x60 / 4 + 3] = 0; /* registers of its own kind are optional */
    assert_int_equal(find(), 0);
    assert_int_equal(layout.device.bytes, 0);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    make_device();
    capability(0x40, 0, 15, CAP_COMMON, 4, 0, 0x1000); /* too short */
    assert_int_equal(find(), -EINVAL);
    make_device();
    capability(0x70, 0x60, 16, CAP_NOTIFY, 4, 0x3000, 0x1000); /* without its multiplier */
    assert_int_equal(find(), -EINVAL);
    make_device();
    config[0x40 / 4] |= 0xf0 << 8;
    capability(0xf0, 0, 20, CAP_NOTIFY, 4, 0x3000, 0x1000); /* beyond the end */
    assert_int_equal(find(), -EINVAL);
    make_device();
    config[0x40 / 4] |= 0x40 << 8; /* circular */
    assert_int_equal(find(), -EINVAL);
    static const uint32_t multipliers[] = {1, 3, 6, 0x80000001};
    for (size_t i = 0; i < ARRAY_SIZE(multipliers); i++) {
        make_device();
        config[0x80 / 4] = multipliers[i];
        assert_int_equal(find(), -EINVAL);
    }
    make_device();
    config[0x40 / 4 + 2] = 2;
    assert_int_equal(find(), -EINVAL);
    make_device();
    config[0x70 / 4 + 2] = 1;
    assert_int_equal(find(), -EINVAL);
    make_device();
    config[0x60 / 4 + 2] = 6;
    assert_int_equal(find(), -EINVAL);
}

static void a_region_lies_inside_its_bar(void **state)
{
    struct virtio_region r = {4, 0x1000, 0x38};

    (void)state;
    assert_true(virtio_region_fits(&r, 0x1038, VIRTIO_COMMON_BYTES));
    assert_false(virtio_region_fits(&r, 0x1037, VIRTIO_COMMON_BYTES));
    assert_false(virtio_region_fits(&r, 0, 0));
    r.bytes = 0x37;
    assert_false(virtio_region_fits(&r, 0x4000, VIRTIO_COMMON_BYTES));
    r = (struct virtio_region){4, UINT32_MAX, UINT32_MAX};
    assert_false(virtio_region_fits(&r, 0x4000, 0));
    assert_false(virtio_region_fits(&r, UINT32_MAX, 0));
    assert_true(virtio_region_fits(&r, 2 * (uint64_t)UINT32_MAX, 0));
}

static void a_doorbell_lies_inside_its_region(void **state)
{
    struct virtio_layout l = {.notify_multiplier = 4};
    uint32_t at;

    (void)state;
    assert_int_equal(virtio_doorbell(&l, 3, 14, &at), 0);
    assert_int_equal(at, 12);
    assert_int_equal(virtio_doorbell(&l, 3, 13, &at), -ERANGE);
    l.notify_multiplier = 0;
    assert_int_equal(virtio_doorbell(&l, UINT16_MAX, 2, &at), 0);
    assert_int_equal(at, 0);
    l.notify_multiplier = 0x80000000;
    assert_int_equal(virtio_doorbell(&l, 2, 0x1000, &at), -ERANGE);
    assert_int_equal(virtio_doorbell(&l, UINT16_MAX, UINT32_MAX, &at), -ERANGE);
}

/* Random contents: the parser returns, and reads nothing outside (the sanitizers check). */
static void random_configuration_space_is_survived(void **state)
{
    uint64_t seed = 1;
    unsigned found = 0;

    (void)state;
    for (unsigned round = 0; round < 200000; round++) {
        make_device();
        for (unsigned n = 1 + test_random(&seed) % 4; n--;)
            config[test_random(&seed) % VIRTIO_CONFIG_WORDS] ^= 1u << test_random(&seed) % 32;
        if (round % 4 == 0)
            for (unsigned i = 0; i < VIRTIO_CONFIG_WORDS; i++)
                config[i] = (uint32_t)test_random(&seed);
        int err = find();
        assert_true(!err || err == -ENOENT || err == -EINVAL);
        found += !err;
        assert_true(err || (layout.common.bar < VIRTIO_BARS && layout.notify.bar < VIRTIO_BARS &&
                            layout.common.bytes));
    }
    assert_in_range(found, 1000, 199000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_regions_are_found),
        cmocka_unit_test(the_first_of_a_kind_counts),
        cmocka_unit_test(a_reserved_bar_is_passed_over),
        cmocka_unit_test(a_device_without_the_modern_interface_is_told_apart),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_region_lies_inside_its_bar),
        cmocka_unit_test(a_doorbell_lies_inside_its_region),
        cmocka_unit_test(random_configuration_space_is_survived),
    };

    return cmocka_run_group_tests_name("virtio_layout", tests, NULL, NULL);
}
