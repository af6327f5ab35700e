"""perfetto's message classes, one set per process, with result text as bytes."""

from functools import lru_cache

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

_DESCRIPTOR = "trace_processor.descriptor"
_TEXT_FIELD = ("QueryResult", "CellsBatch", "string_cells")


class _TextAsBytes(PlatformDelegate):
    """Declares the text of results as bytes, which is the same on the wire.

    A trace may hold text that is not UTF-8. protobuf's C implementation then gives bytes instead of text, its
    Python one, which free-threaded builds get, refuses the whole message. perfetto takes bytes for text.
    """

    def get_resource(self, file: str) -> bytes:
        data: bytes = super().get_resource(file)
        return _with_text_as_bytes(data) if file == _DESCRIPTOR else data


@lru_cache(maxsize=1)
def shared_protos() -> ProtoFactory:
    """One set of message classes per process: protobuf never frees a set whose enums were looked at."""
    return ProtoFactory(_TextAsBytes())


def _with_text_as_bytes(descriptors: bytes) -> bytes:
    outer, inner, name = _TEXT_FIELD
    files = FileDescriptorSet.FromString(descriptors)
    for field in (
        field
        for file in files.file
        for message in file.message_type
        if message.name == outer
        for nested in message.nested_type
        if nested.name == inner
        for field in nested.field
        if field.name == name
    ):
        field.type = FieldDescriptorProto.TYPE_BYTES
    return files.SerializeToString()
