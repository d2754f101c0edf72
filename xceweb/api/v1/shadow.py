"""What preemption would have done while a group was in shadow."""

from __future__ import annotations

from typing import Any

from rest_framework import request as drf_request
from rest_framework import response

from scheduler.selectors import permissions, shadow_reports
from xceweb.api import docs, resource
from xceweb.api.v1 import cluster_samples, rule_shapes


class ShadowReport(resource.Resource):
    """The report of a group's last time in shadow."""

    @docs.operation(
        summary="Say what preemption would have done while the group was in shadow",
        answer=rule_shapes.ShadowReport,
        name="preemption_shadow_report",
        example=cluster_samples.SHADOW_REPORT,
        errors=(403, 404),
    )
    def get(self, request: drf_request.Request, slug: str) -> response.Response:
        """Return it; 404 where the group was never in shadow."""
        group = permissions.require_group(self.viewer, slug)
        return response.Response(_shown(shadow_reports.require(self.viewer, group)))


def _shown(report: shadow_reports.Report) -> dict[str, Any]:
    names = ("since", "until", "decisions", "rounds", "stopped", "helped", "still_waiting", "waited_s")
    owners = [
        {"owner": one.owner, "stopped": one.stopped, "lost": one.lost, "helped": one.helped}
        for one in report.owners
    ]
    return {
        **{name: getattr(report, name) for name in names},
        "lost": report.lost,
        "repeats": [{"session": row.public_id, "times": count} for row, count in report.repeats],
        "owners": owners,
        "is_cut": report.is_cut,
        "note": shadow_reports.HONESTY,
    }
