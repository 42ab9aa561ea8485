"""Group 7: a controller that cannot do everything at once takes turns."""

from support import published
from support.main_things import hears, reads
from support.published import Published

from .zoo_personalities import dongle


@dongle.case("connects while it advertises, and advertises again after the link")
async def connects_beside_an_advertisement(given):
    service = await Published.add(given.client)
    await service.advertise("hci0")
    await hears(given.phone, published.NAME)
    await reads(given)
    await hears(given.phone, published.NAME)
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")
