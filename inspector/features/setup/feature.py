"""Configuration, and what is wrong on this machine."""

from inspector.core.feature import CommandInfo, Feature

FEATURE = Feature(
    "setup",
    commands=(
        CommandInfo("doctor", "doctor_command:doctor", "More"),
        CommandInfo("doctor server", "walk_command:server"),
        CommandInfo("doctor models", "doctor_command:models"),
        CommandInfo("doctor orphans", "doctor_command:orphans"),
        CommandInfo("doctor breakers", "doctor_command:breakers"),
        CommandInfo("config", "config_command:config", "More"),
        CommandInfo("config settings", "config_command:settings"),
        CommandInfo("config keys", "config_command:keys"),
    ),
)
