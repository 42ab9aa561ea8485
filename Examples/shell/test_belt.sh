#!/usr/bin/env bash
# Tests a script for a heart-rate belt on a simulated one.
# BLED and BLESHELL name the programs, if not those of the PATH.
set -euo pipefail
folder=$(mktemp -d)
export BLED_SOCKET=$folder/bled.sock STATE_DIRECTORY=$folder
bled=${BLED:-bled} bleshell=${BLESHELL:-bleshell}

# Sixty times as fast as a real one: a script whose commands wait needs nobody who moves the clock.
cat >"$folder/scenario.json" <<'JSON'
{
  "clock": 60,
  "devices": [{
    "name": "Belt", "address": "C0:DE:00:00:00:01", "addressType": "random", "advertising": { "name": "Belt" },
    "services": [{ "uuid": "180D", "characteristics": [
      { "uuid": "2A38", "value": "01" },
      { "uuid": "2A39", "properties": ["write"] },
    ] }],
  }],
}
JSON

# The line READY=1 comes when programs can connect; if bled cannot start, the end of the file comes.
exec {ready}< <(exec "$bled" --adapter "simulated:$folder/scenario.json" --socket "$BLED_SOCKET" --ready-fd 3 \
  --log-level error 3>&1 >&2)
daemon=$!
trap 'kill "$daemon"; wait "$daemon" || true; rm -rf "$folder"' EXIT
read -r -u "$ready" line && [[ $line == READY=1 ]]

# check NAME WANTED COMMAND…: compares what a command prints.
check() {
  local name=$1 wanted=$2 output
  shift 2
  output=$("$@" 2>&1) || true
  if [[ $output != *"$wanted"* ]]; then
    echo "FAIL $name: \"$wanted\" is not in: $output"
    exit 1
  fi
  echo "ok   $name"
}

check "the sensor is at the chest" "chest" "$bleshell" read Belt 2A38
"$bleshell" simulation set-value Belt 2A38 02
check "the sensor is at the wrist" "wrist" "$bleshell" read Belt 2A38
"$bleshell" simulation change Belt '{ faults: { answers: [{ characteristic: "2A39", error: 128, count: 1 }] } }'
check "a refused write is an error" "att 0x80" "$bleshell" write Belt 2A39 01
"$bleshell" write Belt 2A39 01
check "the second one was written" '"operation":"write"' "$bleshell" simulation written Belt --json
"$bleshell" simulation vanish Belt
check "the belt is gone" '"present":false' "$bleshell" simulation devices --json
