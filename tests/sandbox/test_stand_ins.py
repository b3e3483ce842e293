"""Packages that are not there, files and checks at a module's top level: the module loads, and what uses them fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.sandbox.process import LoadFailed
from tests.conftest import Learner

RIGHT = "def double(x):\n    return 2 * x\n"


def answer(worker: Callable[..., Learner], source: str) -> object:
    return worker(source).open().double(3)


@pytest.mark.parametrize(
    "habit",
    [
        "import matplotlib.pyplot as plt\nfig, *axes = [plt.figure()]\nplt.plot([1, 2])\nplt.show()",
        "import pandas as pd\nimport torch.nn as nn\nfrom scipy.special import softmax as s\nfrom scipy import *",
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\nnet = Net()",
        "import torch\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\ny = -device + 1",
        "import torch\nwith torch.no_grad() as g:\n    for a in torch.ones(3):\n        pass\nn = len(torch.ones(3))",
        "import torch\ndef f(x: torch.Tensor, y=torch.float32) -> 'torch.Tensor': ...",
        "import torch\ntorch.backends.cudnn.deterministic = True\nprint(torch.__name__, torch.ones(2))",
        "import pytest\n@pytest.mark.parametrize('a', [1])\ndef test_it(a): ...",
        "try:\n    import matplotlib.pyplot as plt\nexcept ImportError:\n    plt = None\nassert plt is None",
        "try:\n    from scipy import linalg\nexcept Exception:\n    linalg = None\nassert linalg is None",
        "import contextlib\nx = 1\nwith contextlib.suppress(ImportError):\n    import torch\n    x = 2\nassert x == 1",
        "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nsys.stdout.buffer.write(b'\\xff')\nsys.stdout.fileno()",
        "import faulthandler\nfaulthandler.enable()",
        "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))",
        "import numpy as np\ntry:\n    W = np.load('w.npy')\nexcept FileNotFoundError:\n    W = None\nassert W is None",
        "data = open('data.txt').read()",
        "with open('data.txt') as file:\n    data = file.read()\nrows = data.split()\nfor row in rows:\n    int(row)",
        "assert False, 'my own check'",
        "def test_all():\n    assert double(1) == 3\ntest_all()",
    ],
)
def test_an_honest_habit_costs_nothing(worker: Callable[..., Learner], habit: str) -> None:
    source = f"{RIGHT}{habit}\n" if "test_all" in habit else f"{habit}\n{RIGHT}"
    assert answer(worker, source) == 6


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import torch\ndef double(x):\n    return torch.mul(x, 2)",
         "torch is not available when a stage is checked, and torch.mul is used"),
        ("import torch.nn.functional as F\ndef double(x):\n    return F.relu(x)", "torch.nn.functional.relu is used"),
        ("from scipy.special import softmax as s\ndef double(x):\n    return s(x)", "scipy.special.softmax is used"),
        ("from scipy.special import double", "scipy is not available when a stage is checked"),
        ("def double(x):\n    import torch\n    return torch.mul(x, 2)", "and torch.mul is used"),
        ("def double(x):\n    from torch import mul\n    return mul(x, 2)", "and torch.mul is used"),
        ("import torch\nTWO = torch.tensor(2)\ndef double(x):\n    return x * TWO", "and torch.tensor is used"),
        ("import torch\nT = torch.Tensor\ndef double(x):\n    return isinstance(x, T)", "and torch.Tensor is used"),
        ("import torch\nONE = torch.ones(1)\ndef double(x):\n    return [ONE]", "and torch.ones is used"),
        ("import numba\n@numba.njit\ndef double(x):\n    return 2 * x", "and numba.njit is used"),
        ("two = int(open('two.txt').read())\ndef double(x):\n    return two * x",
         "two is not there, because line 1 needs the file 'two.txt', which is not handed in"),
    ],
)  # fmt: skip
def test_who_uses_it_is_told_in_one_sentence(worker: Callable[..., Learner], source: str, told: str) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        answer(worker, f"{source}\n")
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_it_is_the_same_where_no_process_is_forked(start: Callable[..., Learner]) -> None:
    habits = "import torch\nt = torch.ones(1)\ndata = open('data.txt').read()\nassert not data\n"
    learner = start(f"{habits}{RIGHT}def other(x):\n    return data\n", "process", fork=False).open()
    assert learner.double(3) == 6
    with pytest.raises(ModuleNotFoundError, match=r"data is not there, because line 3 needs the file 'data\.txt'"):
        learner.other(3)


def test_functions_that_do_not_use_it_are_as_they_were(worker: Callable[..., Learner]) -> None:
    learner = worker(f"import torch\n{RIGHT}\ndef other(x):\n    return torch.mul(x, 2)\n").open()
    assert learner.double(3) == 6
    with pytest.raises(ModuleNotFoundError, match="torch is not available"):
        learner.other(3)
    assert learner.double(4) == 8


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise FileNotFoundError('by hand')", "FileNotFoundError: by hand"),
        ("x = 1 / 0", "ZeroDivisionError"),
        ("".join(f"open('{at}')\n" for at in range(30)), "FileNotFoundError"),
        ("import os\nos.rmdir('nothing')\nraise ValueError('end')", "ValueError: end"),
    ],
)
def test_what_fails_otherwise_still_fails(worker: Callable[..., Learner], source: str, said: str) -> None:
    with pytest.raises(LoadFailed) as caught:
        worker(f"{source}\n{RIGHT}", load=False).process.load()
    assert said in caught.value.problem.message


def test_a_stand_in_is_no_package_that_is_installed(worker: Callable[..., Learner]) -> None:
    source = "import iniconfig\nfrom iniconfig import IniConfig as I\n"
    source += "def double(x):\n    return type(iniconfig).__name__, repr(I)\n"
    assert answer(worker, source) == ("StandInModule", "<iniconfig.IniConfig, which is not available>")
