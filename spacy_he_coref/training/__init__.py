"""Training that can be stopped at any time and goes on without loss."""

from .checkpoint import CheckpointError
from .loop import TrainingInterrupted, train

__all__ = ["CheckpointError", "TrainingInterrupted", "train"]
