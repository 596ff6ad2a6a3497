# The tasks of this repository. `make ci` is what CI runs; the others use the environment that is active.
.PHONY: help ci lint types arrows test fuzz

MINUTES ?= 2
SUBJECT ?= keras

help: ## list the tasks
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

ci: ## everything, in a fresh virtual environment
	bash .ci/run

lint: ## style and formatting
	ruff check
	ruff format --check

types: ## mypy, strict
	mypy

arrows: ## which room may import which
	lint-imports

test: ## all tests
	pytest -n auto

fuzz: ## search for MINUTES (2) on SUBJECT (keras)
	clonediff fuzz --minutes $(MINUTES) --subject $(SUBJECT)
