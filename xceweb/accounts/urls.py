"""Addresses of signing in and out."""

from __future__ import annotations

from django.urls import path

from xceweb.accounts import views

app_name = "accounts"
urlpatterns = [
    path("login/", views.LoginView.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
]
