"""Reports what the simulated machine saw between the marks "run" and "ran" of its ground truth
(test/machine/truth.c). One cycle is a nanosecond of the machine's time.
"""

CAUSES = (("completion", "completing instructions"),
          ("stall_icache", "fetching instructions"),
          ("stall_branch", "branches guessed wrong"),
          ("stall_dcache", "data not in the first cache"),
          ("stall_tlb", "translating addresses"),
          ("stall_other", "anything else"))
SOURCES = (("dcache_local_l2", "the core's second cache"), ("dcache_local_l3", "the chip's third cache"),
           ("dcache_remote_l2", "another chip's second cache"),
           ("dcache_remote_l3", "another chip's third cache"),
           ("dcache_local_memory", "the chip's memory"),
           ("dcache_remote_memory", "another chip's memory"))


def numbers(words):
    pairs = (word.split("=", 1) for word in words if "=" in word)
    return {name: int(value) for name, value in pairs if value.isdigit()}


def between(path, first, last):
    """Returns the machine's counts between two marks, and the time; None: they are not there."""
    marks, at = {}, None
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["mark"] and len(words) > 2:
                at = words[1] if words[1] not in marks else None
                if at:
                    marks[at] = numbers(words[2:])
            elif at and words[:1] == ["total"]:
                marks[at].update(numbers(words[1:]))
            elif at and words[:1] == ["cpu"] and len(words) > 3:
                counts = marks[at]
                name = words[2] + "_cycles"
                counts[name] = counts.get(name, 0) + numbers(words[3:]).get("cycles", 0)
    if first not in marks or last not in marks:
        return None
    return {name: value - marks[first].get(name, 0) for name, value in marks[last].items()}


def lines_of(counts):
    cycles = counts.get("cycles", 0)
    if not cycles:
        return ["vigil: the machine counted nothing"]
    instructions = counts.get("instructions", 0)
    user = counts.get("user_cycles", 0)
    lines = [f"vigil: {counts.get('time', 0) / 1e6:.3f} ms, {cycles:,} cycles "
             f"({100 * user / cycles:.1f} % in the program), {instructions:,} instructions "
             f"({instructions / cycles:.2f} a cycle)"]
    lines += shares(counts, CAUSES, cycles, "went to")
    lines += shares(counts, SOURCES, cycles, "waited for data of")
    return lines


def shares(counts, names, cycles, what):
    """Returns a line with the parts that are worth naming."""
    parts = sorted(((counts.get(name, 0), text) for name, text in names), reverse=True)
    said = [f"{text} {100 * n / cycles:.1f} %" for n, text in parts if n * 1000 >= cycles]
    return [f"vigil:   {what}: " + ", ".join(said)] if said else []


def report(path, file):
    try:
        counts = between(path, "run", "ran")
    except OSError as error:
        print(f"vigil: no ground truth: {error.strerror}", file=file)
        return
    if counts is None:
        print("vigil: the ground truth has no marks of the run", file=file)
        return
    for line in lines_of(counts):
        print(line, file=file)
