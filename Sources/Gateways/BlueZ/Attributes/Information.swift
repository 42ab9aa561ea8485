import BledRPC
import Bluetooth

/// Name, Appearance, Icon and Modalias of a device, read from it when it is connected for the first time: not all
/// devices advertise them.
final class Information: LinkObserver, DeviceObserver {
  // Assigned Numbers, 3.8: Device Name, Appearance, PnP ID.
  private static let name: BluetoothUUID = 0x2A00
  private static let appearance: BluetoothUUID = 0x2A01
  private static let product: BluetoothUUID = 0x2A50

  /// The longest Device Name in octets (Core 5.4, Vol 3, Part C, 12.1).
  private static let longestName = 248

  private let context: Context
  private let devices: Devices
  private let services: Services
  /// The devices that were asked.
  private var asked: Set<String> = []

  init(_ context: Context, _ devices: Devices, _ services: Services) {
    self.context = context
    self.devices = devices
    self.services = services
  }

  func resolved(_ path: String, by user: any SessionHolder) {
    guard let device = devices[path], !asked.contains(path) else { return }
    // Name and Appearance are open (Core 5.4, Vol 3, Part C, 12).
    if user.mayPair { asked.insert(path) }
    let wanted: Set = user.mayPair ? [Self.name, Self.appearance, Self.product] : [Self.name, Self.appearance]
    let found = services.characteristics(of: path).map(\.attribute).filter { wanted.contains($0.uuid) }
    for attribute in found.sorted(by: { $0.handle < $1.handle }) {
      guard case .characteristic(let properties) = attribute.kind, properties.contains(.read) else { continue }
      user.session.call(
        GATTRead.self, GATTRead.Params(peripheral: device.key.peripheral, handle: attribute.handle)
      ) { [weak self] result in
        switch result {
        case .success(let read): self?.show(path, attribute.uuid, read.value.octets)
        case .failure: self?.asked.remove(path)
        }
      }
    }
  }

  private func show(_ path: String, _ kind: BluetoothUUID, _ octets: [UInt8]) {
    switch kind {
    case Self.name:
      let name = String(decoding: octets.prefix { $0 != 0 }.prefix(Self.longestName), as: UTF8.self)
      if !name.isEmpty { devices.name(path, name) }
    case Self.appearance:
      guard octets.count == 2 else { return }
      let appearance = UInt16(octets[0]) | UInt16(octets[1]) << 8
      devices.set(path, "Appearance", .uint16(appearance))
      devices.set(path, "Icon", Icon.name(Int(appearance)).map(BusValue.string))
    default: devices.set(path, "Modalias", Self.modalias(octets).map(BusValue.string))
    }
  }

  /// "usb:v1D6Bp0246d0552" for a PnP ID (Device Information Service 1.2, 3.9).
  static func modalias(_ octets: [UInt8]) -> String? {
    guard octets.count == 7, let bus = [1: "bluetooth", 2: "usb"][octets[0]] else { return nil }
    func digits(_ place: Int) -> String { Hex.encode([octets[place + 1], octets[place]]).uppercased() }
    return "\(bus):v\(digits(1))p\(digits(3))d\(digits(5))"
  }

  func leaving(_ device: Device) { asked.remove(device.path) }
}
