"""Compiled programs as folders: program.json (DSPy's state, no LM) and manifest.json.

    save_program(program, "optimized/prefine-mpt", manifest)
    program, manifest = load_program("prefine-mpt")

Loading refuses a state that does not belong to the code, and names the field; DSPy itself would load it silently. The
state is JSON only: loading it runs no code of the folder's.

A program brings its own instructions. Where those of the code have changed since it was compiled, the compiled ones are
used, so that it behaves as it was scored and a program of every release loads for ever; a warning says so. What is
refused are instructions (or field texts, or demonstrations) in program.json that are not those its manifest was written
for: somebody changed one of the two files.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from pydantic import ValidationError

from prefine_dspy.errors import InputError
from prefine_dspy.fingerprint import changed_parts, field_differences, signature_shapes, state_hash, state_parts
from prefine_dspy.manifest import FORMAT_VERSION, Manifest

PROGRAM_FILE, MANIFEST_FILE = "program.json", "manifest.json"
_PACKAGE = Path(__file__).resolve().parent
# the packaged programs of an installed wheel, and those of a checkout
_SHIPPED = (_PACKAGE / "optimized", _PACKAGE.parent / "optimized")


class LoadedProgram(NamedTuple):
    """A program with its compiled state, ready to be called under the caller's LM, and how it was made."""

    program: dspy.Module
    manifest: Manifest


class VersionWarning(UserWarning):
    """A program was compiled under other versions than it is used with: its scores may differ."""


def save_program(program: dspy.Module, folder: Path | str, manifest: Manifest) -> Manifest:
    """Write a program's state and its manifest.

    Args:
        program: of the class that the manifest names. Its LMs are not written.
        folder: made when absent; files of the same names are replaced.
        manifest: its signatures and versions are filled in here.

    Returns:
        The manifest as written.
    """
    folder = Path(folder)
    shapes = signature_shapes(_new_program(manifest))
    state = _state_of(program)
    if shapes.keys() != state.keys():
        raise InputError(f"the program's predictors are {_names(state)}, those of its class {_names(shapes)}")
    signatures = {}
    for name, shape in shapes.items():
        parts = state_parts(state[name], (field.name for field in shape.fields))
        signatures[name] = shape.model_copy(update={"state": state_hash(state[name]), "parts": parts})
    whole = manifest.model_copy(update={"signatures": signatures, "versions": {**versions(), **manifest.versions}})
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / PROGRAM_FILE, state)
    _write(folder / MANIFEST_FILE, whole.model_dump(mode="json"))
    return whole


def load_program(name_or_path: Path | str, **options: Any) -> LoadedProgram:
    """The program of a folder, or of a name among the shipped ones.

    Args:
        name_or_path: a folder that `save_program` wrote, or its short name, e.g. "prefine-mpt".
        options: for the program's constructor, over those of the manifest.

    Raises:
        InputError: it is not there, is of a newer format, does not fit the code, or its two files do not fit each
            other; names predictor and field (or "instructions", "demos").

    Warns:
        VersionWarning: it was compiled under another DSPy, or the code's own instructions have changed since (the
            compiled ones are used).
    """
    folder = find_program(name_or_path)
    manifest = read_manifest(folder)
    state = _read(folder / PROGRAM_FILE)
    program = _new_program(manifest, **options)
    notes = _check(folder, manifest, program, state)
    program.load_state({name: {**predictor, "lm": None} for name, predictor in state.items()})
    for note in notes:
        warnings.warn(f"{folder.name}: {note}", VersionWarning, stacklevel=2)
    return LoadedProgram(program, manifest)


def find_program(name_or_path: Path | str) -> Path:
    """The folder of a compiled program.

    Raises:
        InputError: there is none; names those that are shipped.
    """
    text = os.fspath(name_or_path)
    given = Path(text).expanduser()
    candidates = [given]
    if text and not given.is_absolute() and ".." not in given.parts:
        # "prefine-mpt", and "optimized/prefine-mpt" from wherever it is asked for
        short = Path(*given.parts[1:]) if given.parts[0] == "optimized" and len(given.parts) > 1 else given
        candidates += [root / short for root in _SHIPPED]
    for folder in candidates:
        if text and (folder / MANIFEST_FILE).is_file():
            return folder
    known = ", ".join(shipped()) or "none yet"
    raise InputError(
        f"no compiled program {text!r}: give a folder with {MANIFEST_FILE} and {PROGRAM_FILE} or one of: {known}; "
        "make one with python -m programs.compile"
    )


def shipped() -> list[str]:
    """The names of the compiled programs that came with the package."""
    return sorted({path.parent.name for root in _SHIPPED for path in root.glob(f"*/{MANIFEST_FILE}")})


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder.

    Raises:
        InputError: it cannot be read, or is of a newer format.
    """
    document = _read(folder / MANIFEST_FILE)
    version = document.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise InputError(
            f"{folder / MANIFEST_FILE} has format {version}, this version reads up to {FORMAT_VERSION}: "
            "pip install --upgrade prefine-dspy"
        )
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        raise InputError(f"{folder / MANIFEST_FILE}: key {key!r}: {problem['msg']}") from None


def versions() -> dict[str, str]:
    """The versions that a compiled program's scores depend on."""
    from prefine_dspy import __version__  # not at the top: the package itself imports this module

    found = {"python": platform.python_version(), "dspy": dspy.__version__, "prefine-dspy": __version__}
    for package in ("xllamacpp", "litellm"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _new_program(manifest: Manifest, **options: Any) -> dspy.Module:
    """An uncompiled program of the manifest's class. Only this package's own classes: a folder must not run code."""
    module, _, name = manifest.program.class_path.partition(":")
    if module.partition(".")[0] != _PACKAGE.name:
        raise InputError(f"{manifest.program.class_path} is no program of {_PACKAGE.name}")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        kind = None
    if not (isinstance(kind, type) and issubclass(kind, dspy.Module)):
        raise InputError(
            f"this version has no program {manifest.program.class_path}: recompile, or install the one "
            f"that compiled it ({manifest.versions.get('prefine-dspy', 'unknown')})"
        )
    try:
        program: dspy.Module = kind(**{**manifest.program.options, **options})
    except TypeError as error:
        raise InputError(f"{manifest.program.name}: {error}") from None
    return program


def _state_of(program: dspy.Module) -> dict[str, Any]:
    """DSPy's state without what must not be kept: LMs with their keys and addresses, traces of users' requests."""
    state = json.loads(json.dumps(program.dump_state(json_mode=True), ensure_ascii=False, default=str))
    for predictor in state.values():
        predictor.update(lm=None, traces=[], train=[])
    return dict(state)


def _check(folder: Path, manifest: Manifest, program: dspy.Module, state: dict[str, Any]) -> list[str]:
    """Refuse what does not fit together; return what is only worth a warning."""
    code = signature_shapes(program)
    saved = manifest.signatures
    if missing := sorted(code.keys() - saved.keys()):
        raise InputError(f"{folder}: the program has a predictor {missing[0]} that was not saved: recompile it")
    if extra := sorted(saved.keys() - code.keys()):
        raise InputError(f"{folder}: the saved predictor {extra[0]} is not in the program any more: recompile it")
    if saved.keys() != state.keys():
        raise InputError(f"{folder}: {PROGRAM_FILE} holds {_names(state)}, {MANIFEST_FILE} {_names(saved)}")
    notes = []
    for name, shape in code.items():
        if lines := field_differences(saved[name], shape):
            raise InputError(f"{folder} does not fit this version: {name}: {'; '.join(lines)}: recompile it")
        held = state[name]
        if not isinstance(held, dict) or saved[name].state != state_hash({**held, "lm": None}):
            what = changed_parts(saved[name], held) if isinstance(held, dict) else []
            raise InputError(
                f"{folder}: {name}: {', '.join(what) or 'the state'} in {PROGRAM_FILE} is not what {MANIFEST_FILE} was "
                "written for: restore the file or recompile it"
            )
        if saved[name].instructions != shape.instructions:
            notes.append(f"the instructions of {name} have changed since it was compiled; the compiled ones are used")
    was = manifest.versions.get("dspy")
    if was != dspy.__version__:
        notes.append(f"compiled with dspy {was}, this is dspy {dspy.__version__}: scores may differ")
    return notes


def _names(predictors: Any) -> str:
    return ", ".join(sorted(predictors)) or "nothing"


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InputError(f"{path} is not a JSON object: compile the program again")
    return document


def _write(path: Path, document: dict[str, Any]) -> None:
    """All of the file or nothing: a killed process must not leave half of it."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    os.replace(temporary, path)
