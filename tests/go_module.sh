# Functions for scripts that build Go programs with a version of Kubernetes. A script that reads
# this file has set:
#   tool        its name, for messages
#   module_dir  the folder with the module files: go.mod has the newest version of Kubernetes, which
#               is the default, and each go-*.mod has another one
# The functions set module_file, which is the name of one of them, and kubernetes, its version.

# left_out <reason>: ends the script, because this machine cannot build the programs.
left_out() { echo "$tool: LEFT OUT: $*" >&2; exit 77; }

# wrong <message>: ends the script, because its arguments are wrong.
wrong() { echo "$tool: $*" >&2; exit 2; }

# use_module_file <file>
use_module_file() {
  module_file=$1
  kubernetes=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$module_dir/$module_file")
}

# select_kubernetes <version>: uses the module file with this version; "1.36" selects 1.36.2.
select_kubernetes() {
  local file known=()
  for file in "$module_dir"/go.mod "$module_dir"/go-*.mod; do
    use_module_file "${file##*/}"
    case "$kubernetes" in "$1"|"$1".*) return ;; esac
    known+=("$kubernetes")
  done
  wrong "no module file has Kubernetes \`$1\`; --kubernetes takes one of: ${known[*]}"
}

# require_go: ends the script if there is no Go toolchain that is new enough.
require_go() {
  local need have
  need=$(sed -n 's/^go //p' "$module_dir/$module_file")
  [ -x "$(command -v go)" ] || ! [ -x /usr/local/go/bin/go ] || PATH=$PATH:/usr/local/go/bin
  command -v go > /dev/null || left_out "there is no Go toolchain; install Go $need or newer"
  # Another toolchain or a change of the module file is never fetched or written.
  export GOTOOLCHAIN=local GOFLAGS=-mod=readonly
  have=$(go env GOVERSION)
  [ "$(printf '%s\n%s\n' "$need" "${have#go}" | sort -V | head -n 1)" = "$need" ] ||
    left_out "$have is too old; Kubernetes $kubernetes needs Go $need or newer"
}

# fetch_modules <package or flag>...: fetches what the packages need, so that an unreachable proxy
# is distinguished from a program that does not compile.
fetch_modules() {
  (cd "$module_dir" && timeout 900 go list -modfile="$module_file" -deps "$@" > /dev/null) ||
    left_out "the Go modules cannot be fetched"
}
