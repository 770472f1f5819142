#!/bin/sh
# A C program, tuned from the shell: first by `stopwise run`, then by ask, tell and verdict.
set -eu
cd "$1"
cat > smooth.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    double width = 1.0;
    int passes = 1;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--width=", 8)) width = atof(argv[i] + 8);
        if (!strncmp(argv[i], "--passes=", 9)) passes = atoi(argv[i] + 9);
    }
    double error = pow(log10(width) - 0.4, 2) + 1.5 / passes;
    printf("{\"error\": %.6f, \"cost\": %d}\n", error, passes);
    return 0;
}
C
cc -o smooth smooth.c -lm
cat > tune.toml <<'TOML'
command = ["./smooth"]
max_trials = 9

[parameters]
width = { type = "real", low = 0.1, high = 100.0, log = true }
passes = { type = "integer", low = 1, high = 8 }

[value]
key = "error"
name = "error (px)"

[cost]
kind = "reported"
unit = "CPU h"

[worth]
improvement = 0.1
cost = 10
TOML
stopwise run tune.toml --check
stopwise run tune.toml
stopwise report tune.jsonl

stopwise new study.jsonl --space tune.toml --max-trials 5
while trial=$(stopwise ask study.jsonl --unless-stopped --json); do
    number=$(printf '%s' "$trial" | python3 -c 'import json, sys; print(json.load(sys.stdin)["number"])')
    flags=$(printf '%s' "$trial" | python3 -c 'import json, sys; print(*(f"--{k}={v}" for k, v in json.load(sys.stdin)["params"].items()))')
    value=$(./smooth $flags | python3 -c 'import json, sys; print(json.load(sys.stdin)["error"])')
    stopwise tell study.jsonl "$number" "$value" --cost 2
done
stopwise verdict study.jsonl || test $? = 3
