"""What a keypair's scope lets through; what its user may do is asked of ``selectors.permissions`` alone."""

from __future__ import annotations

from rest_framework import permissions, request, views

from scheduler import models

Scope = models.Keypair.Scope


class HasScope(permissions.BasePermission):
    """Lets reads through for every scope, and changes as far as the keypair's scope reaches; a cookie has all."""

    message = "This keypair may not do that: its scope is too narrow. Issue one with a wider scope."

    def has_permission(self, request: request.Request, view: views.APIView) -> bool:
        """Say whether the request may go on."""
        keypair = request.auth
        if not isinstance(keypair, models.Keypair) or request.method in permissions.SAFE_METHODS:
            return True
        if getattr(view, "only_reads", False):
            return True
        return keypair.scope == Scope.FULL or keypair.scope == getattr(view, "scope", Scope.FULL)
