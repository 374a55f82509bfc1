# Tilewise's front door: every target does the set-up it needs (common/setup/). `make help` lists them.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

LAB ?=
SUBMISSION ?=
BACKEND ?= auto
DEVICE ?=
FORMAT ?=
OUTPUT ?=
STUDENT ?=
SEED ?=
CASE ?=
BESIDE ?=
ALL ?=
PART ?=

GRADER := .venv/bin/grader
OPTIONS = $(if $(SUBMISSION),--submission "$(SUBMISSION)") --backend "$(BACKEND)" \
          $(if $(DEVICE),--device "$(DEVICE)") $(if $(FORMAT),--format "$(FORMAT)") \
          $(if $(OUTPUT),--output "$(OUTPUT)")

.PHONY: help setup ready grade show quiz watch hint status doctor study docs wheel test test-wheel test-sanitize fuzz bench bench-gpu \
        clean distclean

help:
	@sed -n 's/^#> \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#> Tilewise: learn GPU matrix multiplication with CUDA, with or without a GPU.
#>
#>   make grade                 grade your work under labs/; the first call sets everything up
#>   make grade LAB=02          one lab, by number or folder name
#>   make show LAB=02           a page in which your kernel runs, step by step; CASE=id, BESIDE=file
#>   make quiz LAB=02           questions with numbers of your own: predict, then see; STUDENT=name, SEED=n
#>   make watch LAB=02          grade again whenever you save; single keys give hints, go on, quit
#>   make hint                  the next hint for what failed last; LAB=02: of this lab
#>   make status                your progress through the labs; OUTPUT=file: a summary to keep
#>   make doctor                what was found on this machine, and what is missing
#>   make study                 the classic study of eight kernels repeated: tables and pictures
#>   make wheel                 the course as one file that pip installs, in build/wheels/
#>   make docs                  the course book as pages for a browser, in build/docs/
#>   make test                  the project's own tests: C++ and Python; ALL=1: also the slow ones,
#>                              every entry of the corpus, and what needs extra packages;
#>                              ALL=1 PART=1/2: of the corpus and other long lists the first half
#>   make clean                 remove build/ (keeps .venv/ and your progress)
#>
#> Options of grade: SUBMISSION=path (a file, a lab folder, or a tree laid out like labs/),
#> BACKEND=auto|sim|both|gpu, DEVICE=h200, FORMAT=text|json|html|markdown|junit|..., OUTPUT=file.
#>
#> `make` ends with status 2 whenever a command fails. Scripts should call .venv/bin/grader, whose
#> status says more: 0 full marks, 1 less, 2 usage or bad input, 3 the grader or its machine failed.
#>
#> For maintainers: make setup, make test-wheel, make test-sanitize, make fuzz, make bench, make bench-gpu,
#> make distclean.

# A variable in small letters would be taken for none, and all labs graded.
$(foreach name,lab submission backend device format output case beside all part student seed,$(if $(filter command%,$(origin $(name))),\
  $(error write $(name)=... in capitals, as in LAB=02)))

setup:
	@common/setup/setup.sh
	@$(if $(filter setup,$(MAKECMDGOALS)),echo "Set up. Next: make grade")

ready:
	@common/setup/setup.sh --grading

grade: ready
	@$(GRADER) run $(LAB) $(OPTIONS)

show: ready
	@$(GRADER) show $(LAB) $(if $(SUBMISSION),--submission "$(SUBMISSION)") $(if $(CASE),--case "$(CASE)") \
	  $(if $(BESIDE),--beside "$(BESIDE)") $(if $(DEVICE),--device "$(DEVICE)") $(if $(OUTPUT),--output "$(OUTPUT)")

quiz: ready
	@$(GRADER) quiz $(LAB) $(if $(STUDENT),--student "$(STUDENT)") $(if $(SEED),--seed "$(SEED)") $(if $(OUTPUT),--output "$(OUTPUT)")

hint: ready
	@$(GRADER) hint $(LAB) $(if $(SUBMISSION),--submission "$(SUBMISSION)")

# Key v serves its page with the packages of `serve`; without them it writes a file.
watch: ready
	@common/setup/extra.sh serve starlette uvicorn || true
	@$(GRADER) watch $(LAB) $(if $(SUBMISSION),--submission "$(SUBMISSION)")

status: ready
	@$(GRADER) $@ $(if $(OUTPUT),--output "$(OUTPUT)")

doctor: ready
	@$(GRADER) $@

test:
	@common/setup/run_tests.sh $(if $(ALL),--all $(PART))

test-wheel: setup
	@.venv/bin/python -m pytest -m wheel common/wheel/tests

test-sanitize:
	@common/setup/run_tests.sh --sanitize

# Feeds the PTX parser, then the reader of plans, with damaged text for ten minutes each; needs clang.
fuzz:
	@common/tests/ptx/fuzz.sh 600 build/fuzz
	@common/tests/harness/fuzz.sh 600 build/fuzz-plan

bench:
	@common/measure/bench/run.sh --json build/bench.json

bench-gpu:
	@solutions/summit/bench/run.sh

study: setup
	@common/setup/extra.sh study matplotlib
	@$(GRADER) study $(if $(N),--n "$(N)") $(if $(OUTPUT),--output "$(OUTPUT)")

docs: setup
	@common/setup/extra.sh docs furo myst_parser
	@.venv/bin/python docs/book/build.py $(if $(OUTPUT),--output "$(OUTPUT)")

wheel: setup
	@common/setup/extra.sh wheel ziglang auditwheel
	@.venv/bin/python common/wheel/make.py $(if $(PLATFORM),--platform $(PLATFORM)) $(if $(OUTPUT),--output "$(OUTPUT)")

clean:
	@rm -rf build

distclean: clean
	@rm -rf .venv grader/*.egg-info *.egg-info
