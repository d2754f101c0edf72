"""The banner for people whose sessions may be stopped from now on, or no longer: what, since when, by whom and why."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import switch_news
from xceweb.dashboard.contexts import words

_VICTIM = {
    "suspend": "is suspended and goes on later",
    "reschedule": "goes back to its queue and starts anew",
    "terminate": "ends",
}


def load(viewer: models.User) -> list[dict[str, Any]]:
    """Return the banners of the viewer's groups, newest first."""
    return [_shown(news) for news in switch_news.for_owner(viewer)]


def _shown(news: switch_news.News) -> dict[str, Any]:
    return {
        "is_on": news.state == "on",
        "state": news.state,
        "title": _title(news),
        "at": news.at,
        "is_planned": news.is_planned,
        "text": _text(news),
        "by": news.by,
        "reason": news.reason,
        "url": urls.reverse("console:group-policy", args=[news.group]),
    }


def _title(news: switch_news.News) -> str:
    verb = "will be" if news.is_planned else "is"
    return f"Preemption in **{news.group}** {verb} **{news.state}**"


def _text(news: switch_news.News) -> str:
    when = "From then on" if news.is_planned else "Now"
    if news.state == "on":
        mine = (
            f"**{words.count(news.running, 'running session')}** of yours"
            if news.running
            else "sessions of yours"
        )
        return f"{when} {mine} can be stopped for more important ones. Who is stopped {_VICTIM[news.mode]}."
    if news.before == "on":
        return f"{when} nobody is stopped there any more."
    return (
        f"{when} nobody is stopped there; shadow only records what it would do."
        if news.state == "shadow"
        else ""
    )
