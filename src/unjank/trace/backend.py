"""perfetto's RPC client on the in-process engine, with the calls it leaves out over a session."""

from collections.abc import Callable, Iterable
from typing import Any

from perfetto.common.exceptions import PerfettoException
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.rpc import TraceProcessorRpc

from unjank.trace.engine.compiled import compiled_module
from unjank.trace.engine.instance import EngineInstance
from unjank.trace.engine.modules import Bits
from unjank.trace.errors import EngineUnavailableError
from unjank.trace.framing import PacketFraming
from unjank.trace.sql_packages import SqlPackageFiles
from unjank.trace.transport import EngineTransport

Message = Any  # a message of perfetto's protos, which are built at run time


class EngineBackend(TraceProcessorRpc):
    """What perfetto's `TraceProcessor` calls; all of it goes through the transport.

    Attributes:
        framing: what was seen of the trace's packets, to tell whether it was cut off.
        notes: what the user should know about the engine, such as a cache that can't be used.
    """

    def __init__(self, protos: ProtoFactory, bits: Bits = 32, heap_limit: int | None = None) -> None:
        compiled = compiled_module(bits)
        self.instance = EngineInstance(compiled, heap_limit)
        super().__init__(EngineTransport(self.instance), protos)
        self.framing = PacketFraming()
        self.notes = [compiled.note] if compiled.note else []

    def reset(self, *, ingest_ftrace_in_raw: bool) -> None:
        """Sets how the trace will be read, before the first byte of it; frees one that was loaded before."""
        self.framing = PacketFraming()

        def fill(request: Message) -> None:
            request.reset_trace_processor_args.ingest_ftrace_in_raw_table = ingest_ftrace_in_raw

        self._call("TPM_RESET_TRACE_PROCESSOR", fill)

    def register_sql_package(self, package: SqlPackageFiles) -> None:
        """Makes a package's modules known to INCLUDE PERFETTO MODULE."""

        def fill(request: Message) -> None:
            arguments = request.register_sql_package_args
            arguments.package_name = package.name
            for name, sql in package.modules.items():
                arguments.modules.add(name=name, sql=sql)

        error = self._call("TPM_REGISTER_SQL_PACKAGE", fill).register_sql_package_result.error
        if error:
            raise EngineUnavailableError(f"SQL package {package.name!r} was refused: {error}")

    def parse(self, chunk: bytes) -> Message:
        """Feeds a piece of the trace; returns perfetto's AppendTraceDataResult."""
        data = bytes(chunk)
        self.framing.feed(data)
        return self._call(
            "TPM_APPEND_TRACE_DATA", lambda request: setattr(request, "append_trace_data", data)
        ).append_result

    def notify_eof(self) -> Message:
        """Tells that the trace is complete.

        Raises:
            PerfettoException: the engine says that it is not, or can't make sense of it.
        """
        result = self._call("TPM_FINALIZE_TRACE_DATA").finalize_data_result
        if result.error:
            raise PerfettoException(result.error)
        return result

    def status(self) -> Message:
        """Engine version and name of the loaded trace."""
        return self._call("TPM_GET_STATUS").status

    def stream_query(self, sql: str, on_result: Callable[[Message], None]) -> None:
        """Runs a query and hands over each QueryResult message as the engine makes it.

        An exception of `on_result` ends the engine, since it is in the middle of the query, and is raised
        here.
        """
        parsed = self.protos.TraceProcessorRpcStream()

        def on_reply(data: bytes) -> None:
            parsed.ParseFromString(data)
            for message in parsed.msg:
                self._require_answer(message)
                on_result(message.query_result)

        request = self._request(
            "TPM_QUERY_STREAMING", lambda message: setattr(message.query_args, "sql_query", sql)
        )
        self.transport.stream(request, on_reply)

    def compute_metric(self, metrics: Iterable[str]) -> Message:
        """Computes metrics of the old, proto-based kind."""
        return self._call(
            "TPM_COMPUTE_METRIC", lambda request: request.compute_metric_args.metric_names.extend(metrics)
        ).metric_result

    def trace_summary(
        self,
        specs: Iterable[str | bytes],
        metric_ids: Iterable[str] | None = None,
        metadata_query_id: str | None = None,
    ) -> Message:
        """Computes a structured summary; arguments as perfetto's `TraceProcessor.trace_summary`."""

        def fill(request: Message) -> None:
            arguments = request.trace_summary_args
            arguments.output_format = self.protos.TraceSummaryArgs.Format.BINARY_PROTOBUF
            for spec in specs or ():
                if isinstance(spec, str):
                    arguments.textproto_specs.append(spec)
                else:
                    arguments.proto_specs.add().ParseFromString(spec)
            arguments.computation_spec.run_all_metrics = metric_ids is None
            arguments.computation_spec.metric_ids.extend(metric_ids or ())
            if metadata_query_id is not None:
                arguments.computation_spec.metadata_query_id = metadata_query_id

        return self._call("TPM_SUMMARIZE_TRACE", fill).trace_summary_result

    def enable_metatrace(self) -> Message:
        """Starts tracing the engine itself."""
        return self._call("TPM_ENABLE_METATRACE")

    def disable_and_read_metatrace(self) -> Message:
        """Stops tracing the engine and returns perfetto's DisableAndReadMetatraceResult."""
        return self._call("TPM_DISABLE_AND_READ_METATRACE").metatrace

    def export(self, output_file: Any, export_format: str) -> None:  # noqa: ANN401, ARG002  perfetto's signature
        """Not there: the in-process engine has no files to export to."""
        raise EngineUnavailableError(
            "export() needs Perfetto's trace_processor_shell; open the trace with engine='shell'"
        )

    def close(self) -> None:
        """Frees the engine; see EngineInstance.close."""
        self.transport.close()

    def _request(self, method: str, fill: Callable[[Message], object]) -> bytes:
        stream = self.protos.TraceProcessorRpcStream()
        request = stream.msg.add(request=self.protos.TraceProcessorRpc.TraceProcessorMethod.Value(method))
        fill(request)
        return bytes(stream.SerializeToString())

    def _call(self, method: str, fill: Callable[[Message], object] = lambda _request: None) -> Message:
        """One request with one reply."""
        self.transport.send(self._request(method, fill))
        reply = self.protos.TraceProcessorRpc()
        reply.ParseFromString(self._read_payload())
        self._require_answer(reply)
        return reply

    def _require_answer(self, reply: Message) -> None:
        """Raises PerfettoException where the engine does not know the request or broke off."""
        self._check_envelope(reply)  # type: ignore[no-untyped-call]  # inherited from perfetto
