import BledRPC
import Bluetooth

/// A service that carries octets like a serial port: one characteristic on which the device receives, written without
/// response, and one on which it sends, by notifications.
struct SerialService {
  let name: String
  let service: BluetoothUUID
  /// From the device's view: it receives on `rx` and sends on `tx`.
  let rx: BluetoothUUID
  let tx: BluetoothUUID

  /// The services that are known here.
  static let known: [SerialService] = [
    .init("Nordic UART", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", rx: "6E400002", tx: "6E400003"),
    .init("HM-10", "FFE0", rx: "FFE1", tx: "FFE1"),
    .init(
      "Microchip transparent UART", "49535343-FE7D-4AE5-8FA9-9FAFD205E455",
      rx: "49535343-8841-43F4-A8D4-ECBE34729BB3", tx: "49535343-1E4D-4BD9-BA61-23C647249616"),
  ].compactMap { $0 }

  /// - Parameters:
  ///   - rx: The UUID, or its first digits if the others are the service's.
  ///   - tx: Likewise.
  private init?(_ name: String, _ service: String, rx: String, tx: String) {
    func uuid(_ text: String) -> BluetoothUUID? {
      BluetoothUUID(text.utf8.count == 8 ? text + service.dropFirst(8) : text)
    }
    guard let service = BluetoothUUID(service), let rx = uuid(rx), let tx = uuid(tx) else { return nil }
    (self.name, self.service, self.rx, self.tx) = (name, service, rx, tx)
  }
}

/// The characteristics of a device for a serial line.
struct SerialAttributes {
  let rx: Attribute
  let tx: Attribute

  /// - Parameters:
  ///   - rx: The characteristic on which the device receives, as a user names it; nil: a known service's.
  ///   - tx: The one on which it sends; one of the two can be given for both.
  /// - Throws: `Failure` if there are none, or they do not fit.
  init(in services: [ServiceDescription], rx: String?, tx: String?) throws {
    if let one = rx ?? tx {
      self.rx = try services.attribute(rx ?? one)
      self.tx = try services.attribute(tx ?? one)
    } else {
      guard let known = SerialService.known.first(where: { services.map(\.uuid).contains($0.service) }) else {
        let names = SerialService.known.map(\.name).joined(separator: ", ")
        throw Failure(
          "the device has none of the serial services that are known here (\(names)): name its characteristics with "
            + "--rx and --tx; \"services\" lists its attributes")
      }
      let own = services.filter { $0.uuid == known.service }
      self.rx = try own.attribute("\(known.rx)")
      self.tx = try own.attribute("\(known.tx)")
    }
    guard self.rx.has("writeWithoutResponse") else {
      throw Failure("\(self.rx.title) cannot be written without response, so it is not for a serial line")
    }
    guard AttributeUse.subscribe.fits(self.tx.properties) else {
      throw Failure("\(self.tx.title) does not notify, so it is not for a serial line")
    }
  }

  /// True if one characteristic carries both directions.
  var isOne: Bool { rx.handle == tx.handle }
}
