"""A proxy on loopback between a scheduler and the API server, which can fail on request."""

import asyncio
import ssl
import threading


class Proxy:
    """Forwards connections to `target`, a pair of host and port.

    With `tls`, the folder of a cluster, the proxy ends the TLS of both sides with the certificates
    of the API server, so that it can read requests and change answers.

    Threading: any. One thread runs all connections.
    """

    def __init__(self, target, tls=None):
        self.target = target
        self.server_tls = self.client_tls = None
        if tls:
            self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.server_tls.load_cert_chain(f"{tls}/server.crt", f"{tls}/server.key")
            self.client_tls = ssl.create_default_context(cafile=f"{tls}/ca.crt")
        self.delay = 0.0  # Of each piece of an answer, in seconds.
        self.rewrite = None  # Function of a piece of an answer that returns what to send.
        self.lose = b""  # A request that contains this text is executed, but its answer is lost.
        self.lost = 0
        self.opened = 0
        self.address = None
        self.connections = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def start(self):
        self.thread.start()
        self.call(self.listen(0))
        return self

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    @property
    def server(self):
        """The URL of the proxy."""
        return "https://%s:%d" % self.address

    def cut(self):
        """Ends all connections as a crash of the other side does."""
        async def run():
            for writer in list(self.connections):
                writer.transport.abort()
        self.call(run())

    def refuse(self):
        """Ends all connections and refuses new ones."""
        async def run():
            self.listener.close()
            for writer in list(self.connections):
                writer.transport.abort()
        self.call(run())

    def accept(self):
        """Accepts connections again, on the same port."""
        self.call(self.listen(self.address[1]))

    def stall(self):
        """Keeps connections open but forwards nothing."""
        async def run():
            self.gate.clear()
        self.call(run())

    def resume(self):
        async def run():
            self.gate.set()
        self.call(run())

    def close(self):
        async def run():
            self.listener.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)  # The transports close their sockets in this turn of the loop.
        self.call(run())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    async def listen(self, port):
        if self.address is None:
            self.gate = asyncio.Event()
            self.gate.set()
        self.listener = await asyncio.start_server(self.serve, "127.0.0.1", port,
                                                   ssl=self.server_tls, backlog=1024)
        self.address = self.listener.sockets[0].getsockname()[:2]

    async def serve(self, reader, writer):
        self.opened += 1
        ends = [writer]
        self.connections.add(writer)
        try:
            there_reader, there_writer = await asyncio.open_connection(
                *self.target, ssl=self.client_tls)
            ends.append(there_writer)
            self.connections.add(there_writer)
            state = {"lose": False}
            await asyncio.gather(self.forward(reader, there_writer, state, to_server=True),
                                 self.forward(there_reader, writer, state, to_server=False))
        except (OSError, asyncio.CancelledError):
            pass  # asyncio prints a traceback for a connection whose task close() has cancelled.
        finally:
            for one in ends:
                self.connections.discard(one)
                one.transport.abort()

    async def forward(self, reader, writer, state, to_server):
        while piece := await reader.read(65536):
            await self.gate.wait()
            if to_server:
                state["lose"] = state["lose"] or bool(self.lose and self.lose in piece)
            elif state["lose"]:
                self.lost += 1
                raise ConnectionResetError
            else:
                if self.delay:
                    await asyncio.sleep(self.delay)
                piece = self.rewrite(piece) if self.rewrite else piece
            writer.write(piece)
            await writer.drain()
        # One side has ended: so does the connection.
        raise ConnectionResetError
