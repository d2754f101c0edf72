"""Addresses of signing in and out, and of one's own keypairs."""

from __future__ import annotations

from django.urls import path

from xceweb.accounts import keypair_pages, views

app_name = "accounts"
urlpatterns = [
    path("login/", views.LoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("keypairs/", keypair_pages.keypair_list, name="keypair-list"),
    path("keypairs/<str:access_key>/revoke/", keypair_pages.keypair_revoke, name="keypair-revoke"),
]
