"""A demonstration: servers, requests and models that need no key."""

from inspector.core.feature import CommandInfo, Feature

FEATURE = Feature("demo", commands=(CommandInfo("demo", "command:demo", "See"),), models="model:model")
