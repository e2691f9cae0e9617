"""Embedding models."""

from retentive.cli.parser.options import Verbs, Words

_NAME = "a name or alias of the list, or the path of a folder"


def choosing(verb: Verbs) -> None:
    verb("list", "show the models that can be chosen, and which are here")

    info = verb("info", "show all that is known of a model: files and hashes, dimension, prefixes, licence")
    info.add_argument("name", metavar="NAME", help=_NAME)

    pull = verb(
        "pull",
        "fetch a model",
        epilog="From hub_url or HF_ENDPOINT. An interrupted download is continued; each file is checked by its hash.",
    )
    pull.add_argument("name", metavar="NAME", help="a name or alias of the list")
    _precision(pull)

    use = verb("use", "make a model the embedder, in config.toml")
    use.add_argument("name", metavar="NAME", help=f"{_NAME}; PROVIDER:MODEL; hashing; or none")
    _precision(use)

    test = verb("test", "load a model, and measure how quick and how good it is here")
    test.add_argument("name", nargs="?", metavar="NAME", help=f"{_NAME}; the one that is set, if not given")
    _precision(test)
    test.add_argument("--llm", action="store_true", help="try the language model that is set, on a short conversation")

    verify = verb("verify", "compare a model's files with their hashes, and its vectors with known ones")
    verify.add_argument("name", nargs="?", metavar="NAME", help=f"{_NAME}; the one that is set, if not given")
    verify.add_argument("--accept", action="store_true", help="record the vectors of a folder of your own anew")
    _precision(verify)

    remove = verb("remove", "delete what was fetched or made for a model")
    remove.add_argument("name", metavar="NAME", help=_NAME)


def _precision(verb: Words) -> None:
    verb.add_argument("--precision", choices=("int8", "float32"), help="instead of the setting's")
