#!/usr/bin/env python3
"""bled-mqtt between bled's simulated adapter and a real mosquitto, which is killed, slow, full, and refuses.

    mqtt_test.py [-k TEXT]      cases whose name has the text
"""

import json
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

from house import BELT, ECHO, PATIENCE, PLAIN, PROGRAMS, ROOT, SECRET, House, free_port, messages, reports

VALUES = {"devices": [{"address": BELT, "name": "belt", "subscribe": ["2A37"]}]}
ALL = {"commands": ["read", "write", "scan"]}


class Case(unittest.TestCase):
    scenario = None

    def setUp(self):
        self.house = House(*[self.scenario] if self.scenario else [])
        self.addCleanup(self.house.close)

    def until(self, condition, failure):
        """Waits until a condition holds, while the output of all programs is read."""
        end = time.monotonic() + PATIENCE
        while not condition():
            for program in self.house.programs:
                if program.process.stdout and not program.process.stdout.closed:
                    program._read(0.01)
            self.assertLess(time.monotonic(), end, failure() if callable(failure) else failure)

    def everything(self, **settings):
        self.house.start_bled()
        self.house.start_broker()
        subscriber = self.house.subscribe()
        self.house.start_gateway(**settings).expect("connected to the broker")
        return subscriber

    def status(self):
        """A status that the gateway publishes at the next connection, or at its end."""
        subscriber = self.house.subscribe("home/kitchen/status")
        self.until(lambda: messages(subscriber), "there is no status")
        return json.loads(messages(subscriber)[-1][1])

    def assert_whole(self, subscriber):
        """No report or value is missing, and each came first in its order; returns how many came more than once."""
        numbers = [report["seq"] for _, report in reports(subscriber)]
        new = list(dict.fromkeys(numbers))
        self.assertEqual(new, list(range(new[0], new[-1] + 1)), "messages are missing, or not in their order")
        return len(numbers) - len(new)


class Publishing(Case):
    def test_reports_have_the_fields_of_openmqttgateway(self):
        subscriber = self.everything()
        found = subscriber.expect(r"^0 1 home/kitchen/BTtoMQTT/C0DE00000004 (.*)")
        report = json.loads(found[1])
        self.assertEqual(
            (report["id"], report["mac_type"], report["name"], report["servicedata"], report["servicedatauuid"]),
            (ECHO, 1, "Echo", "64", "180f"))
        self.assertEqual(report["gateway"], "kitchen")
        self.assertRegex(report["bled_id"], r"^[0-9A-F]{8}-")
        self.assertAlmostEqual(report["time"], time.time(), delta=PATIENCE)
        belt = json.loads(subscriber.expect(r"BTtoMQTT/C0DE00000001 (.*)")[1])
        self.assertEqual(belt["manufacturerdata"], "ffff0102")
        # Nothing that a decoder elsewhere needs is missing, and nothing is kept by the broker but the state.
        raw = json.loads(subscriber.expect(r"^0 0 home/kitchen/BTtoMQTT/undecoded (.*)")[1])
        self.assertIn("rssi", raw)
        late = self.house.subscribe()
        late.expect(r"^1 1 home/kitchen/LWT online")
        late.expect(r"^1 \d homeassistant/binary_sensor/bled-kitchen-connectivity/config")
        self.assertFalse([line for line in late.lines if line.startswith("1 ") and "BTtoMQTT" in line])

    def test_the_last_word_is_offline(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                subscriber = self.everything()
                subscriber.expect(r"^0 1 home/kitchen/LWT online")
                self.house.gateway.kill(number)
                subscriber.expect(r"^0 1 home/kitchen/LWT offline")
                self.house.close()
                self.house = House()
                self.addCleanup(self.house.close)

    def test_values_of_a_subscribed_device(self):
        subscriber = self.everything(**VALUES)
        value = json.loads(subscriber.expect(r"BTtoMQTT/C0DE00000001/2A37 (.*)")[1])
        self.assertEqual((value["id"], value["name"], value["characteristic"]), (BELT, "belt", "2A37"))
        self.assertRegex(value["value"], r"^06[0-9a-f]{2}$")
        self.assertRegex(value["text"], r"^\d+ bpm")

    def test_bled_is_restarted(self):
        subscriber = self.everything(**VALUES)
        subscriber.expect("C0DE00000001/2A37")
        self.house.bled.kill()
        self.house.gateway.expect("it is tried again each second")
        start = len(subscriber.lines)
        self.house.start_bled()
        subscriber.expect("C0DE00000001/2A37", start)
        subscriber.expect("BTtoMQTT/C0DE00000004 ", start)


class Beacons(Case):
    scenario = ROOT / "Examples/scenarios/beacons.json"

    def test_decoded_sensors_are_described_to_home_assistant(self):
        subscriber = self.everything(
            scan={"keys": {"54:48:E6:8F:80:A5": "231d39c1d7cc1ab1aee224cd096db932"}}, every=1)
        report = json.loads(subscriber.expect(r"BTtoMQTT/5448E68F80A5 (.*encrypted.*)")[1])
        self.assertEqual((report["tempc"], report["tempf"], report["hum"], report["model_id"]),
                         (25.06, 77.11, 50.55, "BTHome"))
        topic = r"^0 1 homeassistant/sensor/5448E68F80A5-tempc/config (.*)"
        description = json.loads(subscriber.expect(topic)[1])
        self.assertEqual(description["state_topic"], "home/+/BTtoMQTT/5448E68F80A5")
        self.assertEqual((description["device_class"], description["unit_of_measurement"]), ("temperature", "°C"))
        beacon = json.loads(subscriber.expect(r"BTtoMQTT/C0DE00000202 (.*)")[1])
        self.assertEqual(
            (beacon["mfid"], beacon["uuid"], beacon["major"], beacon["minor"]),
            ("4c00", "e2c56db5dffb48d2b060d0f5a71096e0", 1, 3))
        self.assertGreater(beacon["distance"], 0)

    def everything(self, every, **settings):
        return super().everything(publish={"every": every}, **settings)


class Decoding(Case):
    scenario = ROOT / "Tests/Home/thermometer.json"

    def test_theengs_decodes_the_rest(self):
        """As Theengs Gateway does with what it hears on `home/+/BTtoMQTT/undecoded`."""
        from TheengsDecoder import decodeBLE

        subscriber = self.everything()

        def undecoded():
            return [payload for topic, payload in messages(subscriber) if topic == "home/kitchen/BTtoMQTT/undecoded"]

        self.until(undecoded, "nothing is undecoded")
        subscriber.expect('"hum":50.55')
        self.assertEqual({json.loads(payload)["id"] for payload in undecoded()}, {"49:42:01:00:00:01"})
        decoded = json.loads(decodeBLE(undecoded()[0]))
        self.assertEqual((decoded["brand"], decoded["model_id"]), ("Inkbird", "IBS-TH1/TH2/P01B/ITH-12S"))
        self.assertEqual((decoded["tempc"], decoded["hum"], decoded["batt"]), (26.62, 53.79, 89))
        self.assertEqual(decoded["gateway"], "kitchen")


class Broker(Case):
    def test_killed_and_back(self):
        self.house.start_bled()
        self.house.start_broker(persistent=True)
        subscriber = self.house.subscribe("#", "-c", "-i", "listener")
        self.house.start_gateway(**VALUES)
        subscriber.expect("2A37")
        for _ in range(2):
            self.house.broker.kill()
            self.house.gateway.expect("cannot be used, which is tried again")
            self.until(lambda: self.house.spool(), "nothing is spooled")
            self.house.start_broker(persistent=True)
            self.house.gateway.expect("connected to the broker", len(self.house.gateway.lines))
            self.until(lambda: not self.house.spool(), "the spool is not empty")
        last = len(reports(subscriber))
        self.until(lambda: len(reports(subscriber)) > last + 10, "nothing comes any more")
        # At the most the messages that the broker had not acknowledged.
        self.assertLessEqual(self.assert_whole(subscriber), 2 * 64)

    def test_the_report_for_doctor(self):
        self.everything()
        report = self.house.folder / "report"
        self.until(lambda: report.exists() and report.read_text().startswith("ok"), "there is no report")
        connected = report.read_text()
        self.assertRegex(connected, rf"^ok 1[0-9]+ connected to the broker at 127.0.0.1:{self.house.port}\n$")
        self.assertEqual(report.stat().st_mode & 0o777, 0o644)
        self.house.broker.kill()
        self.until(lambda: report.read_text() != connected, "the report does not change")
        self.assertRegex(report.read_text(), r"^problem 1[0-9]+ the broker at .* cannot be used: .+\n$")

    def test_slow(self):
        subscriber = self.everything(**VALUES, publish={"every": 0.1, "interval": 0.1})
        subscriber.expect("2A37")
        self.house.broker.process.send_signal(signal.SIGSTOP)
        self.until(lambda: self.house.spool(), "nothing is spooled")
        self.house.broker.process.send_signal(signal.SIGCONT)
        self.until(lambda: not self.house.spool(), "the spool is not empty")
        self.assertEqual(self.assert_whole(subscriber), 0)

    def test_full(self):
        """A subscriber that is away has a short queue in the broker, which drops: the gateway is not concerned."""
        self.house.start_bled()
        self.house.start_broker("max_queued_messages 5")
        self.house.subscribe("home/#", "-c", "-i", "away").kill()
        subscriber = self.house.subscribe()
        self.house.start_gateway(**VALUES)
        self.until(lambda: len(reports(subscriber)) > 50, "too few messages come")
        self.assertEqual(self.assert_whole(subscriber), 0)

    def test_away_across_restarts(self):
        """The broker comes back after the gateway was ended, and killed."""
        self.house.start_bled()
        self.house.start_gateway(**VALUES)
        for number in (signal.SIGTERM, signal.SIGKILL):
            length = sum(file.stat().st_size for file in self.house.spool())
            self.until(lambda: sum(file.stat().st_size for file in self.house.spool()) > length + 4096, "no messages")
            self.house.gateway.kill(number)
            self.house.start_gateway(**VALUES)
        spooled = sum(file.read_bytes().count(b'"seq":') for file in self.house.spool())
        self.house.start_broker()
        subscriber = self.house.subscribe()
        self.house.gateway.expect("connected to the broker")
        self.until(lambda: not self.house.spool(), "the spool is not empty")
        self.until(lambda: len(reports(subscriber)) >= spooled, "messages are missing")
        numbers = [report["seq"] for _, report in reports(subscriber)]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_a_damaged_spool_is_moved_aside(self):
        self.house.start_bled()
        self.house.start_gateway(**VALUES)
        self.until(lambda: sum(file.stat().st_size for file in self.house.spool()) > 4096, "no messages")
        self.house.gateway.kill()
        file = self.house.spool()[0]
        octets = bytearray(file.read_bytes())
        octets[len(octets) // 2] ^= 0xFF
        file.write_bytes(octets)
        self.house.start_broker()
        subscriber = self.house.subscribe()
        self.house.start_gateway(**VALUES).expect("is damaged: it is moved aside")
        subscriber.expect("2A37")
        self.assertEqual([file.stem], [damaged.stem for damaged in self.house.spool("damaged")])
        self.assert_whole(subscriber)


class Namesakes(Case):
    """Two gateways of one name: the log says it, and does not repeat it at each attempt."""

    REMEDY = 'is called "bled-kitchen"[:,] give each gateway a name of its own, by "gateway"'

    def fight(self, version):
        self.house.start_bled()
        self.house.start_broker()
        gateways = [self.house.start_gateway(state, broker={"version": version}) for state in ("mqtt", "other")]

        def connections():
            return sum("New client connected" in line for line in self.house.broker.lines)

        for gateway in gateways:
            gateway.expect(self.REMEDY)
        (lines, before) = ([len(gateway.lines) for gateway in gateways], connections())
        self.until(lambda: connections() >= before + 2, "no gateway connects again")
        self.assertEqual([len(gateway.lines) for gateway in gateways], lines, gateways[0].text())

    def test_mqtt_5(self):
        self.fight("5")

    def test_mqtt_3(self):
        self.fight("3.1.1")

    def test_the_reason_of_mqtt_5(self):
        """mosquitto before 2.0.15 does not give it."""
        self.house.start_bled()
        with socket.create_server(("127.0.0.1", 0)) as server:
            gateway = self.house.start_gateway(broker={"host": "127.0.0.1", "port": server.getsockname()[1]})
            for reason in (0x8E, 0x8E):
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(PATIENCE)
                    connection.recv(4096)
                    connection.sendall(bytes([0x20, 3, 0, 0, 0, 0xE0, 1, reason]))
                    gateway.expect("another client " + self.REMEDY)
            self.assertEqual(gateway.text().count("another client"), 1)

    def test_another_reason_of_mqtt_5(self):
        self.house.start_bled()
        with socket.create_server(("127.0.0.1", 0)) as server:
            gateway = self.house.start_gateway(broker={"host": "127.0.0.1", "port": server.getsockname()[1]})
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(bytes([0x20, 3, 0, 0, 0, 0xE0, 1, 0x8B]))
                gateway.expect("it ends the connection: Server shutting down")


class Described(Case):
    scenario = ROOT / "Tests/Home/described.json"

    def test_the_descriptors_of_a_device(self):
        """They name and format its values as soon as they are read, also for Home Assistant."""
        subscriber = self.everything(
            devices=[{"address": BELT, "subscribe": ["6F3C0002-0000-4000-8000-000000000000"]}])
        value = json.loads(
            subscriber.expect(r'^0 1 home/kitchen/BTtoMQTT/C0DE00000001/6F3C0002-\S+ (.*"characteristic_name".*)')[1])
        self.assertEqual((value["characteristic_name"], value["unit"]), ("Torque", "%"))
        self.assertEqual(value["number"] * 10, int.from_bytes(bytes.fromhex(value["value"]), "little"))
        sensor = json.loads(
            subscriber.expect(r'^0 1 homeassistant/sensor/C0DE00000001-6F3C0002-\S+/config (.*"Torque".*)')[1])
        self.assertEqual((sensor["name"], sensor["unit_of_measurement"]), ("Torque", "%"))


class Brokers(Case):
    """Several addresses."""

    def test_one_takes_over_from_the_other(self):
        """The brokers are killed in turn: nothing is lost, and no more comes twice than was on its way."""
        ports = [self.house.port, free_port()]
        self.house.start_bled()
        brokers = {port: self.house.start_broker(port=port) for port in ports}
        subscribers = {port: self.house.subscribe(port=port) for port in ports}
        addresses = [f"127.0.0.1:{port}" for port in ports]
        gateway = self.house.start_gateway(broker={"host": addresses, "version": "3.1.1"}, **VALUES)
        used = int(gateway.expect(r"connected to the broker at 127.0.0.1:(\d+)$")[1])
        for _ in range(2):
            other = next(port for port in ports if port != used)
            subscribers[used].expect("2A37", len(subscribers[used].lines))
            start, lines = len(gateway.lines), len(subscribers[used].lines)
            brokers[used].kill()
            gateway.expect(f"connected to the broker at 127.0.0.1:{other}", start)
            subscribers[other].expect("2A37", len(subscribers[other].lines))
            brokers[used] = self.house.start_broker(port=used)
            subscribers[used].expect("Subscribed", lines)
            used = other
        brokers[used].kill()
        numbers = [report["seq"] for port in ports for _, report in reports(subscribers[port])]
        new = sorted(set(numbers))
        self.assertEqual(new, list(range(new[0], new[-1] + 1)), "messages are missing")
        self.assertLessEqual(len(numbers) - len(new), 2 * 64)

    def test_an_address_that_does_not_answer(self):
        """Its machine is cut off: no packet comes back while TCP connects."""
        with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
            silent = server.getsockname()
            fill = [socket.socket() for _ in range(4)]
            for client in fill:
                client.setblocking(False)
                client.connect_ex(silent)
            self.house.start_bled()
            self.house.start_broker()
            host = [f"127.0.0.1:{silent[1]}", f"127.0.0.1:{self.house.port}"]
            # The name decides the order: one in two begins with the silent one.
            for name in "abcdefgh":
                gateway = self.house.start_gateway(gateway=name, broker={"host": host})
                gateway.expect(f"connected to the broker at {host[1]}")
                if "it does not answer" in gateway.text():
                    break
                gateway.kill()
            else:
                self.fail("no gateway begins with the address that does not answer")
            for client in fill:
                client.close()

    def test_a_broker_without_mqtt_5(self):
        """The gateway speaks 3.1.1 after an answer in its form; not if the version was chosen."""
        for version in (None, "5"):
            with self.subTest(version), socket.create_server(("127.0.0.1", 0)) as server:
                port = server.getsockname()[1]
                self.house.start_bled()
                chosen = {"version": version} if version else {}
                gateway = self.house.start_gateway(broker={"host": "127.0.0.1", "port": port, **chosen})
                levels = []
                for _ in range(2):
                    connection, _ = server.accept()
                    with connection:
                        connection.settimeout(PATIENCE)
                        # CONNECT: its length, the name of the protocol, the level.
                        levels.append(connection.recv(4096).partition(b"\x00\x04MQTT")[2][0])
                        connection.sendall(b"\x20\x02\x00\x01" if levels[-1] == 5 else b"\x20\x02\x00\x00")
                        if levels[-1] == 4:
                            gateway.expect("connected to the broker")
                self.assertEqual(levels, [5, 5] if version else [5, 4])
                gateway.kill()
                self.house.bled.kill()


class Full(Case):
    def setUp(self):
        devices = [
            {"address": f"C0:DE:00:00:01:{number:02X}", "addressType": "random", "interval": 0.02, "name": "x" * 20,
             "advertising": {"manufacturerData": "ffff" + "00" * 20}}
            for number in range(40)
        ]  # fmt: skip
        super().setUp()
        self.house.scenario = self.house.file("scenario.json", json.dumps({"seed": 1, "devices": devices}))

    def test_the_oldest_go(self):
        self.house.start_bled()
        publish = {"every": 0.01, "interval": 0.1, "total": 10000}
        self.house.start_gateway(spool=1, publish=publish).expect("the spool is full")
        self.assertLessEqual(sum(file.stat().st_size for file in self.house.spool()), 1 << 20)
        self.house.start_broker()
        subscriber = self.house.subscribe()
        self.house.gateway.expect("connected to the broker")
        subscriber.expect("home/kitchen/status")
        status = json.loads(next(payload for topic, payload in messages(subscriber) if topic.endswith("/status")))
        self.assertGreater(status["spool"]["dropped"], 0)
        self.until(lambda: sum(line.startswith("0 1") for line in subscriber.lines) > 1500, "the spool is not sent")
        # More may go until the flood has found its way: but in order, and nothing twice.
        numbers = [report["seq"] for _, report in reports(subscriber)]
        self.assertEqual(numbers, sorted(set(numbers)))


class Refusal(Case):
    def certificates(self):
        """An authority with a certificate for the broker and one for the gateway, and another authority."""
        folder = self.house.folder

        def run(*arguments):
            subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

        for name in ("ca", "other"):
            run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout",
                f"{name}.key", "-out", f"{name}.pem")
        self.house.file("names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        for name in ("broker", "gateway"):
            run("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out",
                f"{name}.csr")
            run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                "2", "-extfile", "names", "-out", f"{name}.pem")
            (folder / f"{name}.key").chmod(SECRET)

    def test_tls(self):
        self.certificates()
        folder = self.house.folder
        self.house.start_bled()
        self.house.start_broker(
            f"cafile {folder}/ca.pem", f"certfile {folder}/broker.pem", f"keyfile {folder}/broker.key",
            "require_certificate true")
        own = {"certificate": f"{folder}/gateway.pem", "key": f"{folder}/gateway.key"}
        for tls, pattern in [
            (None, "cannot be used"),
            ({"ca": f"{folder}/other.pem", **own}, "certificate verify failed"),
            ({"ca": f"{folder}/ca.pem"}, "cannot be used"),
            ({"ca": f"{folder}/ca.pem", **own}, "connected to the broker"),
        ]:
            with self.subTest(tls=tls):
                gateway = self.house.start_gateway(broker={"tls": tls} if tls else {})
                gateway.expect(pattern)
                gateway.kill(signal.SIGTERM)

    def test_password(self):
        folder = self.house.folder
        self.house.file("passwords", "")
        subprocess.run(["mosquitto_passwd", "-b", f"{folder}/passwords", "kitchen", "secret"], check=True)
        self.house.start_bled()
        self.house.start_broker(f"password_file {folder}/passwords", anonymous=False)
        self.house.start_gateway().expect("refuses the connection: Not authorized")
        wrong = self.house.file("wrong", '{ "user": "kitchen", "password": "x" }', SECRET)
        for version in ("5", "3.1.1"):
            gateway = self.house.start_gateway(broker={"credentials": wrong, "version": version})
            gateway.expect("refuses the connection: .*(Not authori[sz]ed|not authori[sz]ed)")
        right = self.house.file("right", '{ "user": "kitchen", "password": "secret" }', SECRET)
        self.house.start_gateway(broker={"credentials": right}).expect("connected to the broker")

    def test_access_list(self):
        folder = self.house.folder
        self.house.file(
            "access",
            "topic read home/kitchen/LWT\ntopic write home/kitchen/LWT\ntopic readwrite home/kitchen/status\n")
        self.house.start_bled()
        self.house.start_broker(f"acl_file {folder}/access")
        subscriber = self.house.subscribe()
        gateway = self.house.start_gateway(**ALL)
        gateway.expect("connected to the broker")
        subscriber.expect("LWT online")
        gateway.expect("refuses messages, such as those to homeassistant/")
        gateway.kill(signal.SIGTERM)
        subscriber.expect("LWT offline")
        status = json.loads([payload for topic, payload in messages(subscriber) if topic.endswith("/status")][-1])
        self.assertGreater(status["refused"], 0)

    def test_check(self):
        def check(pattern, good=False, **settings):
            result = subprocess.run(
                [str(PROGRAMS / "bled-mqtt"), "--check", "--config", self.house.configure(**settings)],
                capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
            self.assertEqual(result.returncode == 0, good, result.stderr)
            self.assertRegex(result.stdout + result.stderr, pattern)

        check("the configuration is valid", good=True)
        check(r"mqtt.json:1:\d+: qos: ", qos=7)
        check("there is no such file|cannot be read", broker={"credentials": "/nonexistent"})
        public = self.house.file("public", '{ "user": "a", "password": "b" }', 0o644)
        check("every user can read this secret", broker={"credentials": public})
        broken = self.house.file("broken", '{ "user": 5 }', SECRET)
        check("broken:1:11: user: this must be a string", broker={"credentials": broken})


class Commands(Case):
    def test_read_and_write_with_answers(self):
        subscriber = self.everything(**ALL)
        answer = self.house.request({"ble_read_address": PLAIN, "ble_read_char": "FFF1"})
        self.assertEqual((answer["read"], answer["success"], answer["id"]), ("hello", True, PLAIN))
        characteristic = "b1ed0002-5eed-4b1e-8d00-000000000000"
        answer = self.house.request(
            {"ble_write_address": ECHO, "ble_write_char": characteristic, "ble_write_value": "0aff",
             "value_type": "HEX"})  # fmt: skip
        self.assertEqual((answer["write"], answer["success"]), ("0aff", True))
        # Without a topic for the answer it is sent to OpenMQTTGateway's.
        start = len(subscriber.lines)
        self.house.publish(
            "home/kitchen/commands/MQTTtoBT/config",
            json.dumps({"ble_read_address": ECHO, "ble_read_char": characteristic, "value_type": "HEX", "mac_type": 1}))
        answer = json.loads(subscriber.expect(r"BTtoMQTT/C0DE00000004 (.*success.*)", start)[1])
        self.assertEqual((answer["read"], answer["characteristic"]), ("0aff", characteristic))

    def test_failures_are_answered(self):
        self.everything(commands=["read"])
        for command, error in [
            ({"ble_read_address": PLAIN, "ble_read_char": "2A00FF"}, "not a UUID"),
            ({"ble_read_address": PLAIN, "ble_read_char": "AAAA"}, ""),
            ({"ble_write_address": PLAIN, "ble_write_char": "FFF1", "ble_write_value": "x"}, "does not allow"),
            ({"fly": True}, "neither"),
        ]:
            answer = self.house.request(command)
            self.assertFalse(answer["success"])
            self.assertIn(error, answer["error"])

    def test_the_scan_is_changed(self):
        self.everything(**ALL)
        self.assertEqual(self.house.request({"activescan": False})["activescan"], False)

    def test_hostile_messages(self):
        """Retained commands, garbage, long payloads and floods: the gateway goes on, and its memory stays bounded."""
        command = json.dumps({"ble_write_address": ECHO, "ble_write_char": "2A00", "ble_write_value": "x"})
        topic = "home/kitchen/commands/MQTTtoBT/config"
        self.house.start_bled()
        self.house.start_broker("max_queued_messages 0")
        for number in range(200):
            self.house.publish(f"home/kitchen/commands/MQTTtoBT/{number}" if number else topic, command, "-r")
        subscriber = self.house.subscribe()
        self.house.start_gateway(**ALL).expect("connected to the broker")
        for payload in (b"\x00\xff" * 1000, b"[" * 100000, b"x" * 60000, b"y" * 3000000, b"{}"):
            self.house.publish(topic, payload)
        lines = "\n".join([json.dumps({"ble_read_address": PLAIN, "ble_read_char": "FFF1"})] * 2000) + "\n"
        subprocess.run(
            ["mosquitto_pub", "-p", str(self.house.port), "-q", "1", "-t", topic, "-l"], input=lines.encode(),
            check=True)
        answer = self.house.request({"ble_read_address": ECHO, "ble_read_char": "2A00FF"})
        self.assertFalse(answer["success"])
        start = len(subscriber.lines)
        subscriber.expect("BTtoMQTT", start)
        self.assertLess(memory(self.house.gateway.process.pid), 64 << 20)

    def test_answers_do_not_become_commands(self):
        subscriber = self.everything(**ALL)
        topic = "home/kitchen/commands/MQTTtoBT/config"
        for answer in ("home/cellar/commands/MQTTtoBT", "home/x/commands/y"):
            self.house.publish(topic, "{}", "-V", "5", "-D", "publish", "response-topic", answer)
        self.house.request({"fly": True})
        self.assertFalse([topic for topic, _ in messages(subscriber) if topic.startswith(("home/cellar", "home/x"))])


class Hostile(Case):
    def test_a_broker_that_breaks_the_protocol(self):
        """Each connection gets other octets, then its end; the gateway tries again each time."""
        answers = [
            b"", b"\x00" * 100, b"\x20\x03\x00\x00\x00" + b"\x30\xff\xff\xff\x7f" + b"\x00" * 100000, b"\xff" * 1000,
            b"\x20\x03\x00\x87\x00",
        ]  # fmt: skip
        server = socket.create_server(("127.0.0.1", self.house.port))
        self.addCleanup(server.close)
        served = []

        def serve():
            for answer in answers:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(4096)
                        connection.sendall(answer)
                    except OSError:
                        pass
                served.append(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        self.house.start_bled()
        gateway = self.house.start_gateway()
        self.until(lambda: len(served) == len(answers), lambda: f"only {len(served)} connections:\n{gateway.text()}")
        server.close()
        self.house.start_broker()
        gateway.expect("connected to the broker")
        self.assertLess(memory(gateway.process.pid), 64 << 20)


    def test_a_broker_that_refuses_subscriptions(self):
        with socket.create_server(("127.0.0.1", self.house.port)) as server:
            self.house.start_bled()
            gateway = self.house.start_gateway(**ALL)
            connection, _ = server.accept()
            with connection:
                connection.settimeout(PATIENCE)
                connection.recv(4096)
                connection.sendall(b"\x20\x03\x00\x00\x00")
                received = b""
                # SUBSCRIBE, its length, and its number.
                while (start := received.find(b"\x82")) < 0 or len(received) < start + 4:
                    received += connection.recv(4096)
                connection.sendall(b"\x90\x04" + received[start + 2 : start + 4] + b"\x00\x87")
                gateway.expect("refuses the subscription to commands")


def memory(process):
    """The resident memory of a process, in octets."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("the process has ended")


if __name__ == "__main__":
    unittest.main()
