# The tasks of the project. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
# systemd finds units below /usr and /usr/local, otherwise only in /etc.
UNITDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(PREFIX)/lib,/etc)/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
# The bus reads policies below /usr, otherwise only in /etc.
DBUSDIR ?= $(if $(filter /usr,$(PREFIX)),/usr/share,/etc)/dbus-1/system.d
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DESTDIR ?=

# The architecture of packages.
NATIVE := $(shell dpkg --print-architecture 2>/dev/null)
ARCH ?=

DIST := .build/dist
SDK := .build/sdk
# The same options for every debug build, so that lint and tests share one.
CHECKED := --explicit-target-dependency-import-check error
# With BUILT=yes it exists, and must not be examined: SwiftPM makes one build at a time.
DEBUG := $(if $(BUILT),:,swift build $(CHECKED))
# SANITIZE=address or thread: a separate build, so that the ordinary one is kept.
SANITIZED := $(if $(SANITIZE),--sanitize=$(SANITIZE) --scratch-path .build/sanitize-$(SANITIZE))
# Deep enough for the stacks of the suppressions to reach the test.
export ASAN_OPTIONS := malloc_context_size=64
export LSAN_OPTIONS := suppressions=$(CURDIR)/Tests/lsan.supp:print_suppressions=0
export TSAN_OPTIONS := suppressions=$(CURDIR)/Tests/tsan.supp
# Builds programs and copies them where `make install` finds them.
release = for program in $(1); do scripts/build -c release --static-swift-stdlib --product $$program; done; \
  scripts/dist $(DIST) $(1)
SWIFT_FILES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Benchmarks \
  Fuzz/Package.swift Fuzz/Sources Examples
# Without scripts in Python, and their tables.
PYTHON_SCRIPTS := scripts/assigned-names scripts/check-arrows scripts/check-blocking scripts/check-clocks \
  scripts/check-sizes scripts/check-versions scripts/check-words scripts/sbom
NO_SCRIPTS := %.py scripts/arrows scripts/words scripts/hooks $(PYTHON_SCRIPTS)
SCRIPTS := .ci/run $(filter-out $(NO_SCRIPTS),$(wildcard scripts/*)) scripts/hooks/commit-msg \
  Benchmarks/run Fuzz/run Tests/Host/{run,kernel_cases,daemon_suites} \
  Tests/Kernel/vm Tests/Kernel/fetch-kernel Tests/Kernel/guest/{start,finish,cases} \
  Tests/Avatar/run Tests/Avatar/guest Tests/Bleak/{run,guest,fetch-suite} \
  Tests/Packages/{run,guest,gateways,archive-test,fetch-root} \
  Tests/Arm64/{run,programs,packages,guest,kernel-guest} Tests/Docs/bin/* $(wildcard packaging/debian/*.postrm) \
  packaging/tarball/install

.PHONY: help deps build deb demo examples python test test-swift test-fast test-examples docs-test docs-pictures \
  test-arm64 test-bluez test-home test-fleet test-host test-python test-web test-kernel test-avatar test-bleak \
  install-mqtt test-fuzz test-attack test-stress search lint-deb test-deb release container conformance fuzz soak \
  attack panic bench lint format reference docs sdk \
  install install-bluez install-esphome install-sdk install-python uninstall clean

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## installs what is missing for all targets, from Debian and PyPI
	@scripts/deps build test kernel avatar bleak bluez home matter python web lint package

# deps-build+test: the packages that a target needs and no more.
deps-%:
	@scripts/deps $(subst +, ,$*)

build: deps-build ## builds all programs: release, static Swift libraries, stripped, in .build/dist
	@if [ ! -e .build/release/bled ]; then echo "build: a first build takes some 5 minutes on 2 cores"; fi
	@$(call release,bled bleshell bled-mqtt bled-bluez bled-esphome bled-hid bled-midi)

python: deps-python ## builds the Python package bled: wheel and sdist, in .build/python
	@scripts/python .build/python

sdk: deps-build ## builds the modules with Apple's APIs for other packages: release, in .build/sdk
	@scripts/sdk $(SDK)

# A debug build: it takes a third of the processor time of a release build, and the tests go on with it.
demo: deps-build ## builds bled and bleshell, and shows both roles on the simulated adapter, in less than a minute
	@if [ ! -e .build/debug/bled ]; then echo "demo: a first build takes some 3 minutes on 2 cores"; fi
	@for program in bled bleshell; do scripts/build $(CHECKED) --product $$program; done
	@scripts/demo

examples: deps-build ## builds the programs in Examples: debug, in Examples/.build
	@swift build --package-path Examples

test: deps-build+test+kernel+avatar+bluez+home+matter+python+web+package ## runs all tests, and prints their times
	@swift build --build-tests $(CHECKED)
	@scripts/steps test-fast+test-examples+build test-host+test-kernel+test-fuzz \
	  docs-test+test-bluez+test-home+test-python+test-web+test-attack+lint-deb

test-fast: deps-build+test ## runs the tests that need no other kernel; SANITIZE=address or thread adds a sanitizer
	@BUILT=$(BUILT) scripts/test-swift $(CHECKED) $(SANITIZED)

test-swift: deps-package ## compiles all with Debian's Swift, the oldest that works, and runs tests: before a release
	@scripts/debian-swift

panic: deps-build+test ## presses random keys in bleshell for ten minutes; make test presses a thousand
	@BLED_PANIC_TIME=600 SWIFT_BACKTRACE=enable=no swift test $(CHECKED) --filter BleshellScreenTests

test-examples: deps-build+test examples sdk ## tests Examples, and a package made with the SDK, on simulated devices
	@$(DEBUG)
	@swift build --package-path Examples --build-tests
	@scripts/test-examples
	@scripts/test-sdk

docs-test: deps-build+test ## runs what README.md and docs/ show, and compares it; PAGE=pairing selects
	@$(DEBUG)
	@python3 -B -m unittest discover --quiet --start-directory Tests/Docs
	@Tests/Docs/docs_test.py $(PAGE)

test-bluez: deps-build+test+bluez ## runs clients of org.bluez on a private bus, unmodified; CASE=text selects
	@$(DEBUG)
	@/usr/bin/python3 -B Tests/BlueZ/bluez_test.py $(if $(CASE),-k "$(CASE)")

test-host: deps-build+host+avatar ## runs bled as the host of emulated controllers, without a kernel; CASE selects
	@$(if $(BUILT),:,swift build --build-tests $(CHECKED))
	@Tests/Host/run "$(CASE)"

test-home: deps-build+test+home+matter ## runs bled-mqtt with a broker, clients of bled-esphome, Matter; CASE=…
	@$(DEBUG)
	@.build/home/bin/python -B -m unittest discover --start-directory Tests/Home --pattern '*_test.py' \
	  $(if $(CASE),-k "$(CASE)")

test-fleet: deps-build+test+fleet ## runs 100 bled-mqtt at three nodes of RabbitMQ, as root; OPTIONS="--gateways 20"
	@$(DEBUG)
	@/usr/bin/python3 -B Tests/Fleet/fleet_test.py $(OPTIONS)

test-python: deps-build+test+python ## checks the Python package, and tests it with two releases of bleak; CASE selects
	@$(DEBUG)
	@scripts/test-python $(if $(CASE),-k "$(CASE)")

test-web: deps-build+test+web ## tests the page of bleshell web in Chromium, and attacks its server; CASE=… selects
	@$(DEBUG)
	@/usr/bin/python3 -B Tests/Web/web_test.py $(if $(CASE),-k "$(CASE)")

docs-pictures: deps-build+test+web ## draws docs/session.svg from the programs' output, takes pictures of bleshell web
	@swift build $(CHECKED)
	@Tests/Docs/pictures.py
	@/usr/bin/python3 -B Tests/Web/pictures.py

test-kernel: build examples deps-kernel+bluez+home ## runs the tests in virtual machines; KERNEL=7.2, CASE=2 or zoo
	@python3 -B Tests/Kernel/test_machine.py --quiet
	@Tests/Kernel/run

test-avatar: build deps-$(if $(filter host,$(ADAPTER)),host,kernel)+avatar ## runs Avatar; ADAPTER=host, KERNEL, CASE
	@Tests/Avatar/run

test-arm64: deps-arm64+test+kernel+python+home ## tests what `make deb ARCH=arm64` made, emulated; PART=programs
	@$(if $(filter packages kernel,$(PART))$(BUILT),:,swift build --build-tests $(CHECKED))
	@Tests/Arm64/run $(PART)

test-bleak: build deps-kernel+bleak ## runs bleak's own integration suite on a real kernel; CASE=text selects
	@Tests/Bleak/run

test-fuzz: deps-build ## runs each target in Fuzz with the same inputs each time
	@FUZZ_SEED=2026 FUZZ_RUNS=4000 Fuzz/run

test-attack: build deps-test ## runs a few of the attacks, for seconds each: whether the daemon hangs, not its speed
	@Tests/Attack/attack.py --short

test-stress: deps-build+test+kernel ## runs tests beside busy loops and pinned to one core, STRESS_ROUNDS=3 times
	@scripts/stress-test

search: build deps-test ## searches at random for what no test has seen, for SEARCH_TIME=600 seconds in all
	@swift build --build-tests $(CHECKED)
	@scripts/search

conformance: deps-build+test ## runs the tests against the shared vectors (BLED_VECTORS=folder)
	@scripts/conformance $(CHECKED)

fuzz: deps-build ## runs each target in Fuzz with libFuzzer for FUZZ_TIME=60 seconds
	@Fuzz/run

# For another architecture than this machine's, in .build/deb-arm64.
ifneq ($(filter-out $(NATIVE),$(ARCH)),)
deb: $(if $(filter arm64,$(ARCH)),python deps-arm64)
	@$(if $(filter arm64,$(ARCH)),,echo "deb: packages can be made for $(NATIVE) and arm64, not for $(ARCH)"; exit 2)
	@scripts/deb-arm64 .build/deb-arm64
else
deb: build sdk python deps-package ## makes Debian packages of the programs and of the SDK, in .build/deb; ARCH=arm64
	@scripts/deb .build/deb
endif

lint-deb: deb ## checks the packages with lintian
	@Tests/Packages/run lintian

test-deb: deb deps-kernel+release ## tests a release from its repository, in virtual machines; RELEASE=trixie selects
	@RELEASE="$(RELEASE)" Tests/Packages/run

container: deb deps-container ## makes an image for CI, with the packages, in .build/container; BASE=image, not Debian's
	@BASE="$(BASE)" scripts/container .build/container/bled-$(shell scripts/version).tar

release: deb deps-release ## makes what is published, in .build/release-VERSION; KEY=id signs, URL=address of apt/
	@KEY="$(KEY)" URL="$(URL)" ARM64="$(ARM64)" scripts/release

soak: build deps-test ## checks memory and descriptors while clients misbehave for SOAK_TIME=60 seconds
	@Tests/Soak/soak.py

# The daemon, the attackers and the attacked user are different users, which only root can start.
attack: build deps-kernel ## has users without rights attack the daemon, and measures the effect; ATTACK=text selects
	@if [ "$$(id -u)" -eq 0 ]; then Tests/Attack/attack.py "$(ATTACK)"; else \
	  Tests/Kernel/vm --kernel 6.12 -- Tests/Attack/attack.py "$(ATTACK)"; fi

bench: build deps-test+kernel+bluez+home+bench ## measures the figures in docs/performance.md; PART=instructions
	@Benchmarks/run $(PART)

lint: deps-build+lint ## checks format, words, arrows, scripts, citations, reference; builds with warnings as errors
	@swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	@shellcheck $(SCRIPTS)
	@scripts/check-columns
	@scripts/check-arrows
	@scripts/assigned-names --check
	@scripts/check-sizes
	@scripts/check-words
	@scripts/check-versions
	@scripts/check-blocking
	@scripts/check-clocks
	@scripts/check-citations
	@scripts/check-subjects
	@scripts/reference.py --check
	@python/generate.py --check
	@swift build --build-tests $(CHECKED) 2>&1 | tee .build/lint.log
	@if grep -E '^($(CURDIR)/)?(Sources|Tests|Benchmarks)/[^ ]+: warning: ' .build/lint.log; then \
	  echo "lint: fix the warnings above"; exit 1; fi
	@scripts/check-packages
	@scripts/check-modes

reference: deps-build ## regenerates openrpc.json, reference.md, the types for Python and bleshell(1) from the code
	@swift run $(CHECKED) openrpc
	@scripts/reference.py
	@python/generate.py
	@swift run $(CHECKED) bleshell --experimental-dump-help | scripts/manual.py

docs: deps-build+test ## makes the documentation of CoreBluetooth and BledClient as HTML, in .build/docs
	@swift build $(CHECKED) --target CoreBluetooth
	@scripts/docs.py

format: ## formats the Swift files
	@swift format --in-place --parallel --recursive $(SWIFT_FILES)

# Builds only what is missing, so that `sudo make install` after `make build` compiles nothing.
$(DIST)/bled $(DIST)/bleshell $(DIST)/bled-bluez $(DIST)/bled-esphome $(DIST)/bled-hid $(DIST)/bled-midi:
	@$(MAKE) build

$(SDK)/libbled.a:
	@$(MAKE) sdk

install: $(DIST)/bled $(DIST)/bleshell ## installs into PREFIX (/usr/local) and /etc, below DESTDIR
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  ZSHDIR="$(ZSHDIR)" DESTDIR="$(DESTDIR)" scripts/install $(DIST)

$(DIST)/bled-mqtt:
	@$(MAKE) build

install-mqtt: $(DIST)/bled-mqtt ## installs bled-mqtt, for devices at an MQTT broker
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  ZSHDIR="$(ZSHDIR)" DESTDIR="$(DESTDIR)" scripts/install-mqtt $(DIST)

install-bluez: $(DIST)/bled-bluez ## installs bled-bluez, for programs that are written for BlueZ
	@PREFIX="$(PREFIX)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" ZSHDIR="$(ZSHDIR)" DBUSDIR="$(DBUSDIR)" \
	  DESTDIR="$(DESTDIR)" scripts/install-bluez $(DIST)

install-esphome: $(DIST)/bled-esphome ## installs bled-esphome, a Bluetooth proxy for Home Assistant
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  ZSHDIR="$(ZSHDIR)" DESTDIR="$(DESTDIR)" scripts/install-esphome $(DIST)

install-hid: $(DIST)/bled-hid ## installs bled-hid, for keyboards, mice and other input devices
	@PREFIX="$(PREFIX)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" ZSHDIR="$(ZSHDIR)" DESTDIR="$(DESTDIR)" \
	  scripts/install-hid $(DIST)

install-midi: $(DIST)/bled-midi ## installs bled-midi, for MIDI devices as ports of ALSA's sequencer
	@PREFIX="$(PREFIX)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" ZSHDIR="$(ZSHDIR)" DESTDIR="$(DESTDIR)" \
	  scripts/install-midi $(DIST)

install-sdk: $(SDK)/libbled.a ## installs the result of make sdk and a toolset into PREFIX/lib/bled
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-sdk $(SDK)

install-python: ## installs the result of make python where Debian has Python packages, in PREFIX/lib/python3
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install-python .build/python

uninstall: ## removes what the install targets placed; keeps configuration and state
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  ZSHDIR="$(ZSHDIR)" DBUSDIR="$(DBUSDIR)" DESTDIR="$(DESTDIR)" scripts/uninstall

clean: ## removes all build results
	@rm -rf .build Examples/.build
