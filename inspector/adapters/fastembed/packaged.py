"""The packaged model as fastembed runs it, with its threads at rest between two texts.

While onnxruntime's threads wait, they turn in a loop to start faster, and take the processor from whatever is
computed meanwhile: ten short texts cost twice the processor time. fastembed passes on few options of a
session, so this one is added where it sets them.
"""

from typing import Any

from fastembed.text.custom_text_embedding import CustomTextEmbedding


class PackagedModel(CustomTextEmbedding):  # type: ignore[misc]  # fastembed has no types
    """A registered model whose waiting threads sleep. Its vectors are the same to the last bit."""

    @classmethod
    def add_extra_session_options(cls, session_options: Any, extra_options: dict[str, Any]) -> None:
        super().add_extra_session_options(session_options, extra_options)
        session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
