"""A conversation with a model, and what each of its calls sends."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "chat",
    pages=(
        PageInfo(
            "session",
            "conversation",
            "Talk to a model, and see what each call sends.",
            "chat",
            at="page:SessionScreen",
        ),
    ),
    commands=(CommandInfo("chat", "command:chat", "Talk"),),
)
