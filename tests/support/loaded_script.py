"""Programs of `scripts/`, which are no package, as modules that tests can call."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).parents[2] / "scripts"


def load_script(name: str) -> ModuleType:
    """The program `scripts/<name>.py`; it does not run as a program."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes of the program look for their module there
    spec.loader.exec_module(module)
    return module
