import BledClient
import BledRPC
import Bluetooth

/// A function of the client that waits for the daemon, and the methods that undo it.
struct WaitingCall: Sendable {
  /// In the form of its declaration.
  let function: String
  let method: String
  /// The daemon's answer.
  var answer: any RPCPayload = Empty()
  /// The methods that are called when the wait is cancelled.
  var abandoned: [String] = []
  /// And when the daemon has answered behind that.
  var late: [String] = []
  /// The methods that are called when the result of a call that was not cancelled is released.
  var released: [String] = []
  let call: @Sendable (BledClient, Peripheral) async throws -> Void

  init(
    _ function: String, _ method: String, _ answer: any RPCPayload = Empty(), abandoned: [String] = [],
    late: [String] = [], released: [String] = [],
    _ call: @escaping @Sendable (BledClient, Peripheral) async throws -> Void
  ) {
    (self.function, self.method, self.answer) = (function, method, answer)
    (self.abandoned, self.late, self.released, self.call) = (abandoned, late, released, call)
  }
}

extension WaitingCall {
  /// The device of all calls.
  static let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", mtu: 23, attempts: 1)
  private static let other = PeripheralConnect.Result(
    peripheral: "Q", address: "C0:00:00:00:00:02", addressType: "random", adapter: "a", mtu: 23, attempts: 1)
  private static let service = ServiceDescription(handle: 1, end: 3, uuid: 0x180D, primary: true)
  private static let channel = ChannelDescription(
    channel: 1, peripheral: "P", psm: 0x80, mode: "credit", receiveMTU: 23, sendMTU: 23)
  private static let path = AttributePath.characteristic(0x2A37, of: 0x180D)
  private static let heard = PeriodicRespond.Params(
    peripheral: "P", event: 1, subevent: 0, slot: 0, data: HexBytes([1]))

  /// Calls that leave something in the daemon.
  static let lasting: [WaitingCall] = [
    .init(
      "BledClient.scan(_:)", ScanStart.name, abandoned: [ScanStop.name], released: [ScanStop.name]
    ) { client, _ in _ = try await client.scan() },
    .init(
      "BledClient.presence(_:)", ScanStart.name, abandoned: [ScanStop.name], released: [ScanStop.name]
    ) { client, _ in _ = try await client.presence(.init(addresses: ["C0:00:00:00:00:01"], lost: 5)) },
    .init(
      "BledClient.connect(_:adapter:timeout:reconnects:parameters:phy:)", PeripheralConnect.name, other,
      abandoned: [PeripheralDisconnect.name], late: [PeripheralDisconnect.name]
    ) { client, _ in _ = try await client.connect(.identifier("Q")) },
    .init(
      "BledClient.synchronise(_:)", PeriodicSync.name,
      PeriodicSync.Result(peripheral: "Q", adapter: "a", sid: 1, interval: 1, phy: nil),
      abandoned: [PeriodicStop.name], late: [PeriodicStop.name], released: [PeriodicStop.name]
    ) { client, _ in _ = try await client.synchronise(.init(peripheral: "Q", sid: 1)) },
    .init(
      "BledClient.receiveTrain(_:)", PeriodicReceive.name,
      PeriodicReceive.Result(peripheral: "Q", adapter: "a", sid: 1, interval: 1, phy: nil, serviceData: 0),
      abandoned: [PeriodicStop.name], late: [PeriodicStop.name], released: [PeriodicStop.name]
    ) { client, _ in _ = try await client.receiveTrain(.init(peripheral: "P")) },
    .init(
      "BledClient.publish(_:)", ServiceAdd.name, ServiceAdd.Result(service: service), late: [ServiceRemove.name]
    ) { client, _ in _ = try await client.publish(.init(uuid: 0x180D, characteristics: [])) },
    .init(
      "BledClient.advertise(_:)", AdvertisingStart.name,
      AdvertisingStart.Result(advertising: 7, adapter: "a", interval: 0.1, shortenedName: nil),
      late: [AdvertisingStop.name]
    ) { client, _ in _ = try await client.advertise(.init(name: "x")) },
    .init(
      "BledClient.publishL2CAPChannel(psm:security:receiveMTU:mode:adapter:)", L2CAPPublish.name,
      L2CAPPublish.Result(psm: 0x80, adapter: "a"), late: [L2CAPUnpublish.name]
    ) { client, _ in _ = try await client.publishL2CAPChannel() },
    .init(
      "BledClient.answerPairings(with:)", PairingRegister.name, late: [PairingUnregister.name]
    ) { client, _ in try await client.answerPairings(with: .init(capability: .display) { _ in true }) },
    .init(
      "BledClient.linkChanges()", PeripheralWatch.name, late: [PeripheralWatch.name], released: [PeripheralWatch.name]
    ) { client, _ in _ = try await client.linkChanges() },
    .init(
      "Peripheral.subscribe(_:)", GATTSubscribe.name, AttributeFound(handle: 3), late: [GATTUnsubscribe.name],
      released: [GATTUnsubscribe.name]
    ) { _, device in _ = try await device.subscribe(3) },
    .init(
      "Peripheral.subscribe(_:indications:)", GATTSubscribe.name, AttributeFound(handle: 3),
      late: [GATTUnsubscribe.name], released: [GATTUnsubscribe.name]
    ) { _, device in _ = try await device.subscribe(path) },
  ]

  /// Calls for values and descriptors, and calls that end something: nothing is left of them, or the closed descriptor
  /// says so.
  static let passing: [WaitingCall] = [
    .init("BledClient.call(_:_:timeout:)", PairingList.name) { client, _ in
      _ = try await client.call(PairingList.self, Empty())
    },
    .init("BledClient.end()", SessionEnd.name) { client, _ in try await client.end() },
    .init("BledClient.startCapture(format:adapter:keys:)", CaptureStart.name) { client, _ in
      _ = try await client.startCapture()
    },
    .init("BledClient.stopCapture(_:)", CaptureStop.name) { client, _ in _ = try await client.stopCapture(1) },
    .init("BledClient.stopAnsweringPairings()", PairingUnregister.name) { client, _ in
      try await client.stopAnsweringPairings()
    },
    .init("BledClient.respond(_:)", PeriodicRespond.name) { client, _ in try await client.respond(heard) },
    .init("BledClient.transfer(_:)", PeriodicTransfer.name) { client, _ in
      try await client.transfer(.init(peripheral: "P", advertising: 1))
    },
    .init("BledClient.send(_:)", AdvertisingSend.name) { client, _ in
      try await client.send(.init(advertising: 1, subevent: 0, data: HexBytes([1])))
    },
    .init("BledClient.unpublish(_:)", ServiceRemove.name) { client, _ in try await client.unpublish(1) },
    .init("BledClient.stopAdvertising(_:)", AdvertisingStop.name) { client, _ in try await client.stopAdvertising() },
    .init("BledClient.notify(_:_:to:whenFull:)", ServerNotify.name) { client, _ in try await client.notify(3, [1]) },
    .init("BledClient.indicate(_:_:to:whenFull:)", ServerNotify.name) { client, _ in
      _ = try await client.indicate(3, [1])
    },
    .init("BledClient.notify(_:to:)", ServerNotifyMultiple.name) { client, _ in
      try await client.notify([.init(handle: 3, value: HexBytes([1]))])
    },
    .init("BledClient.acquire(_:for:)", ServerAcquire.name) { client, _ in _ = try await client.acquire(3, for: "C") },
    .init("BledClient.setLatency(_:of:)", ServerSetLatency.name) { client, _ in
      try await client.setLatency(.low, of: "C")
    },
    .init("BledClient.unpublishL2CAPChannel(_:adapter:)", L2CAPUnpublish.name) { client, _ in
      try await client.unpublishL2CAPChannel(0x80)
    },
    .init("BledClient.accept(_:packets:)", L2CAPAccept.name, channel) { client, _ in
      _ = try await client.accept(channel)
    },
    .init("BledClient.close(_:)", L2CAPClose.name) { client, _ in try await client.close(channel) },
    .init("Peripheral.openL2CAPChannel(psm:security:receiveMTU:mode:packets:)", L2CAPOpen.name, channel) { _, device in
      _ = try await device.openL2CAPChannel(psm: 0x80)
    },
    .init("Peripheral.acquire(_:values:writes:indications:)", GATTAcquire.name) { _, device in
      _ = try await device.acquire(path)
    },
    .init("Peripheral.pair(level:)", PeripheralPair.name) { _, device in _ = try await device.pair() },
    .init("Peripheral.parameters()", PeripheralParameters.name) { _, device in _ = try await device.parameters() },
    .init("Peripheral.setParameters(_:)", PeripheralSetParameters.name) { _, device in
      try await device.setParameters(nil)
    },
    .init("Peripheral.setPHY(_:)", PeripheralSetPHY.name) { _, device in try await device.setPHY(.le2M) },
    .init("Peripheral.disconnect()", PeripheralDisconnect.name) { _, device in try await device.disconnect() },
    .init("Peripheral.rssi()", PeripheralRSSI.name) { _, device in _ = try await device.rssi() },
    .init("Peripheral.discover(timeout:progress:)", GATTDiscover.name) { _, device in
      _ = try await device.discover { _ in }
    },
    .init("Peripheral.discoverServices(_:)", GATTDiscoverServices.name) { _, device in
      _ = try await device.discoverServices()
    },
    .init("Peripheral.discoverCharacteristics(_:of:)", GATTDiscoverCharacteristics.name) { _, device in
      _ = try await device.discoverCharacteristics(of: service)
    },
    .init("Peripheral.read(_:)", GATTRead.name) { _, device in _ = try await device.read(3) },
    .init("Peripheral.read(_:)", GATTRead.name) { _, device in _ = try await device.read(path) },
    .init("Peripheral.readAll(of:)", GATTReadUsingUUID.name) { _, device in _ = try await device.readAll(of: 0x2A37) },
    .init("Peripheral.readMultiple(_:)", GATTReadMultiple.name) { _, device in
      _ = try await device.readMultiple([path, .handle(3)])
    },
    .init("Peripheral.serverFeatures()", GATTServerFeatures.name) { _, device in
      _ = try await device.serverFeatures()
    },
    .init("Peripheral.write(_:to:response:)", GATTWrite.name) { _, device in try await device.write([1], to: 3) },
    .init("Peripheral.write(_:to:response:)", GATTWrite.name) { _, device in try await device.write([1], to: path) },
    .init("Peripheral.write(_:to:at:)", GATTWrite.name) { _, device in try await device.write([1], to: path, at: 1) },
    .init("Peripheral.writeSigned(_:to:)", GATTWrite.name) { _, device in
      try await device.writeSigned([1], to: path)
    },
    .init("Peripheral.writeReliably(_:)", GATTWriteReliably.name) { _, device in
      try await device.writeReliably([.init(.handle(3), value: HexBytes([1]))])
    },
  ]
}
