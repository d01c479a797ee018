"""Libraries are imported without torch's compiler."""

import subprocess
import sys
from pathlib import Path

from spacy_he_coref.encoder.imports import without_compiler
from tests.encoder.test_model import make_pipeline
from tests.util import save_tiny_encoder

MODULE = "torch._dynamo._trace_wrapped_higher_order_op"


def run(code: str) -> str:
    """Run code in a process of its own: this one has everything imported already."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_loading_a_pipeline_does_not_import_the_compiler(tmp_path: Path) -> None:
    nlp = make_pipeline(save_tiny_encoder(tmp_path / "encoder"))
    nlp.to_disk(tmp_path / "pipeline")
    code = (
        "import sys, spacy, torch\n"
        "disable = torch.compiler.disable\n"
        f"nlp = spacy.load({str(tmp_path / 'pipeline')!r})\n"
        "assert len(nlp('שלום עולם')) == 2\n"
        "assert torch.compiler.disable is disable\n"
        "print([name for name in sys.modules if name.startswith('torch._dynamo')])\n"
    )
    assert run(code) == "[]"


def test_the_stand_ins_do_what_they_stand_for() -> None:
    code = (
        "import sys, torch\n"
        "from spacy_he_coref.encoder.imports import without_compiler\n"
        "with without_compiler():\n"
        f"    from {MODULE} import TransformGetItemToIndex as made_late\n"
        "    @torch.compiler.disable(recursive=False)\n"
        "    def double(x):\n"
        "        'Twice.'\n"
        "        return 2 * x\n"
        "    half = torch.compiler.disable(lambda x: x / 2)\n"
        f"assert {MODULE!r} not in sys.modules\n"
        "assert double.__name__ == 'double' and double.__doc__ == 'Twice.'\n"
        "assert 'torch._dynamo' not in sys.modules\n"
        "assert double(2) == 4 and half(2) == 1\n"
        f"from {MODULE} import TransformGetItemToIndex\n"
        "assert isinstance(made_late(), TransformGetItemToIndex)\n"
        "with made_late():\n"
        "    print('fine')\n"
    )
    assert run(code) == "fine"


def test_other_names_are_those_of_the_module() -> None:
    code = (
        "import sys\n"
        "from spacy_he_coref.encoder.imports import without_compiler\n"
        "with without_compiler():\n"
        f"    from {MODULE} import trace_wrapped\n"
        f"print(trace_wrapped is sys.modules[{MODULE!r}].trace_wrapped)\n"
    )
    assert run(code) == "True"


def test_nothing_changes_where_the_compiler_is_there() -> None:
    import torch._dynamo  # noqa: F401

    disable, module = torch.compiler.disable, sys.modules.get(MODULE)
    with without_compiler():
        assert torch.compiler.disable is disable
        assert sys.modules.get(MODULE) is module


def test_it_ends_with_an_error_too() -> None:
    code = (
        "import sys, torch\n"
        "from spacy_he_coref.encoder.imports import without_compiler\n"
        "disable = torch.compiler.disable\n"
        "try:\n"
        "    with without_compiler():\n"
        "        raise ImportError\n"
        "except ImportError:\n"
        f"    print({MODULE!r} in sys.modules, torch.compiler.disable is disable)\n"
    )
    assert run(code) == "False True"
