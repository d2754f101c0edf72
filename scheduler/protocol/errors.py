"""The one error of the protocol. It stands alone: edges translate it into their own."""


class ProtocolError(Exception):
    """
    The text is no message that this protocol accepts.

    Attributes:
        code: stable kebab-case word for logs, metrics and tests, such as `bad-signature`.
        detail: where and why, without any value of the message (it may be hostile or secret).
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail
