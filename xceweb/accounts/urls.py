"""Addresses of signing in and out."""

from __future__ import annotations

from django.contrib.auth import views as django_views
from django.urls import path

from xceweb.accounts import views

app_name = "accounts"
urlpatterns = [
    path(
        "login/",
        django_views.LoginView.as_view(template_name="accounts/login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", views.LogoutView.as_view(), name="logout"),
]
