"""What was thought of one candidate when room was looked for: the help page of each verdict."""

from __future__ import annotations

from collections.abc import Mapping

from xceweb.common.reason_pages.page import Page

_RULES = "The rules are on the policy tab of the group and, for the queue axis, with the queue."

#: By the value of ``Verdict``.
PAGES: Mapping[str, Page] = {
    "selected": Page(
        "It was stopped: the rules allowed it, and no set that the policy prefers would have made room "
        "without it.",
        "Its page shows what would have spared it: another job priority, a later start, opting out.",
        "The record of the decision names the rule and who set it. " + _RULES,
    ),
    "not-needed": Page(
        "The rules would have allowed to stop it, but there was enough without it: others were stopped, or room that "
        "was being made already was taken over. No set ever has a member that could be left out.",
        "Nothing. A later session may still need it.",
        "Which of several is stopped is the policy's choice: fewest first on the queue axis, lowest rank "
        "on the owner's.",
    ),
    "not-lower": Page(
        "Its rank is not below the one of the waiting session. Equal is never enough.",
        "On the owner axis job priorities of your own sessions are compared, on the queue axis the global "
        "priority.",
        "Caps of priorities are set by policy and queue.",
    ),
    "other-owner": Page(
        "On the owner axis only sessions of the same owner are compared, and this one belongs to somebody "
        "else.",
        "Nothing: nobody reaches another owner's session through job priorities.",
        "Sessions of other owners are reached by queue rules alone.",
    ),
    "queue-not-listed": Page(
        "Its queue is not among those that the queue of the waiting session may preempt from.",
        "Nothing. Which queues may preempt from which is shown with the queues.",
        "Change the list of the waiting session's queue, if it should reach this one.",
    ),
    "queue-not-preemptible": Page(
        "Its queue is marked as not preemptible, whatever other queues list.",
        "Nothing.",
        "Mark the queue as preemptible, if its sessions may be stopped for others.",
    ),
    "opted-out": Page(
        "Its owner opted out of preemption for it.",
        "Owners may change this until its end, where their policy lets them.",
        "Whether people may opt out is set in their policy.",
    ),
    "private-or-system": Page(
        "Private and system sessions are never stopped for others, and stop nobody.",
        "Nothing.",
        "Only managers create such sessions. They hold their room for as long as they run.",
    ),
    "min-runtime": Page(
        "It has run for less than the group's minimum runtime since its last start or resume. Suspended "
        "time does not count.",
        "The waiting session's page says when the first such protection ends.",
        "The minimum runtime is set on the policy tab; 0 switches it off.",
    ),
    "not-running": Page(
        "It holds slots but does not run: it is being started, stopped or ended, or it is suspended.",
        "Nothing.",
        "Two rules widen this: cancel_unconfirmed_dispatch for starts, requeue_suspended for suspended "
        "sessions.",
    ),
    "in-another-decision": Page(
        "It is already being stopped for another session. No session is stopped for two.",
        "Nothing. What its stop frees beyond that session's request is free for others.",
        "Nothing.",
    ),
    "preempted-too-often": Page(
        "It has been preempted as often as the group allows for one session, and is protected from now on.",
        "Nothing.",
        "The limit is max_preemptions_per_session on the policy tab.",
    ),
    "would-close-cycle": Page(
        "The waiting session itself lost its room to this one, directly or over others. Stopping it now "
        "would go round in circles for ever, so it is refused.",
        "Changing the priority of one of them settles which goes first.",
        "A changed rule settles it too. The edges are kept while both sessions live.",
    ),
    "ranked-higher-by-owner": Page(
        "Both sessions have the same owner, who ranked this one higher. Queue rules never go against that.",
        "Change the job priorities, if the other one is more urgent.",
        "Nothing: the ranking among one's own sessions is the owner's.",
    ),
    "node-ruled-out": Page(
        "It may be stopped, but no room can be made for the waiting session where it runs: the node lacks a label "
        "that was asked for, is too small even when empty, is not ready, or is closed to this session for a while, "
        "because room that was kept for it there ran out of time.",
        "The list of nodes says for each one which of these it is.",
        "A node takes sessions again once it is ready and no longer drained.",
    ),
    "frees-nothing-short": Page(
        "It runs where the waiting session could run, but stopping it would free nothing of what is short there.",
        "Nothing.",
        "Where suspended sessions keep memory or devices, suspend_releases decides what a stop frees.",
    ),
    "stop-failed": Page(
        "An earlier attempt to suspend it failed since its last start, so that it is not tried again "
        "until it starts anew.",
        "Look at its time line for the reason: often a process that cannot be stopped.",
        "Other modes than suspend are not affected.",
    ),
    "limit": Page(
        "It may be stopped, but a limit would still be in the way: of owner or queue, or the most "
        "suspended sessions that one node may hold.",
        "The page of the waiting session names the limit that is used up.",
        "Raise the limit, or max_suspended_per_node on the policy tab.",
    ),
    "insufficient": Page(
        "It may be stopped, but all sessions that may be stopped where it runs do not free enough there. "
        "Nobody is stopped for a part of a request.",
        "A smaller request may be possible: the page of the waiting session lists what was tried.",
        _RULES,
    ),
    "policy-chose-nobody": Page(
        "It may be stopped, and nothing shows that all who may be stopped where it runs would not be enough. "
        "Still the preemption policy of the waiting session's queue chose nobody.",
        "Nothing. The policy is asked again in the next round.",
        "A policy of your own may leave sessions alone as it likes. Where suspended sessions per node are limited, "
        "no choice within that limit may be enough.",
    ),
    "policy-gave-no-answer": Page(
        "It may be stopped, and all who may be stopped where it runs might be enough. But the preemption policy "
        "of the waiting session's queue is missing, failed, or gave an answer that breaks the rules, so nobody is "
        "stopped.",
        "Nothing. The headline of the waiting session says what the policy did.",
        "Repair or install the policy, or let the queue name another one. See the page of the headline.",
    ),
}
