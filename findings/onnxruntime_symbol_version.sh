#!/usr/bin/env bash
# ONNX Runtime 1.23.1 and 1.23.2: a program runs only with the release that it was linked with.
#
# Expected: both libraries are libonnxruntime.so.1, and their C API, a table of functions, only
# grows. A program that was linked with one release therefore runs with the next.
# Seen: the version of the symbol OrtGetApiBase names the release (VERS_1.23.1), so that the dynamic
# linker refuses every other release, later or earlier. A program that looks the symbol up with
# dlsym() runs with any.
#
# Needs: an x86-64 processor, pip for python3, a C compiler. Exits with 1 if the behaviour has
# changed.
set -euo pipefail

[ "$(uname -m)" = x86_64 ] || { echo "the packages are those for x86-64" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for package in onnxruntime==1.23.1 onnxruntime==1.23.2; do
  version=${package#*==}
  python3 -m pip download --quiet --no-deps --only-binary :all: --python-version 3.12 \
    --platform manylinux_2_28_x86_64 --dest "$version" "$package"
  python3 -m zipfile --extract "$version"/*.whl "$version"
  ln -s "onnxruntime/capi/libonnxruntime.so.$version" "$version/libonnxruntime.so.1"
done
cat > linked.c <<'CODE'
#include <stdio.h>

struct Base {
  const void* (*get_api)(unsigned version);
  const char* (*get_version)(void);
};
const struct Base* OrtGetApiBase(void);

int main(void) {
  printf("runs with %s\n", OrtGetApiBase()->get_version());
  return 0;
}
CODE
cat > looked_up.c <<'CODE'
#include <dlfcn.h>
#include <stdio.h>

struct Base {
  const void* (*get_api)(unsigned version);
  const char* (*get_version)(void);
};

int main(void) {
  const struct Base* (*get_base)(void) = NULL;
  void* library = dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 2;
  *(void**)&get_base = dlsym(library, "OrtGetApiBase");
  if (get_base == NULL) return 2;
  printf("runs with %s\n", get_base()->get_version());
  return 0;
}
CODE
cc linked.c -o linked 1.23.1/libonnxruntime.so.1
cc looked_up.c -o looked_up
for program in linked looked_up; do
  for version in 1.23.1 1.23.2; do
    printf '%s: ' "$program"
    { LC_ALL=C LD_LIBRARY_PATH=$version "./$program" 2>&1 || true; } |
      sed 's/.*: version \(.*\) (.*/\1/'
  done
done | tee found.txt
diff - found.txt <<'EXPECTED' || { echo "the behaviour has changed" >&2; exit 1; }
linked: runs with 1.23.1
linked: `VERS_1.23.1' not found
looked_up: runs with 1.23.1
looked_up: runs with 1.23.2
EXPECTED
echo "as described"
