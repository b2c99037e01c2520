"""Train stacks of memory layers: tasks, the loop with checkpoints, wide stacks against deep ones, long contexts."""

from .loop import TrainConfig, Trained, evaluate, train
from .stacks import run_stacks, shape_at_budget, summarise, train_and_test, trial_seeds
from .streams import run_curves, run_streams, run_tally, write_sizes
from .tasks import Batch, MultiHop, Recall

__all__ = [
    "Batch",
    "MultiHop",
    "Recall",
    "TrainConfig",
    "Trained",
    "evaluate",
    "run_curves",
    "run_stacks",
    "run_streams",
    "run_tally",
    "shape_at_budget",
    "summarise",
    "train",
    "train_and_test",
    "trial_seeds",
    "write_sizes",
]
