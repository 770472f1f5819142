# SPDX-License-Identifier: Apache-2.0
"""Models of one's own, and what a surrogate brings with it: its prior and its design."""

import json
from dataclasses import replace

import pytest

import stopwise as sw
from stopwise.core.beliefs import PaperModel, PlainModel, WeighedModel
from stopwise.errors import InputError
from stopwise.record.journal import ResumeWarning
from stopwise.study import StudyOptions
from stopwise.study.designs import DESIGNS, PricedDesign, design_of

BOX = {"x": sw.Real(0.0, 1.0), "y": sw.Real(0.0, 1.0)}


class Calm:
    """Twice the length scales that the plain model finds."""

    plain = PlainModel()

    def fit(self, data, start, seen):
        hyper = self.plain.fit(data, start, seen).hyper
        longer = replace(hyper, lengthscales=2.0 * hyper.lengthscales)
        return self.plain.as_fitted(data, sw.beliefs.ObjectiveFit((longer,)))

    def as_fitted(self, data, fitted):
        return self.plain.as_fitted(data, fitted)

    def weighed(self, surrogate, seen):  # noqa: ARG002
        return surrogate


def value(params):
    return (params["x"] - 0.3) ** 2 + params["y"]


def run(study, trials):
    while len(study.history) < trials:
        trial = study.ask()
        study.tell(trial, value(trial.params))
    return [observation.params for observation in study.history]


# ------------------------------------------------------------------------------------ the prior


def test_the_published_model_brings_its_prior_unless_one_is_given():
    def prior(**options):
        return StudyOptions.of(options).prior

    assert prior(surrogate="paper") == "gamma"
    assert prior(surrogate=PaperModel(1e-5)) == "gamma"
    assert prior(surrogate="paper", prior="lognormal") == "lognormal"
    assert prior(surrogate="paper", prior=None) is None
    assert prior() == prior(surrogate="plain") == prior(surrogate=Calm()) == "lognormal"
    assert sw.Study(BOX, lam=0.1, surrogate="paper").options.prior == "gamma"


def test_the_prior_of_the_published_model_changes_what_is_fitted():
    def fitted(**options):
        study = sw.Study(BOX, lam=1e-3, surrogate="paper", **options)
        run(study, 8)
        return study.snapshot().belief.posterior.hyper

    assert fitted() == fitted(prior="gamma")
    assert fitted() != fitted(prior="lognormal")
    assert fitted().noise == 1e-6


@pytest.mark.parametrize("prior", ["gamma", "lognormal"])
def test_a_journal_holds_the_prior_that_the_study_began_with(tmp_path, prior):
    path = tmp_path / "run.jsonl"
    chosen = {"prior": "lognormal"} if prior == "lognormal" else {}
    study = sw.Study(BOX, lam=1e-3, surrogate="paper", journal=path, **chosen)
    run(study, 3)
    study.close()
    for again in ({}, {"surrogate": "paper"}):
        resumed = sw.Study.resume(path, **again)
        assert (resumed.options.surrogate, resumed.options.prior) == ("paper", prior)
        resumed.close()


# ------------------------------------------------------------------------------- one's own model


def test_a_model_of_ones_own_chooses_after_the_priced_design():
    own = sw.Study(BOX, lam=1e-3, surrogate=Calm(), cost=lambda p: 1.0 + 9.0 * p["x"])
    default = sw.Study(BOX, lam=1e-3, surrogate="default", cost=lambda p: 1.0 + 9.0 * p["x"])
    assert own.n_initial == default.n_initial == 6
    assert run(own, 6) == run(default, 6)
    run(own, 9)
    assert len(own.promises) == 3
    assert "Promised" in own.explain()


def test_what_a_model_of_ones_own_fits_is_believed():
    study = sw.Study(BOX, lam=1e-3, surrogate=Calm(), n_initial=6)
    twin = sw.Study(BOX, lam=1e-3, surrogate="plain", n_initial=6)
    for params in run(study, 6):
        twin.tell(params, value(params))
    twin.ask()
    ours = study.snapshot().belief.posterior.hyper.lengthscales
    assert ours == pytest.approx(2.0 * twin.snapshot().belief.posterior.hyper.lengthscales)


def test_a_model_of_ones_own_begins_with_the_priced_design():
    assert design_of("plain") is DESIGNS["plain"]
    for own in (Calm(), WeighedModel(), PlainModel()):
        assert design_of(own) == PricedDesign()


def test_a_model_of_ones_own_is_named_in_the_journal_and_handed_in_again(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study(BOX, lam=1e-6, surrogate=Calm(), journal=path)
    run(study, 8)
    study.close()
    header = json.loads(path.read_text("utf-8").partition("\n")[0])
    assert header["options"]["surrogate"] == {"own": f"{__name__}.Calm"}
    with pytest.raises(InputError, match=r"with surrogate .*Calm, which a file cannot hold"):
        sw.Study.resume(path)
    with pytest.raises(InputError, match="another study: surrogate was"):
        sw.Study.resume(path, surrogate="plain")
    resumed = sw.Study.resume(path, surrogate=Calm())
    uninterrupted = sw.Study(BOX, lam=1e-6, surrogate=Calm())
    assert run(resumed, 10) == run(uninterrupted, 10)
    resumed.close()


def test_a_look_at_the_journal_of_ones_own_model_shows_the_plain_model_instead(tmp_path):
    path = tmp_path / "run.jsonl"
    study = sw.Study(BOX, lam=1e-6, surrogate=Calm(), journal=path)
    run(study, 8)
    study.close()
    loaded = sw.Study.load(path)
    [note] = loaded.notes
    assert note == f"surrogate {__name__}.Calm is not at hand; 'plain' stands in for it"
    assert loaded.best == study.best
    assert "expected to gain" in loaded.explain()


@pytest.mark.parametrize("model", [PlainModel(1e-4), PaperModel(1e-5)], ids=repr)
def test_our_models_with_other_numbers_are_in_the_journal(tmp_path, model):
    path = tmp_path / "run.jsonl"
    study = sw.Study(BOX, lam=1e-6, surrogate=model, journal=path)
    run(study, 8)
    study.close()
    resumed = sw.Study.resume(path)
    assert resumed.options.surrogate == model
    assert resumed.snapshot().belief.posterior.hyper.noise == model.nugget
    resumed.close()


def test_readings_of_ones_own_are_handed_in_again(tmp_path):
    path = tmp_path / "run.jsonl"
    readings = WeighedModel().readings[:2]
    study = sw.Study(BOX, lam=1e-6, surrogate=WeighedModel(readings), journal=path)
    run(study, 6)
    assert len(study.snapshot().belief.own.components) == 2
    study.close()
    with pytest.raises(InputError, match="hand it in again"):
        sw.Study.resume(path)
    with pytest.warns(ResumeWarning, match="lam is now"):
        resumed = sw.Study.resume(path, surrogate=WeighedModel(readings), lam=1e-5)
    assert len(resumed.snapshot().belief.own.components) == 2
    resumed.close()
