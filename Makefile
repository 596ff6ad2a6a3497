# The tasks of this repository. CI runs `make ci`; the other tasks use the active environment.
.PHONY: help ci lint types arrows test fuzz

MINUTES ?= 2
SUBJECT ?= keras

help: ## list the tasks
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

ci: ## all checks and tests, in a fresh virtual environment
	bash .ci/run

lint: ## style and formatting
	ruff check
	ruff format --check

types: ## mypy, strict
	mypy

arrows: ## which package may import which
	lint-imports

test: ## the tests, except for the slow ones
	pytest -n auto

fuzz: ## search for MINUTES (2) on SUBJECT (keras)
	clonediff fuzz --minutes $(MINUTES) --subject $(SUBJECT)
