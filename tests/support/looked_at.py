# SPDX-License-Identifier: Apache-2.0
"""A study that somebody looks at before and after everything that is done to it."""

from __future__ import annotations

import stopwise as sw

LOOKS = [sw.acquisition.LogEIPC(), sw.acquisition.LCB(), sw.acquisition.ThompsonSampling()]
RULES = [sw.stopping.UCBLCB(), sw.stopping.SRGapMedian(), sw.stopping.PBGI(1e-3)]


def look_at(study):
    """Everything that can be seen without asking or telling."""
    assert repr(study)
    assert study.spent >= 0
    assert isinstance(study.pending, tuple)
    assert study.promises.promised >= 0
    if not study.history.succeeded:
        return
    assert study.best is not None or study.options.limits
    snapshot = study.snapshot()
    for acquisition in [*LOOKS, study.acquisition]:
        if acquisition is not None:
            snapshot.sup(acquisition)
    if snapshot.t >= 0 and snapshot.has_incumbent:
        for rule in RULES:
            rule.signal(snapshot)


class LookedAt:
    """A study that is looked at before and after everything that is done to it."""

    def __init__(self, study):
        self._study = study

    def __getattr__(self, name):
        return getattr(self._study, name)

    def ask(self):
        look_at(self._study)
        trial = self._study.ask()
        look_at(self._study)
        return trial

    def tell(self, *told, **more):
        self._study.tell(*told, **more)
        look_at(self._study)

    def should_stop(self):
        look_at(self._study)
        return self._study.should_stop()
