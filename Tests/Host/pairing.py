"""The own host pairs: in both roles, by every method, with LE Secure Connections and without."""

import asyncio
import secrets
import unittest

from bumble.core import ProtocolError, TimeoutError as CoreTimeoutError
from bumble.crypto import aes_cmac
from bumble.device import Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address, HCI_LE_Set_Random_Address_Command
from bumble.pairing import OobContext, OobSharedData, PairingConfig, PairingDelegate
from bumble.smp import AddressResolver, OobLegacyContext
from world import FAR, NEAR, PATIENCE, World

from support.person import Person  # noqa: E402, I001
from support.waiting import until  # noqa: E402

SERVICE = "6F3C0001-5B1E-4A0D-9B6A-0D1E6B7F2A10"
SECRET = "6F3C0003-5B1E-4A0D-9B6A-0D1E6B7F2A10"
KINDS = PairingDelegate.IoCapability


class PairingTest(unittest.IsolatedAsyncioTestCase):
    def sits(self, world, capability=KINDS.NO_OUTPUT_NO_INPUT, sc=True, identity=None):
        """A person sits at the device; gives the person, and the list of pairings there from now on. `identity` is the
        type of the address that the device tells as its identity."""
        person = Person(capability)
        mitm = capability != KINDS.NO_OUTPUT_NO_INPUT
        world.far.pairing_config_factory = lambda _: PairingConfig(sc, mitm, True, person, identity)
        pairings = []
        world.far.on("connection", lambda connection: connection.on(connection.EVENT_PAIRING, pairings.append))
        return person, pairings

    async def connect(self, world):
        return (await world.call("peripheral.connect", address=FAR, addressType="random"))["peripheral"]

    async def lock(self, world, protection=Characteristic.READ_REQUIRES_ENCRYPTION):
        """The device serves a value that is protected."""
        value = Characteristic(SECRET, Characteristic.Properties.READ, protection, b"secret")
        world.far.add_service(Service(SERVICE, [value]))
        await world.advertise()

    async def read(self, world, peripheral):
        read = await world.call("gatt.read", peripheral=peripheral, service=SERVICE, characteristic=SECRET)
        return bytes.fromhex(read["value"])

    async def let_go(self, world, peripheral):
        """Ends the link; both sides know."""
        (connection,) = world.far.connections.values()
        gone = asyncio.Event()
        connection.on("disconnection", lambda _: gone.set())
        await world.call("peripheral.disconnect", peripheral=peripheral)
        await world.next("peripheral.disconnected")
        await asyncio.wait_for(gone.wait(), PATIENCE)

    async def publish(self, world):
        """bled serves a value that is protected."""
        characteristic = {
            "uuid": SECRET, "properties": ["read"], "permissions": ["readEncryptionRequired"], "value": b"secret".hex()}
        await world.call("service.add", service={"uuid": SERVICE, "characteristics": [characteristic]})
        await world.call("advertising.start", name="near end")

    async def arrive(self, world, address=f"{NEAR}/P"):
        """The device connects; gives its connection, and the protected value there."""
        return await self.discover(await world.far.connect(address, timeout=PATIENCE))

    async def arrive_at_private(self, world):
        """The same at the private address, which may change on the way; gives that, too."""
        while True:
            address = (await world.state("on"))["privateAddress"]
            try:
                connection = await world.far.connect(Address(address), timeout=5)
            except (CoreTimeoutError, TimeoutError):
                continue
            return address, *await self.discover(connection)

    async def discover(self, connection):
        """Gives the connection, and the protected value there."""
        peer = Peer(connection)
        await peer.discover_services([SERVICE])
        (service,) = peer.get_services_by_uuid(SERVICE)
        await service.discover_characteristics()
        (value,) = service.get_characteristics_by_uuid(SECRET)
        return connection, value

    async def bonds(self, world):
        return (await world.call("pairing.list"))["bonds"]

    async def test_a_protected_read_pairs_and_the_bond_encrypts_the_next_link(self):
        async with World() as world:
            _, pairings = self.sits(world)
            await self.lock(world)
            peripheral = await self.connect(world)
            self.assertEqual(await self.read(world, peripheral), b"secret")
            (bond,) = await self.bonds(world)
            self.assertEqual((bond["address"], bond["level"], bond["keySize"]), (FAR, "encrypted", 16))
            await self.let_go(world, peripheral)
            peripheral = await self.connect(world)
            self.assertEqual(await self.read(world, peripheral), b"secret")
            (connection,) = world.far.connections.values()
            self.assertTrue(connection.is_encrypted)
            self.assertEqual(len(pairings), 1)

    async def test_pairing_with_a_device_that_lost_its_keys(self):
        async with World() as world:
            self.sits(world)
            await self.lock(world)
            peripheral = await self.connect(world)
            await world.call("peripheral.pair", peripheral=peripheral)
            await self.let_go(world, peripheral)
            await until(world.far.keystore.get_all)
            await world.far.keystore.delete_all()
            packets = self.packets(world)
            with self.assertRaisesRegex(Exception, "do not share keys any more: remove the pairing on both sides"):
                await self.connect(world)
            self.assertEqual((await world.next("pairing.keysLost"))["side"], "device")
            self.assertEqual(packets, [])
            await world.call("pairing.forget", peripheral=peripheral)
            peripheral = await self.connect(world)
            self.assertEqual(await self.read(world, peripheral), b"secret")

    def packets(self, world):
        """The requests and commands that the device gets from now on: the opcode, and whether the link is encrypted."""
        packets, server = [], world.far.gatt_server
        receive = server.on_gatt_pdu

        def on_gatt_pdu(bearer, pdu):
            packets.append((pdu.op_code, bearer.is_encrypted))
            receive(bearer, pdu)

        server.on_gatt_pdu = on_gatt_pdu
        return packets

    async def test_a_bonded_device_gets_no_packet_before_the_link_is_encrypted(self):
        async with World() as world:
            self.sits(world)
            written = asyncio.Queue()
            value = Characteristic(
                SECRET, Characteristic.Properties.WRITE_WITHOUT_RESPONSE, Characteristic.WRITE_REQUIRES_ENCRYPTION,
                CharacteristicValue(write=lambda _, octets: written.put_nowait(octets)))
            world.far.add_service(Service(SERVICE, [value]))
            await world.advertise()
            peripheral = await self.connect(world)
            await world.call("peripheral.pair", peripheral=peripheral)
            await self.let_go(world, peripheral)
            packets = self.packets(world)
            peripheral = await self.connect(world)
            # Nothing answers a Write Command: the device would drop it in silence.
            await world.call(
                "gatt.write", peripheral=peripheral, service=SERVICE, characteristic=SECRET, value="0a", response=False)
            self.assertEqual(await asyncio.wait_for(written.get(), PATIENCE), b"\n")
            self.assertEqual(packets[0][0], 0x02)
            self.assertTrue(all(is_encrypted for _, is_encrypted in packets), packets)

    async def test_a_device_that_only_looks_like_a_bonded_one_gets_nothing(self):
        async with World() as world:
            self.sits(world)
            await self.lock(world)
            peripheral = await self.connect(world)
            await world.call("peripheral.pair", peripheral=peripheral)
            await self.let_go(world, peripheral)
            # The same address and attributes, without the keys, and without protection.
            await until(world.far.keystore.get_all)
            await world.far.keystore.delete_all()
            for attribute in world.far.gatt_server.attributes:
                attribute.permissions = Characteristic.READABLE | Characteristic.WRITEABLE
            packets = self.packets(world)
            for _ in range(2):
                with self.assertRaisesRegex(Exception, "do not share keys any more"):
                    await self.connect(world)
                with self.assertRaisesRegex(Exception, "not connected"):
                    await self.read(world, peripheral)
            self.assertEqual(packets, [])

    async def test_pairing_gives_the_key_of_signed_writes(self):
        async with World() as world:
            person, _ = self.sits(world, sc=False)
            person.local_initiator_key_distribution |= PairingDelegate.KeyDistribution.DISTRIBUTE_SIGNING_KEY
            # No key for links that we begin: these stay without encryption, the use case of signatures.
            person.local_responder_key_distribution &= ~PairingDelegate.KeyDistribution.DISTRIBUTE_ENCRYPTION_KEY
            value = Characteristic(
                SECRET, Characteristic.Properties.AUTHENTICATED_SIGNED_WRITES, Characteristic.WRITEABLE, b"")
            world.far.add_service(Service(SERVICE, [value]))
            await world.advertise()
            peripheral = await self.connect(world)
            await world.call("peripheral.pair", peripheral=peripheral)
            ((_, keys),) = await until(world.far.keystore.get_all)
            await self.let_go(world, peripheral)
            peripheral = await self.connect(world)
            arrived = asyncio.Queue()
            # Bumble's server passes no signature on.
            world.far.gatt_server.on_att_signed_write_command = lambda _, pdu: arrived.put_nowait(bytes(pdu))
            await world.call(
                "gatt.write", peripheral=peripheral, service=SERVICE, characteristic=SECRET, value=b"signed".hex(),
                signed=True)
            packet = await asyncio.wait_for(arrived.get(), PATIENCE)
            signed, code = packet[:-8], packet[-8:]
            self.assertEqual(signed[3:-4], b"signed")
            # The key, the packet and the code have their lowest octets first (Core 5.4, Vol 3, Part H, 2.4.5).
            self.assertEqual(code, aes_cmac(signed[::-1], keys.csrk.value[::-1])[:8][::-1])

    async def test_legacy_pairing(self):
        async with World() as world:
            self.sits(world, sc=False)
            await self.lock(world)
            peripheral = await self.connect(world)
            self.assertEqual(await self.read(world, peripheral), b"secret")
            await self.let_go(world, peripheral)
            # Bumble keeps the keys by the roles of the pairing, and looks them up by its own.
            for address, keys in await until(world.far.keystore.get_all):
                keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
                await world.far.keystore.update(address, keys)
            peripheral = await self.connect(world)
            self.assertEqual(await self.read(world, peripheral), b"secret")

    async def test_pairing_by_each_method_with_a_person(self):
        methods = [
            ("displayYesNo", KINDS.DISPLAY_OUTPUT_AND_YES_NO_INPUT, True),
            ("keyboard", KINDS.DISPLAY_OUTPUT_ONLY, True), ("display", KINDS.KEYBOARD_INPUT_ONLY, True),
            ("keyboard", KINDS.DISPLAY_OUTPUT_ONLY, False), ("display", KINDS.KEYBOARD_INPUT_ONLY, False)]
        for here, there, sc in methods:
            with self.subTest(here=here, sc=sc):
                async with World() as world:
                    person, _ = self.sits(world, there, sc)
                    await self.lock(world, Characteristic.READ_REQUIRES_AUTHENTICATION)
                    await world.call("pairing.register", capability=here)
                    peripheral = await self.connect(world)
                    pairing = world.session.start("peripheral.pair", peripheral=peripheral, level="authenticated")
                    await self.help(world, person)
                    reached = await world.thread(world.session.finish, pairing, PATIENCE)
                    level = "secureConnections" if sc else "authenticated"
                    self.assertEqual(reached, {"level": level, "keySize": 16, "bonded": True})
                    self.assertEqual(await self.read(world, peripheral), b"secret")

    async def help(self, world, person):
        """The person here and the one at the device do what one pairing wants of them."""
        while True:
            message = await world.thread(world.session.message, PATIENCE)
            if message["method"] in ("pairing.confirm", "pairing.enterPasskey", "pairing.showPasskey"):
                break
        if message["method"] == "pairing.confirm":
            shown = await asyncio.wait_for(person.shown.get(), PATIENCE)
            world.session.answer(message, accept=message["params"]["number"] == shown)
        elif message["method"] == "pairing.enterPasskey":
            shown = await asyncio.wait_for(person.shown.get(), PATIENCE)
            world.session.answer(message, passkey=shown)
        else:
            person.typed.put_nowait(message["params"]["passkey"])

    async def test_pairing_that_the_person_here_refuses(self):
        async with World() as world:
            self.sits(world, KINDS.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
            await self.lock(world)
            await world.call("pairing.register", capability="displayYesNo")
            peripheral = await self.connect(world)
            pairing = world.session.start("peripheral.pair", peripheral=peripheral)
            while (message := await world.thread(world.session.message, PATIENCE))["method"] != "pairing.confirm":
                pass
            world.session.answer(message, accept=False)
            with self.assertRaisesRegex(Exception, "the numbers differ, or it was refused"):
                await world.thread(world.session.finish, pairing, PATIENCE)
            self.assertEqual(await self.bonds(world), [])

    async def test_pairing_with_data_of_the_device_that_went_another_way(self):
        async with World() as world:
            person, _ = self.sits(world)
            context = OobContext()
            oob = PairingConfig.OobConfig(context, None, None)
            world.far.pairing_config_factory = lambda _: PairingConfig(True, True, True, person, None, oob)
            await self.lock(world, Characteristic.READ_REQUIRES_AUTHENTICATION)
            peripheral = await self.connect(world)
            await self.give(world, OobContext())
            with self.assertRaisesRegex(Exception, "a confirm value is wrong"):
                await world.call("peripheral.pair", peripheral=peripheral, level="secureConnections")
            # Bumble accepts no other pairing on this link.
            await self.let_go(world, peripheral)
            await self.give(world, context)
            peripheral = await self.connect(world)
            reached = await world.call("peripheral.pair", peripheral=peripheral, level="secureConnections")
            self.assertEqual(reached, {"level": "secureConnections", "keySize": 16, "bonded": True})
            self.assertEqual(await self.read(world, peripheral), b"secret")

    def has_key(self, world, key):
        """The device has no LE Secure Connections, and this temporary key."""
        person, _ = self.sits(world)
        oob = PairingConfig.OobConfig(None, None, OobLegacyContext(key))
        world.far.pairing_config_factory = lambda _: PairingConfig(False, True, True, person, None, oob)

    async def test_legacy_pairing_with_a_temporary_key_of_the_device(self):
        async with World() as world:
            key = secrets.token_bytes(16)
            self.has_key(world, key)
            await self.lock(world, Characteristic.READ_REQUIRES_AUTHENTICATION)
            peripheral = await self.connect(world)
            await world.call("pairing.setOutOfBand", address=FAR, addressType="random", temporaryKey=key.hex())
            reached = await world.call("peripheral.pair", peripheral=peripheral, level="authenticated")
            self.assertEqual(reached, {"level": "authenticated", "keySize": 16, "bonded": True})
            self.assertEqual(await self.read(world, peripheral), b"secret")

    async def test_legacy_pairing_with_a_temporary_key_of_ours(self):
        async with World() as world:
            await self.publish(world)
            data = await world.call("pairing.readOutOfBand")
            self.has_key(world, bytes.fromhex(data["temporaryKey"]))
            connection, value = await self.arrive(world)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            self.assertEqual(await value.read_value(), b"secret")
            (bond,) = await self.bonds(world)
            self.assertEqual((bond["address"], bond["level"]), (FAR, "authenticated"))

    async def give(self, world, context):
        """bled is told the data of a device."""
        data = context.share()
        await world.call(
            "pairing.setOutOfBand", address=FAR, addressType="random", confirmation=data.c.hex(), random=data.r.hex())

    async def rotate(self, world):
        """The device takes another private address; gives that."""
        address = Address.generate_private_address(world.far.irk)
        await world.far.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
        world.far.random_address = address
        return address.to_string(with_type_qualifier=False)

    async def test_pairing_with_devices_that_change_their_addresses(self):
        async with World() as world:
            world.far.irk = secrets.token_bytes(16)
            _, pairings = self.sits(world, identity=Address.RANDOM_DEVICE_ADDRESS)
            stranger = await self.rotate(world)
            await self.lock(world)
            connected = await world.call("peripheral.connect", address=stranger, addressType="random")
            self.assertEqual(await self.read(world, connected["peripheral"]), b"secret")
            (bond,) = await self.bonds(world)
            self.assertEqual((bond["address"], bond["peripheral"]), (FAR, connected["peripheral"]))
            await self.let_go(world, connected["peripheral"])
            await world.far.stop_advertising()
            await self.rotate(world)
            await world.advertise()
            await world.call("peripheral.connect", peripheral=connected["peripheral"])
            self.assertEqual(await self.read(world, connected["peripheral"]), b"secret")
            await self.let_go(world, connected["peripheral"])
            await world.far.stop_advertising()
            # The keys of LE Secure Connections hold in both roles.
            await self.publish(world)
            await self.rotate(world)
            connection, value = await self.arrive(world)
            await asyncio.wait_for(connection.encrypt(), PATIENCE)
            self.assertEqual(await value.read_value(), b"secret")
            self.assertEqual(len(pairings), 1)
            # To forget the device ends its link, which has another address.
            gone = asyncio.Event()
            connection.on("disconnection", lambda _: gone.set())
            await world.call("pairing.forget", address=FAR)
            await asyncio.wait_for(gone.wait(), PATIENCE)

    async def test_private_addresses_of_our_own(self):
        async with World(settings={"privacy": {"rotation": 10}}) as world:
            _, pairings = self.sits(world)
            await self.publish(world)
            await world.call("pairing.open", seconds=600)
            adapter = await world.state("on")
            self.assertEqual(adapter["address"], NEAR)
            first, connection, value = await self.arrive_at_private(world)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            self.assertEqual(await value.read_value(), b"secret")
            ((name, keys),) = await world.far.keystore.get_all()
            self.assertTrue(name.startswith(NEAR), name)
            self.assertEqual([bond["address"] for bond in await self.bonds(world)], [FAR])
            await connection.disconnect()
            while (await world.state("on"))["privateAddress"] == first:
                await world.next("adapter.changed")
            # The advertisement continues under the next one.
            second, connection, value = await self.arrive_at_private(world)
            identity = Address(NEAR, Address.PUBLIC_DEVICE_ADDRESS)
            resolver = AddressResolver([(keys.irk.value, identity)])
            for address in [first, second]:
                self.assertIsNotNone(resolver.resolve(Address(address)), address)
            # Bumble looks keys up by the address of the link; a phone resolves it first.
            connection.peer_address = identity
            await asyncio.wait_for(connection.encrypt(), PATIENCE)
            self.assertEqual(await value.read_value(), b"secret")
            self.assertEqual(len(pairings), 1)

    async def test_pairing_through_an_advertisement_with_an_address_of_its_own(self):
        # A controller without a public address has a static random one.
        for near in [NEAR, "00:00:00:00:00:00"]:
            with self.subTest(near=near):
                async with World(address=near) as world:
                    self.sits(world)
                    await self.publish(world)
                    own = "C0:12:34:56:78:9A"
                    await world.call("advertising.start", name="another", ownAddress=own)
                    await world.call("pairing.open", seconds=600)
                    adapter = await world.state("on")
                    kind = Address.PUBLIC_DEVICE_ADDRESS if near == NEAR else Address.RANDOM_DEVICE_ADDRESS
                    for address in [Address(own), Address(adapter["address"], kind)]:
                        connection, value = await self.arrive(world, address)
                        await asyncio.wait_for(connection.pair(), PATIENCE)
                        self.assertEqual(await value.read_value(), b"secret")
                        self.assertEqual([bond["address"] for bond in await self.bonds(world)], [FAR])
                        gone = asyncio.Event()
                        connection.on("disconnection", lambda _, gone=gone: gone.set())
                        await world.call("pairing.forget", address=FAR)
                        await asyncio.wait_for(gone.wait(), PATIENCE)

    async def test_pairing_with_data_of_ours_that_went_another_way(self):
        async with World() as world:
            person, _ = self.sits(world)
            await self.publish(world)
            await world.call("pairing.open", seconds=600)
            data = await world.call("pairing.readOutOfBand")
            shared = OobSharedData(c=bytes.fromhex(data["confirmation"]), r=bytes.fromhex(data["random"]))
            oob = PairingConfig.OobConfig(OobContext(), shared, None)
            world.far.pairing_config_factory = lambda _: PairingConfig(True, True, True, person, None, oob)
            connection, value = await self.arrive(world)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            self.assertEqual(await value.read_value(), b"secret")
            (bond,) = await self.bonds(world)
            self.assertEqual((bond["address"], bond["level"]), (FAR, "secureConnections"))

    async def test_a_device_pairs_with_us_and_the_bond_encrypts_the_next_link(self):
        for sc in [True, False]:
            with self.subTest(sc=sc):
                async with World() as world:
                    self.sits(world, sc=sc)
                    await self.publish(world)
                    await world.call("pairing.open", seconds=600)
                    connection, value = await self.arrive(world)
                    with self.assertRaises(ProtocolError):
                        await value.read_value()
                    await asyncio.wait_for(connection.pair(), PATIENCE)
                    self.assertEqual(await value.read_value(), b"secret")
                    (bond,) = await self.bonds(world)
                    self.assertEqual((bond["address"], bond["level"]), (FAR, "encrypted"))
                    await connection.disconnect()
                    connection, value = await self.arrive(world)
                    await asyncio.wait_for(connection.encrypt(), PATIENCE)
                    self.assertEqual(await value.read_value(), b"secret")

    async def test_a_device_pairs_at_our_request_but_not_in_place_of_a_bond(self):
        async with World() as world:
            self.sits(world)
            await self.publish(world)
            pairings = asyncio.Queue()

            def heed(connection):
                connection.on(
                    "security_request", lambda _: pairings.put_nowait(asyncio.ensure_future(connection.pair())))

            world.far.on("connection", heed)
            connection, _ = await self.arrive(world)
            (device,) = [
                peripheral for peripheral in (await world.call("peripheral.list"))["peripherals"]
                if peripheral["address"] == FAR]
            reached = await world.call("peripheral.pair", peripheral=device["peripheral"])
            self.assertEqual(reached, {"level": "encrypted", "keySize": 16, "bonded": True})
            await asyncio.wait_for(await pairings.get(), PATIENCE)
            bonds = await self.bonds(world)
            await connection.disconnect()
            # The device, or another one with its address, has no keys.
            await world.far.keystore.delete_all()
            await self.arrive(world)
            with self.assertRaisesRegex(Exception, "refused"):
                await world.call("peripheral.pair", peripheral=device["peripheral"])
            with self.assertRaises(ProtocolError):
                await asyncio.wait_for(await pairings.get(), PATIENCE)
            self.assertEqual(await self.bonds(world), bonds)

    async def test_pairing_that_nobody_allows(self):
        async with World() as world:
            self.sits(world)
            await self.publish(world)
            connection, value = await self.arrive(world)
            with self.assertRaises(ProtocolError):
                await asyncio.wait_for(connection.pair(), PATIENCE)
            with self.assertRaises(ProtocolError):
                await value.read_value()
            self.assertEqual(await self.bonds(world), [])
