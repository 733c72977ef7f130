"""The tree of files that a suite's guest boots with, and its archive."""
import os
import pwd
import subprocess

import programs

UNPRIVILEGED = 65534


def make(root, environment):
    """Makes the folders and the files of /etc."""
    for folder in ("tmp", "dev", "proc", "sys", "etc", "root", "var/tmp"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    other = pwd.getpwuid(UNPRIVILEGED).pw_name # by which programs know it
    texts = {"passwd": "root:x:0:0:root:/root:/bin/sh\n"
                       f"{other}:x:{UNPRIVILEGED}:{UNPRIVILEGED}:{other}:/:/bin/false\n",
             "group": "root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\n",
             "hosts": "127.0.0.1 localhost\n", "environment": environment}
    for name, text in texts.items():
        with open(os.path.join(root, "etc", name), "w", encoding="utf-8") as file:
            file.write(text)


def finish(arch, top, root, archive):
    """Adds the C library and the runner, and packs all of it."""
    programs.add_libraries(arch, root)
    programs.add_locale(root)
    programs.build_runner(arch, top, root)
    subprocess.run(["tar", "--format=ustar", "--owner=0", "--group=0", "--mtime=@0", "--sort=name",
                    "--hard-dereference", "-cf", archive, "-C", root, "."], check=True)
