"""Pandora's services Host and Security for bled."""

import asyncio

import grpc
from bumble.core import AdvertisingData
from bumble.pandora.host import HostService as Packer
from google.protobuf import any_pb2, empty_pb2
from pandora import host_grpc_aio, host_pb2, security_grpc_aio, security_pb2
from support.client import CallFailed

EMPTY = empty_pb2.Empty()
KINDS = {
    "public": "public",
    "random": "random",
    "public_identity": "public",
    "random_static_identity": "random",
}
PRIMARY = {"1M": host_pb2.PRIMARY_1M, "coded": host_pb2.PRIMARY_CODED}
NAMES = {value: name for name, value in PRIMARY.items()}
SECONDARY = {"1M": host_pb2.SECONDARY_1M, "2M": host_pb2.SECONDARY_2M, "coded": host_pb2.SECONDARY_CODED}
LEVELS = {
    security_pb2.LE_LEVEL2: "encrypted",
    security_pb2.LE_LEVEL3: "authenticated",
    security_pb2.LE_LEVEL4: "secureConnections",
}
ORDER = ["none", "encrypted", "authenticated", "secureConnections"]


def connection(link):
    """How Pandora names a link."""
    return host_pb2.Connection(cookie=any_pb2.Any(value=link.number.to_bytes(4, "big")))


def number(named):
    """The number of the link that Pandora names."""
    return int.from_bytes(named.cookie.value, "big")


class Host(host_grpc_aio.HostServicer):
    """Addresses, links, advertising and scanning."""

    def __init__(self, device):
        self._device = device

    async def FactoryReset(self, request, context):
        await self._device.reset()
        return EMPTY

    async def Reset(self, request, context):
        await self._device.power_cycle()
        return EMPTY

    async def ReadLocalAddress(self, request, context):
        return host_pb2.ReadLocalAddressResponse(address=await self._device.address())

    async def ConnectLE(self, request, context):
        variant = request.address_variant()
        try:
            link = await self._device.connect(getattr(request, variant), KINDS[variant])
        except CallFailed as error:
            return await context.abort(grpc.StatusCode.INTERNAL, str(error))
        return host_pb2.ConnectLEResponse(connection=connection(link))

    async def Disconnect(self, request, context):
        await self._device.disconnect(self._device.link(number(request.connection)))
        return EMPTY

    async def WaitDisconnection(self, request, context):
        await asyncio.shield(self._device.link(number(request.connection)).ended)
        return EMPTY

    async def Advertise(self, request, context):
        data = request.data.manufacturer_specific_data.hex()
        async for link in self._device.incoming(connectable=request.connectable, manufacturerData=data):
            yield host_pb2.AdvertiseResponse(connection=connection(link))

    async def Scan(self, request, context):
        phys = [NAMES[phy] for phy in request.phys] or ["1M"]
        async for report in self._device.reports(active=not request.passive, phys=phys):
            yield response(report)


def response(report):
    """A report of bled as Pandora describes it. The data types are read from the octets, by Bumble."""
    octets = bytes.fromhex(report["data"] + report.get("scanResponse", ""))
    # Only extended advertisements have a set.
    is_legacy = "sid" not in report
    made = host_pb2.ScanningResponse(
        legacy=is_legacy,
        connectable=report["connectable"],
        truncated=report.get("truncated", False),
        sid=report.get("sid", 0),
        primary_phy=PRIMARY[report["primaryPHY"]],
        secondary_phy=host_pb2.SECONDARY_NONE if is_legacy else SECONDARY[report["secondaryPHY"]],
        rssi=report.get("rssi", 127),
        data=Packer.pack_data_types(None, AdvertisingData.from_bytes(octets)),
    )
    setattr(made, report["addressType"], bytes.fromhex(report["address"].replace(":", "")))
    return made


class Security(security_grpc_aio.SecurityServicer):
    """Pairing, and the questions that it asks."""

    def __init__(self, device):
        self._device = device
        self._events = None
        # Events that wait for their answers, in order.
        self._open = []
        device.ask = self._ask

    async def OnPairing(self, request, context):
        self._events = asyncio.Queue()
        answers = asyncio.create_task(self._take(request))
        try:
            while True:
                yield await self._events.get()
        finally:
            answers.cancel()
            for _, answered in self._open:
                answered.cancel()
            self._open.clear()

    async def _take(self, answers):
        async for answer in answers:
            waiting = next((entry for entry in self._open if entry[0] == answer.event), None)
            if waiting:
                self._open.remove(waiting)
                waiting[1].set_result(answer)

    def _ask(self, link, question, value):
        """Passes a question on; gives what bled is to be answered, to wait for."""
        method = {
            "consent": {"just_works": EMPTY},
            "compare": {"numeric_comparison": value},
            "enter": {"passkey_entry_request": EMPTY},
            "show": {"passkey_entry_notification": value},
        }[question]
        event = security_pb2.PairingEvent(connection=connection(link), **method)
        self._events.put_nowait(event)
        if question == "show":
            return None
        answered = asyncio.get_running_loop().create_future()
        self._open.append((event, answered))
        return self._answer(question, answered)

    @staticmethod
    async def _answer(question, answered):
        answer = await answered
        if question != "enter":
            return {"accept": bool(answer.confirm)}
        return {"passkey": f"{answer.passkey:06}"} if answer.answer_variant() == "passkey" else {}

    async def Secure(self, request, context):
        link = self._device.link(number(request.connection))
        error = await self._device.secure(link, LEVELS[request.le])
        if error is None:
            return security_pb2.SecureResponse(success=EMPTY)
        if error == "pairingFailed" and not link.ended.done():
            return security_pb2.SecureResponse(pairing_failure=EMPTY)
        return security_pb2.SecureResponse(connection_died=EMPTY)

    async def WaitSecurity(self, request, context):
        link = self._device.link(number(request.connection))
        await asyncio.wait([link.paired, link.ended], return_when=asyncio.FIRST_COMPLETED)
        if not link.paired.done():
            return security_pb2.WaitSecurityResponse(connection_died=EMPTY)
        if link.paired.result() is not None:
            return security_pb2.WaitSecurityResponse(pairing_failure=EMPTY)
        level = await self._device.bond(link) or "none"
        if ORDER.index(level) < ORDER.index(LEVELS[request.le]):
            return security_pb2.WaitSecurityResponse(authentication_failure=EMPTY)
        return security_pb2.WaitSecurityResponse(success=EMPTY)


async def serve(device):
    """Starts the services; gives the server and its port."""
    server = grpc.aio.server()
    host_grpc_aio.add_HostServicer_to_server(Host(device), server)
    security_grpc_aio.add_SecurityServicer_to_server(Security(device), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port
