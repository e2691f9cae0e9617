"""Verbs of embedding models."""

from retentive.cli.parser.options import VerbGroup, VerbParser

_NAME_HELP = "a name or alias of the list, or the path of a folder"


def add_models_verbs(verb: VerbGroup) -> None:
    verb("list", "list available models, and which are downloaded")

    info = verb("info", "show details of a model: files and hashes, dimension, prefixes, licence")
    info.add_argument("name", metavar="NAME", help=_NAME_HELP)

    pull = verb(
        "pull",
        "download a model",
        epilog="From hub_url or HF_ENDPOINT. An interrupted download is continued; each file is checked by its hash.",
    )
    pull.add_argument("name", metavar="NAME", help="a name or alias of the list")
    _add_precision(pull)

    use = verb("use", "set a model as the embedder in config.toml")
    use.add_argument("name", metavar="NAME", help=f"{_NAME_HELP}; PROVIDER:MODEL; hashing; or none")
    _add_precision(use)

    test = verb("test", "load a model, and measure its speed and quality on this machine")
    test.add_argument("name", nargs="?", metavar="NAME", help=f"{_NAME_HELP}; the one that is set, if not given")
    _add_precision(test)
    test.add_argument("--llm", action="store_true", help="try the language model that is set, on a short conversation")

    verify = verb("verify", "compare a model's files with their hashes, and its vectors with known ones")
    verify.add_argument("name", nargs="?", metavar="NAME", help=f"{_NAME_HELP}; the one that is set, if not given")
    verify.add_argument("--accept", action="store_true", help="record the vectors of your own folder again")
    _add_precision(verify)

    remove = verb("remove", "delete the files of a model")
    remove.add_argument("name", metavar="NAME", help=_NAME_HELP)


def _add_precision(verb: VerbParser) -> None:
    verb.add_argument("--precision", choices=("int8", "float32"), help="instead of the setting's")
