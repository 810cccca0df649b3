"""Runs clang-tidy on host/, plugins/ and sdk/, but not on tests/. Usage: tidy.py [--all] [<file>...]

Checks batches of 24 files, as the presets compile them, because most of the time goes into the
headers that they share; named files are checked one by one. What has no findings is checked again
only if a file of the batch, one of this tree's headers that it includes, the configuration or the
version of clang-tidy changes.
--all checks everything. The state is in build/tidy/.
"""

import concurrent.futures
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import tree

STATE = os.path.join(tree.ROOT, "build", "tidy")
# A batch includes .cc files, whose findings clang-tidy takes for those of headers. The other check
# that is off reports classes of the same name in libraries that two files of a batch include.
BATCH_OPTIONS = [r"--header-filter=/(host|plugins|sdk)/.*\.(h|cc)$",
                 "--checks=-bugprone-suspicious-include,-bugprone-forward-declaration-namespace"]


def configure(build, batches):
    """Returns {path: entry} of a compilation database for clang in the folder `build`. A path is
    relative to the tree or, for a batch, to `build`. Precompiled headers are off: they hide
    includes."""
    subprocess.run(["cmake", "-S", tree.ROOT, "-B", build, "-G", "Ninja", "--log-level=WARNING",
                    "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DBERTH_PCH=OFF", "-DBERTH_TESTS=OFF",
                    "-DCMAKE_UNITY_BUILD=" + ("ON" if batches else "OFF"),
                    "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24"], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    database = {}
    for entry in entries:
        is_batch = os.path.basename(os.path.dirname(entry["file"])) == "Unity"
        database[os.path.relpath(entry["file"], build if is_batch else tree.ROOT)] = entry
    return database


def compiler_command(entry):
    """Returns the entry's command without ccache and without the output file."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if os.path.basename(word).startswith("clang"))
    words = words[start:]
    output = words.index("-o")
    return words[:output] + words[output + 2:]


def digest(entry, version, options):
    """Returns a digest of everything in this tree that affects clang-tidy's result for the file, or
    None if the dependencies cannot be determined."""
    command = [word for word in compiler_command(entry)
               if word not in ("-c", "-MD")] + ["-M", "-MF", "-", "-MT", "x"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    if done.returncode:
        return None
    state = hashlib.sha256((version + shlex.join(options + command)).encode())
    headers = done.stdout.replace("\\\n", " ").split()[1:]
    for path in sorted(headers) + [os.path.join(tree.ROOT, ".clang-tidy")]:
        state.update(path.encode())
        if path.startswith(tree.ROOT):
            with open(path, "rb") as file:
                state.update(file.read())
    return state.hexdigest()


def tidy(build, entry, version, options, everything):
    """Returns (clean, output of clang-tidy, seconds)."""
    start = time.monotonic()
    key = digest(entry, version, options)
    stamp = os.path.join(STATE, "clean", key or "unknown")
    if key and not everything and os.path.exists(stamp):
        return True, "", 0.0
    done = subprocess.run(["clang-tidy", "--quiet", *options, "-p", build, entry["file"]],
                          capture_output=True, text=True)
    if not done.returncode and key:
        with open(stamp, "w", encoding="utf-8"):
            pass
    return not done.returncode, done.stdout or done.stderr, time.monotonic() - start


def main():
    arguments = sys.argv[1:]
    if not shutil.which("clang-tidy") or not shutil.which("clang++"):
        print("tidy: skipped: clang-tidy or clang++ not found; see .ci/packages.txt")
        sys.exit(77)
    named = [os.path.normpath(path) for path in arguments if path != "--all"]
    build = os.path.join(STATE, "files" if named else "batches")
    options = [] if named else BATCH_OPTIONS
    everything = "--all" in arguments
    database = configure(build, batches=not named)
    os.makedirs(os.path.join(STATE, "clean"), exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True).stdout
    paths = [path for path in sorted(database)
             if path.startswith(("host/", "plugins/", "sdk/")) and (not named or path in named)]
    findings = tree.Findings("tidy")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = {pool.submit(tidy, build, database[path], version, options, everything): path
                for path in paths}
        for count, done in enumerate(concurrent.futures.as_completed(work), 1):
            clean, text, seconds = done.result()
            print(f"[{count}/{len(paths)}] {work[done]} {seconds:.1f}s", flush=True)
            if not clean:
                findings.add(work[done], 1, "clang-tidy reports:\n" + text)
    findings.end(len(paths))


if __name__ == "__main__":
    main()
