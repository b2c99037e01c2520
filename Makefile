# Every target sets up what it needs, once. `make` alone lists them.
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8000
SITE := _build/html
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

.DEFAULT_GOAL := help
.PHONY: help book lite test lab serve notebooks figures pdf slides course translations lint wheelhouse bench lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- set-up: the site needs neither torch nor the test tools, so that reading is quick to get ---
$(BIN)/python:
	tools/make_venv.sh $(VENV)

$(VENV)/.book: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Setting up what the website needs (once) ..."
	$(INSTALL) -e '.[book]'
	@touch $@

$(VENV)/.lite: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Setting up what the notebooks in the browser need (once) ..."
	$(INSTALL) -e '.[book,lite]'
	@touch $(VENV)/.book $@

$(VENV)/.teach: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Setting up what a course needs (once) ..."
	$(INSTALL) -e '.[book,teach]'
	@touch $(VENV)/.book $@

$(VENV)/.print: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Setting up what printing needs (once) ..."
	$(INSTALL) -e '.[book,print]'
	@touch $(VENV)/.book $@

$(VENV)/.all: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Setting up everything, torch included (once) ..."
	$(INSTALL) -e '.[torch,book,lab,lite,teach,print,test]'
	@touch $(VENV)/.book $(VENV)/.lite $(VENV)/.teach $(VENV)/.print $@

# --- reading ---
book: $(VENV)/.book  ## build the website from the executed notebooks
	$(BIN)/jupyter-book build . -W --keep-going --quiet
	@echo
	@echo "The book is ready. Point your browser at file://$(CURDIR)/$(SITE)/index.html"
	@echo "or run 'make serve' and open http://localhost:$(PORT)"

lite: $(VENV)/.lite  ## build the website with notebooks that run in the reader's browser (fetches 40 to 80 MB, once)
	$(BIN)/python tools/lite.py fetch
	PAVLOV_LITE=1 $(MAKE) book

serve: book  ## build the website and serve it on this machine
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(SITE)

# --- running ---
lab: $(VENV)/.all  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=. book/intro.md

notebooks: $(VENV)/.all  ## run every notebook again and refresh the reference data (ONLY=book/oja.ipynb for one)
	$(BIN)/python tools/execute_notebooks.py $(ONLY)

slides: $(VENV)/.print book  ## build the website and print the slides of every chapter (_build/html/slides; needs Chromium)
	$(BIN)/python tools/slides.py $(SITE)

course: $(VENV)/.teach  ## write the quiz files and the students' assignments (_build/course)
	$(BIN)/python tools/course.py quiz
	$(BIN)/python tools/course.py release

translations: $(VENV)/.book  ## bring the translations up to date and count them (NEW="fr story" begins a page)
	$(BIN)/python tools/translations.py $(if $(NEW),--new $(NEW))

figures: $(VENV)/.all  ## write every figure as SVG, PNG, CSV and program (_build/html/figures)
	$(BIN)/python tools/figures.py $(ONLY)

pdf: $(VENV)/.print book  ## write the book and the cheat sheet as PDF (needs Chromium; _build/html/*.pdf)
	$(BIN)/python tools/pdf.py

wheelhouse: $(VENV)/.book  ## fetch all that an installation without a network needs (_build/wheelhouse)
	$(BIN)/python -m pip download --quiet --constraint requirements.lock --dest _build/wheelhouse '.[book,lab]' hatchling editables

bench: $(VENV)/.all  ## time the circuits against their peers
	$(BIN)/python -m benchmarks

# --- proving ---
test: $(VENV)/.all  ## check everything: code, notebooks, website
	tools/check.sh $(BIN)

lint: $(VENV)/.all  ## check style and spelling only
	tools/check.sh $(BIN) lint

# --- keeping ---
lock:  ## resolve the dependencies anew and write requirements.lock
	tools/make_lock.sh

clean:  ## remove what was built (not the environment)
	rm -rf _build
