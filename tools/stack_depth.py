#!/usr/bin/env python3
"""How deep can a kernel stack get? Finds the deepest static path through the kernel's calls, with
interrupts on top.

  tools/stack_depth.py ARCH FILE.ci ...     (of every file of the kernel, by gcc's
                                            -fcallgraph-info=su)

Frames and calls are the compiler's. A call through a pointer may reach every function that the
sources give a member of that name, in an initializer or an assignment; functions called by other
names are in CALLS below. A call with unknown targets and a recursion without a bound are errors,
and so is a path that does not fit the stack.

An access to user memory may fault: the exception's frame and the fault's path are then added. A
panic can come from anywhere and is added once, at the end; so are the interrupts that can come on
top of each other.
"""
import os
import re
import sys
import zlib

# The structure of the member that an expression calls, where several have members of that name.
BASES = {
    "hpm_state.ops": "pmu_ops",
    "path.ops": "path_ops",
    ("hpm/path/path.c", "ops"): "path_ops",
    ("hpm/frequency.c", "ops"): "frequency_ops",
    ("hpm/frequency.c", "frequency_backends[i]"): "frequency_ops",
    ("hpm/pmu/x86/frequency.c", "control"): "control",
    ("hpm/pmu/x86/frequency.c", "controls[i]"): "control",
    "hardware": "path_ops",
    "track.ops": "tracker_ops",
    "b->pool->ops": "replace_ops",
    "p->ops": "replace_ops",
    "chooser_expert[i]": "replace_ops",
    "chooser_expert[s->current]": "replace_ops",
    "prefetch->ops": "prefetch_ops",
    "gic.ops": "gic_ops",
    "s->ops": "socket_ops",
    ("kernel/proc/syscall/socket.c", "a->ops"): "socket_ops",
    ("kernel/proc/syscall/socket.c", "new->ops"): "socket_ops",
    "v->ops": "vnode_ops",
    "t->end": "terminal_end",
    "named->ops": "vnode_ops",
    ("kernel/dev/net/net_device.c", "d->ops"): "net_ops",
    ("kernel/dev/net/net_queue.c", "d->ops"): "net_ops",
    ("kernel/dev/net/net_queue.c", "q->device->ops"): "net_ops",
    ("kernel/dev/net/net_queue.c", "ops"): "net_ops",
    ("kernel/net/lwip/instance.c", "t"): "net_task",
    ("kernel/net/lwip/stream.c", "t->owner"): "net_stream_owner",
    ("kernel/net/lwip/stream.c", "listener->owner"): "net_stream_owner",
    ("kernel/net/lwip/fusion.c", "arrived->owner"): "net_stream_owner",
    ("kernel/net/lwip/fusion.c", "connected->owner"): "net_stream_owner",
    ("kernel/net/lwip/fusion.c", "other->owner"): "net_stream_owner",
    ("kernel/net/lwip/fusion.c", "t->owner"): "net_stream_owner",
    ("kernel/net/lwip/fusion.c", "to->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "part->to->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "t->fused->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "to->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "t->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "t->main->owner"): "net_stream_owner",
    ("kernel/net/lwip/streams.c", "t->home"): "net_instance",
    ("kernel/net/lwip/streams.c", "b->home"): "net_instance",
    ("kernel/net/lwip/instances.c", "instances[i]"): "net_instance",
    ("kernel/net/lwip/instances.c", "instances[0]"): "net_instance",
    ("kernel/net/lwip/datagram.c", "t->owner"): "net_port_owner",
    ("kernel/firmware/acpi_platform.c", "k"): "kind",
    ("kernel/arch/msi.c", "m"): "message",
    ("mm/policy/prefetch/prefetch.c", "p->ops"): "prefetch_ops",
    ("mm/policy/prefetch/prefetch.c", "ops"): "prefetch_ops",
}
# Functions called by names that the sources do not lead to.
CALLS = {
    "kernel/arch/aarch64/its.c:alloc_frames": ["frame_alloc"],
    "kernel/arch/aarch64/lpi.c:alloc": ["frame_alloc"],
    "kernel/arch/aarch64/lpi.c:alloc_frames": ["frame_alloc"],
    "kernel/arch/aarch64/memory.c:replace": ["replace_ttbr1"],
    "kernel/net/lwip/instance.c:run": ["kernel/net/lwip/stream.c:run_task"],
    "kernel/net/lwip/card.c:input": ["ethernet_input"],
    "kernel/lib/format.c:sink": [
        "kernel/core/printf.c:put_on_console",
        "kernel/core/printf.c:buffer_put",
    ],
    "kernel/fs/pseudo.c:take": ["kernel/file/file.c:take_listed"],
    "kernel/file/pty.c:take": ["kernel/file/file.c:take_listed"],
    "kernel/fs/p9_file.c:take": ["kernel/file/file.c:take_listed"],
    "kernel/fs/tree.c:take": ["kernel/file/file.c:take_listed"],
    "mm/track/track.c:sink": [
        "mm/track/record.c:record_run",
        "pool_sink",
        "mm/track/curve.c:update_curve",
    ],
}
# The same in lwIP, by words of the calling line. An empty list: that is never set here.
STREAM = "kernel/net/lwip/stream.c:"
LWIP_CALLS = {
    "TCP_EVENT_ACCEPT": [STREAM + "arrived"],
    "TCP_EVENT_SENT": [STREAM + "acked"],
    "TCP_EVENT_RECV": [STREAM + "received"],
    "TCP_EVENT_CLOSED": [STREAM + "received"],
    "TCP_EVENT_CONNECTED": [STREAM + "connected"],
    "TCP_EVENT_POLL": [STREAM + "tried_again"],
    "TCP_EVENT_ERR": [STREAM + "ended"],
    "pcb->recv": ["kernel/net/lwip/datagram.c:received", "build/lwip/src/core/ipv4/dhcp.c:dhcp_recv"],
    "->output": [
        "build/lwip/src/core/netif.c:netif_loop_output_ipv4",
        "etharp_output",
        "build/lwip/src/core/netif.c:netif_null_output_ip4",
    ],
    "linkoutput": ["kernel/net/lwip/card.c:send_frame"],
    "NETIF_STATUS_CALLBACK": [],
    "custom_free_function": ["kernel/net/lwip/card.c:free_received"],
}
# Recursions: a function in each, the most frames of it at a time, and why.
RECURSIONS = {
    "acpi_find": (2, "the DSDT's address is in another table"),
    "fdt_path_offset_namelen": (2, "an alias is looked for at /aliases, which is none"),
    "hpm/events/metric.c:read_operand": (
        9,
        "DEPTH_MAX brackets and signs of a metric, and what is in them",
    ),
    "kernel/proc/process.c:end_family": (2, "none of those it ends is a family's first"),
    "kernel/proc/jobs.c:hung_up": (1, "SIGHUP and SIGCONT end no process where they are sent"),
    "kernel/file/epoll.c:look_locked": (2, "an epoll in an epoll has none"),
    "kernel/net/socket/unix_packet.c:close_rights": (2, "the outermost closes what others find"),
    "kernel/net/lwip/streams.c:keep_main": (2, "what a branch belongs to is no branch"),
    "kernel/net/lwip/streams.c:let_go_main": (2, "what a branch belongs to is no branch"),
    "unix_name_put": (2, "what a name stands for is no socket"),
    "object_put": (2, "the space of a store has no users of objects"),
    "object_bring_held": (2, "the space of a store shows no object"),
    "mm/policy/region/region.c:search_below": (29, "the height of a balanced tree of REGIONS_OF_FILES_MAX"),
    "mm/policy/region/tree.c:check_below": (29, "the height of a balanced tree of REGIONS_OF_FILES_MAX"),
    "process_put": (2, "a process's program is no descriptor of signals"),
    "kernel/fs/tree.c:release_node": (2, "what a further name stands for is no further name"),
    "kernel/arch/pt.c:free_below": (4, "the levels of a page table"),
}
# Calls through pointers that do not happen, by the files of both ends, and why.
CUT = {
    ("kernel/file/pipe.c", "kernel/file/pipe.c"): "what has a FIFO's name is no pipe",
    (
        "mm/policy/prefetch/chooser.c",
        "mm/policy/prefetch/chooser.c",
    ): "the chooser is none of its experts",
    (
        "mm/policy/replace/chooser.c",
        "mm/policy/replace/chooser.c",
    ): "the chooser is none of its experts",
    (
        "mm/policy/replace/chooser_sets.c",
        "mm/policy/replace/chooser.c",
    ): "the chooser is none of its experts",
    (
        "mm/policy/replace/chooser_work.c",
        "mm/policy/replace/chooser.c",
    ): "the chooser is none of its experts",
    (
        "kernel/fs/pseudo.c",
        "kernel/fs/pseudo.c",
    ): "the follow of a row is none of a vnode's operations",
    ("sched/thread.c", "sched/thread.c"): "run_thread is no thread's own entry",
}
PANICS = {"panic", "panic_frame", "kernel/core/panic.c:panic_stopped"}

# By instruction set: the bytes an exception saves; C functions that entry.S calls; frames of
# functions in assembly; members of arch_handlers and functions that only exceptions from user mode,
# only faults and only interrupts reach.
USER_ONLY = {"*user_return", "*user_fault", "*syscall", "fault_from_user"}
FAULT_ONLY = {"*page_fault", "fault_in_kernel"}
INTERRUPT_ONLY = {
    "*timer",
    "*ipi",
    "*pmu",
    "*path",
    "msi_arrived",
    "gic_interrupt",
    "gic_quick_interrupt",
}
FAST_ONLY = {"call_ipi", "tlb_ipi"}  # but for these: the one FIQ is that to stop
ISA = {
    "x86_64": {
        "exception": 176 + 8 + 16,  # struct arch_frame, its alignment, the link
        "user": ["syscall_enter", "trap_enter"],
        "fault": "trap_enter",
        "interrupts": [(["trap_enter", "trap_pmu_enter"], set())],
        "assembly": {
            "context_switch": 56,
            "user_copy": 8,
            "peek32": 8,
            "peek64": 8,
            "user_swap32": 8,
            "user_enter": 8,
        },
        "starts": ["kernel_main", "kernel_secondary_main"],
    },
    "aarch64": {
        "exception": 304,
        "user": ["trap_user"],
        "fault": "trap_kernel",
        "interrupts": [(["trap_irq", "gic_quick_interrupt"], set()), (["trap_fiq"], FAST_ONLY)],
        "assembly": {
            "replace_ttbr1": 0,
            "fpu_save": 0,
            "fpu_restore": 0,
            "context_switch": 96,
            "user_copy": 0,
            "peek32": 0,
            "peek64": 0,
            "user_swap32": 0,
            "user_enter": 0,
        },
        "starts": ["kernel_main", "kernel_secondary_main"],
    },
}
FAULTS = {"user_copy"}
ORDERS = 30


def fail(text):
    sys.exit("stack_depth: " + text)


def balanced(text, at):
    """Returns the text between the bracket at `at` and its partner."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "({[") - (text[i] in ")}]")
        if not depth:
            return text[at + 1 : i]
    return ""


class Sources:
    """The possible targets of pointers to functions in the kernel's sources:
    values["struct.member"], values["function(parameter)"] and, for other assignments,
    values["name"]."""

    def __init__(self):
        self.text, self.values, self.alias, self.structs, self.functions = {}, {}, [], {}, set()
        self.parameters, self.defined = {}, {}

    def read(self, path):
        if path not in self.text:
            blank = lambda m: re.sub(r"[^\n]", " ", m[0])
            self.text[path] = re.sub(r"/\*.*?\*/", blank, open(path).read(), flags=re.S)
        return self.text[path]

    def find_values(self, functions):
        self.functions = functions
        paths = list(self.text)
        for path in paths:  # it grows
            for header in re.findall(r'#include "(\S+\.h)"', self.text[path]):
                beside = os.path.join(os.path.dirname(path), header)
                for found in (header, beside):
                    if os.path.exists(found) and found not in self.text:
                        self.read(found)
                        paths.append(found)
        self.find_pointers()
        for path in self.text:
            self.find_definitions(path)
        for path in self.text:
            self.find_assigned(path)
            self.find_listed(path)
            self.find_passed(path)
            self.find_rows(path)
        last = lambda name: re.findall(r"\w+", name)[-1]
        for _ in range(4):
            for to, value in self.alias:
                if (
                    value in self.values
                    and last(to) in self.pointers
                    and last(value) in self.pointers
                ):
                    self.values.setdefault(to, set()).update(self.values[value])

    def find_pointers(self):
        """Sets self.pointers: names that are declared as pointers to functions somewhere."""
        every = "\n".join(self.text.values())
        self.pointers = set(re.findall(r"\(\*(?:const )?(\w+)(?:\[\w*\])*\)\s*\(", every))
        for name in re.findall(r"typedef [^;{}()]*?\b(\w+)\([^;]*\);", every):
            self.pointers |= set(re.findall(r"\b" + name + r" \*(?:const )?(\w+)", every))

    def find_definitions(self, path):
        text, at = self.read(path), []
        for m in re.finditer(r"^[\w*][^;{}()\n#]*?\b(\w+)\(", text, re.M):
            inside = balanced(text, m.end() - 1)
            names = re.findall(
                r"\(\*(\w+)\)\(|(\w+)(?:\[\w*\])?\s*(?:,|$)", re.sub(r"\)\([^()]*\)", ")(", inside)
            )
            if inside:
                self.parameters.setdefault(m[1], set()).update(a or b for a, b in names)
                at.append((text.count("\n", 0, m.start()) + 1, m[1]))
        self.defined[path] = at
        for m in re.finditer(r"struct (\w+)\s*\{", text):
            self.structs[m[1]] = balanced(text, m.end() - 1)

    def find_rows(self, path):
        """Lists of rows for a macro: ROW(SYS_MARK, "mark", vigil_mark), the last is `handle`."""
        for value in re.findall(r"\bROW\([^()]*\b(\w+)\)", self.read(path)):
            self.add(path, "handle", value)

    def within(self, path, line):
        """Returns the function a line is in."""
        return max((d for d in self.defined[path] if d[0] <= line), default=(0, ""))[1]

    def titles(self, path, value):
        return [t for t in (path + ":" + value, value) if t in self.functions][:1]

    def add(self, path, name, value):
        if re.findall(r"\w+", name)[-1] not in self.pointers:
            return
        for title in self.titles(path, value):
            self.values.setdefault(name, set()).add(title)

    def find_assigned(self, path):
        """Finds assignments, and tables of functions."""
        text = self.read(path)
        for m in re.finditer(
            r"(?<![\s{,(]\.)\b(\w+)(?:\[[^\]=]*\])?\s*=\s*(?:[^;=?\n]*\? &?(\w+) : )?&?(\w+)\s*[;,}\n]",
            text,
        ):
            for value in (m[2], m[3]):
                if value:
                    self.add(path, m[1], value)
                    inside = self.within(path, text.count("\n", 0, m.start()) + 1)
                    self.alias += [(m[1], f"{inside}({value})"), (m[1], value)]
        for pointer, values in re.findall(r"\(\*(\w+)\)\([^()]*\)\s*=\s*([^;]+);", text):
            self.alias += [(pointer, value) for value in re.findall(r"\w+", values)]
        for m in re.finditer(r"__atomic_store_n\(&(\w+), (\w+),", text):
            inside = self.within(path, text.count("\n", 0, m.start()) + 1)
            self.alias.append((m[1], f"{inside}({m[2]})"))
        for m in re.finditer(r"(\w+)(?:\[[^\]]*\]\)?(?:\(.*?\))?)\s*=\s*\{", text):
            for value in re.findall(r"(?<![\w.\[])\w+", balanced(text, m.end() - 1)):
                self.add(path, m[1], value)

    def find_listed(self, path):
        """Finds structures. A function in an initializer without names may be any of the
        structure's pointers to functions."""
        text = self.read(path)
        for m in re.finditer(
            r"\bstruct (\w+)?\s*(\{)?|(\((?:const )?struct (\w+)\)|return)\s*\{", text
        ):
            body, at, name = "", m.end(), m[1] or m[4] or "?"
            if m[2]:
                body = balanced(text, m.end() - 1)
                at += len(body) + 1
            if m[3]:
                values = balanced(text, m.end() - 1)
            else:
                start = re.compile(r"\s*\w+(?:\[[^\]]*\])?\s*=\s*\{").match(text, at)
                if not start:
                    continue
                values = balanced(text, start.end() - 1)
            inside = self.within(path, text.count("\n", 0, m.start()) + 1)
            for member, value in re.findall(r"\.(\w+)\s*=\s*(?:\{\s*)?&?(\w+)\b(?!\s*\()", values):
                self.add(path, f"{name}.{member}", value)
                if self.titles(path, value):
                    continue
                self.alias += [
                    (f"{name}.{member}", f"{inside}({value})"),
                    (f"{name}.{member}", value),
                ]
            pointers = re.findall(
                r"\(\*(?:const )?(\w+)\)\s*\(", body or self.structs.get(name, "")
            )
            for value in re.findall(r"(?:^|[{,])\s*&?(\w+)\s*(?=[,}]|$)", values):
                for pointer in pointers:
                    self.add(path, f"{name}.{pointer}", value)
                    self.alias.append((f"{name}.{pointer}", f"{inside}({value})"))

    def find_passed(self, path):
        """Finds functions that are passed to functions."""
        text = self.read(path)
        for m in re.finditer(r"\b(\w+)\(", text):
            names = self.parameters.get(m[1])
            if not names:
                continue
            inside = self.within(path, text.count("\n", 0, m.start()) + 1)
            for value in re.findall(
                r"(?:^|[,?:])\s*&?(\w+)(?:\[\w*\])?\s*(?=[,?:]|$)", balanced(text, m.end() - 1)
            ):
                for name in names:
                    self.add(path, f"{m[1]}({name})", value)
                    self.alias += [
                        (f"{m[1]}({name})", f"{inside}({value})"),
                        (f"{m[1]}({name})", value),
                    ]

    def called(self, place):
        """Returns the possible targets of a call through a pointer; None: unknown."""
        path, line, column = place.rsplit(":", 2)
        lines = self.read(path).split("\n")
        text = lines[int(line) - 1][int(column) - 1 :] + " " + lines[int(line)]
        inside = self.within(path, int(line))
        if "/lwip/src/" in path:
            for word, targets in LWIP_CALLS.items():
                if word in text:
                    return [t for t in targets if t in self.functions]
        members = re.findall(r"((?:[\w.\])]|\[\w*|->)*?)(?:->|\.)(\w+)\(", text)
        m = re.match(r"[(*]*(\w+)(?:\[[^\]]*\])?\(", text)
        names = re.findall(r"(?:->|\.)(\w+)\[?", text.split("(")[0])
        for name in [m[1]] if m else names:
            if f"{path}:{name}" in CALLS:
                return CALLS[f"{path}:{name}"]
        if m and f"{inside}({m[1]})" in self.values:
            return self.values[f"{inside}({m[1]})"]
        if m and m[1] in self.pointers:
            return self.member(path, "", m[1]) or None
        if members:
            found = [self.member(path, base, name) for base, name in members]
            return set().union(*found) if all(found) else None
        before = " ".join(lines[max(0, int(line) - 3) : int(line)])
        names = re.findall(r"[?:] (\w+)", before[before.rfind("?") :])[:2]
        return {t for name in names for t in self.titles(path, name)} or None

    def member(self, path, base, name):
        base = base.strip("()*")
        struct = BASES.get((path, base), BASES.get(base))
        found = set()
        for key, values in self.values.items():
            if key.endswith("." + name) and struct in (None, key.split(".")[0]):
                found |= values
        return found if struct and found else found | set(self.values.get(name, ()))


class Graph:
    def __init__(self, files, isa):
        self.frame, self.calls, self.file, self.sources = {}, {}, {}, Sources()
        for path in files:
            self.read(path)
        self.sources.find_values(self.frame)
        self.frame.update(isa["assembly"])
        self.resolve()

    def read(self, path):
        edge = re.compile(
            r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?'
        )
        node = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"')
        for line in open(path):
            if line.startswith("graph:"):
                self.sources.read(re.search(r'"([^"]+)"', line)[1])
            elif m := node.match(line):
                size = re.search(r"(\d+) bytes \(([\w,]+)\)", m[2])
                if size and size[2] == "dynamic":
                    fail(f"{m[1]}: its frame has no bound")
                if size:
                    self.file[m[1]] = re.search(r"\\n(?:\./)?([^:]+):", m[2])[1]
                    self.frame[m[1]] = max(self.frame.get(m[1], 0), int(size[1]))
            elif m := edge.match(line):
                # A call in a header is at "./...".
                place = os.path.normpath(m[3]) if m[2] == "__indirect_call" else None
                self.calls.setdefault(m[1], {}).setdefault((m[2], place))

    def resolve(self):
        unknown = set()
        for f, calls in self.calls.items():
            found = {}
            for target, place in calls:
                if target != "__indirect_call":
                    found.setdefault(target)
                    continue
                values = self.sources.called(place)
                if values is None:
                    unknown.add(f"{place}: nothing is known of what this calls")
                for value in values or ():
                    found.setdefault(("*" + self.member_at(place), value))
            self.calls[f] = found
        if unknown:
            fail("\n".join(sorted(unknown)))

    def member_at(self, place):
        path, line, column = place.rsplit(":", 2)
        text = self.sources.read(path).split("\n")[int(line) - 1][int(column) - 1 :]
        m = re.search(r"(\w+)(?:\[[^\]]*\])?\)?\(", text)
        return m[1] if m else ""

    def callees(self, f, without):
        for call in self.calls.get(f, {}):
            by, target = call if isinstance(call, tuple) else (call, call)
            cut = by != target and (self.file.get(f), self.file.get(target)) in CUT
            if by not in without and target not in without and not cut:
                yield target


class Depths:
    """The deepest paths from functions, not over any in `without`. `below`: functions under a
    function besides those it calls. What is below a function that is in a recursion is noted from
    where it is met first: in which order functions are gone through changes what is found."""

    def __init__(self, graph, without, below, order=sorted):
        self.graph, self.without, self.below, self.order = graph, without, below, order
        self.depth, self.path, self.again = {}, [], {}

    def of(self, f):
        """Returns (bytes, path) of the deepest path from f on."""
        if f in self.depth:
            return self.depth[f]
        if f in self.path:
            cycle = self.path[self.path.index(f) :]
            levels = [RECURSIONS[name][0] for name in cycle if name in RECURSIONS]
            if not levels:
                fail(
                    "a recursion without a bound: "
                    + " > ".join(cycle + [f])
                    + ": name it in RECURSIONS"
                )
            again = (min(levels) - 1) * sum(self.graph.frame[name] for name in cycle)
            self.again[f] = max(self.again.get(f, 0), again)
            return 0, []
        if f.startswith("__aarch64_"):
            return 0, []
        if f not in self.graph.frame:
            fail(f"{' > '.join(self.path)} > {f}: it has no frame that is known")
        self.path.append(f)
        best = self.below.get(f, (0, []))
        for target in self.order(set(self.graph.callees(f, self.without | PANICS))):
            best = max(best, self.of(target), key=lambda d: d[0])
        self.path.pop()
        self.depth[f] = best[0] + self.graph.frame[f] + self.again.get(f, 0), [f] + best[1]
        return self.depth[f]

    def deepest(self, functions):
        return max((self.of(f) for f in functions), key=lambda d: d[0])


def show(graph, what, depth):
    print(f"{what}: {depth[0]} bytes")
    for f in depth[1]:
        print(f"  {graph.frame.get(f, 0):5} {f}")


def stack_size():
    m = re.search(r"#define KSTACK_SIZE\s+\((\d+) \* KIB\)", open("sched/sched.h").read())
    return int(m[1]) * 1024


def orders():
    """Orders to go through functions: by name, and some that are always the same."""
    yield sorted
    yield lambda names: sorted(names, reverse=True)
    for seed in range(ORDERS):
        yield lambda names, seed=seed: sorted(
            names, key=lambda name: zlib.crc32(f"{seed} {name}".encode())
        )


def main():
    arch, stack = sys.argv[1], stack_size()
    sys.setrecursionlimit(10000)
    isa = ISA[arch]
    graph = Graph(sys.argv[2:], isa)
    panic = Depths(graph, set(), {}).deepest(["panic", "panic_frame"])
    fault = Depths(graph, USER_ONLY | INTERRUPT_ONLY, {}).of(isa["fault"])
    below = {f: (fault[0] + isa["exception"], ["(exception)"] + fault[1]) for f in FAULTS}
    threads = [Depths(graph, {"fault_in_kernel"}, below, order) for order in orders()]
    paths = [
        (what, max((t.deepest(functions) for t in threads), key=lambda d: d[0]))
        for what, functions in (
            ("a system call or exception of a program", isa["user"]),
            ("a thread of the kernel", ["sched/thread.c:run_thread"]),
            ("the start of a CPU", isa["starts"]),
        )
    ]
    interrupts = []
    for names, without in isa["interrupts"]:
        depth, path = Depths(graph, USER_ONLY | FAULT_ONLY | without, {}).deepest(names)
        interrupts.append(("an interrupt", (depth + isa["exception"], path)))
    deepest = max(depth for _, (depth, _) in paths) + isa["exception"]
    total = deepest + sum(depth for _, (depth, _) in interrupts) + panic[0]
    for what, depth in paths + interrupts + [("a panic", panic)]:
        show(graph, what, depth)
    print(
        f"stack_depth: {arch}: at most {total} bytes of {stack}: {deepest} by a thread, "
        f"{total - deepest - panic[0]} by interrupts on top, {panic[0]} by a panic there"
    )
    if total > stack:
        fail(f"{arch}: {total} bytes do not fit a stack of {stack}")


main()
