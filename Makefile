# Two commands for a fresh Debian 12 machine with Rust: `make demo` and `make test`.
RQPS := target/release/rqps

.PHONY: demo demo-small test lint build needs clean

build: needs            ## the release binary, target/release/rqps
	cargo build --release --locked --package rqps

demo: build             ## PostgreSQL 16.15 against 17.11, table and report in a few minutes
	$(RQPS) demo

demo-small: needs       ## the demo in its smallest form, for CI, with the binary that the tests have built
	[ -x target/debug/rqps ] || cargo build --locked
	target/debug/rqps demo --quick --results target/demo-results

# Tests often wait, for servers and for time to pass: two more than there are CPUs keep the CPUs busy.
# Clippy's driver is a compiler that also lints, and what it makes here is only tested: a pass of its own for lints takes
# half the time of compiling. A benchmark is no test, and is compiled so that it is linted too.
test: export RUST_TEST_THREADS ?= $(shell expr $$(nproc) + 2)
test: export RUSTC_WORKSPACE_WRAPPER = clippy-driver
test: export RUSTFLAGS += -D warnings
test: needs             ## everything: lints, unit tests, real servers, simulated error rates
	cargo fmt --all -- --check
	cargo test --workspace --locked --no-run --bench bulk_load
	cargo test --workspace --locked --no-fail-fast

lint:                   ## formatting and lints alone, without compiling
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

needs:                  ## installs what is missing (Debian packages, with root or sudo)
	@scripts/needs

clean:
	cargo clean
