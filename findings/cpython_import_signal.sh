#!/usr/bin/env bash
# CPython 3.11.2, embedded: an import takes SIGINT, although signal handlers are switched off.
#
# Expected: a program that starts Python with Py_InitializeEx(0), or with
# PyConfig.install_signal_handlers = 0, keeps the actions of all its signals.
# Seen: it does until the first `import signal`, which the modules subprocess, asyncio and unittest
# of the standard library contain. If the action of SIGINT is the default, that import replaces it
# by Python's handler, which only sets a flag for code in Python. While the program runs other code,
# Ctrl-C does nothing. Handlers of the program, and an ignored SIGINT, stay as they are.
#
# Needs: apt-get, a C compiler. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in libpython3.11 libpython3.11-dev libpython3.11-minimal libpython3.11-stdlib; do
  apt-get download -qq "$package=3.11.2-6+deb12u8"
done
for package in *.deb; do dpkg-deb -x "$package" root; done
cat > embed.c <<'CODE'
#include <Python.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static void Own(int number) { (void)number; }

static const char* Action(void) {
  struct sigaction now;
  sigaction(SIGINT, NULL, &now);
  if (now.sa_handler == SIG_DFL) return "default";
  if (now.sa_handler == SIG_IGN) return "ignored";
  return now.sa_handler == Own ? "the program's" : "Python's";
}

/* argv: the module to import; "off" for PyConfig; the action of SIGINT. */
int main(int argc, char** argv) {
  char import[64];
  if (argc != 4) return 2;
  if (strcmp(argv[3], "own") == 0) signal(SIGINT, Own);
  if (strcmp(argv[3], "ignore") == 0) signal(SIGINT, SIG_IGN);
  if (strcmp(argv[2], "off") == 0) {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    if (PyStatus_Exception(Py_InitializeFromConfig(&config))) return 2;
    PyConfig_Clear(&config);
  } else {
    Py_InitializeEx(0);
  }
  printf("%s %s %s: %s, then ", argv[1], argv[2], argv[3], Action());
  snprintf(import, sizeof import, "import %s", argv[1]);
  if (PyRun_SimpleString(import) != 0) return 2;
  printf("%s\n", Action());
  fflush(stdout);
  raise(SIGINT); /* With the default action this is the end. */
  printf("  goes on after SIGINT\n");
  return 0;
}
CODE
libraries=$(dirname root/usr/lib/*/libpython3.11.so.1.0)
cc -Iroot/usr/include -Iroot/usr/include/python3.11 embed.c -L"$libraries" -lpython3.11 -o embed
export LD_LIBRARY_PATH=$libraries PYTHONHOME=$work/root/usr
{
  ./embed json Ex 0 || echo "  ended by SIGINT"
  ./embed signal Ex 0
  ./embed signal off 0
  ./embed subprocess Ex 0
  ./embed signal Ex own
  ./embed signal Ex ignore
} 2> errors.txt | tee found.txt
diff - found.txt <<'EXPECTED' || { cat errors.txt; echo "the behaviour has changed" >&2; exit 1; }
json Ex 0: default, then default
  ended by SIGINT
signal Ex 0: default, then Python's
  goes on after SIGINT
signal off 0: default, then Python's
  goes on after SIGINT
subprocess Ex 0: default, then Python's
  goes on after SIGINT
signal Ex own: the program's, then the program's
  goes on after SIGINT
signal Ex ignore: ignored, then ignored
  goes on after SIGINT
EXPECTED
echo "as described"
