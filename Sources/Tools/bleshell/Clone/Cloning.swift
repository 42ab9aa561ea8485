import BledClient
import BledRPC
import Bluetooth
import Capture
import FoundationEssentials

/// Reads a connected device as a whole.
@MainActor final class Cloning {
  private static let genericAccess: BluetoothUUID = 0x1800
  private static let deviceName: BluetoothUUID = 0x2A00
  /// Maximum values kept of each characteristic.
  private static let maximumValues = 10_000

  private let device: Device
  private let output: Output
  private let began = ContinuousClock.now
  private var security: [UInt16: RecordedDevice.Security] = [:]
  private var read: [UInt16: [UInt8]] = [:]
  private var sent: [UInt16: [RecordedDevice.Value]] = [:]
  private var lastSent: [UInt16: ContinuousClock.Instant] = [:]
  private var remarks: [String] = []

  init(_ device: Device, output: Output) {
    self.device = device
    self.output = output
  }

  /// Reads and listens.
  /// - Parameter seconds: The time to listen to the device's notifications.
  func clone(_ air: ClonedAir, watching seconds: Double) async throws -> RecordedDevice {
    let tree = try await device.tree()
    try await readAll(tree)
    try await listen(tree, seconds)
    let link = device.peripheral.link
    let kind = link.addressType.known ?? .public
    guard let address = DeviceAddress(link.address, kind: kind) else {
      throw Failure("bled told the address \(link.address), which is not one")
    }
    var cloned = RecordedDevice(address: address)
    let name = tree.first { $0.uuid == Self.genericAccess }?.characteristics?.first { $0.uuid == Self.deviceName }
    cloned.name = name.flatMap { read[$0.handle] }.map { String(decoding: $0, as: UTF8.self) }
    air.describe(&cloned)
    cloned.isConnectable = true
    cloned.mtu = Int(link.mtu)
    cloned.services = tree.map(service)
    cloned.remarks += remarks
    return cloned
  }

  // MARK: Reading

  private func readAll(_ tree: [ServiceDescription]) async throws {
    let progress = output.progress("Reading the values of \(device.name)")
    defer { progress.end() }
    for characteristic in tree.flatMap({ $0.characteristics ?? [] }) {
      if characteristic.properties.contains(Word(.read)) {
        progress.change("Reading \(Attribute.title(characteristic.uuid)) of \(device.name)")
        await readValue(characteristic.handle, Attribute.title(characteristic.uuid))
      }
      for descriptor in characteristic.descriptors ?? [] where descriptor.uuid != 0x2902 {
        await readValue(descriptor.handle, Attribute.title(descriptor.uuid))
      }
      try Task.checkCancellation()
    }
  }

  /// Reads a value. A refusal of the device is part of the picture.
  private func readValue(_ handle: UInt16, _ title: String) async {
    do {
      read[handle] = try await device.read(handle)
    } catch {
      if let name = device.protections[handle] {
        security[handle, default: .init()].read = name.contains("uthenti") ? .authenticated : .encrypted
      }
      remarks.append("\(title) (\(handle.handleText)) was not read: \((error as? BluetoothError)?.name ?? "failed")")
    }
  }

  // MARK: Listening

  private func listen(_ tree: [ServiceDescription], _ seconds: Double) async throws {
    guard seconds > 0 else { return }
    let progress = output.progress("Listening to the values of \(device.name) for \(shortNumber(seconds)) s")
    defer { progress.end() }
    let sending = tree.flatMap { $0.characteristics ?? [] }.filter {
      $0.properties.contains(Word(.notify)) || $0.properties.contains(Word(.indicate))
    }
    var readers: [Task<Void, Never>] = []
    defer { for reader in readers { reader.cancel() } }
    // Service Changed is subscribed to by the daemon.
    for characteristic in sending where characteristic.uuid != 0x2A05 {
      let handle = characteristic.handle
      do throws(BluetoothError) {
        let values = try await device.peripheral.subscribe(handle)
        lastSent[handle] = .now
        readers.append(
          Task { @MainActor in
            do { for try await value in values { self.receive(value, of: handle) } } catch {}
          })
      } catch {
        guard error.domain == .att else { throw error }
        security[handle, default: .init()].subscribe = .encrypted
        remarks.append("\(Attribute.title(characteristic.uuid)) (\(handle.handleText)): \(error.name)")
      }
    }
    try await Task.sleep(for: .seconds(seconds))
  }

  private func receive(_ value: [UInt8], of handle: UInt16) {
    guard sent[handle, default: []].count < Self.maximumValues else { return }
    let now = ContinuousClock.now
    let gap = (now - (lastSent[handle] ?? began)) / .seconds(1)
    sent[handle, default: []].append(.init(time: gap, octets: value))
    lastSent[handle] = now
  }

  // MARK: The tree

  private func service(_ service: ServiceDescription) -> RecordedDevice.Service {
    var recorded = RecordedDevice.Service(uuid: service.uuid)
    recorded.isPrimary = service.primary
    recorded.includes = (service.includes ?? []).map(\.uuid)
    recorded.characteristics = (service.characteristics ?? []).map(characteristic)
    return recorded
  }

  private func characteristic(_ described: CharacteristicDescription) -> RecordedDevice.Characteristic {
    let bits: [(CharacteristicProperty, UInt8)] = [
      (.read, 0x02), (.writeWithoutResponse, 0x04), (.write, 0x08), (.notify, 0x10), (.indicate, 0x20),
    ]
    let properties = bits.reduce(0) { described.properties.contains(Word($1.0)) ? $0 | $1.1 : $0 }
    var recorded = RecordedDevice.Characteristic(uuid: described.uuid, properties: properties)
    recorded.read = read[described.handle].map { [.init(time: 0, octets: $0)] } ?? []
    recorded.sent = sent[described.handle] ?? []
    recorded.security = security[described.handle] ?? .init()
    recorded.descriptors = (described.descriptors ?? []).filter { $0.uuid != 0x2902 }.map {
      .init(uuid: $0.uuid, value: read[$0.handle] ?? [])
    }
    return recorded
  }
}
