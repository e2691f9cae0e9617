"""Which files are read, and by which reader. The name of a file decides, not its content.

A new kind also needs a reader, in `_READERS` of `readers/read.py`. If its bytes are no text, it belongs to
`_PACKED_KINDS` of `content.py`.
"""

from collections.abc import Mapping
from pathlib import PurePath

SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "markdown": ("md", "markdown", "mdown", "mkd", "mdx", "mdc", "qmd", "rmd"),
    "text": tuple(
        "txt text log rst org adoc asciidoc textile tex bib srt vtt eml diff patch "
        "csv tsv json jsonl ndjson json5 jsonc yaml yml toml ini cfg conf properties env xml svg".split()
    ),
    "code": tuple(
        "py pyi pyx rb rs go java kt kts scala groovy gradle c h cc cpp cxx hh hpp hxx ino m mm cs fs fsx vb swift "
        "js jsx mjs cjs ts tsx mts cts vue svelte astro php pl pm lua r jl ex exs erl hrl hs lhs ml mli elm clj cljs "
        "cljc edn lisp el scm rkt nim zig v sv vhd d dart pas ada adb ads f f90 for cob asm s sol "
        "sh bash zsh fish ps1 psm1 bat cmd awk sed tcl vim sql graphql gql proto thrift tf tfvars hcl nix cmake mk "
        "bzl css scss sass less j2 jinja tmpl".split()
    ),
    "html": ("html", "htm", "xhtml"),
    "pdf": ("pdf",),
    "docx": ("docx",),
}
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": tuple(
        "README LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS MAINTAINERS CODEOWNERS CHANGELOG CHANGES NEWS "
        "HISTORY TODO INSTALL VERSION .gitignore .dockerignore .editorconfig .gitattributes .cursorrules "
        ".windsurfrules .clinerules go.mod".split()
    ),
    "code": tuple(
        "Makefile GNUmakefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile Rakefile Gemfile Brewfile "
        "Justfile Caddyfile Tiltfile BUILD WORKSPACE SConstruct CMakeLists.txt".split()
    ),
}

_BY_SUFFIX = {f".{suffix}": kind for kind, suffixes in SUFFIXES.items() for suffix in suffixes}
_BY_NAME = {name.lower(): kind for kind, names in NAMES.items() for name in names}


def find_kind(path: PurePath) -> str | None:
    """Return the kind of files with this name: `markdown`, `text`, `code`, `html`, `pdf` or `docx`; None: not read."""
    return _BY_NAME.get(path.name.lower()) or _BY_SUFFIX.get(path.suffix.lower())
