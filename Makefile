# make build     bin/skills-mcp
# make run       build it and serve the sample skills on loopback
# make check     every check of the sources, and the core of every behaviour
# make test      every behaviour once
# make test-all  every behaviour in every variant, with the race detector
# make image     the container image for --sandbox=docker
#
# Go, make and a POSIX system with bash are enough for these. `make test-setup`
# installs what the tests drive besides (Docker, OpenSSH, Node.js, Python, QEMU);
# what cannot run here is listed at the end.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

ADDR        ?= 127.0.0.1:8321
SKILLS      ?= testdata/skills/valid
FUZZTIME    ?= 20s
BENCHTIME   ?= 1s
TESTTIMEOUT ?= 20m

VERSION ?= $(patsubst v%,%,$(shell git describe --tags --always --dirty 2>/dev/null || echo dev))

# Without the C library: programs start faster, and a run starts this one again.
# All steps share a build cache.
export CGO_ENABLED = 0

# Without the directory in what is compiled, a clone takes over from the cache what
# another one left there, and tests what build left.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath)

# The race detector, for races and test-all, which doubles what tests compute. It
# needs a C compiler; without one the tests run without it.
RACE :=
DETECTOR := $(shell command -v $$(go env CC) >/dev/null && echo -race)

# Pinned here and not in go.mod: no dependency of a linter becomes one of ours.
GOLANGCI    := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The go tool leaves testdata out of "...", and that is where fixtures are made.
PACKAGES := ./... ./testdata

# The packages that take longest begin first. Tests wait more than they compute,
# but with the race detector.
ATONCE   = $(if $(RACE),2,3)
LONGEST := ./sandbox/docker ./sandbox/local ./server ./integration
# Lint has vetted them, and nobody debugs their binaries. No result is kept: each
# run is one, and the go tool is not told what tests look at.
GOTEST   = go test -json -count=1 -p $(ATONCE) -parallel 4 -vet=off -ldflags=-w

# A program with the race detector otherwise waits for a second before it ends.
export GORACE ?= atexit_sleep_ms=0

# Platforms whose own files must compile too, tests included.
CROSS := linux/arm64 darwin/arm64 windows/amd64

# $(call steps,NAME…) makes some targets, and prints what each took and all.
steps = @TIMEFORMAT='make $@: %0R s'; \
	time for step in $(1); do (TIMEFORMAT="make $$step: %0R s"; time $(MAKE) --no-print-directory $$step); done

.PHONY: build man run image check test test-all lint cross tested short unit races variants rounds vuln fuzz bench bench-peers benchmarks golden test-setup clean

build:
	go build -ldflags '-X main.version=$(VERSION)' -o bin/skills-mcp ./cmd/skills-mcp

# The manual pages, from the texts that --help shows. What writes them is in no
# binary: it would cost each start of one.
man:
	go test ./cmd/skills-mcp -run '^TestManual$$' -count=1 -manual '$(CURDIR)/bin/man/man1'

run: build
	exec bin/skills-mcp serve --http $(ADDR) $(SKILLS)

# OPTIONS='--slim --mmdebstrap' are those of "skills-mcp image build".
image: build
	bin/skills-mcp image build $(OPTIONS)

check: ; $(call steps,lint cross short)

# Rounds have their files on a disk.
test: export MEMORY = --memory
test: ; $(call steps,unit)

test-all: ; $(call steps,variants)

# The server that several packages of tests start is linked once for all of them.
short unit: export SKILLS_MCP_TEST_BINARY = $(CURDIR)/bin/tested/skills-mcp
tested:
	go build $(RACE) -ldflags=-w -o $(SKILLS_MCP_TEST_BINARY) ./cmd/skills-mcp

# testreport leaves what a reader wants: failures with their logs, what was left
# out, and the slowest tests.
short: tested
	integration/leftovers --memory $(GOTEST) -short $(PACKAGES) 2>&1 | go run ./integration/testreport

unit: export CGO_ENABLED = $(if $(RACE),1,0)
unit: tested
	integration/leftovers $(MEMORY) $(GOTEST) $(RACE) -timeout $(TESTTIMEOUT) $(LONGEST) $(PACKAGES) 2>&1 | go run ./integration/testreport

races:
	@[ -n "$(DETECTOR)" ] || echo "no C compiler: testing without the race detector"
	$(MAKE) unit RACE=$(DETECTOR)

# Virtual machines are emulated where the processor's virtualization cannot be
# used.
variants:
	integration/vm/image --engines
	! docker version >/dev/null 2>&1 || integration/setup office
	SKILLS_MCP_TEST=all $(MAKE) races TESTTIMEOUT=90m

# What is short enough of the variants for every change: all of the local sandbox
# as an ordinary user, with every kill and the race detector; the race detector
# with all else but what drives the server with the suites of others; and the
# machine without systemd.
RACED = $(shell go list $(PACKAGES) | grep -vE '/(sandbox/local|integration/(cards|conformance|frontmatter|hosts|vm))$$')
rounds:
	LOCAL_TEST_USER=nobody SKILLS_MCP_TEST=all $(MAKE) races LONGEST= PACKAGES=./sandbox/local
	$(MAKE) races LONGEST="./sandbox/docker ./server ./integration" PACKAGES="$(RACED)"
	SKILLS_MCP_REQUIRE=vm $(MAKE) unit LONGEST= PACKAGES=./integration/vm

lint:
	$(GOLANGCI) run --allow-parallel-runners $(PACKAGES)
	go mod tidy -diff
	cd integration/gosdk && $(GOLANGCI) run --allow-parallel-runners ./... && go mod tidy -diff

cross:
	@for platform in $(CROSS); do \
		(export GOOS="$${platform%/*}" GOARCH="$${platform#*/}" CGO_ENABLED=0; go vet $(PACKAGES) || { echo "$$platform: go vet fails"; exit 1; }) & \
		started="$${started:-} $$!"; \
	done; \
	for process in $$started; do wait "$$process"; done

# Needs the Go vulnerability database.
vuln:
	$(GOVULNCHECK) $(PACKAGES)

# Every fuzz target of every package, FUZZTIME each.
fuzz:
	@for package in $$(go list $(PACKAGES)); do \
		targets="$$(go test -list '^Fuzz' "$$package" | grep '^Fuzz' || true)"; \
		for target in $$targets; do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
		done; \
	done

# Runs the built program as hosts do and prints what that takes, beside the newest
# release, or the program that BASE names. ONLY=REGEXP measures some of it alone,
# PAGE=docs/performance.md writes the page. What is clearly worse than in the other
# build is an error.
BENCH = bin/bench -binary bin/skills-mcp -base "$${BASE:-$$(integration/bench/previous)}" -only "$(ONLY)" -page "$(PAGE)"
bench bench-peers: export BASE := $(BASE)

bench: build
	go build -o bin/bench ./integration/bench
	@$(BENCH)

# With what others wrote for the same beside it, as far as it is there.
bench-peers: build
	integration/bench/peers-setup
	go build -o bin/bench ./integration/bench
	@$(BENCH) -peers

# The benchmarks of single rooms.
benchmarks:
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(PACKAGES)

# Rewrites the golden files of every package that has them; read the diff.
golden:
	@packages="$$(grep -rl --include='*_test.go' -E 'flag\.Bool\("update"' . | xargs -rn1 dirname | sort -u)"; \
	[ -z "$$packages" ] || go test $$packages -update

test-setup:
	integration/setup

clean:
	rm -rf bin
