# Every command that anyone runs. From a fresh clone `make demo` or `make test` does all that it needs: Python 3.11 or
# newer, Rust by rustup and make are there before; the rest comes from requirements.lock and Cargo.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHROMIUM ?= chromium
MINUTES ?= 10
CASES ?= 2000
BEFORE ?= HEAD
CASES_OF ?=
HTSIM ?=
RESULTS ?=
MODULES ?=
TARGETS ?= $(basename $(notdir $(wildcard crates/farweb/fuzz/fuzz_targets/*.rs)))
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# Python keeps what it compiles: tests start a thousand processes.
export PYTHONDONTWRITEBYTECODE :=

# What the compiled core is made of; a change rebuilds it, nothing else does.
sources = $(shell find $(1) -path '*/src/*' -name '*.rs' -o -name schema.json -o -name presets.json -o -name Cargo.toml)
CORE := Cargo.toml Cargo.lock pyproject.toml $(call sources,crates/farweb crates/farweb-py)
CORE_OF_WEB := Cargo.toml Cargo.lock $(call sources,crates/farweb crates/farweb-web)
PAGE := $(shell find studio -not -path '*/node_modules*' -not -path '*/dist*' -type f) $(wildcard examples/*)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help tools setup build dev web studio demo images test compile-tests lessons lessons-live schema explore lint verify equality bench bench-parts bench-sweep bench-studio bench-check bench-baseline bench-rivals \
	fuzz torture mutants notices wheel lock clean

help: ## List the targets.
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tools:
	@command -v cargo >/dev/null || { echo "farweb needs Rust, and cargo is not on the PATH: install it with rustup" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "farweb needs Python 3.11 or newer, and $(PYTHON) is not: name one with make PYTHON=/path/to/python3" >&2; exit 1; }

# $(call step,NAME,what it does,commands): a line with the seconds that it takes; what the commands say goes to a file.
define step
	@mkdir -p build; printf '%s … ' '$(2)'; began=$$(date +%s); \
		( set -e; $(3) ) > build/$(1).log 2>&1; \
		if test $$? = 0; then echo "$$(($$(date +%s) - began)) s"; \
		else echo; tail -n 20 build/$(1).log; echo "This failed; build/$(1).log has all that was said." >&2; exit 1; fi
endef

# $(call install,environment,packages): by uv, in a tenth of pip's time, from the index that pip is told to use.
install = index=$$($(BIN)/python -m pip config list | sed -n "s/^[a-z:]*\.index-url='\(.*\)'$$/\1/p" | tail -n 1); \
	$(BIN)/uv pip install --quiet --system-certs $${index:+--default-index "$$index"} --python $(1) $(2)

LOCKED_TOOLS = sed -E -n '/^(uv|maturin)==/,/[^\\]$$/p' requirements.lock

# `| tools`: checked before, but no reason to install again.
$(VENV)/.tools: requirements.lock | tools
	$(call step,tools,making .venv with uv and maturin (10 s), \
		$(PYTHON) -m venv $(VENV); \
		$(LOCKED_TOOLS) > $@.txt; \
		$(BIN)/python -m pip install --disable-pip-version-check --no-compile -r $@.txt)
	@touch $@

$(VENV)/.installed: $(VENV)/.tools
	$(call step,packages,installing what tests and checks need (20 s),$(call install,$(VENV),-r requirements.lock))
	@touch $@

# While the core compiles, the packages come that it runs with: maturin installs farweb beside those of the lock.
MATURIN := FARWEB_IN_TREE=1 $(BIN)/maturin develop --uv --locked
define core
	$(call step,core,$(1), \
		$(MATURIN) $(2) --skip-install & \
		$(call install,$(VENV),-r pyproject.toml --extra sweep --constraints requirements.lock) || { kill $$!; exit 1; }; \
		wait $$!; $(MATURIN) $(2))
	@rm -f $(VENV)/.built $(VENV)/.dev
	@touch $@
endef

# The core that Python loads is the one built last: optimized, or incrementally and with checks by `make dev`.
$(VENV)/.built: $(VENV)/.tools $(CORE)
	$(call core,compiling the core and installing what it runs with (1 to 2 min),--release)

$(VENV)/.dev: $(VENV)/.tools $(CORE)
	$(call core,compiling the core for tests and trials (a minute; later 5 s),)

LOADED := $(if $(or $(wildcard $(VENV)/.dev),$(filter dev,$(MAKECMDGOALS))),$(VENV)/.dev,$(VENV)/.built)

setup: $(VENV)/.installed ## Make .venv with every Python package that is needed.

build: $(VENV)/.built ## Compile the core (release) and install farweb into .venv; then run .venv/bin/farweb.

dev: $(VENV)/.dev setup ## Compile the core incrementally, with checks, for tests and trials; `make build` brings back the fast one.

# Both sides of the binding have one version: the crate's lock and that of crates/farweb-web/bindgen.
build/web/farweb_web_bg.wasm: $(CORE_OF_WEB)
	@test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" || { echo "the core for browsers needs the target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown" >&2; exit 1; }
	$(call step,web,compiling the core for browsers (2 min), \
		cargo build --profile web -p farweb-web --target wasm32-unknown-unknown --locked; \
		cargo run --locked --manifest-path crates/farweb-web/bindgen/Cargo.toml --target-dir target/bindgen -- \
			target/wasm32-unknown-unknown/web/farweb_web.wasm build/web)

web: build/web/farweb_web_bg.wasm ## Compile the core for browsers into build/web; needs the wasm32 target of Rust.

studio/node_modules/.package-lock.json: studio/package-lock.json
	@test "$$(node -p 'process.versions.node.split(".")[0] >= 20' 2>/dev/null)" = true || { echo "the studio needs Node 20 or newer with npm, and the target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown" >&2; exit 1; }
	$(call step,npm,installing what the page is made of (5 s),npm ci --no-audit --no-fund --prefix studio)
	@touch $@

studio/dist/studio.html: studio/node_modules/.package-lock.json build/web/farweb_web_bg.wasm $(PAGE)
	$(call step,studio,building the page (5 s),cd studio; npm run --silent check; npm run --silent build)
	@cat build/studio.log

studio: studio/dist/studio.html ## Build the studio, farweb in a browser tab: studio/dist/studio.html; needs Node 20 and the wasm32 target of Rust.

demo: build ## Simulate a small log over a cable and a satellite, sweep a slow line; ends with figures and reports.
	$(BIN)/farweb demo

images: build setup ## Make the images of documents again that are not current; of studies with RESULTS=results/reproduce.
	$(BIN)/python docs/images/make.py $(if $(RESULTS),--results $(RESULTS))

# Beside `make build`, which links the core on one core, this has work for the other; `.ci/run` has both at once.
compile-tests: | tools ## Compile the tests that are in Rust.
	cargo test -p farweb --locked --no-run
	test "$$(uname)" != Linux || { cargo build -p farweb-tun --locked && cargo test -p farweb-tun --locked --no-run; }

test: $(LOADED) setup ## Run the tests, in Rust and in Python, all but the slow ones of `make verify`.
	cargo test -p farweb --locked
	$(BIN)/python -m pytest -m "not slow"

lessons: build setup ## Run the cells of the lessons and write what they show into them.
	$(BIN)/python tests/lessons.py docs/lessons/*.ipynb

lessons-live: build ## Install JupyterLab into .venv, and open the lessons with it.
	$(call step,jupyter,installing JupyterLab (20 s),$(call install,$(VENV),jupyterlab))
	$(BIN)/jupyter lab docs/lessons

schema: ## Write the JSON Schema of scenarios from the types in Rust.
	WRITE_SCHEMA=1 cargo test -p farweb --lib --locked schema

explore: build setup ## Run the tests with properties of fresh random cases, CASES=2000 of each in Rust, and as many random scenarios.
	@# The same SEED and CASES draw the same cases again.
	seed=$${SEED:-$$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')}; echo "SEED=$$seed CASES=$(CASES)"; \
		PYTHONPATH=$(CURDIR)/tests $(BIN)/python -m explorer --seed $$seed --cases $(CASES) && \
		PROPTEST_RNG_SEED=$$seed PROPTEST_CASES=$(CASES) cargo test -p farweb --locked
	$(BIN)/python -m pytest --hypothesis-profile=default

lint: build setup ## Check formatting, lints and types.
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest farweb._core

# libCacheSim's licence keeps it out of what farweb needs: it has an environment of its own.
build/libcachesim/.installed: tests/verify/libcachesim.txt | $(VENV)/.tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/libcachesim
	$(call install,build/libcachesim,-r $<)
	@touch $@

verify: build setup studio build/libcachesim/.installed ## Run the slow tests; check the report and the studio in Chromium, captures with tshark and tcptrace, caches with libCacheSim; as root, TCP, HTTP/2 and probes with real ones.
	@command -v "$(CHROMIUM)" >/dev/null || { echo "verify needs Chromium, and $(CHROMIUM) is not on the PATH: install it (Debian: apt-get install chromium), or name one with make verify CHROMIUM=/path/to/chromium" >&2; exit 1; }
	@for tool in tshark editcap tcpdump tcptrace nghttp nghttpd; do command -v $$tool >/dev/null || { echo "verify needs $$tool, and it is not on the PATH: install it (Debian: apt-get install tshark tcpdump tcptrace nghttp2-client nghttp2-server)" >&2; missing=1; }; done; test -z "$$missing"
	@# What is missing for talking with the kernel, the tests themselves say: it takes root, not only programs.
	test "$$(uname)" != Linux || { cargo build -p farweb-tun --locked && cargo test -p farweb-tun --locked; }
	CHROMIUM="$(CHROMIUM)" $(BIN)/python -m pytest -m slow -o norecursedirs=".*"
	$(BIN)/python -m pytest -m alone tests/verify

equality: build setup ## Show that results are those of the revision BEFORE=HEAD, in every row of some 1,000 runs.
	PYTHONPATH=tests $(BIN)/python -m equality $(BEFORE) $(CHECKS)

bench: ## Measure speed and memory of whole simulations; CASES_OF="web mux" chooses.
	cargo bench -p farweb --bench world --locked -- $(CASES_OF)

bench-parts: ## Measure the event queue, links, TCP endpoints and caches alone.
	cargo bench -p farweb --bench engine --bench link --bench tcp --bench cache --locked

bench-sweep: build ## Measure what runs cost besides their simulation: 1,000 runs of a second, a single run, --help.
	$(BIN)/python crates/farweb/benches/sweep.py

bench-studio: build setup studio ## Measure the studio in Chromium, and its core in Node beside machine code.
	CHROMIUM="$(CHROMIUM)" $(BIN)/python crates/farweb/benches/studio.py

bench-check: ## Count instructions with valgrind: no case may take 3 % more than it did; CASES_OF chooses.
	$(PYTHON) crates/farweb/benches/instructions.py $(CASES_OF)

bench-baseline: ## Keep what bench-check counts now.
	$(PYTHON) crates/farweb/benches/instructions.py --update $(CASES_OF)

bench-rivals: ## Run the same transfers through ns-2, ns-3 and htsim, where they are; HTSIM=/path/to/htsim.
	HTSIM="$(HTSIM)" $(PYTHON) crates/farweb/benches/rivals.py

fuzz: ## Fuzz every reader and endpoint, MINUTES=10 each; TARGETS="scenario gzip" chooses.
	@# Without a sanitizer (-s none) cargo-fuzz asks the compiler for nothing that only a nightly one has.
	@cargo fuzz --version >/dev/null 2>&1 || { echo "fuzz needs cargo-fuzz: install it with cargo install cargo-fuzz --locked" >&2; exit 1; }
	cd crates/farweb && cargo fuzz build -s none
	cd crates/farweb && for target in $(TARGETS); do \
		mkdir -p fuzz/corpus/$$target && \
		cargo fuzz run -s none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
			-dict=fuzz/words.dict -max_total_time=$$(($(MINUTES) * 60)) -timeout=10 || exit 1; done

torture: build setup ## Kill, damage and mistreat sweeps, runs and imports at random, SEED=1; minutes.
	PYTHONPATH=$(CURDIR)/tests $(BIN)/python -m torture --seed $(or $(SEED),1)

# cosmic-ray has an environment of its own: half of what it brings serves other ways of using it.
build/mutants/.installed: tests/mutants/requirements.txt | $(VENV)/.tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/mutants
	$(call install,build/mutants,-r $<)
	@touch $@

mutants: build setup build/mutants/.installed ## Change the front in one place at a time, and see that a test fails; an hour, or MODULES="python/farweb/files".
	$(BIN)/python tests/mutants/run.py $(MODULES)

notices: ## Write the licences of the crates that are linked in to crates/farweb-py/THIRD-PARTY.txt.
	$(PYTHON) crates/farweb-py/notices.py

build/wheel/.installed: crates/farweb-py/wheel.txt | $(VENV)/.tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/wheel
	$(call install,build/wheel,-r $<)
	@touch $@

# zig links against the C library of older systems than this one; maturin finds it by the python3 on the PATH.
# The compiler leaves the folder of its user out of messages of the core.
ifeq ($(shell uname),Linux)
wheel: build/wheel/.installed
wheel: private PORTABLE := --zig --compatibility manylinux_2_28
endif
wheel: $(VENV)/.tools studio ## Build a source distribution, and from it a wheel, into dist/; try the wheel in a fresh environment.
	rm -rf dist
	PATH="$(CURDIR)/build/wheel/bin:$$PATH" CARGO_TARGET_DIR=$(CURDIR)/target RUSTFLAGS="--remap-path-prefix=$(HOME)=~" \
		$(BIN)/maturin build --release --strip --sdist $(PORTABLE) --out dist
	test ! -x build/wheel/bin/auditwheel || build/wheel/bin/auditwheel show dist/*.whl
	$(BIN)/python tests/installed.py dist/*.whl

lock: $(VENV)/.tools ## Choose new versions of the Python packages and write them to requirements.lock.
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --upgrade --generate-hashes --no-emit-index-url \
		--quiet --custom-compile-command "make lock" --output-file requirements.lock

clean: ## Remove what the other targets made, but no results.
	rm -rf $(VENV) target build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis python/farweb/_core*.so
