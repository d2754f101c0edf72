"""Why a session waits: the help page of each headline reason."""

from __future__ import annotations

from collections.abc import Mapping

from xceweb.common.reason_pages.page import Page

#: By the value of ``PendReason``.
PAGES: Mapping[str, Page] = {
    "held": Page(
        "Somebody holds it, or it asked to be held at submit, or its start failed five times in a row. A "
        "held session keeps its place in the line and is passed over by every round.",
        "Release it on its page. After failed starts, read its time line first: the cause is there.",
        "Operators of the group may release it. If many were held after failed starts on one node, drain "
        "that node.",
    ),
    "unknown-queue": Page(
        "The queue it was submitted to does not serve this resource group any more.",
        "Cancel it and submit it to a queue that serves the group, or to another group.",
        "Add the group to the queue again, or tell the owners which queue took over.",
    ),
    "no-matching-node": Page(
        "It requires labels that no node of this group has, whatever its state.",
        "Check the labels for a slip, ask for other values, or choose a group whose nodes have them.",
        "Give a node the labels, or move nodes that have them into the group.",
    ),
    "node-unavailable": Page(
        "It is suspended on a node that is down or silent. Its processes are there, so it can go on "
        "nowhere else.",
        "Wait for the node, or requeue it: it then starts anew on any node and loses what it had not saved.",
        "Bring the node back: the session goes on by itself then.",
    ),
    "group-stopped": Page(
        "Starting is stopped for the whole group, for an emergency or for maintenance. What runs goes on.",
        "Nothing. Sessions start in their order when the group starts again. Another group may be open.",
        "Set starting to on, on the policy tab of the group. The history there says who stopped it, and why.",
    ),
    "queue-stopped": Page(
        "The queue is stopped: nothing of it starts. What runs goes on.",
        "Wait, or cancel it and submit it to another queue.",
        "Set the queue to open. A queue that should only take no more submits is set to no_submit instead.",
    ),
    "begin-time": Page(
        "It was submitted with a begin time that has not come yet.",
        "Nothing, or submit it anew with an earlier begin time.",
        "Nothing: this is what the owner asked for.",
    ),
    "dependency": Page(
        "It waits for another session to end: with success (afterok) or in any way (afterany).",
        "Look at the session that it waits for: what that one waits for delays this one as well.",
        "Nothing here. A chain that never moves usually has a held session at its head.",
    ),
    "dependency-impossible": Page(
        "A session that it had to follow ended otherwise than asked, so it can never start and is being "
        "cancelled.",
        "Repair what failed and submit both again, or submit this one without the dependency.",
        "Nothing: the end of the first session decided it.",
    ),
    "never-fits": Page(
        "No node of the group, not even an empty one, draining or down ones counted, is large enough; or "
        "there are too few such nodes for a session on several. It would wait for ever.",
        "Ask for less on each node, or for fewer nodes, or choose a group with larger nodes. Its page "
        "shows the largest request that would start now.",
        "Add a larger node. A capacity that was entered too small has the same effect.",
    ),
    "exceeds-owner-limit": Page(
        "The request alone is larger than the limit of slots or sessions that its owner's policy sets.",
        "Ask for less, or ask an administrator for a policy with a higher limit.",
        "Raise the limit of the policy, or give the owner another policy.",
    ),
    "exceeds-queue-limit": Page(
        "The request alone is larger than the limit of the whole queue.",
        "Ask for less, or submit it to a queue with a higher limit.",
        "Raise the limit of the queue.",
    ),
    "owner-limit": Page(
        "Its owner already uses so much of the limit that too little is left for it. Others are not held "
        "up by this, and nobody is stopped for a limit alone.",
        "It starts when enough of your own sessions have ended. Cancel one that you do not need, or ask "
        "for less.",
        "Raise the limit of the policy, or give the owner another policy.",
    ),
    "queue-limit": Page(
        "The sessions of its queue together use so much of the queue's limit that too little is left for it.",
        "It starts when sessions of the queue have ended. Another queue may have room.",
        "Raise the limit of the queue, or look at which sessions of it run longest.",
    ),
    "awaiting-victims": Page(
        "Other sessions were told to stop so that it can start. Their slots are reserved for it on one "
        "node, and it starts as soon as the last of them is proven to have stopped.",
        "Nothing. Cancelling, holding or lowering it takes the decision back where that is still possible.",
        "If a stop takes longer than its deadline, look at that node: a process there does not die.",
    ),
    "awaiting-release": Page(
        "Sessions that are ending anyway leave enough, so nobody else is stopped: their slots are "
        "reserved for it.",
        "Nothing. It starts when they have ended.",
        "If an end takes longer than its deadline, look at that node.",
    ),
    "holds-claim": Page(
        "It is the first that lacks slots and has waited longer than the group allows, so that smaller "
        "sessions behind it leave the room on its nodes alone until it starts.",
        "Nothing. Holding it or changing its request gives the claim up.",
        "How long a session waits before it gets a claim is starvation_after on the policy tab.",
    ),
    "room-claimed": Page(
        "Enough is free for it, but that room is kept for a session ahead of it that has waited too long.",
        "Wait until that one has started. With a wall-time limit that ends before then, it may start at "
        "once.",
        "How long a session waits before room is kept for it is starvation_after on the policy tab.",
    ),
    "no-resources": Page(
        "No node has enough free for it now, and neither have all nodes together. Preemption is off, or there "
        "is no set of sessions that it may stop and that would make room.",
        "Its page lists changes that were tried: a smaller request, another priority, the time at which a "
        "protected session may be stopped. Nobody ahead of it blocks it: it starts as soon as one node "
        "has room.",
        "Look at the capacity of the group, at draining nodes, and at whether preemption is on.",
    ),
    "fragmented": Page(
        "As much as it asks for is free in the group, but scattered: no single node has all of it, or too few "
        "nodes have it for a session on several. Preemption is off, or nobody may be stopped for it.",
        "Its page names the nearest node and what is short there, and the largest request that would start now. "
        "Less on each node, or more nodes with less on each, may start at once.",
        "The placement concentrated keeps whole nodes free for large sessions. Draining a node gathers what is "
        "free there as its sessions end.",
    ),
    "behind-others": Page(
        "Enough is free for it, but reserved for sessions whose turn came before: sessions were told to stop for "
        "them, or are ending, and what is free already on that node is kept until the rest is there.",
        "Nothing. It starts when those have started and left enough, or as soon as there is room elsewhere. "
        "A higher priority puts it ahead of those that have no room yet.",
        "A reservation ends by itself at its deadline. If it stands for longer than the grace, look at that "
        "node: a process there does not die.",
    ),
    "policy-failed": Page(
        "The preemption policy that its queue names is missing, failed, or gave an answer that was "
        "refused. That queue stops nobody until this is repaired; free room is used all the same.",
        "Nothing but wait for free room, or use another queue.",
        "The sentence on the session's page names what is wrong. Install the plug-in again, or take its "
        "name off the queue.",
    ),
    "not-evaluated": Page(
        "It was submitted, returned or changed a moment ago, and no round has looked at it since.",
        "Reload in a second or two.",
        "If this stands for longer, the scheduler does not run: look at its log and at the broker.",
    ),
}
