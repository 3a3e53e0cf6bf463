# `make` alone says what there is to type.
.DEFAULT_GOAL := help

# The wildcard leaves out everything below testdata, so its Go packages (the test kit, the benchmark's tools) are named.
TESTDATA := $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(shell find testdata -name '*.go')))))
PACKAGES := ./... $(TESTDATA)
LINTER   := go tool -modfile=tools.mod golangci-lint
TESTFLAGS ?=
# What .ci/setup has seen to must be there: a server that is missing is a failure then, and not a test less.
SERVICES := $(if $(WITHOUT_SERVICES),,REQUIRE_REDIS=1 REQUIRE_NATS=1)

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Run the tests on SQLite, PostgreSQL, Redis and NATS; installs what is missing (SQLITE_ONLY=1, WITHOUT_SERVICES=1 leave it out)
	@.ci/setup
	@$(SERVICES) .ci/step 'go test' go test -timeout 25m $(TESTFLAGS) $(PACKAGES)

race: ## The same under the race detector; installs a C compiler if it is missing
	@.ci/setup race
	@CGO_ENABLED=1 $(SERVICES) .ci/step 'go test -race' go test -race -timeout 25m $(TESTFLAGS) $(PACKAGES)

STEPS ?= 100000

model: ## Tell 100,000 random steps on each database and compare with a plain model (STEPS=N for fewer; what fails is shrunk to a short script)
	@.ci/setup
	@STEPS=$(STEPS) .ci/step 'go test -run TestModel' go test -timeout 3h -count=1 -run '^TestModel(SideBySide)?$$' $(TESTFLAGS) ./ledger

fuzz: ## Run every fuzz target over a thousand inputs (FUZZTIME=1m for longer)
	@.ci/fuzz

crosscheck: ## Hold the verifiers against the providers' own libraries (a module of its own, so that they are not ours to carry)
	@cd crosscheck && go vet ./... && $(CURDIR)/.ci/step 'go test ./crosscheck' go test $(TESTFLAGS) ./...

lint: gofmt vet golangci ## Format, go vet and golangci-lint (built from source the first time: one to five minutes)

gofmt:
	@files=$$(gofmt -l .) && [ -z "$$files" ] || { echo "not formatted, type \`gofmt -w .\`:"; echo "$$files"; exit 1; }

vet:
	@go vet $(PACKAGES)

golangci:
	@$(LINTER) run $(PACKAGES)

demo: ## The whole story in one go, on an embedded database in a temporary folder
	@go run . demo

build: ## Build ./app, one static executable
	CGO_ENABLED=0 go build -o app .

bench: ## Measure callbacks and reconciliation against plain PostgreSQL (N, ROUNDS, SECONDS: see testdata/bench/README.md)
	@.ci/setup
	@testdata/bench/run

flash: ## Sell 10,000 units of one article to 50,000 buyers three ways, against the textbook transaction (UNITS=…)
	@.ci/setup
	@REQUIRE_REDIS=1 go test ./ledger/redisgate -run '^$$' -bench FlashSale -benchtime 1x -timeout 60m

tools: ## Fetch and build what `make lint` and `make race` need, to work offline later
	@.ci/setup race
	@go mod download
	@$(LINTER) version

.PHONY: help test race model fuzz crosscheck lint gofmt vet golangci demo build bench flash tools
