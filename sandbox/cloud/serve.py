"""Serves a stand-in to the engine with the SDK's own provider server, and ends with the engine.

``python -m sandbox.cloud.serve <aws|eks> <sandbox folder> <engine address>``: the engine runs this through the plugin
that ``sandbox.cloud.plugins`` installs. An error of AWS or of the stand-in reaches the person as its sentence.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NoReturn

import grpc
import grpc.aio
from pulumi.provider.experimental import server as sdk
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox.cloud.errors import AwsError, StandInError
from sandbox.cloud.guards import refuse_outside_the_sandbox
from sandbox.cloud.plugins import VERSIONS
from sandbox.state_folder import StateFolder

WATCH_SECONDS = 1.0
"""How soon a stand-in ends after an engine that was killed."""


class StandInServicer(sdk.ProviderServicer):
    """The SDK's server with three things put right for people: old inputs for a diff, plain errors, a clean refresh."""

    async def Diff(self, request: Any, context: Any) -> Any:
        """The SDK hands only the old state on; what the person had written is in ``old_inputs``."""
        request.olds.CopyFrom(request.old_inputs)
        return await _plainly(super().Diff, request, context)

    async def Check(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Check, request, context)

    async def Create(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Create, request, context)

    async def Read(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Read, request, context)

    async def Update(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Update, request, context)

    async def Delete(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Delete, request, context)

    async def Invoke(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Invoke, request, context)

    async def Configure(self, request: Any, context: Any) -> Any:
        """As the SDK's, with plain errors."""
        return await _plainly(super().Configure, request, context)


async def _plainly(method: Callable[[Any, Any], Awaitable[Any]], request: Any, context: Any) -> Any:
    """The SDK's server puts a traceback into every error; ours are sentences for people already."""
    try:
        return await method(request, context)
    except Exception as error:
        cause = error.__context__
        if isinstance(cause, AwsError | StandInError):
            await context.abort(grpc.StatusCode.UNKNOWN, str(cause))
        raise


async def serve(servicer: Any) -> None:
    """Listen on a free loopback port, print it as the engine wants it, and go on until ended."""
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


def main(arguments: list[str]) -> None:
    """Serve the stand-in for one package."""
    package, folder = arguments[0], StateFolder(Path(arguments[1]))
    engine_address = arguments[-1]  # after the flags that the engine may add
    try:
        refuse_outside_the_sandbox(package, folder, os.environ)
    except StandInError as error:
        _end(str(error))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    if package == "aws":
        from sandbox.cloud.account import Account
        from sandbox.cloud.aws_provider import AwsStandIn
        from sandbox.cloud.local_cluster import LocalCluster
        from sandbox.cloud.service import Service

        service = Service(Account(folder.account), LocalCluster(folder))
        servicer: Any = StandInServicer([], VERSIONS[package], AwsStandIn(service), engine_address)
    else:
        from sandbox.cloud.eks_component import eks_servicer

        servicer = eks_servicer(folder, engine_address)
    asyncio.run(serve(servicer))


def _end(message: str) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    sys.exit(1)


def _end_with_parent(parent: int) -> None:
    """An engine that is killed can't tell its plugins; the kernel gives them another parent then."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
