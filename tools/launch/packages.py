"""Debian packages as a layer: fetched with all that they depend on, unpacked, nothing of them run.
"""
import hashlib
import os
import re
import shlex
import shutil
import subprocess

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
# Libraries of compilers and of libc, by which packages have them (Debian 12 and 13).
PACKAGE_OF = {
    "libc.so.6": "libc6", "libm.so.6": "libc6", "libpthread.so.0": "libc6", "libdl.so.2": "libc6",
    "librt.so.1": "libc6", "libutil.so.1": "libc6", "libresolv.so.2": "libc6",
    "libmvec.so.1": "libc6", "libanl.so.1": "libc6", "ld-linux-x86-64.so.2": "libc6",
    "ld-linux-aarch64.so.1": "libc6", "libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6",
    "libgomp.so.1": "libgomp1", "libgfortran.so.5": "libgfortran5",
    "libquadmath.so.0": "libquadmath0", "libatomic.so.1": "libatomic1", "libz.so.1": "zlib1g",
    "libobjc.so.4": "libobjc4", "libcrypt.so.1": "libcrypt1",
}
# What programs do not read.
SKIPPED = {"/usr/share/doc", "/usr/share/man", "/usr/share/info", "/usr/share/lintian",
           "/usr/share/bug", "/usr/share/doc-base", "/usr/share/locale"}
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+(=\S+)?")


class PackageError(Exception):
    """Packages cannot be had."""


def fetch(top, names, isa, say):
    """Returns the folder in which the packages lie unpacked, with all they depend on."""
    for name in names:
        if not NAME.fullmatch(name):
            raise PackageError(f"--deb {name}: is no name of a package")
    key = hashlib.sha256(" ".join(sorted(set(names))).encode()).hexdigest()[:16]
    folder = os.path.join(top, "build", "run", "packages", DEBIAN[isa], key)
    if os.path.exists(os.path.join(folder, "complete")):
        return os.path.join(folder, "root")
    if not shutil.which("apt-get"):
        raise PackageError(f"no apt-get to fetch {' '.join(names)} with: packages are Debian's")
    say(f"fetching {' '.join(sorted(set(names)))} for {DEBIAN[isa]}")
    result = subprocess.run(["tools/closure.sh", DEBIAN[isa], folder, *sorted(set(names))], cwd=top,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        raise PackageError(result.stderr.strip() or "tools/closure.sh failed")
    make_alternatives(folder, say)
    with open(os.path.join(folder, "complete"), "w", encoding="ascii"):
        pass
    return os.path.join(folder, "root")


def installs(script):
    """Returns what a maintainer's script gives to update-alternatives --install: lists of
    (link, path), the main link first, each with its priority."""
    found = []
    for line in script.replace("\\\n", " ").split("\n"):
        if "update-alternatives" not in line or "--install" not in line or "$" in line:
            continue
        try:
            words = shlex.split(line[line.index("update-alternatives"):], comments=True)
        except ValueError:
            continue
        if "--install" not in words:  # it is in a comment, or inside a word
            continue
        at = words.index("--install")
        if len(words) < at + 5 or not re.fullmatch(r"-?\d+", words[at + 4]):
            continue
        links = [(words[at + 1], words[at + 3])]
        for i, word in enumerate(words):
            if word == "--slave" and i + 3 < len(words):
                links.append((words[i + 1], words[i + 3]))
        found.append((int(words[at + 4]), links))
    return found


def make_alternatives(folder, say):
    """Makes the links that update-alternatives would, of the highest priority each."""
    wanted = []
    control = os.path.join(folder, "control")
    for package in sorted(os.listdir(control)):
        script = os.path.join(control, package, "postinst")
        if not os.path.exists(script):
            continue
        with open(script, encoding="utf-8", errors="replace") as file:
            text = file.read()
        found = installs(text)
        wanted += found
        if "update-alternatives" in text and not found:
            say(f"{package}: its alternatives are made by a script, which is not run")
    root = os.path.join(folder, "root")
    for _, links in sorted(wanted, key=lambda one: -one[0]):
        for link, path in links:
            if os.path.lexists(root + path) and not os.path.lexists(root + link):
                os.makedirs(os.path.dirname(root + link), exist_ok=True)
                os.symlink(path, root + link)
