"""Updates a device with smpclient, which does not know of bled: run with python -m bled.bleak."""

import asyncio
import logging
import pathlib
import sys

from smpclient import SMPClient
from smpclient.generics import error_v2, success
from smpclient.mcuboot import ImageInfo
from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
from smpclient.requests.os_management import EchoWrite, MCUMgrParametersRead
from smpclient.transport.ble import SMPBLETransport


async def main(device: str, file: str, image: bytes) -> None:
    async with SMPClient(SMPBLETransport(), device, timeout_s=30) as client:
        echo = await client.request(EchoWrite(d="Hello!"))
        assert success(echo)
        print(echo.r)
        parameters = await client.request(MCUMgrParametersRead())
        assert success(parameters)
        print(f"{parameters.buf_count} buffers of {parameters.buf_size} octets")
        images = await client.request(ImageStatesRead())
        assert success(images)
        print(f"{images.images[0].version} runs")
        async for _ in client.upload(image):
            pass
        digest = ImageInfo.load_file(file).get_tlv(0x10).value
        chosen = await client.request(ImageStatesWrite(hash=digest))
        assert success(chosen)
        print(f"{chosen.images[0].version} runs, {chosen.images[1].version} is pending")
        unknown = await client.request(ImageStatesWrite(hash=bytes(32)))
        assert error_v2(unknown)
        print(unknown.err.rc.name)


logging.disable()
asyncio.run(main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[2]).read_bytes()))
