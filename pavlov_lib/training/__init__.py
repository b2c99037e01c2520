"""Train stacks of memory layers: tasks, the loop with checkpoints, and wide stacks against deep ones."""

from .loop import TrainConfig, Trained, evaluate, train
from .stacks import run_stacks, shape_at_budget, summarise, train_and_test, trial_seeds
from .tasks import Batch, MultiHop, Recall

__all__ = [
    "Batch",
    "MultiHop",
    "Recall",
    "TrainConfig",
    "Trained",
    "evaluate",
    "run_stacks",
    "shape_at_budget",
    "summarise",
    "train",
    "train_and_test",
    "trial_seeds",
]
