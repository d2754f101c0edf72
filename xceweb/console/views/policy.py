"""The switch and the rules of a group: see, preview, change, undo."""

from __future__ import annotations

from django import http, shortcuts
from django.contrib import messages
from django.views.decorators import http as methods

from scheduler import errors, models
from scheduler.selectors import permissions, preview, rule_warnings
from scheduler.selectors import policies as versions
from scheduler.services import actors, planned_changes, policies, policy_guards, undoing
from xceweb.accounts import freshness
from xceweb.common import pages
from xceweb.console import extras, policy_form
from xceweb.console.contexts import policy as context
from xceweb.console.contexts import policy_preview


@methods.require_http_methods(["GET", "HEAD", "POST"])
@pages.page
def group_policy(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Show a group's rules; a manager's POST puts new ones into force, if nobody was faster."""
    group = permissions.require_group(request.user, slug)
    if request.method != "POST":
        form = policy_form.PolicyForm(versions.current(group))
        return _page(request, group, context.load(request.user, group, form, sent=extras.of(request)))
    permissions.require(permissions.can_change_policy(request.user, group), f"change the rules of {slug}")
    return _change(request, group)


def _change(request: http.HttpRequest, group: models.ResourceGroup) -> http.HttpResponse:
    form = policy_form.PolicyForm(_base(request, group), request.POST)
    sent = extras.of(request)
    if not all([form.is_valid(), sent.are_valid()]):
        return _page(request, group, context.load(request.user, group, form, sent=sent), status=422)
    try:
        outcome = _put(request, group, form, sent)
    except errors.Conflict:
        shown = context.conflicting(request.user, group, form, sent)
        return _page(request, group, shown, status=409)
    except errors.Refusal as refusal:
        extras.add_refusal(form, sent, refusal)
        return _page(request, group, context.load(request.user, group, form, sent=sent), status=422)
    messages.success(request, _said(outcome))
    return shortcuts.redirect("console:group-policy", group.slug)


def _put(
    request: http.HttpRequest,
    group: models.ResourceGroup,
    form: policy_form.PolicyForm,
    sent: extras.Extras,
) -> planned_changes.Outcome:
    values = form.cleaned_data
    wish = policies.Wish(form.changes(), values["reason"], values["version"])
    return planned_changes.change(
        _actor(request), group, wish, sent.when.value(), sent.assent.assent(request)
    )


def _said(outcome: planned_changes.Outcome) -> str:
    row, plan = outcome.version, outcome.plan
    moment = f"{plan.at:%-d %b %H:%M} UTC" if plan else ""
    if row is None:
        return f"Planned for {moment}: until then everything stays as it is."
    said = f"Version {row.version} is in force: preemption is {row.preemption_state}."
    return f"{said} It goes back by itself at {moment}." if plan else said


def _base(request: http.HttpRequest, group: models.ResourceGroup) -> models.PolicyVersion:
    """Return the version from which the sent form was made; changes are told against it, not against a newer one."""
    text = request.POST.get("version", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return versions.version(group, number) or versions.current(group)


def _page(
    request: http.HttpRequest, group: models.ResourceGroup, values: dict[str, object], *, status: int = 200
) -> http.HttpResponse:
    crumbs = [(group.slug, values["tabs"][0]["url"]), ("Policy", "")]
    section = f"group:{group.slug}"
    response = pages.render(request, "console/group_policy.html", values, section=section, crumbs=crumbs)
    return pages.with_status(response, status)


def _actor(request: http.HttpRequest) -> actors.Actor:
    return actors.of_user(request.user, request_id=request.request_id)


@methods.require_POST
def group_policy_preview(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Answer who would be stopped now under the rules of the form; writes nothing."""
    group = permissions.require_group(request.user, slug)
    permissions.require(permissions.can_preview(request.user, group), f"preview rules of {slug}")
    form = policy_form.PolicyForm(_base(request, group), request.POST)
    sent = extras.of(request)
    values = context.load(request.user, group, form, sent=sent, with_history=False)
    try:
        changes = form.changes() if form.is_valid() else {}
        found = preview.preview_policy(request.user, group, changes)
        cautions = rule_warnings.of(group, policies.draft(form.current, changes))
        values["preview"] = policy_preview.load(request.user, form, found, cautions)
    except errors.Refusal as refusal:
        values["preview"] = policy_preview.refused(str(refusal))
    return shortcuts.render(request, "console/_preview.html", {**values, "is_answer": True})


@methods.require_POST
def group_policy_cancel_planned(request: http.HttpRequest, slug: str) -> http.HttpResponse:
    """Take back what is planned to change by itself; what is in force stays."""
    group = permissions.require_group(request.user, slug)
    permissions.require(permissions.can_change_policy(request.user, group), f"change the rules of {slug}")
    try:
        plan = planned_changes.cancel(_actor(request), group, reason=request.POST.get("reason", ""))
        messages.success(request, f"Nothing changes at {plan.at:%-d %b %H:%M} UTC any more.")
    except errors.Refusal as refusal:
        messages.error(request, f"The plan is not cancelled: {refusal}")
    return shortcuts.redirect("console:group-policy", slug)


#: Refusals to which the form of the page has the answer.
_NEEDS_FORM = (policy_guards.LogInAgain.code, policy_guards.NameIt.code)


@methods.require_POST
def group_policy_undo(request: http.HttpRequest, slug: str, version: int) -> http.HttpResponse:
    """Go back from the version in force to the one before it, as a version of its own with the person's reason."""
    group = permissions.require_group(request.user, slug)
    permissions.require(permissions.can_change_policy(request.user, group), f"change the rules of {slug}")
    wish = undoing.Wish(version, request.POST.get("reason", ""), bool(request.POST.get("only_unacted")))
    try:
        undoing.undo(_actor(request), group, wish, policy_guards.Assent(freshness.is_fresh(request)))
        messages.success(request, f"Version {version} is undone.")
    except errors.NotVisible:
        raise
    except errors.Refusal as refusal:
        help_ = "" if refusal.code not in _NEEDS_FORM else " Use the form above, which asks for it."
        messages.error(request, f"Version {version} is not undone: {refusal}{help_}")
    return shortcuts.redirect("console:group-policy", slug)
