import BledRPC
import Bluetooth
import PhoneServices
import Testing

/// An iPhone that a test plays: a second adapter on the air of a daemon, which has the services of iPhones, opens the
/// link to the advertisement of the first, and pairs over it.
final class ScriptedPhone {
  private static let time = [0xEA, 0x07, 11, 25, 14, 8, 6, 3, 0, 0] as [UInt8]

  let daemon: DaemonProcess
  /// Its address, as the machine's adapter sees it.
  private(set) var address = ""
  private let client: SocketClient
  private let accessory: SocketClient
  /// The handles of its services and characteristics.
  private var handles: [BluetoothUUID: UInt16] = [:]
  private var peripheral = ""

  /// Publishes its services, and connects to the machine.
  init() throws {
    daemon = try DaemonProcess(scenario: "{}", adapters: 2)
    client = try daemon.client()
    accessory = try daemon.client()
    _ = try client.call(SessionOpen.self, .init(name: "phone"))
    _ = try accessory.call(SessionOpen.self, .init(name: "accessory"))
    try publish(
      CurrentTime.service,
      [
        .init(
          uuid: CurrentTime.characteristic, properties: [.read, .notify], permissions: [.readEncryptionRequired],
          value: HexBytes(Self.time))
      ])
    try publishNotifications()
    try publish(
      AMS.service,
      [
        .init(uuid: AMS.remoteCommand, properties: [.write, .notify]),
        .init(uuid: AMS.entityUpdate, properties: [.write, .notify]),
        .init(uuid: AMS.entityAttribute, properties: [.read, .write]),
      ])
    _ = try accessory.call(
      AdvertisingStart.self, .init(adapter: daemon.adapter(0), name: "Accessory"))
    _ = try accessory.call(PairingOpen.self, .init(seconds: 600))
    let peripheral = try connect()
    #expect(try client.call(PeripheralPair.self, .init(peripheral: peripheral)).bonded)
    let adapters = try client.call(AdapterList.self, Empty()).adapters
    address = try #require(adapters.first { $0.adapter == daemon.adapter(1) }?.address)
  }

  /// Connects to the machine.
  /// - Returns: the machine's identifier.
  @discardableResult
  func connect() throws -> String {
    peripheral = try client.call(PeripheralConnect.self, .init(name: "Accessory", adapter: daemon.adapter(1)))
      .peripheral
    return peripheral
  }

  /// Ends the link.
  func disconnect() throws { _ = try client.call(PeripheralDisconnect.self, .init(peripheral: peripheral)) }

  /// Publishes ANCS.
  func publishNotifications() throws {
    try publish(
      ANCS.service,
      [
        .init(uuid: ANCS.notificationSource, properties: [.notify], permissions: [.subscribeEncryptionRequired]),
        .init(uuid: ANCS.controlPoint, properties: [.write], permissions: [.writeEncryptionRequired]),
        .init(uuid: ANCS.dataSource, properties: [.notify], permissions: [.subscribeEncryptionRequired]),
      ])
  }

  /// Removes one of its services.
  func remove(_ service: BluetoothUUID) throws {
    let handle: UInt16 = try #require(handles[service])
    _ = try client.call(ServiceRemove.self, .init(handle: handle))
  }

  private func publish(_ uuid: BluetoothUUID, _ characteristics: [ServiceToPublish.Characteristic]) throws {
    let service = try client.call(
      ServiceAdd.self,
      .init(service: .init(uuid: uuid, characteristics: characteristics, adapter: daemon.adapter(1)))
    ).service
    handles[uuid] = service.handle
    for characteristic in service.characteristics ?? [] { handles[characteristic.uuid] = characteristic.handle }
  }

  /// Waits until the machine subscribes.
  func awaitSubscription(to uuid: BluetoothUUID) throws {
    try client.next(ServerSubscribed.self) { $0.handle == self.handles[uuid] }
  }

  /// Notifies a value.
  func notify(_ uuid: BluetoothUUID, _ value: [UInt8]) throws {
    let result = try client.call(
      ServerNotify.self, .init(handle: try #require(handles[uuid]), value: HexBytes(value)))
    #expect(result.sent && result.receivers == 1)
  }

  /// Accepts the next write.
  /// - Returns: its value.
  func written(to uuid: BluetoothUUID) throws -> [UInt8] {
    let (id, params) = try client.nextCall(ServerWrite.self)
    #expect(params.writes.map(\.handle) == [handles[uuid]])
    try client.answer(id, Empty())
    return params.writes.flatMap(\.value.octets)
  }

  /// Refuses the next write with an ATT error.
  func refuseWrite(to uuid: BluetoothUUID, _ code: Int) throws {
    let (id, params) = try client.nextCall(ServerWrite.self)
    #expect(params.writes.map(\.handle) == [handles[uuid]])
    let error = BluetoothError(domain: .att, code: code, name: "absent", message: "refused")
    try client.send(raw: try RPCEncoding.failure(id: id, RPCError(error)))
  }

  /// Answers the next read.
  func answerRead(of uuid: BluetoothUUID, _ value: [UInt8]) throws {
    let (id, params) = try client.nextCall(ServerRead.self)
    #expect(params.handle == handles[uuid])
    try client.answer(id, ServerRead.Result(value: HexBytes(Array(value.dropFirst(params.offset)))))
  }

  /// Starts `bleshell phone` on the machine's adapter.
  func start(_ words: String...) throws -> ChildProcess {
    try daemon.start(["phone", address] + words + ["--adapter", daemon.adapter(0)])
  }
}
