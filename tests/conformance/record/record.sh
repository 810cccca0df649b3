#!/usr/bin/env bash
# Builds the recorder with a version of Kubernetes and runs it; --help describes both.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: record.sh [--kubernetes VERSION] [--feature-gates LIST] [OPTION...] FILE...

Reads cases from the files, one JSON object per line (- is the standard input), lets kube-scheduler
decide each of them three times, and prints the lines with `expect` and `kubernetesVersion`. A case
needs `name`, `objects`, and one of `pod`, `pods` and `podGroup`. With --check, prints instead how
the decisions differ from the field `expect` of the cases.

  --kubernetes VERSION  the version of Kubernetes (default: that of go.mod; others: of go-*.mod)
  --feature-gates LIST  the feature gates that are not at their defaults: GenericWorkload=true,...
                        SchedulerAsyncPreemption is off, unless the list has it
  --check               compare, and print the differences
  --expect FILE         with --check: a file with {"name", "expect"} per line, which takes the place
                        of the expectations in the cases. A case with null is left out
  --changed FILE        with --check: writes the expectations that differ to a file for --expect;
                        null where kube-scheduler decides in different ways, or the case is wrong
  --runs N              how often each case is decided under observation (default: 2), before it is
                        decided once without
  --jobs N              how many cases are decided at the same time (default: 4 per CPU)
  --quiet               print only problems to the standard error

Not recorded: extenders, percentageOfNodesToScore (all nodes are looked at), more than one attempt
of a pod, queueing hints, what PreBind does with volumes, and CompositePodGroups. In cases with
`pods` or `podGroup`, no statuses of nodes, scores or allocations.

Exit status: 0 if all cases are recorded, or as expected; 1 if a case differs, is wrong, or if
kube-scheduler decided it in different ways; 2 if the arguments or a file are wrong; 77 if there is
no suitable Go toolchain, or if the modules cannot be fetched.
TEXT
}

tool=record
module_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$module_dir/../../go_module.sh"

use_module_file go.mod
arguments=()
while [ $# -gt 0 ]; do
  case "$1" in
    --help|-h) usage; exit 0 ;;
    --kubernetes)
      [ $# -gt 1 ] || wrong "--kubernetes needs a version"
      select_kubernetes "$2"
      shift ;;
    --kubernetes=*) select_kubernetes "${1#*=}" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[ ${#arguments[@]} -gt 0 ] || wrong "expected a file with cases; --help describes the arguments"

require_go
# A version whose packages differ has source files of its own: kubernetes_1_36.
tag=kubernetes_$(echo "$kubernetes" | cut -d. -f1,2 | tr . _)
program=${XDG_CACHE_HOME:-$HOME/.cache}/berth/record/record-$kubernetes
fetch_modules -tags="$tag" .
(cd "$module_dir" && go build -modfile="$module_file" -tags="$tag" -buildvcs=false -p "$(nproc)" \
  -o "$program" .) >&2
exec "$program" "${arguments[@]}"
