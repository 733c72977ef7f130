#!/usr/bin/env python3
"""The parts of ./vigil on the host, as TAP for prove: what it reads of programs, the archive that it
packs, how it parts a console. Nothing is booted; test/tools/run.t does.
"""
import io
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import traceback

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tools", "launch"))
sys.dont_write_bytecode = True

import archive  # noqa: E402
import console  # noqa: E402
import elf  # noqa: E402
import guest  # noqa: E402
import loader  # noqa: E402
import options  # noqa: E402
import packages  # noqa: E402
import tree  # noqa: E402
import truth  # noqa: E402

WORK = tempfile.mkdtemp(prefix="vigil-launch.")


def refused(kind, words, call, *args):
    """Fails unless the call raises an error of that kind whose text has all of the words."""
    try:
        call(*args)
    except kind as error:
        for word in words.split("|"):
            assert word in str(error), f"'{word}' is missing in: {error}"
        return
    raise AssertionError(f"not refused: {args}")


def place(name, data=b"", mode=0o644):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    return path


def compiled(name, *words, source="int main(void) { return 0; }"):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["gcc", "-x", "c", "-o", path, "-", *words], input=source.encode(), check=True)
    return path


def other_isa(path, name):
    """Returns a copy of an x86-64 file that claims to be for AArch64."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[18:20] = struct.pack("<H", 183)
    return place(name, bytes(data), 0o755)


# ---- ELF ------------------------------------------------------------------------------------------

def an_elf_file_says_what_it_needs():
    program = elf.Elf(compiled("needs", "-Wl,--no-as-needed,-rpath,$ORIGIN/lib:/opt/x", "-lm"))
    assert program.isa == "x86_64" and program.needed[-1] == "libc.so.6", program.needed
    assert "libm.so.6" in program.needed and program.runpath == ["$ORIGIN/lib", "/opt/x"]
    assert program.interpreter == "/lib64/ld-linux-x86-64.so.2" and not program.rpath
    assert elf.Elf(other_isa(program.path, "other")).isa == "aarch64"
    static = elf.Elf(compiled("static", "-static"))
    assert static.interpreter is None and not static.needed


def what_is_wrong_with_a_file_is_named():
    path = compiled("right")
    with open(path, "rb") as file:
        right = file.read()

    def changed(at, new):
        data = right[:at] + new + right[at + len(new):]
        return place("wrong", data)
    refused(elf.ElfError, "wrong: is no ELF file|expected 7f 45 4c 46", elf.Elf, changed(0, b"#!"))
    refused(elf.ElfError, "has 40 bytes, and an ELF header has 64", elf.Elf, place("w", right[:40]))
    refused(elf.ElfError, "32-bit program, expected a 64-bit", elf.Elf, changed(4, b"\1"))
    refused(elf.ElfError, "is big-endian", elf.Elf, changed(5, b"\2"))
    refused(elf.ElfError, "machine 243, expected 62 (x86-64) or 183", elf.Elf, changed(18, b"\xf3\0"))
    refused(elf.ElfError, "has type 1|object file", elf.Elf, changed(16, b"\1\0"))
    refused(elf.ElfError, "no program headers", elf.Elf, changed(56, b"\0\0"))
    refused(elf.ElfError, "program headers of 8 bytes", elf.Elf, changed(54, b"\x08\0"))
    refused(elf.ElfError, "ends at byte|and the file has", elf.Elf, place("w", right[:500]))
    refused(elf.ElfError, "is no ELF file (it begins with nothing", elf.Elf, place("w"))


def any_damaged_file_is_read_or_refused():
    with open(compiled("whole", "-lm"), "rb") as file:
        right = file.read()
    random.seed(1)
    read = 0
    for _ in range(1500):
        data = bytearray(right[:random.choice((len(right), random.randrange(len(right))))])
        for _ in range(random.randrange(4)):
            at = random.randrange(min(len(data), 1024) or 1)
            if at < len(data):
                data[at] = random.choice((0, 1, 255, random.randrange(256)))
        try:
            elf.Elf(place("damaged", bytes(data)))
            read += 1
        except elf.ElfError:
            pass
    assert 10 < read < 1490, read


# ---- Tree and archive -----------------------------------------------------------------------------

def sample():
    """Returns a tree with all kinds of entries, of a layer in WORK."""
    root = os.path.join(WORK, "layer")
    shutil.rmtree(root, ignore_errors=True)
    place("layer/usr/lib/a.so", b"a" * 5000)
    place("layer/usr/bin/tool", b"tool", 0o755)
    place("layer/data/" + "long/" * 30 + "name", b"x" * 4096)
    place("layer/data/page", b"p" * 4096)
    place("layer/data/" + "n" * 99, b"short")
    place("layer/data/" + "n" * 100, b"q" * 70000)
    os.symlink("usr/lib", root + "/lib")
    os.symlink("y" * 150, root + "/data/farlink")
    os.link(root + "/data/page", root + "/data/same")
    files = tree.Tree(tree.Layers([root]))
    files.add_layer(root, set())
    files.put("/etc/own", "text\n")
    files.folder("/tmp", 0o1777)
    return files


def written(files):
    out = io.BytesIO()
    files.write(out)
    return out.getvalue()


def an_archive_holds_the_tree():
    data = written(sample())
    seen = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            assert member.uid == member.gid == member.mtime == 0, member.name
            seen[member.name] = (member, tar.extractfile(member).read()
                                 if member.isreg() or member.islnk() else None)
    assert seen["usr/lib/a.so"][1] == b"a" * 5000 and seen["lib"][0].linkname == "usr/lib"
    assert seen["data/" + "long/" * 30 + "name"][1] == b"x" * 4096
    assert seen["data/" + "n" * 99][1] == b"short" and len(seen["data/" + "n" * 100][1]) == 70000
    assert seen["data/farlink"][0].linkname == "y" * 150
    assert seen["data/same"][0].islnk() and seen["data/same"][1] == b"p" * 4096
    assert seen["usr/bin/tool"][0].mode == 0o755 and seen["tmp"][0].mode == 0o1777
    assert seen["etc/own"][1] == b"text\n"


def contents_of_a_page_lie_on_pages():
    count = 0
    with tarfile.open(fileobj=io.BytesIO(written(sample()))) as tar:
        for member in tar:
            if member.isreg() and member.size >= 4096:
                assert member.offset_data % 4096 == 0, (member.name, member.offset_data)
                count += 1
    assert count == 4, count
    assert len(written(sample())) % 4096 == 0


def every_gap_is_filled_to_a_page():
    for blocks in range(20):
        for length in (5, 99, 100, 101, 400, 512):
            out = archive.Writer(io.BytesIO())
            out.put(bytes(blocks * 512))
            out.entry("/" + "n" * length, 0o644, archive.REGULAR, 4096)
            assert out.at % 4096 == 0, (blocks, length)
            records = out.file.getvalue()[(blocks + 1) * 512:-512]
            while records.strip(b"\0"):
                size = int(records.split(b" ", 1)[0])
                assert records[size - 1:size] == b"\n", records[:40]
                records = records[size:]


def the_same_tree_is_the_same_archive():
    one = sample()
    first, key = written(one), one.key()
    assert written(one) == first
    again = sample()
    assert written(again) == first
    place("layer/usr/bin/tool", b"other", 0o755)
    assert tree.Tree.key(sample()) != key


def gnu_tar_reads_it():
    path = place("gnu.tar", written(sample()))
    said = subprocess.run(["tar", "-tvf", path], capture_output=True, text=True, check=True)
    assert not said.stderr and "data/same link to data/page" in said.stdout, said


def links_lead_where_they_do_here():
    root = os.path.join(WORK, "links")
    shutil.rmtree(root, ignore_errors=True)
    place("links/opt/real/tool", b"x", 0o755)
    os.makedirs(root + "/usr/bin")
    os.makedirs(root + "/etc/alternatives")
    os.symlink("/etc/alternatives/tool", root + "/usr/bin/tool")
    os.symlink("../../opt/real/./tool", root + "/etc/alternatives/tool")
    os.symlink("loop", root + "/loop")
    os.symlink("../../../..", root + "/opt/up")
    files = tree.Tree(tree.Layers([root]))
    assert files.bring("/bin/tool") == root + "/opt/real/tool"
    assert {"/bin", "/usr/bin/tool", "/etc/alternatives/tool", "/opt/real/tool"} <= set(files.nodes)
    assert files.find("/opt/up/opt/real/tool") == root + "/opt/real/tool"
    refused(tree.TreeError, "more than 40 links", files.bring, "/loop")
    refused(tree.TreeError, "/nothing: no such file", files.bring, "/nothing")
    refused(tree.TreeError, "is a folder", files.bring, "/opt/real")
    refused(tree.TreeError, "no such file", files.bring, "/opt/real/tool/below")


def an_initramfs_holds_the_archive():
    path = place("sample.tar", written(sample()))
    init = place("init", b"#!first\n", 0o755)
    out = os.path.join(WORK, "initrd")
    subprocess.run([os.path.join(TOP, "tools/initramfs.py"), path, out, "/init=" + init,
                    "/.own/command=" + init], check=True)
    if not shutil.which("cpio"):
        return
    target = os.path.join(WORK, "unpacked")
    os.makedirs(target)
    with open(out, "rb") as file:
        subprocess.run(["cpio", "-idm", "--quiet", "--no-absolute-filenames"], stdin=file, cwd=target,
                       check=True)
    for name in ("init", ".own/command", "usr/lib/a.so", "data/same", "data/" + "n" * 100):
        assert os.path.isfile(os.path.join(target, name)), name
    assert os.readlink(target + "/lib") == "usr/lib"


# ---- What a program needs -------------------------------------------------------------------------

def libraries_are_found_as_the_dynamic_linker_does():
    base = os.path.join(WORK, "own")
    compiled("own/deep/libdeep.so", "-shared", "-fPIC", source="int deep(void) { return 1; }")
    compiled("own/lib/libfirst.so", "-shared", "-fPIC", f"-L{base}/deep", "-ldeep",
             "-Wl,-rpath,$ORIGIN/../deep", source="int deep(void); int first(void) { return deep(); }")
    program = compiled("own/bin/program", f"-L{base}/lib", "-lfirst", "-Wl,-rpath,${ORIGIN}/../lib",
                       f"-Wl,-rpath-link,{base}/deep",
                       source="int first(void); int main(void) { return first(); }")
    files = tree.Tree(tree.Layers([""]))
    load = loader.Loader(files, {})
    assert load.run(program, None) == "x86_64"
    for name in ("bin/program", "lib/libfirst.so", "deep/libdeep.so"):
        assert os.path.realpath(f"{base}/{name}") in files.nodes, name
    assert {"libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"} <= set(load.loaded), load.loaded
    shutil.move(base + "/deep", base + "/away")
    refused(loader.Missing, "libfirst.so: needs libdeep.so for x86-64, which is not there",
            loader.Loader(tree.Tree(tree.Layers([""])), {}).run, program, None)
    given = loader.Loader(tree.Tree(tree.Layers([""])), {"LD_LIBRARY_PATH": base + "/away"})
    assert given.run(program, None) == "x86_64"


def libraries_for_others_are_passed_over():
    base = os.path.join(WORK, "two")
    right = compiled("two/right/libtwo.so", "-shared", "-fPIC", source="int two(void) { return 2; }")
    os.makedirs(base + "/wrong", exist_ok=True)
    other_isa(right, "two/wrong/libtwo.so")
    program = compiled("two/program", f"-L{base}/right", "-ltwo",
                       "-Wl,-rpath,$ORIGIN/wrong:$ORIGIN/right",
                       source="int two(void); int main(void) { return two(); }")
    files = tree.Tree(tree.Layers([""]))
    loader.Loader(files, {}).run(program, None)
    assert os.path.realpath(right) in files.nodes
    assert os.path.realpath(base) + "/wrong/libtwo.so" not in files.nodes
    foreign = other_isa(program, "two/foreign")
    refused(loader.Missing, "/lib64/ld-linux-x86-64.so.2 for AArch64",
            loader.Loader(tree.Tree(tree.Layers([""])), {}, []).run, foreign, None)


def interpreters_of_scripts_come_along():
    script = place("script", b"#!/usr/bin/env -S sh\necho\n", 0o755)
    files = tree.Tree(tree.Layers([""]))
    load = loader.Loader(files, {})
    load.run(script, lambda name: loader.path_search(files, name, ["/nowhere", "/bin"]))
    assert files.find("/usr/bin/env") and any(path.endswith("sh") for path in files.nodes)
    refused(loader.LoaderError, "neither an ELF file nor a script|begins with 65 63 68 6f", load.run,
            place("text", b"echo\n", 0o755), None)
    refused(loader.LoaderError, "names no interpreter", load.run, place("text", b"#! \n"), None)
    itself = os.path.join(WORK, "itself")
    place("itself", b"#!" + itself.encode() + b"\n", 0o755)
    refused(loader.LoaderError, "more than 5 interpreters", load.run, itself, None)


def plain_alternatives_are_known():
    script = """case "$1" in configure)
    update-alternatives --quiet --install /usr/bin/awk awk /usr/bin/mawk 5 \\
        --slave /usr/share/man/man1/awk.1.gz awk.1.gz /usr/share/man/man1/mawk.1.gz
    update-alternatives --install $link x "$path" 3
    update-alternatives --remove awk /usr/bin/mawk
    # --install: what update-alternatives did before
    esac
"""
    assert packages.installs(script) == [(5, [
        ("/usr/bin/awk", "/usr/bin/mawk"),
        ("/usr/share/man/man1/awk.1.gz", "/usr/share/man/man1/mawk.1.gz")])]


# ---- Command line and console ---------------------------------------------------------------------

def unquoted(line):
    """Splits a line as kernel/lib/words.c does."""
    words, at = [], 0
    while at < len(line):
        if line[at] in " \t\n\r":
            at += 1
            continue
        word = ""
        while at < len(line) and line[at] not in " \t\n\r;&":
            if line[at] in "'\"":
                end = line.index(line[at], at + 1)
                word += line[at + 1:end]
                at = end + 1
            else:
                word += line[at]
                at += 1
        words.append(word)
        assert at == len(line) or line[at] not in ";&", line
    return words


def words_are_quoted_as_the_kernel_reads_them():
    random.seed(2)
    for _ in range(3000):
        words = ["".join(random.choice("ab '\";&\t\n\\$=") for _ in range(random.randrange(8)))
                 for _ in range(random.randrange(5))]
        assert unquoted(" ".join(map(guest.quote, words))) == words, words


def a_split_console_is_parted_whatever_its_pieces():
    random.seed(3)
    mark = b"abab"
    for _ in range(500):
        parts, line = [], b""
        for _ in range(random.randrange(6)):
            kind = random.choice("PEK")
            text = bytes(random.choice(b"xPEK\n\x10") for _ in range(random.randrange(6)))
            text = text.replace(b"\x10", b"") if kind == "K" else text
            parts.append((kind, text))
            line += b"\x10" + kind.encode() + text.replace(b"\x10", b"\x10\x10")
        parted(console.Split, line, parts, None)
        own = bytes(random.choice(b"ab\x10PK") for _ in range(random.randrange(30)))
        if b"\x10" + mark in own + b"\x10":
            continue
        parted(console.Split, b"boot\x10" + mark + b"P" + own + b"\x10" + mark +
               b"Eno" + b"\x10" + mark + b"Kend",
               [("K", b"boot"), ("P", own), ("E", b"no"), ("K", b"end")], mark)


def parted(kind, line, parts, mark):
    program, errors, kernel = io.BytesIO(), io.BytesIO(), io.BytesIO()
    split = kind(program.write, errors.write, kernel.write, mark)
    at = 0
    while at < len(line):
        n = random.randrange(1, 5)
        split.feed(line[at:at + n])
        at += n
    split.end()
    for name, got in (("P", program), ("E", errors), ("K", kernel)):
        want = b"".join(text for kind, text in parts if kind == name)
        assert got.getvalue() == want, (line, name, got.getvalue(), want)


def the_status_is_that_of_the_kernels_line():
    kernel = console.KernelLines(io.BytesIO())
    kernel.feed(b"boot: x\r\nrun: a\r\nexit: app=a status=20")
    assert kernel.begun and kernel.status is None
    kernel.feed(b"1 ms=5\r\nexit: app=b status=3 ms=1\r\n")
    assert kernel.status == 201


def wrong_options_are_refused():
    for words, said in (((), "no program is named"), (("--",), "no program"),
                        (("--what", "x"), "unknown option '--what'"), (("--smp", "0", "x"), "--smp 0"),
                        (("--mem=lots", "x"), "expected a size"), (("--arch", "arm", "x"), "x86_64 or"),
                        (("--kernel=bsd", "x"), "vigil or linux"), (("--timeout", "-1", "x"), "seconds"),
                        (("--share", "/no/folder:rw", "x"), "no such folder"),
                        (("--kernel=linux", "--share=/tmp", "x"), "has no 9P"), (("--mem",), "value is missing"),
                        (("--policy", "sched", "x"), "expected NAME=VALUE"),
                        (("--policy", "size=1", "x"), "expected one of"),
                        (("--env", "1=2", "x"), "expected NAME=VALUE"),
                        (("--beside", "s", "x"), "each needs the other"),
                        (("--beside", "'s", "--await", "/s", "x"), "No closing quotation"),
                        (("--beside", "", "--await", "/s", "x"), "no program is named"),
                        (("--beside", "s -- t", "--await", "/s", "x"), "cannot be passed on"),
                        (("--beside", "s", "--await", "s", "x"), "a socket's path or a port"),
                        (("--kernel=linux", "--policy=sched=cluster", "x"), "none of Vigil's")):
        refused(options.UsageError, said, options.parse, words)
    o = options.parse(["--deb", "a,b", "--deb=c", "--policy", "sched=cluster,memory=64M", "--cwd", "p",
                       "--smp", "3"])
    assert o.deb == ["a", "b", "c"] and o.command == ["p", "--smp", "3"] and o.cwd and o.smp is None
    assert o.policies() == ["sched.policy=cluster", "mem.process=64M"]
    o = options.parse(["--beside", "s --save ''", "--await", "6379", "p"])
    assert o.beside == ["s", "--save", ""] and o.await_ == "6379"


def the_report_is_of_the_time_between_the_marks():
    path = place("truth.txt", b"mark run time=100 host_ms=1\ntotal cycles=10 instructions=4\n"
                 b"cpu 0 user cycles=5 instructions=4\nend run\nmark ran time=3000100 host_ms=2\n"
                 b"total cycles=1010 instructions=504 stall_dcache=250\ncpu 0 user cycles=505 x=1\n"
                 b"end ran\nmark exit time=9 host_ms=3\ntotal cycles=9999\nend exit\n")
    lines = truth.lines_of(truth.between(path, "run", "ran"))
    assert lines[0] == ("vigil: 3.000 ms, 1,000 cycles (50.0 % in the program), 500 instructions "
                        "(0.50 a cycle)"), lines
    assert lines[1] == "vigil:   went to: data not in the first cache 25.0 %", lines
    assert truth.between(place("t", b"mark run time=1\n"), "run", "ran") is None


def main():
    os.chdir(TOP)
    tests = [value for value in list(globals().values())
             if callable(value) and getattr(value, "__module__", "") == "__main__" and
             value.__code__.co_argcount == 0 and value.__name__ not in ("main", "sample")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__.replace('_', ' ')}")
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {test.__name__.replace('_', ' ')}")
            print("# " + traceback.format_exc().replace("\n", "\n# "))
        sys.stdout.flush()
    shutil.rmtree(WORK, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
