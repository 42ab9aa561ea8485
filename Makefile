# Everything there is to do with bled. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
# Where systemd looks: below /usr and /usr/local, else in /etc.
UNITDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),$(PREFIX)/lib,/etc)/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DESTDIR ?=

DIST := .build/dist
SDK := .build/sdk
# The same for every debug build, so that lint and tests share one.
CHECKED := --explicit-target-dependency-import-check error
# SANITIZE=address or thread: a build of its own, so that the ordinary one is kept.
SANITIZED := $(if $(SANITIZE),--sanitize=$(SANITIZE) --scratch-path .build/sanitize-$(SANITIZE))
# Deep enough for the stacks of suppressions to reach the test.
export ASAN_OPTIONS := malloc_context_size=64
export LSAN_OPTIONS := suppressions=$(CURDIR)/Tests/lsan.supp:print_suppressions=0
export TSAN_OPTIONS := suppressions=$(CURDIR)/Tests/tsan.supp
SWIFT_FILES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Benchmarks Fuzz/Package.swift Fuzz/Sources \
  Examples
SCRIPTS := .ci/run scripts/* Benchmarks/run Fuzz/run Tests/Kernel/vm Tests/Kernel/run Tests/Kernel/fetch-kernel Tests/Kernel/guest/{start,finish,cases}

.PHONY: help deps build demo examples test test-fast test-examples test-kernel conformance fuzz soak bench lint format sdk install install-sdk uninstall clean

help: ## what there is to do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## installs what is missing from Debian and PyPI
	@scripts/deps

build: deps ## bled and bleshell, release, static Swift libraries, stripped: .build/dist
	@swift build -c release --static-swift-stdlib --product bled
	@swift build -c release --static-swift-stdlib --product bleshell
	@scripts/dist $(DIST)

sdk: deps ## CoreBluetooth and BledClient for other packages, release: .build/sdk
	@swift build -c release --static-swift-stdlib --target CoreBluetooth
	@scripts/sdk $(SDK)

demo: build ## a tour of both roles on the simulated adapter, in under a minute
	@scripts/demo

examples: deps ## the programs of Examples, debug: Examples/.build
	@swift build --package-path Examples

test: test-fast test-examples test-kernel ## all tests

# The simulation computes without a pause, which the tests that wait for processes and sockets would not survive.
test-fast: deps ## the tests that need no kernel; SANITIZE=address or SANITIZE=thread watches memory or threads
	@SWIFT_BACKTRACE=enable=no swift test $(CHECKED) $(SANITIZED) --skip SimulationTests
	@SWIFT_BACKTRACE=enable=no swift test $(CHECKED) $(SANITIZED) --skip-build --filter SimulationTests

test-examples: examples sdk ## each example, and a package built with make install-sdk, against the simulated adapter
	@swift build $(CHECKED) --product bled
	@swift build $(CHECKED) --product bleshell
	@scripts/test-examples
	@scripts/test-sdk

test-kernel: build examples ## the tests on real kernels in a virtual machine; KERNEL=6.12 CASE=2 for some of them
	@Tests/Kernel/run

conformance: deps ## the tests against the shared vectors (BLED_VECTORS=folder)
	@scripts/conformance $(CHECKED)

fuzz: deps ## FUZZ_TIME=60 seconds of libFuzzer for each target of Fuzz
	@Fuzz/run

soak: build ## real clients that come, go, are killed, flood and stop reading, for SOAK_TIME=60 seconds: memory and descriptors
	@Tests/Soak/soak.py

bench: build ## the figures of docs/performance.md
	@Benchmarks/run

lint: deps ## format, scripts, and a build in which a warning or an undeclared import fails
	@swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	@shellcheck $(SCRIPTS)
	@scripts/check-citations
	@swift build --build-tests $(CHECKED) 2>&1 | tee .build/lint.log
	@if grep -E '^($(CURDIR)/)?(Sources|Tests|Benchmarks)/[^ ]+: warning: ' .build/lint.log; then \
	  echo "lint: the warnings above must go"; exit 1; fi

format: ## formats the Swift files
	@swift format --in-place --parallel --recursive $(SWIFT_FILES)

# Builds only what is not there, so that `sudo make install` after `make build` compiles nothing.
$(DIST)/bled $(DIST)/bleshell:
	@$(MAKE) build

$(SDK)/libbled.a:
	@$(MAKE) sdk

install: $(DIST)/bled $(DIST)/bleshell ## into PREFIX (/usr/local) and /etc, below DESTDIR
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  DESTDIR="$(DESTDIR)" scripts/install $(DIST)

install-sdk: $(SDK)/libbled.a ## the modules of make sdk and a toolset, into PREFIX/lib/bled
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install-sdk $(SDK)

uninstall: ## takes back what install and install-sdk placed; keeps /etc/bled and /var/lib/bled
	@PREFIX="$(PREFIX)" SYSCONFDIR="$(SYSCONFDIR)" UNITDIR="$(UNITDIR)" SYSUSERSDIR="$(SYSUSERSDIR)" \
	  DESTDIR="$(DESTDIR)" scripts/uninstall

clean: ## removes everything that was built
	@rm -rf .build Examples/.build
