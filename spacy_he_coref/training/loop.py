"""The training loop: ``spacy train`` with checkpoints and resume.

It reads the same config and takes the same steps as ``spacy.training.loop``, with
two differences: the order of the data comes from the seed and the number of the
epoch alone, so that a run that goes on finds its place; and torch networks are
rounded to the precision that they are stored in before they are evaluated. A run
that was killed and resumed ends with the same weights, bit for bit, as one that was
not (on the CPU, with the same number of threads).
"""

import io
import os
import random
import shutil
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from timeit import default_timer as timer
from types import FrameType, TracebackType
from typing import (
    IO,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    Type,
    Union,
)

import numpy
import spacy
import srsly
import torch
from spacy import util
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline.edit_tree_lemmatizer import EditTreeLemmatizer
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import (
    DIR_MODEL_BEST,
    DIR_MODEL_LAST,
    clean_output_dir,
    create_before_to_disk_callback,
    create_evaluation_callback,
    subdivide_batch,
    update_meta,
)
from spacy.util import registry, resolve_dot_names
from thinc.api import Config, Optimizer, fix_random_seed, set_gpu_allocator
from tqdm import tqdm
from wasabi import Printer

from ..shim import network_shims
from .checkpoint import (
    CheckpointError,
    Progress,
    load_checkpoint,
    random_states,
    save_checkpoint,
    set_model_state,
    set_optimizer_state,
    set_random_states,
)

CHECKPOINT = "checkpoint.pt"
INITIALIZED = "initialized"
LOG = "log.jsonl"


class TrainingInterrupted(Exception):
    """A signal ended the session; the checkpoint is written.

    signal (int): Number of the signal.
    """

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal


def train(
    config: Union[str, Path, Config],
    output: Union[str, Path],
    *,
    resume: bool = True,
    overrides: Optional[Mapping[str, Any]] = None,
    use_gpu: int = -1,
    checkpoint_seconds: float = 300.0,
    stdout: Optional[IO[str]] = None,
    stderr: Optional[IO[str]] = None,
) -> Tuple[Language, Path]:
    """Train a pipeline, or go on with its training.

    The output directory gets ``model-best`` and ``model-last`` as from ``spacy
    train``, ``log.jsonl`` (a line per evaluation), and to go on from
    ``checkpoint.pt`` and ``initialized`` (the pipeline as training found it).

    config (Union[str, Path, Config]): The config, as for ``spacy train``.
    output (Union[str, Path]): The directory to write to.
    resume (bool): Go on from a checkpoint in the directory, if there is one;
        otherwise it is deleted.
    overrides (Optional[Mapping[str, Any]]): Values by dotted names of the config,
        such as ``training.max_steps``.
    use_gpu (int): Number of the GPU, -1 for the CPU.
    checkpoint_seconds (float): Time between checkpoints; one is written after every
        evaluation too.
    stdout (Optional[IO]): Gets the messages and what the config's logger writes; the
        standard output by default.
    stderr (Optional[IO]): Gets the progress bar; the standard error by default.
    RETURNS (Tuple[Language, Path]): The pipeline and its directory, ``model-last``.
    RAISES (CheckpointError): If there is a checkpoint that cannot be gone on from.
        (TrainingInterrupted): If SIGTERM or SIGINT came; the checkpoint is written.
    """
    output = Path(output)
    stdout, stderr = stdout or sys.stdout, stderr or sys.stderr
    if use_gpu >= 0:
        spacy.require_gpu(use_gpu)
    raw = _load_config(config, dict(overrides or {}))
    output.mkdir(parents=True, exist_ok=True)
    msg = Printer(no_print=True)
    path = output / CHECKPOINT
    if not resume or not path.exists():
        _start(raw, output, use_gpu)
        stdout.write(msg.good(f"Initialized pipeline in {output / INITIALIZED}") + "\n")
    run = _Run(raw, output, use_gpu, checkpoint_seconds)
    if run.progress.step:
        when = f"step {run.progress.step}, epoch {run.progress.epoch}"
        stdout.write(msg.info(f"Going on from {path}: {when}") + "\n")
    if run.progress.finished:
        stdout.write(
            msg.info("This run is finished. Start it again with --fresh.") + "\n"
        )
    else:
        with _same_sums(use_gpu < 0):
            run.train(stdout, stderr)
        stdout.write(msg.good(f"Saved pipeline in {output / DIR_MODEL_LAST}") + "\n")
    return run.nlp, output / DIR_MODEL_LAST


@contextmanager
def _same_sums(wanted: bool) -> Iterator[None]:
    """Let torch add up gradients in one order, whatever its threads do first.

    Several threads would add those of rows that were picked more than once as they
    come, and no two runs would end alike.
    """
    before = torch.are_deterministic_algorithms_enabled()
    warn = torch.is_deterministic_algorithms_warn_only_enabled()
    if wanted:
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warn)


def _load_config(config: Union[str, Path, Config], overrides: Dict[str, Any]) -> Config:
    if isinstance(config, Config):
        return Config().from_str(
            config.to_str(interpolate=False), overrides=overrides, interpolate=False
        )
    return util.load_config(config, overrides=overrides, interpolate=False)


def _resolve(nlp: Language) -> Dict[str, Any]:
    config = nlp.config.interpolate()["training"]
    # Ours shows more, and goes on after a resume; two would be in each other's way.
    if config["logger"].get("progress_bar"):
        shown = config["logger"]["progress_bar"]
        config["logger"]["progress_bar"] = False if shown is True else None
    return registry.resolve(config, schema=ConfigSchemaTraining)


def _start(raw: Config, output: Path, use_gpu: int) -> None:
    """Initialize the pipeline and write the first checkpoint.

    The run itself starts from these files, so that it cannot depend on anything that
    a resumed one would not find.
    """
    nlp = init_nlp(raw, use_gpu=use_gpu)
    # Not before: a config with a mistake must not cost an older run.
    for name in (CHECKPOINT, LOG):
        (output / name).unlink(missing_ok=True)
    clean_output_dir(output)
    shutil.rmtree(output / INITIALIZED, ignore_errors=True)
    nlp.to_disk(output / INITIALIZED)
    T = _resolve(nlp)
    seed = T["seed"]
    if seed is None:
        seed = random.SystemRandom().getrandbits(32)
    fix_random_seed(seed)
    config = dict(raw.interpolate())
    save_checkpoint(
        output / CHECKPOINT, nlp, T["optimizer"], Progress(seed=seed), config
    )


def _restore_labels(nlp: Language) -> None:
    """Complete lemmatizers, which spaCy loads without the labels of their trees.

    In training they would take every tree for that of the first label.
    """
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, EditTreeLemmatizer):
            pipe.tree2label = {tree: i for i, tree in enumerate(pipe.cfg["labels"])}


class _Run:
    """A training run, from its checkpoint on."""

    def __init__(
        self, raw: Config, output: Path, use_gpu: int, checkpoint_seconds: float
    ) -> None:
        self.output = output
        self.config = dict(raw.interpolate())
        self.checkpoint_seconds = checkpoint_seconds
        state = load_checkpoint(output / CHECKPOINT)
        _compare_configs(self.config, state["config"])
        self.progress: Progress = state["progress"]
        try:
            self.nlp = util.load_model(output / INITIALIZED)
        except OSError as error:
            raise CheckpointError(
                f"{output / INITIALIZED}, which belongs to the checkpoint, cannot be "
                f"read ({error}). Put it back, or start again with --fresh."
            ) from error
        _restore_labels(self.nlp)
        config = self.nlp.config.interpolate()
        allocator = config["training"]["gpu_allocator"]
        if use_gpu >= 0 and allocator:
            set_gpu_allocator(allocator)
        if use_gpu >= 0:
            # The generators of cupy cannot be saved; on the GPU no two runs are equal.
            fix_random_seed(self.progress.seed + self.progress.step)
        self.T = _resolve(self.nlp)
        dot_names = [self.T["train_corpus"], self.T["dev_corpus"]]
        self.train_corpus, self.dev_corpus = resolve_dot_names(config, dot_names)
        self.optimizer: Optimizer = self.T["optimizer"]
        self.before_to_disk = create_before_to_disk_callback(self.T["before_to_disk"])
        set_model_state(self.nlp, state["model"])
        set_optimizer_state(
            self.nlp, self.optimizer, state["optimizer"], self.progress.step
        )
        for string in state["strings"]:
            self.nlp.vocab.strings.add(string)
        if self.progress.performance:
            self.nlp.meta["performance"] = self.progress.performance
        self.random = state["random"]
        self.saved_at, self.saved_step = timer(), self.progress.step

    def train(self, stdout: IO[str], stderr: IO[str]) -> None:
        """Take the steps that are left."""
        T, nlp, progress = self.T, self.nlp, self.progress
        msg = Printer(no_print=True)
        frozen, annotating = T["frozen_components"], T["annotating_components"]
        stdout.write(msg.info(f"Pipeline: {nlp.pipe_names}") + "\n")
        if frozen:
            stdout.write(msg.info(f"Frozen components: {frozen}") + "\n")
        if annotating:
            stdout.write(
                msg.info(f"Set annotations on update for: {annotating}") + "\n"
            )
        rate = self.optimizer.learn_rate
        stdout.write(msg.info(f"Initial learn rate: {rate}") + "\n")
        self._write_log()
        with nlp.select_pipes(disable=frozen):
            log_step, finalize_logger = T["logger"](nlp, stdout, stderr)
        steps = self._steps()
        bar = _Bar(nlp.config.interpolate()["training"], progress, stderr)
        try:
            with _Signals(stderr) as signals:
                for info, losses in steps:
                    evaluated = info["score"] is not None
                    if evaluated:
                        bar.bar.clear()
                    log_step(info if evaluated else None)
                    bar.update(progress, losses)
                    late = timer() - self.saved_at > self.checkpoint_seconds
                    if evaluated or late or signals.received:
                        self.save_checkpoint()
                        bar.report(stderr)
                    if evaluated:
                        self._write_log()
                    if signals.received:
                        raise _interrupted(self.output, progress, signals.received)
        except Exception as error:
            if not isinstance(error, TrainingInterrupted):
                stdout.write(
                    msg.warn(
                        f"Stopped by an error in step {progress.step}. The checkpoint "
                        f"{self.output / CHECKPOINT} was written before step "
                        f"{self.saved_step}: the same command goes on from it."
                    )
                    + "\n"
                )
            raise
        finally:
            bar.bar.close()
            finalize_logger()
        # The model first: a run that is marked as finished has it.
        self.save_model(self.output / DIR_MODEL_LAST)
        progress.finished = True
        self.save_checkpoint()

    def _steps(self) -> Iterator[Tuple[Dict[str, Any], Dict[str, float]]]:
        """Take the steps that are left.

        YIELDS (Tuple[Dict[str, Any], Dict[str, float]]): After each step, the info
            for the logger and the losses of the step.
        """
        T, nlp, progress = self.T, self.nlp, self.progress
        weights = {
            name: weight
            for name, weight in T["score_weights"].items()
            # The callback drops the weights of scores that were missing once.
            if all(name in row["scores"] for row in progress.log)
        }
        evaluate = create_evaluation_callback(nlp, self.dev_corpus, weights)
        batches = _batches(
            nlp,
            self.train_corpus,
            T["batcher"],
            T["max_epochs"],
            progress.seed,
            (progress.epoch, progress.batches),
            # A batch size that follows a schedule depends on all batches before.
            replay="@schedules" in str(self.nlp.config["training"]["batcher"]),
        )
        if self._is_over():
            return
        set_random_states(self.random)
        # What the clock would have shown when the run began, without its breaks.
        start = timer() - progress.seconds
        for epoch, number, batch in batches:
            step = progress.step
            if T["before_update"]:
                T["before_update"](nlp, {"step": step, "epoch": epoch})
            sums = dict(progress.losses)
            self._update(batch)
            losses = {k: v - sums.get(k, 0.0) for k, v in progress.losses.items()}
            score: Optional[float] = None
            scores: Optional[Dict[str, Any]] = None
            if step % T["eval_frequency"] == 0:
                self._round()
                if self.optimizer.averages:
                    with nlp.use_params(self.optimizer.averages):
                        score, scores = evaluate()
                else:
                    score, scores = evaluate()
                progress.results.append((float(score), step))
            progress.words += sum(len(example) for example in batch)
            progress.seconds = timer() - start
            progress.step, progress.epoch, progress.batches = step + 1, epoch, number
            info: Dict[str, Any] = {
                "epoch": epoch,
                "step": step,
                "score": score,
                "other_scores": scores,
                "losses": progress.losses,
                "checkpoints": progress.results,
                "seconds": int(progress.seconds),
                "words": progress.words,
            }
            if score is not None:
                self._keep(info)
            yield info, losses
            if self._is_over():
                break

    def _keep(self, info: Dict[str, Any]) -> None:
        """Save the models after an evaluation, and note its result."""
        T, nlp, progress = self.T, self.nlp, self.progress
        last, best = self.output / DIR_MODEL_LAST, self.output / DIR_MODEL_BEST
        with nlp.select_pipes(disable=T["frozen_components"]):
            update_meta(T, nlp, info)
        progress.performance = _plain(nlp.meta["performance"])
        self.save_model(last)
        is_best = info["score"] == max(progress.results)[0]
        if is_best:
            _replace(best, lambda path: shutil.copytree(last, path))
        info["output_path"] = str(last)
        line = {name: info[name] for name in ("step", "epoch", "words", "losses")}
        progress.log.append(
            {
                **line,
                "seconds": round(progress.seconds, 1),
                "learn_rate": float(self.optimizer.learn_rate),
                "score": float(info["score"]),
                "best": is_best,
                "scores": _plain(info["other_scores"]),
            }
        )
        progress.losses = {}

    def _is_over(self) -> bool:
        """Whether patience or the number of steps is used up."""
        T, results, step = self.T, self.progress.results, self.progress.step - 1
        if not results:
            return False
        best_step = -max((score, -at) for score, at in results)[1]
        impatient = T["patience"] and step - best_step >= T["patience"]
        return bool(impatient or (T["max_steps"] and step >= T["max_steps"]))

    def _update(self, batch: List[Example]) -> None:
        T, nlp, losses = self.T, self.nlp, self.progress.losses
        for part in subdivide_batch(batch, T["accumulate_gradient"]):
            nlp.update(
                part,
                drop=T["dropout"],
                losses=losses,
                sgd=False,  # type: ignore[arg-type]
                exclude=T["frozen_components"],
                annotates=T["annotating_components"],
            )
        pipe: Any
        for name, pipe in nlp.pipeline:
            if (
                name not in T["frozen_components"]
                and getattr(pipe, "is_trainable", False)
                and pipe.model not in (True, False, None)
            ):
                pipe.finish_update(self.optimizer)
        self.optimizer.step_schedules()
        # Sums of other types than Python's would go on differently after a resume.
        for name, loss in losses.items():
            losses[name] = float(loss)

    def _round(self) -> None:
        """Let what is scored be what will be saved, to the bit."""
        for shim in network_shims(self.nlp):
            shim.round_weights()

    def save_model(self, path: Path) -> None:
        """Write the pipeline as spaCy does, with averaged weights if there are any."""
        self._round()
        with self.nlp.use_params(self.optimizer.averages):
            _replace(path, self.before_to_disk(self.nlp).to_disk)

    def save_checkpoint(self) -> None:
        """Write the checkpoint of this moment."""
        save_checkpoint(
            self.output / CHECKPOINT,
            self.nlp,
            self.optimizer,
            self.progress,
            self.config,
        )
        self.saved_at, self.saved_step = timer(), self.progress.step

    def _write_log(self) -> None:
        temporary = self.output / f"{LOG}.tmp"
        srsly.write_jsonl(temporary, self.progress.log)
        os.replace(temporary, self.output / LOG)


def _batches(
    nlp: Language,
    corpus: Callable[[Language], Iterable[Example]],
    batcher: Callable[[Iterable[Example]], Iterable[List[Example]]],
    max_epochs: int,
    seed: int,
    place: Tuple[int, int],
    replay: bool,
) -> Iterator[Tuple[int, int, List[Example]]]:
    """The batches of the training data from a place on.

    What the corpus and the batcher draw at random comes from generators of their
    own, seeded by the run's seed and the number of the epoch.

    nlp (Language): The pipeline.
    corpus (Callable): Reads the training data.
    batcher (Callable): Makes batches.
    max_epochs (int): Epochs, 0 without limit, -1 to read the data anew for each.
    seed (int): Seed of the run.
    place (Tuple[int, int]): Epoch to begin in, and how many of its batches to skip.
    replay (bool): Make and drop the batches of the epochs before.
    YIELDS (Tuple[int, int, List[Example]]): Epoch, number of the batch in it, counted
        from 1, and the batch.
    """
    examples: List[Example] = []
    if max_epochs >= 0:
        outside = random_states()
        _seed(seed, "corpus")
        examples = list(corpus(nlp))
        set_random_states(outside)
        if not examples:
            raise ValueError(Errors.E986)
    epoch = 0 if replay else place[0]
    while max_epochs < 1 or epoch < max_epochs:
        outside = random_states()
        _seed(seed, epoch)
        batches = iter(
            batcher(
                random.sample(examples, len(examples))
                if max_epochs >= 0
                else corpus(nlp)
            )
        )
        inside = random_states()
        set_random_states(outside)
        number = 0
        while True:
            outside = random_states()
            set_random_states(inside)
            batch = next(batches, None)
            inside = random_states()
            set_random_states(outside)
            if batch is None:
                break
            number += 1
            if (epoch, number) > place:
                yield epoch, number, list(batch)
        if not number:
            raise ValueError(Errors.E986)
        epoch += 1


def _seed(seed: int, what: Union[int, str]) -> None:
    random.seed(f"{seed} {what}")
    numpy.random.seed(random.getrandbits(32))
    torch.default_generator.manual_seed(random.getrandbits(32))


def _compare_configs(own: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    """Refuse to go on with another config than the run was started with."""
    flat_own, flat_saved = _flatten(own), _flatten(saved)
    lines = []
    for name in sorted({*flat_own, *flat_saved}):
        before, now = (
            repr(flat[name]) if name in flat else "nothing"
            for flat in (flat_saved, flat_own)
        )
        if before != now:
            section, _, key = name.rpartition(".")
            lines.append(f"  [{section}] {key}: was {before}, now {now}")
    if lines:
        more = [f"  and {len(lines) - 20} more"] if len(lines) > 20 else []
        raise CheckpointError(
            "The checkpoint is of a run with another config:\n"
            + "\n".join([*lines[:20], *more])
            + "\nUse the same config, another output directory, or --fresh to delete "
            "that run and start again."
        )


def _flatten(config: Any, prefix: str = "") -> Dict[str, Any]:
    if not isinstance(config, Mapping) or not config:
        return {prefix: config}
    flat: Dict[str, Any] = {}
    for key, value in config.items():
        flat.update(_flatten(value, f"{prefix}.{key}" if prefix else key))
    return flat


def _plain(value: Any) -> Any:
    """Scores as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return float(value)


def _replace(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a directory in the place of another, which stays whole until then."""
    temporary = path.with_name(path.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    write(temporary)
    shutil.rmtree(path, ignore_errors=True)
    temporary.rename(path)


def _interrupted(output: Path, progress: Progress, number: int) -> TrainingInterrupted:
    return TrainingInterrupted(
        f"Stopped by {signal.Signals(number).name} after step {progress.step - 1}. "
        f"The checkpoint is {output / CHECKPOINT}: the same command goes on from it.",
        number,
    )


class _Signals:
    """Notes the first SIGINT or SIGTERM; a second one has its usual effect."""

    def __init__(self, stderr: IO[str]) -> None:
        self.stderr = stderr
        self.received = 0
        self._old: Dict[int, Any] = {}

    def __enter__(self) -> "_Signals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._old[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: Optional[FrameType]) -> None:
        self.received = number
        self._put_back()
        self.stderr.write(
            "\nStopping when this step is complete, with its evaluation if it has one; "
            "once more to stop at once.\n"
        )

    def _put_back(self) -> None:
        while self._old:
            signal.signal(*self._old.popitem())

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._put_back()


class _Bar:
    """The progress bar; without a terminal, a line at every checkpoint."""

    def __init__(
        self, training: Mapping[str, Any], progress: Progress, stderr: IO[str]
    ) -> None:
        self.max_epochs = 0 if training["max_steps"] else training["max_epochs"]
        self.words, self.started = progress.words, timer()
        self.terminal = stderr.isatty()
        self.bar = tqdm(
            # Steps are counted from 0, the last one is max_steps.
            total=training["max_steps"] + 1 if training["max_steps"] else None,
            initial=progress.step,
            unit="step",
            file=stderr if self.terminal else io.StringIO(),
            mininterval=0.2 if self.terminal else 1e9,
            dynamic_ncols=self.terminal,
            leave=False,
        )

    def update(self, progress: Progress, losses: Mapping[str, float]) -> None:
        """Show a step.

        progress (Progress): Where the run stands.
        losses (Mapping[str, float]): The losses of the step.
        """
        if self.max_epochs > 0 and progress.epoch:
            # The length of an epoch is known after the first one.
            done = progress.step - progress.batches
            self.bar.total = round(done / progress.epoch * self.max_epochs)
        shown = {name: f"{loss:.3g}" for name, loss in losses.items()}
        speed = (progress.words - self.words) / max(timer() - self.started, 1e-9)
        self.bar.set_description(f"Epoch {progress.epoch}", refresh=False)
        self.bar.set_postfix({**shown, "words/s": f"{speed:.0f}"}, refresh=False)
        self.bar.update()

    def report(self, stderr: IO[str]) -> None:
        """Write the bar as a line, if it is not shown.

        stderr (IO): Where to.
        """
        if not self.terminal:
            stderr.write(f"{self.bar}\n")
            stderr.flush()
