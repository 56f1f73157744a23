# make build    bin/skills-mcp
# make run      build it and serve the sample skills on loopback
# make test     every check and every test; what cannot run here says why
# make test-vm  tests of the sandboxes in virtual machines
# make image    the container image for --sandbox=docker
#
# Go, make and a POSIX system with bash are enough for these. `make test-setup`
# installs what the tests drive besides (Docker, OpenSSH, Node.js, Python, QEMU).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

ADDR        ?= 127.0.0.1:8321
SKILLS      ?= testdata/skills/valid
FUZZTIME    ?= 20s
BENCHTIME   ?= 1s
TESTTIMEOUT ?= 20m

VERSION ?= $(patsubst v%,%,$(shell git describe --tags --always --dirty 2>/dev/null || echo dev))

# The race detector needs a C compiler; without one the tests run without it.
RACE := $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && echo -race)

# Pinned here and not in go.mod: no dependency of a linter becomes one of ours.
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := go run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The go tool leaves testdata out of "...", and that is where fixtures are made.
PACKAGES := ./... ./testdata

# Platforms whose own files must compile too, tests included.
CROSS := linux/arm64 darwin/arm64 windows/amd64

.PHONY: build run image test test-vm unit lint cross vuln fuzz bench golden test-setup clean

build:
	go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/skills-mcp ./cmd/skills-mcp

run: build
	exec bin/skills-mcp serve --http $(ADDR) $(SKILLS)

# PLATFORMS=linux/amd64,linux/arm64 builds for these, with docker buildx.
image:
	sandbox/docker/build-image

test: lint cross unit

# The filter leaves what a reader wants of -v: skips with their reasons,
# failures with their logs, and each package's closing line.
unit:
	@[ -n "$(RACE)" ] || echo "no C compiler: testing without the race detector"
	integration/leftovers go test $(RACE) -timeout $(TESTTIMEOUT) -v $(PACKAGES) 2>&1 \
	| { grep --line-buffered -vE '^(=== |[[:space:]]*--- PASS|PASS$$)' || true; }

# Emulated, where the processor's virtualization cannot be used.
test-vm:
	integration/vm/image --engines
	SKILLS_MCP_REQUIRE=vm go test -timeout 90m -v ./integration/vm -all

lint:
	@unformatted="$$(gofmt -l -s .)"; \
	[ -z "$$unformatted" ] || { printf 'gofmt -s would change:\n%s\n' "$$unformatted"; exit 1; }
	go vet $(PACKAGES)
	$(STATICCHECK) $(PACKAGES)
	go mod tidy -diff
	cd integration/gosdk && go vet . && $(STATICCHECK) . && go mod tidy -diff

cross:
	@for platform in $(CROSS); do \
		echo "GOOS=$${platform%/*} GOARCH=$${platform#*/} go vet"; \
		GOOS="$${platform%/*}" GOARCH="$${platform#*/}" CGO_ENABLED=0 go vet $(PACKAGES); \
	done

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

bench:
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(PACKAGES)

# Rewrites the golden files of every package that has them; read the diff.
golden:
	@packages="$$(grep -rl --include='*_test.go' -E 'flag\.Bool\("update"' . | xargs -rn1 dirname | sort -u)"; \
	[ -z "$$packages" ] || go test $$packages -update

test-setup:
	integration/setup

clean:
	rm -rf bin
