"""clang-tidy over host/ and plugins/ (not over tests): tidy.py [--all] [<file>...].

A file that was clean is looked at again only when it, a header of ours that it includes, the
configuration or clang-tidy changed; --all looks at everything. State is in build/tidy/.
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

BUILD = os.path.join(tree.ROOT, "build", "tidy")


def configure():
    """A compilation database for clang, without precompiled headers: they would hide includes."""
    subprocess.run(["cmake", "-S", tree.ROOT, "-B", BUILD, "-G", "Ninja", "--log-level=WARNING",
                    "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DBERTH_PCH=OFF", "-DBERTH_TESTS=OFF"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return {os.path.relpath(entry["file"], tree.ROOT): entry for entry in json.load(file)}


def compiler_command(entry):
    """The entry's command, without ccache in front and without its output."""
    words = shlex.split(entry["command"])
    start = next(i for i, word in enumerate(words) if os.path.basename(word).startswith("clang"))
    words = words[start:]
    output = words.index("-o")
    return words[:output] + words[output + 2:]


def digest(entry, version):
    """Of everything of ours that decides what clang-tidy says about this file; None: cannot tell."""
    command = [word for word in compiler_command(entry)
               if word not in ("-c", "-MD")] + ["-M", "-MF", "-", "-MT", "x"]
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    if done.returncode:
        return None
    state = hashlib.sha256((version + shlex.join(command)).encode())
    headers = done.stdout.replace("\\\n", " ").split()[1:]
    for path in sorted(headers) + [os.path.join(tree.ROOT, ".clang-tidy")]:
        state.update(path.encode())
        if path.startswith(tree.ROOT):
            with open(path, "rb") as file:
                state.update(file.read())
    return state.hexdigest()


def tidy(path, entry, version, everything):
    """(clean, what clang-tidy said, seconds)"""
    start = time.monotonic()
    key = digest(entry, version)
    stamp = os.path.join(BUILD, "clean", key or "unknown")
    if key and not everything and os.path.exists(stamp):
        return True, "", 0.0
    done = subprocess.run(["clang-tidy", "--quiet", "-p", BUILD, os.path.join(tree.ROOT, path)],
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
    database = configure()
    os.makedirs(os.path.join(BUILD, "clean"), exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True).stdout
    named = [os.path.normpath(path) for path in arguments if path != "--all"]
    paths = [path for path in sorted(database)
             if path.startswith(("host/", "plugins/")) and (not named or path in named)]
    findings = tree.Findings("tidy")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = {pool.submit(tidy, path, database[path], version, "--all" in arguments): path
                for path in paths}
        for count, done in enumerate(concurrent.futures.as_completed(work), 1):
            clean, text, seconds = done.result()
            print(f"[{count}/{len(paths)}] {work[done]} {seconds:.1f}s", flush=True)
            if not clean:
                findings.add(work[done], 1, "clang-tidy says:\n" + text)
    findings.end(len(paths))


if __name__ == "__main__":
    main()
